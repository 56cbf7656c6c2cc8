"""A JavaScript module without dependencies: the language's parser, interpreter and printers, and one program."""

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.export.parity import Check, Written, compare
from diprl.program import Discrete, Program

LANGUAGE = ("tokens", "header", "parse", "interpret", "format")
"""The files that make up the language, in the order in which each uses those before it."""


def to_js(program: Program) -> str:
    """The whole module as text; networks stay outside, so that a blend takes the primitives' actions."""
    title = structure.printable(structure.title(program))
    facts = {"text": json.dumps(str(program)), "signature": structure.signature(program)}
    return structure.fill("module.js", title=title, language=language(), **facts)


render = structure.one_file("mjs", lambda program, _: to_js(program))


def language() -> str:
    """The language in JavaScript, as functions that any script can hold."""
    return "\n".join(structure.fixed_text(f"js/{name}.js") for name in LANGUAGE)


def check(written: Written) -> list[Check]:
    """Let Node play every observation, where it is installed."""
    node = shutil.which("node")
    if node is None:
        return [Check("play", note="Node is not installed")]
    samples = written.samples
    primitives = () if samples.primitive_actions is None else samples.primitive_actions.shape[1:]
    inputs = [samples.features] if not primitives else [samples.features, samples.primitive_actions]
    table = np.concatenate([np.reshape(each, (len(samples), -1)) for each in inputs if each is not None], axis=1)
    sizes = map(str, (samples.features.shape[1], *(primitives or (0, 0))))
    with TemporaryDirectory() as folder:
        script, given, found = (Path(folder) / name for name in ("check.mjs", "given", "found"))
        script.write_text(structure.fixed_text("check.mjs"), encoding="utf-8")
        np.ascontiguousarray(table, np.float64).tofile(given)
        command = [node, str(script), str(written.files[0].resolve()), str(given), str(found), *sizes]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise DiprlError(f"the exported module does not run: {done.stderr.strip()[:2000]}")
        actions = np.fromfile(found)
    discrete = isinstance(written.program.signature.actions, Discrete)
    return [compare("play", written, actions if discrete else actions.reshape(len(samples), -1))]
