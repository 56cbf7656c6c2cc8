"""The program's own JSON form."""

from diprl.export.parity import Check, Written, compare
from diprl.export.structure import one_file
from diprl.program import Program

render = one_file("json", lambda program, _: program.to_json())


def check(written: Written) -> list[Check]:
    loaded, samples = Program.load(written.files[0]), written.samples
    return [compare("read back", written, loaded.act_batch(samples.features, samples.primitive_actions))]
