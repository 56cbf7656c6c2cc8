"""Feed millions of spoilt and made-up inputs to everything that reads files.

An input passes if it is read, or refused with a DiprlError, within the time limit. Inputs depend on the seed and their
number only; with --state the count goes on where the last call ended.
"""

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from corpus import Kind, kinds, spoilt
from rows import record

from diprl.errors import DiprlError

SHARES = {
    "program text": 26, "program JSON": 66, "program file": 1, "config": 2, "metrics": 2, "checkpoint": 2,
    "primitive": 1,
}  # fmt: skip
"""Parts in a hundred of all inputs."""
BATCH = 10_000
NAMES = ("x", "y", "no", "yes", "z", "if", "f")


class TooSlow(Exception):
    """An input took longer than any input may."""


def made_up_text(dice: random.Random) -> str:
    """Program text from the grammar, with a few liberties."""
    lines = ["features: x, y", dice.choice(("actions: no, yes", "outputs: no", "actions: yes", ""))]
    indent = ""
    for _ in range(dice.randrange(4)):
        comparison = f"{linear(dice, 0)} {dice.choice('><=')} {linear(dice, 0)}"
        lines.append(f"{indent}{dice.choice(('if', 'if', 'elif', 'else if'))} {comparison}:")
        deeper = indent + "    "
        lines.append(deeper + dice.choice((*NAMES, f"no = {linear(dice, 0)}")))
        indent = deeper if dice.random() < 0.2 else indent
    lines += [f"{indent}else:", f"{indent}    {dice.choice(NAMES)}"]
    return "\n".join(lines)


def linear(dice: random.Random, depth: int) -> str:
    """A linear form that is mostly one, nested at times."""
    term = dice.choice((dice.choice(NAMES[:2]), repr(dice.gauss(0, 10)), str(dice.randrange(5)), "("))
    if depth > 60:
        return term
    term = f"({linear(dice, depth + 1)})" if term == "(" else term
    return term if dice.random() < 0.6 else f"{term} {dice.choice('+-*/')} {linear(dice, depth + 1)}"


def make_input(name: str, kind: Kind, dice: random.Random) -> bytes:
    example = dice.choice(kind.examples)
    if name == "program text" and dice.random() < 0.3:
        return made_up_text(dice).encode()
    content = spoilt(example, kind.examples, dice)
    return kind.rebuild(content) if dice.random() < 0.5 else content


def try_input(kind: Kind, content: bytes) -> str:
    """How an input fares: read, refused, or the name of what must not happen."""
    try:
        kind.load(content)
    except DiprlError:
        return "refused"
    except Exception as error:
        return type(error).__name__
    return "read"


def run_batch(number: int, seed: int, all_kinds: dict[str, Kind], limit: float) -> tuple[Counter[str], list[Any]]:
    dice = random.Random(f"{seed}:{number}")
    names = dice.choices(list(SHARES), list(SHARES.values()), k=BATCH)
    fates: Counter[str] = Counter()
    findings = []
    for name in names:
        content = make_input(name, all_kinds[name], dice)
        began = time.process_time()
        signal.alarm(int(10 * limit) + 1)
        fate = try_input(all_kinds[name], content)
        signal.alarm(0)
        seconds = time.process_time() - began
        fates.update((name, fate))
        if fate not in ("read", "refused") or seconds > limit:
            findings.append((name, fate, round(seconds, 2), content[:400]))
    return fates, findings


def give_up(signal_number: int, frame: Any) -> None:
    raise TooSlow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    parser.add_argument("--limit", type=float, default=1.0, help="processor seconds that one input may take")
    parser.add_argument("--state", type=Path, help="file with the count so far")
    options = parser.parse_args()
    state = json.loads(options.state.read_text()) if options.state and options.state.exists() else {}
    batch, fates, bad = state.get("batch", 0), Counter(state.get("fates", {})), state.get("bad", 0)
    signal.signal(signal.SIGALRM, give_up)
    began = time.monotonic()
    first = batch
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        all_kinds = kinds(Path(place))
        for kind in all_kinds.values():  # the first call imports what it needs
            kind.load(kind.examples[0])
        while batch * BATCH < options.inputs and time.monotonic() - began < options.seconds:
            found, findings = run_batch(batch, options.seed, all_kinds, options.limit)
            batch, fates, bad = batch + 1, fates + found, bad + len(findings)
            for finding in findings:
                print("FINDING", *finding, flush=True)
            if options.state:
                options.state.write_text(json.dumps({"batch": batch, "fates": fates, "bad": bad}))
            if batch % 10 == 0:
                rate = (batch - first) * BATCH / (time.monotonic() - began)
                print(f"{batch * BATCH:,} inputs, {rate:,.0f} per second, {bad} findings", flush=True)
    detail = ", ".join(f"{fates[name]:,} {name}" for name in SHARES)
    record("inputs fuzzed", f"{batch * BATCH:,}", "–", bad, f"{detail}; {fates['read']:,} were valid")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
