"""The studio: the page about a run, served on this machine, with Python behind its buttons."""

from diprl.report.studio.server import Studio, open_studio

__all__ = ["Studio", "open_studio"]
