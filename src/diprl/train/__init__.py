"""One PPO engine for every method: collect, estimate advantages, update in minibatches."""
