"""The program's own JSON form."""

from collections.abc import Sequence

from diprl.export.networks import Network
from diprl.export.parity import Check, Written, compare
from diprl.export.structure import prefix
from diprl.program import Program


def render(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    return {f"{prefix(program)}.json": program.to_json()}


def check(written: Written) -> list[Check]:
    """Read the written file back and run it."""
    loaded, samples = Program.load(written.files[0]), written.samples
    return [compare("read back", written, loaded.act_batch(samples.features, samples.primitive_actions))]
