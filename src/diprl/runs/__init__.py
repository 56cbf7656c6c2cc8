"""Runs: how one is described, done, kept in a folder and told as a result."""
