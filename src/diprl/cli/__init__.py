"""The command line: thin commands over the library; every heavy import waits until a command runs."""

from diprl.cli.main import main

__all__ = ["main"]
