"""The arena plays episodes: on the twin or on the reference, with agents, programs, or many programs at once."""
