"""Looking at a program at work: in a window, or as a film where there is no screen."""

from diprl.watch.episode import Moment, play_moments
from diprl.watch.film import record
from diprl.watch.screen import open_environment, prepare_rendering

__all__ = ["Moment", "open_environment", "play_moments", "prepare_rendering", "record"]
