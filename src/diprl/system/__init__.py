"""The machine under a run: cores, devices, caches, files, locks and processes. Nothing here knows about learning."""
