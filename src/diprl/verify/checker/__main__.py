"""The command: python -m diprl.verify.checker CERTIFICATE, or of a copy of this folder, python -m checker CERTIFICATE."""
# pyright: basic

import json
import sys

from . import problem_of

with open(sys.argv[1], encoding="utf-8") as file:
    certificate = json.load(file)
problem = problem_of(certificate)
print(f"refused: {problem}" if problem else f"accepted: {json.dumps(certificate['claim'])}")
sys.exit(1 if problem else 0)
