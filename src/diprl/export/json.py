"""The program's own JSON form."""

from collections.abc import Sequence
from pathlib import Path

from diprl.export.networks import Network
from diprl.export.parity import compare
from diprl.export.report import Check
from diprl.export.samples import Samples
from diprl.export.structure import prefix
from diprl.program import Program


def render(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    return {f"{prefix(program)}.json": program.to_json()}


def check(
    program: Program, files: Sequence[Path], samples: Samples, networks: Sequence[Network]
) -> list[Check]:
    """Read the written file back and run it."""
    loaded = Program.load(files[0])
    return [
        compare("read back", program, samples, loaded.act_batch(samples.features, samples.primitive_actions))
    ]
