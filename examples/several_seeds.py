"""Train with several seeds and say how sure the mean is: single runs of reinforcement learning mislead."""

from math import sqrt
from statistics import mean, stdev

from diprl import train

models = [train("CartPole-v1", 100_000, seed=seed, max_depth=2, episodes=20) for seed in range(3)]
scores = [model.result.score.mean for model in models]

print("scores", scores)
print(f"mean {mean(scores):.1f}, standard error {stdev(scores) / sqrt(len(scores)):.1f}")
best = max(models, key=lambda model: model.result.score.mean)
print(best.program)
