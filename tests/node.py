"""Runs JavaScript in Node, where there is one."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no Node here: what JavaScript does is not checked")


def run_node(script: str, given: Any, folder: Path) -> Any:
    """What a script gives as `result` for what it finds as `given`, both sent as JSON."""
    path = folder / "script.mjs"
    path.write_text(
        'import { readFileSync } from "node:fs";\nconst given = JSON.parse(readFileSync(0, "utf-8"));\n'
        f"{script}\nprocess.stdout.write(JSON.stringify(result));\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [NODE or "", str(path)], input=json.dumps(given), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
