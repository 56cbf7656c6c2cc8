"""Damage thousands of files on disk as crashes, bad memory and strangers do, and read each one.

A file passes if it is refused with a DiprlError that names it, or read. What carries a checksum must never be read as
something else than what was written, and a run whose newest checkpoint is damaged must go on from the one before.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from corpus import LIKE, Kind, kinds, spoilt
from rows import record

from diprl.errors import DiprlError
from diprl.system.storage import load_tree
from diprl.tasks.mujoco.primitives import Primitive

FILES = ("program file", "config", "metrics", "checkpoint", "primitive")
CHECKED = ("checkpoint", "primitive")
"""Kinds that carry a checksum, so that whatever is read is what was written."""


def damaged(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> tuple[str, bytes]:
    """The content after one accident of a named kind."""
    place = dice.randrange(len(content))
    block = min(len(content), 1 << dice.randrange(3, 9))
    choices = {
        "truncated": content[:place],
        "bit flipped": content[:place] + bytes([content[place] ^ 1 << dice.randrange(8)]) + content[place + 1 :],
        "block zeroed": content[:place] + bytes(min(block, len(content) - place)) + content[place + block :],
        "blocks swapped": content[block : 2 * block] + content[:block] + content[2 * block :],
        "written twice": content + content[place:],
        "several accidents": spoilt(content, others, dice),
    }
    name = dice.choice(list(choices))
    return name, choices[name]


def fate(kind: Kind, content: bytes, folder: Path) -> tuple[str, Any]:
    """Read, refused with or without the file's name, or the name of what must not happen."""
    try:
        return "read", kind.load(content)
    except DiprlError as error:
        return ("refused" if str(folder) in str(error) else "refused without its name"), None
    except Exception as error:
        return type(error).__name__, None


def numbers(loaded: Any) -> list[bytes]:
    """All that was read, as bytes."""
    if isinstance(loaded, Primitive):
        layers = [array for layer in loaded.layers for array in layer]
        return [array.tobytes() for array in (loaded.mean, loaded.std, loaded.low, loaded.high, *layers)]
    arrays, facts = loaded
    return [*(np.asarray(array).tobytes() for array in arrays.values()), repr(facts).encode()]


def previous_stands_in(folder: Path, content: bytes, good: bytes) -> bool:
    """Whether a run with this as its newest checkpoint still has the one before."""
    path = folder / "pair"
    path.write_bytes(content)
    path.with_name("pair.previous").write_bytes(good)
    loaded, facts = load_tree(path, LIKE)
    return facts["steps"] == 64 and all(np.array_equal(loaded[name], LIKE[name]) for name in LIKE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    dice, fates, accidents = random.Random(options.seed), Counter[str](), Counter[str]()
    lost = unclear = 0
    slowest = 0.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        all_kinds = kinds(folder)
        for kind in all_kinds.values():  # the first call imports what it needs
            kind.load(kind.examples[0])
        for _ in range(options.files):
            name = dice.choice(FILES)
            kind = all_kinds[name]
            example = dice.choice(kind.examples)
            accident, content = damaged(example, kind.examples, dice)
            began = time.process_time()
            found, loaded = fate(kind, content, folder)
            slowest = max(slowest, time.process_time() - began)
            undetected = found == "read" and name in CHECKED and numbers(loaded) != numbers(kind.load(example))
            if found not in ("read", "refused") or undetected:
                unclear += 1
                print("FINDING", name, accident, found, content[:300], flush=True)
            if name == "checkpoint" and not previous_stands_in(folder, content, example):
                lost += 1
                print("LOST", accident, content[:300], flush=True)
            fates.update([f"{name} {found}"])
            accidents.update([accident])
    print(dict(sorted(fates.items())), dict(accidents))
    note = ", ".join(f"{count:,} {accident}" for accident, count in sorted(accidents.items()))
    record("files corrupted", f"{options.files:,}", lost, unclear, f"{note}; slowest {slowest:.2f} s of processor time")
    sys.exit(1 if lost or unclear else 0)


if __name__ == "__main__":
    main()
