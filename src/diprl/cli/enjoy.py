"""`diprl enjoy`: another name for `diprl watch`."""

from diprl.cli.watch import Command

__all__ = ["Command"]
