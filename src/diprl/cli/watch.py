"""`diprl watch`: a saved program at play, in a window or as a film."""

from dataclasses import dataclass

from diprl.cli.options import Count, MaybePath, PlayCommand, WriteOptions, check_at_least
from diprl.terminal.layout import say
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Watch(PlayCommand, WriteOptions):
    """Watch a saved program in a window, or record it without a screen."""

    episodes: Count = 1
    """How many episodes."""
    seed: Count = 0
    """Seed of the first episode."""
    record: MaybePath = None
    """Write a film, FILE.gif or FILE.mp4, instead of opening a window."""

    def run(self) -> None:
        check_at_least(self, episodes=1, seed=0)
        self.check_free(*[self.record] if self.record else [])
        with Working("playing" if self.record is None else "recording"):
            from diprl.report.episode import prepare_rendering
            from diprl.report.watch import record, show

            prepare_rendering()
            program, task = self.load()
            seeds = range(self.seed, self.seed + self.episodes)
            returns = record(task, program, self.record, seeds) if self.record else show(task, program, seeds)
        for seed, earned in zip(seeds, returns, strict=True):
            say(f"seed {seed}: return {earned:.2f}")
        if self.record is not None:
            say(f"wrote {self.record} ({self.record.stat().st_size / 1e6:.1f} MB)")
        self.print_json(returns=dict(zip(seeds, returns, strict=True)), film=self.record)
