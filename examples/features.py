"""Give a program better things to read: computed features, with names and units."""

from diprl import DiPRL

FEATURES = [
    ("position", "m", lambda seen: seen[0]),
    ("velocity", "m/s", lambda seen: seen[1]),
    ("tilt", "deg", lambda seen: 57.29578 * seen[2]),  # radians are hard to read
    ("tilt_rate", "deg/s", lambda seen: 57.29578 * seen[3]),
    ("tilt_soon", "deg", lambda seen: 57.29578 * (seen[2] + 0.1 * seen[3])),  # where the pole will be
]

model = DiPRL("CartPole-v1", features=FEATURES, max_depth=2)
model.learn(100_000, episodes=20)
print(model.program)
