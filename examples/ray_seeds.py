"""Train many seeds on a Ray cluster, or on this machine if there is none. Needs pip install 'diprl[cluster]'."""

import ray

ray.init(include_dashboard=False, log_to_driver=False)


@ray.remote(num_cpus=1)
def score(seed: int) -> tuple[int, float, str]:
    """One training in a worker process; what comes back is small and plain."""
    from diprl import train

    model = train("CartPole-v1", 100_000, seed=seed, max_depth=2, episodes=20)
    return seed, model.result.score.mean, str(model.program)


results = sorted(ray.get([score.remote(seed) for seed in range(2)]), key=lambda result: -result[1])
for seed, mean, _ in results:
    print("seed", seed, "scores", round(mean, 1))
print(results[0][2])
ray.shutdown()
