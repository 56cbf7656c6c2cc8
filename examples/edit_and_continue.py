"""Change a program by hand, see what that does, and let training improve what you wrote."""

from diprl import Program, compare, load_task
from diprl.methods.retrain import continue_from

task = load_task("CartPole-v1")
written = Program.from_text("if pole_angle > 0: right\nelse: left\n", task.signature)
edited = written.edit(weights={"pole_angular_velocity": 0.2})
print(compare(written, edited, task, episodes=20))

trained = continue_from(task, edited, 100_000, seed=0)
print(trained)  # reads the same two features
print(compare(edited, trained, task, episodes=20))
