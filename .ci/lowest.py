"""Prints the lowest version of every dependency that pyproject.toml allows, as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
groups = [project["dependencies"], *project["optional-dependencies"].values()]
allowed = [re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", line) for group in groups for line in group]
print("\n".join(sorted({f"{found[1]}=={found[2]}" for found in allowed if found})))
