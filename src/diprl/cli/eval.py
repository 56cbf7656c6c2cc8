"""`diprl eval`: score a program again, on as many episodes as wanted."""

from dataclasses import dataclass

from diprl.cli.options import JSONOption, PlayCommand


@dataclass(frozen=True, kw_only=True)
class Command(PlayCommand, JSONOption):
    """Score a saved program on its environment."""

    episodes: int = 100
    """How many episodes."""
    seed: int | None = None
    """Seed of the first episode; default: the evaluation seeds."""

    def run(self) -> None:
        from diprl.arena.episodes import EVALUATION
        from diprl.arena.reference import evaluate_program

        program = self.load_program()
        task = self.load_task(program)
        score = evaluate_program(task, program, self.episodes, EVALUATION.seed if self.seed is None else self.seed)
        print(f"{task.name}: {score}")
        self.print_json(task=task.name, score=score.summary())
