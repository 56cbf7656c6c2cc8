"""The command: python -m diprl.verify.checker CERTIFICATE."""
# pyright: basic

import json
import sys
from pathlib import Path

from . import problem_of

certificate = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
problem = problem_of(certificate)
print(f"refused: {problem}" if problem else f"accepted: {json.dumps(certificate['claim'])}")
sys.exit(1 if problem else 0)
