"""Watch a training and end it early: a callback gets a snapshot of the run at every report."""

from pathlib import Path

from diprl import CheckpointCallback, DiPRL, EvalCallback, StopAtScore


def report(snapshot):
    """Called about twenty times; returning True would stop the run."""
    score = snapshot.metrics.get("eval/program")
    print(f"{snapshot.fraction:4.0%}  {snapshot.steps:>9,} steps  program scores {score}")


best = EvalCallback(every=20_000, episodes=5, best_path=Path("best.txt"))
model = DiPRL("CartPole-v1", max_depth=2)
model.learn(200_000, callback=[report, StopAtScore(500), best, CheckpointCallback(Path("checkpoints"), every=50_000)])

print("best score on the way:", best.best_score)
print(model.program)
