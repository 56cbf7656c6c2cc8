"""Prove properties of a program, or get a state that breaks them."""

from pathlib import Path

from diprl import Program
from diprl.verify import parse_spec, verify

program = Program.load(Path(__file__).parent / "cartpole.txt")
SPEC = """
box: {cart_position: [-2.4, 2.4], cart_velocity: [-3, 3], pole_angle: [-0.2, 0.2], pole_angular_velocity: [-3, 3]}
properties:
  - name: a pole that falls to the right is pushed right
    kind: actions
    within: {pole_angle: [0.05, 0.2], pole_angular_velocity: [0, 1]}
    only: [right]
  - name: a pole that leans to the right is never pushed left
    kind: never
    action: left
    when: [pole_angle > 0]
"""

report = verify(program, parse_spec(SPEC, program))
for finding in report.findings:
    print(finding.answer.verdict, "-", finding.name)
print("\n".join(report.findings[1].answer.witness.lines()))
