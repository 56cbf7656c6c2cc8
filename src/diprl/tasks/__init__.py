"""Tasks: environments with names, and the compiled twins that some of them train on."""
