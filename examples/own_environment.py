"""Train on an environment of your own: a Gymnasium class, with names for what it measures and does."""

from gymnasium.wrappers import TimeLimit

from diprl import DiPRL
from tank import Tank

model = DiPRL(
    lambda: TimeLimit(Tank(pump=0.2), 200),
    feature_names=["level", "inflow"],
    action_names=["pump_off", "pump_on"],
    max_depth=3,
)
model.learn(100_000, episodes=20)

print(model.program)
print("score", model.result.score)
model.program.save("tank.txt")
