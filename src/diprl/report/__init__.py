"""The page about one run: everything in one HTML file that asks no other machine for anything."""

from diprl.report.page import write_report

__all__ = ["write_report"]
