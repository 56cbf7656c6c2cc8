"""`diprl eval`: the score of what a run learnt."""

from dataclasses import dataclass

from diprl.cli.options import Count, MaybeCount, PlayCommand, check_at_least
from diprl.terminal.layout import say
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Eval(PlayCommand):
    """Score a saved program, or the network of a PPO run, on its environment."""

    episodes: Count = 100
    """How many episodes."""
    seed: MaybeCount = None
    """Seed of the first episode; default: the evaluation seeds."""

    def run(self) -> None:
        check_at_least(self, episodes=1)
        with Working(f"playing {self.episodes:,} episodes"):
            from diprl.arena.episodes import EVALUATION
            from diprl.arena.reference import evaluate
            from diprl.methods.registry import open_saved

            saved = open_saved(self.program, self.task, self.parsed_env_kwargs())
            seed = EVALUATION.seed if self.seed is None else self.seed
            score = evaluate(saved.task, saved.act, self.episodes, seed)
        say(f"{saved.task.name}: {score}")
        self.print_json(task=saved.task.name, score=score.summary())
