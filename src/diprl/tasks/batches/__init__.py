"""Many reference environments stepped at once: in this process, in worker processes or in EnvPool."""
