"""Hands a program over to somebody who has to sign for it: code, evidence, tests and hashes in one folder."""

from diprl.handover.card import Facts
from diprl.handover.check import check_handover
from diprl.handover.folder import Handover, write_handover

__all__ = ["Facts", "Handover", "check_handover", "write_handover"]
