"""Run the tests and write down which share of the lines of src they execute, worker processes included."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rows import record

ROOT = Path(__file__).parents[2]
LEAST = 93.0
"""Percent."""
SETTINGS = """[run]
source = diprl
parallel = true
concurrency = multiprocessing, thread
patch = subprocess
data_file = {folder}/data
[report]
exclude_also =
    if TYPE_CHECKING:
    \\.\\.\\.$
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        settings = Path(place) / "settings"
        settings.write_text(SETTINGS.format(folder=place))
        tool = [sys.executable, "-m", "coverage"]
        environment = os.environ | {"COVERAGE_RCFILE": str(settings)}
        tests = ["run", "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile", *sys.argv[1:]]
        failed = subprocess.run([*tool, *tests], cwd=ROOT, env=environment, check=False).returncode
        subprocess.run([*tool, "combine", "--quiet"], cwd=ROOT, env=environment, check=True)
        report = Path(place) / "report.json"
        subprocess.run([*tool, "json", "--quiet", "-o", report], cwd=ROOT, env=environment, check=True)
        content = json.loads(report.read_text())
    worst = sorted(content["files"].items(), key=lambda item: -item[1]["summary"]["missing_lines"])[:15]
    for path, found in worst:
        print(f"{found['summary']['percent_covered']:5.1f}%  {path}: {found['missing_lines']}")
    totals = content["totals"]
    share, lines = totals["percent_covered"], totals["num_statements"]
    record(
        "lines that the tests execute",
        f"{lines:,} lines",
        "–",
        "–",
        f"{share:.1f}%, tests {'fail' if failed else 'pass'}",
    )
    sys.exit(0 if share > LEAST and not failed else 1)


if __name__ == "__main__":
    main()
