"""Attack diprl as a stranger would, from any seed: files, environments, specifications, kills.

    python benchmarks/reliability/attack.py files --count 1000
    python benchmarks/reliability/attack.py environments --count 100
    python benchmarks/reliability/attack.py specifications --count 30000
    python benchmarks/reliability/attack.py kills --count 60

Each attack writes its row of docs/reliability.md; the exit code is 1 if one got through. What was found is printed.
"""

import argparse
import sys
from importlib import import_module

ATTACKS = {"files": 1000, "environments": 100, "specifications": 30_000, "kills": 60}
"""Each attack, a module here, with its usual size."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attack", choices=[*ATTACKS, "all"])
    parser.add_argument("--count", type=int, help="how many; default: as many as the row says")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = list(ATTACKS) if options.attack == "all" else [options.attack]
    held = [import_module(name).attack(options.count or ATTACKS[name], options.seed) for name in names]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
