"""What the fuzzers start from: small valid files of every kind, the loaders that read them, and ways to spoil them."""

import hashlib
import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diprl.cli.train import Train
from diprl.program import Program
from diprl.runs.observers import read_rows
from diprl.runs.spec import RunSpec
from diprl.system.storage import load_tree, save_tree
from diprl.tasks.mujoco.primitives import Primitive, load_primitive, save_primitive

HEAD = 'features: x [m] in [-1, inf], y: "height"\nactions: no, yes\n'
TEXTS = (
    HEAD + "if 2*x - y > 1: yes\nelse: no",
    "# diprl program 1\ntask: Probe-v0\n"
    + HEAD
    + "if x/2 > 1e-3:\n    no\nelif (y + 1)*3 < x:\n    yes\nelse:\n    no\n",
    "features: x\noutputs: a in [-2, 2], b [N m]\nif x > 0:\n    a = x\n    b = 1 - x\nelse:\n    a = 0\n    b = 2\n",
    "features: x, y\nprimitives: f, g\nactuators: 2 in [-1, 1]\nif x > y:\n    0.5*f + 0.5*g\nelse:\n    f\n",
)
WORDS = (
    "if", "elif", "else:", "features:", "actions:", "task:", "inf", "nan", "-", "+", "*", "/", "(", ")", ">", "<", ">=",
    ":", "\n", "    ", "\t", "\r", "\x00", '"', "\\", "\\ud800", "−", "×", "e999", "1e308", "9" * 30, "0", "x", "y",
    "{", "}", "[", "]", ",", "null", "true", "NaN", "Infinity", "\ufeff", "#", "\u2028", "٣", "in [",
    "1 in", "99999999 in [-1, 1]",
)  # fmt: skip
LIKE = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array(7, np.int32)}


@dataclass(frozen=True)
class Kind:
    """One kind of file: valid examples, and what reads them."""

    examples: tuple[bytes, ...]
    load: Callable[[bytes], Any]
    rebuild: Callable[[bytes], bytes] = bytes
    """Makes a spoilt file consistent again on the outside, so that what lies behind the checksum is reached too."""


def kinds(folder: Path) -> dict[str, Kind]:
    """All kinds of files that we read; loaders that take paths get a file in the folder."""

    def from_file(load: Callable[[Path], Any], name: str = "file") -> Callable[[bytes], Any]:
        path = folder / name

        def load_bytes(content: bytes) -> Any:
            path.write_bytes(content)
            return load(path)

        return load_bytes

    programs = [Program.from_text(text) for text in TEXTS]
    return {
        "program text": Kind(
            tuple(text.encode() for text in (*TEXTS, *map(str, programs))), lambda c: Program.from_text(decoded(c))
        ),
        "program JSON": Kind(
            tuple(compact(program.to_json()) for program in programs), lambda c: Program.from_json(decoded(c))
        ),
        "program file": Kind(tuple(text.encode() for text in TEXTS), from_file(Program.load)),
        "config": Kind((config_example(),), from_file(load_config, "config.json")),
        "metrics": Kind((b'{"time/total_timesteps": 64, "x": 0.5}\n' * 3,), from_file(read_rows)),
        "checkpoint": Kind((checkpoint_example(folder),), from_file(lambda p: load_tree(p, LIKE)), signed),
        "primitive": Kind((primitive_example(folder),), from_file(load_primitive), signed),
    }


def decoded(content: bytes) -> str:
    """Text from any bytes; those that are not UTF-8 become characters that no text may hold."""
    return content.decode("utf-8", "surrogateescape")


def compact(text: str) -> bytes:
    return json.dumps(json.loads(text), separators=(",", ":")).encode()


def config_example() -> bytes:
    session = {"backend": "auto", "env_timeout": None}
    return json.dumps(RunSpec("CartPole-v1", seed=3, episodes=5).to_json() | {"session": session}).encode()


def load_config(path: Path) -> Any:
    """What `diprl train --resume` does with a config before anything is trained."""
    return Train().resumed_session(path.parent)


def checkpoint_example(folder: Path) -> bytes:
    path = Path(tempfile.mkdtemp(dir=folder)) / "checkpoint"
    save_tree(path, LIKE, {"steps": 64, "seed": 1})
    return path.read_bytes()


def primitive_example(folder: Path) -> bytes:
    path, unit = folder / "primitive", np.ones(2)
    layers = ((np.ones((2, 3)), np.ones(3)), (np.ones((3, 2)), np.ones(2)))
    save_primitive(Primitive("p", "t", 1.0, "command", unit, unit, layers, -unit, unit), path)
    return path.read_bytes()


def signed(content: bytes) -> bytes:
    """A checkpoint with the checksum that its content asks for."""
    _, _, body = content.partition(b"\n")
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def spoilt(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    """The content after one to four random accidents."""
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 4))):
        content = dice.choice(ACCIDENTS)(content, others, dice)
    return content


def flip(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    if not content:
        return content
    place = dice.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << dice.randrange(8))]) + content[place + 1 :]


def cut(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    return content[: dice.randrange(len(content) + 1)]


def remove(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    place = dice.randrange(len(content) + 1)
    return content[:place] + content[place + dice.randrange(1, 12) :]


def repeat(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    first, last = sorted((dice.randrange(len(content) + 1), dice.randrange(len(content) + 1)))
    return content[:last] + content[first : first + 200] * dice.choice((1, 1, 2, 8)) + content[last:]


def swap(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    places = sorted(dice.randrange(len(content) + 1) for _ in range(4))
    a, b, c, d = places
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def insert(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    place = dice.randrange(len(content) + 1)
    return content[:place] + dice.choice(WORDS).encode("utf-8", "surrogatepass") + content[place:]


def overwrite(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    place, size = dice.randrange(len(content) + 1), dice.randrange(1, 8)
    return content[:place] + dice.randbytes(size) + content[place + size :]


def splice(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    other = dice.choice(others)
    return content[: dice.randrange(len(content) + 1)] + other[dice.randrange(len(other) + 1) :]


def odd_value(content: bytes, others: tuple[bytes, ...], dice: random.Random) -> bytes:
    """Replace what lies between two marks, as in JSON, by something that has no business there."""
    marks = [index for index, byte in enumerate(content) if byte in b':,[]{}"']
    if not marks:
        return content
    place = dice.choice(marks) + 1
    end = min((mark for mark in marks if mark >= place), default=len(content))
    return content[:place] + dice.choice(ODD) + content[end:]


ODD = (
    b"null", b"true", b"-1", b"0", b"1e400", b"[]", b"{}", b'""', b'"x"', b"9" * 400, b"1.5", b"[[[[[]]]]]", b'{"x":1}',
    b'"\\ud800"', b"NaN", b"-0.0", b"4294967296", b'"evil:Env-v0"', b"1e308", b"[" * 2000,
)  # fmt: skip
ACCIDENTS = (flip, cut, remove, repeat, swap, insert, insert, overwrite, splice, odd_value, odd_value)
