"""Choose how long the program may be: a run keeps one program of each size."""

from pathlib import Path

from diprl import DiPRL

RUN = Path(__file__).parent / "runs" / "MountainCar-v0" / "diprl-default-seed0"
model = DiPRL.load(RUN)

print(model)  # the front as a table, with an arrow at the program that the run takes
for entry in model.front:
    print(f"{entry.program.coefficients:3} numbers  {entry.mean:8.2f} ± {entry.error:.2f}")

small = model.pick(numbers=7)  # the best with at most seven numbers
print(small)
small.save("small.txt")
