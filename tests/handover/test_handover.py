"""Hand-overs: what a folder holds, that it can be checked without JAX, that no change goes unnoticed."""

import csv
import json
import os
import shutil
import subprocess
import sys
import zipfile
from math import isnan
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest

from diprl.cli.main import run
from diprl.errors import DiprlError
from diprl.export import c_check, draw, structure
from diprl.export.guard import Guard
from diprl.handover import Facts, check_handover, write_handover
from diprl.program import Program, parse
from tests.export.examples import BLEND, NESTED
from tests.export.misra import ADVISORY, findings
from tests.export.units import step_unit
from tests.report.run_folders import write_run

ROOT = Path(__file__).parents[2]
SPECS = {
    "CartPole-v1": """
task: CartPole-v1
box: {cart_position: [-2.4, 2.4], cart_velocity: [-3, 3], pole_angle: [-0.21, 0.21], pole_angular_velocity: [-3.5, 3.5]}
requirements:
  R1: the cart is pushed to the side to which the pole falls
  R2: every branch can act
properties:
  - kind: never
    name: never left when all leans right
    requirement: R1
    action: left
    when: [pole_angle > 0.1, pole_angular_velocity > 0.5, cart_position > 0, cart_velocity > 0]
  - {kind: branches, requirement: R2}
""",
    "LunarLander-v3": """
requirements:
  R1: falling fast, upright and in the air, the main engine fires
  R2: every branch can act
properties:
  - kind: actions
    requirement: R1
    only: [main_engine]
    within: {x: [-1, 1], y: [0, 1.5], x_velocity: [-1, 1], y_velocity: [-3, -2], angle: [-0.1, 0.1],
             angular_velocity: [-0.2, 0.2], left_leg_contact: 0, right_leg_contact: 0}
  - {kind: branches, requirement: R2}
""",
}
FALLBACKS = {"CartPole-v1": "right", "LunarLander-v3": "noop"}
WITHOUT_JAX = "import sys; sys.modules.update(dict.fromkeys(['jax', 'jaxlib', 'equinox', 'optax', 'gymnasium']))"
pytestmark = pytest.mark.skipif(c_check.compiler() is None, reason="no C compiler")


@pytest.fixture(scope="module", params=SPECS)
def handed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hand-over of a learnt program, made by the command."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "spec.yaml").write_text(SPECS[request.param])
    program = ROOT / "results" / "programs" / f"{request.param}.txt"
    begin = monotonic()
    options = [
        "--spec",
        str(folder / "spec.yaml"),
        "--fallback",
        FALLBACKS[request.param],
        "--out",
        str(folder / "out"),
    ]
    assert run("handover", [str(program), *options]) == 0
    assert monotonic() - begin < 60.0
    return folder / "out"


def loaded(folder: Path) -> Program:
    return Program.load(folder / "program.json")


def test_everything_is_in_it(handed: Path) -> None:
    name = structure.prefix(loaded(handed))
    code = {f"c/{name}.c", f"c/{name}.h", f"c/{name}_fixed.c", f"c/{name}_fixed.h", f"st/{name}.st", f"js/{name}.mjs"}
    rest = {f"fmu/{name}.fmu", "MODEL_CARD.md", "README.md", "requirements.md", "program.txt", "program.json"}
    vectors = {
        f"vectors/{file}"
        for file in ("vectors.csv", "vectors.h", "run_vectors.c", "Makefile", "cortex_m.c", "cortex_m.ld")
    }
    manifest = json.loads((handed / "manifest.json").read_text())
    assert manifest["files"].keys() == code | rest | vectors | {"spec/spec.yaml"}
    with zipfile.ZipFile(handed.with_name("out.zip")) as packed:
        assert {file.removeprefix("out/") for file in packed.namelist()} == {*manifest["files"], "manifest.json"}
        assert packed.read("out/manifest.json") == (handed / "manifest.json").read_bytes()


def test_the_card_says_what_was_and_what_was_not_verified(handed: Path) -> None:
    card = (handed / "MODEL_CARD.md").read_text()
    assert structure.signature(loaded(handed)) in card
    assert card.count("| proved |\n") == 2
    assert "nobody chose it" not in card
    for heading in (
        "Features",
        "Training and score",
        "Limits of validity",
        "Not verified",
        "Test vectors",
        "Fixed point",
    ):
        assert f"## {heading}" in card
    for word in ("UNSEEN", "Margins by condition", "multiplications", "control="):
        assert word in card


def test_no_finding_in_a_required_category(handed: Path) -> None:
    found = findings(sorted((handed / "c").glob("*.c")))
    assert not [each for each in found if each[0] not in ADVISORY]


def test_vectors_lie_on_both_sides_of_every_threshold(handed: Path) -> None:
    program = loaded(handed)
    rows = list(csv.DictReader((handed / "vectors" / "vectors.csv").read_text().splitlines()))
    for number in range(1, program.conditions + 1):
        for side in ("holds", "fails"):
            assert sum(row["where"] == f"condition {number} {side}" for row in rows) >= 2
    assert any(isnan(float(row["in_" + program.signature.feature_names[0]])) for row in rows)
    assert {int(row["status"]) & 3 for row in rows} == {0, 1, 2, 3}


def test_vectors_pass_here_and_notice_a_wrong_program(handed: Path, tmp_path: Path) -> None:
    shutil.copytree(handed, tmp_path / "copy")
    done = make(tmp_path / "copy", "vectors")
    assert done.returncode == 0
    assert "all vectors pass" in done.stdout
    for source in (tmp_path / "copy" / "c").glob("*.c"):
        text = source.read_text()
        source.write_text(text.replace(" > 0.0)", " > 1e-9)").replace(" > INT64_C(0))", " > INT64_C(9000000000))"))
        done = make(tmp_path / "copy", "vectors")
        assert done.returncode != 0
        assert "SOME VECTORS FAIL" in done.stdout
        source.write_text(text)


def test_vectors_pass_on_a_cortex_m(handed: Path, tmp_path: Path) -> None:
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed: the vectors are not run on a Cortex-M")
    shutil.copytree(handed, tmp_path / "copy")
    done = make(tmp_path / "copy", "cortex-m")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == structure.signature(loaded(handed))
    assert done.stdout.count("vectors, 0 wrong") == 3


def make(folder: Path, target: str, **environment: str) -> Any:
    command = ["make", "--silent", "-C", str(folder / "vectors"), target]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=200, env=os.environ | environment
    )


def test_missing_tools_are_named(handed: Path, tmp_path: Path) -> None:
    for tool in ("make", "sh", "echo"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or "")
    done = make(handed, "cortex-m", PATH=str(tmp_path))
    assert done.stdout.strip() == "not run, for want of arm-none-eabi-gcc"


def test_ten_thousand_observations_in_a_unit(handed: Path) -> None:
    program, facts = loaded(handed), json.loads((handed / "manifest.json").read_text())
    (unit,) = (handed / "fmu").glob("*.fmu")
    samples = draw(program, random=8_000, near=1_800)
    assert len(samples) >= 10_000
    guard = Guard(program.signature.actions.names.index(facts["fallback"]))
    actions, flags = guard.control(program, samples.features, program.act_batch(samples.features))
    found, status, signature = step_unit(program, unit, samples)
    assert (found == actions).all()
    assert (np.array(status) & 3 == flags).all()
    assert signature == structure.signature(program)


def test_an_independent_parser_reads_the_structured_text(handed: Path) -> None:
    blark = pytest.importorskip("blark.parse", reason="blark is not installed")
    (file,) = (handed / "st").glob("*.st")
    (found,) = blark.parse(file)
    assert found.exception is None


def test_it_is_checked_where_there_is_no_jax(handed: Path) -> None:
    code = f"{WITHOUT_JAX}\nfrom diprl.cli import main\nmain(['handover', '--check', {str(handed)!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same when made again" in done.stdout
    assert "FAILED" not in done.stdout


@pytest.mark.parametrize("how", ["changed", "missing", "added"])
def test_nothing_changes_unnoticed(handed: Path, tmp_path: Path, how: str) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(handed, folder)
    victim = folder / "program.txt"
    if how == "missing":
        victim.unlink()
    elif how == "changed":
        victim.write_text(victim.read_text() + " ")
    else:
        (folder / "c" / "more.c").write_text("")
    (step,) = check_handover(folder)
    assert step.passed is False
    assert (
        "c/more.c does not belong to it"
        if how == "added"
        else f"program.txt {'is' if how == 'missing' else 'was'} {how}"
    ) in step.text


def test_code_of_another_program_is_noticed(handed: Path, tmp_path: Path) -> None:
    """Hashes that fit are not enough: the code has to be what the program gives."""
    folder = tmp_path / "copy"
    shutil.copytree(handed, folder)
    source = next(path for path in (folder / "c").glob("*.c") if "_fixed" not in path.name)
    source.write_text(source.read_text().replace(" > 0.0)", " > 0.5)"))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][f"c/{source.name}"] = structure.sha256(source.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    steps = list(check_handover(folder))
    assert [step.text for step in steps if step.passed is False] == [f"made again: c/{source.name} differs"]


def test_a_run_tells_its_training_and_score(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    assert run("handover", [str(tmp_path / "run"), "--episodes", "2"]) == 0
    card = (tmp_path / "run" / "handover" / "MODEL_CARD.md").read_text()
    assert "| seed | 0 |" in card
    assert "95% interval" in card
    assert "It was tried in 2 episodes" in card
    assert "any requirement: none were given" in card
    assert "nobody chose it" in card


def test_what_is_not_proved_is_told(tmp_path: Path) -> None:
    program = parse(
        "task: Tank\nfeatures: level [m] in [0, 2]\nactions: close, open\n\nif level > 1: open\nelse: close"
    )
    spec = tmp_path / "spec.yaml"
    properties = "properties:\n  - {kind: never, action: open, requirement: R1}\n"
    spec.write_text(f"requirements:\n  R1: never open\n  R2: the valve is quick\n{properties}")
    written = write_handover(program, tmp_path / "out", spec, Facts(seen=((0.5, 1.5),)))
    assert not written.good
    card = (tmp_path / "out" / "MODEL_CARD.md").read_text()
    assert "- R1 never open property 1 never refuted" in card
    assert "- R2 the valve is quick none asks for it  not verified" in card
    assert any(step.passed is False and "refuted" in step.text for step in check_handover(tmp_path / "out"))
    spec.write_text(f"requirements:\n  R3: never open\n{properties}")
    with pytest.raises(DiprlError, match="'property 1' is for the requirement R1, which 'requirements:' does not list"):
        write_handover(program, tmp_path / "other", spec)
    assert not (tmp_path / "other").exists()


def test_outputs_are_handed_over_too(tmp_path: Path) -> None:
    written = write_handover(NESTED, tmp_path / "out", fallback="0.5,-1")
    assert written.good, str(written)
    assert "outputs that are numbers" in (tmp_path / "out" / "MODEL_CARD.md").read_text()
    assert all(step.passed is not False for step in check_handover(tmp_path / "out"))


def test_mistakes_are_named(tmp_path: Path) -> None:
    program = parse("task: Tank\nfeatures: level\nactions: close, open\n\nif level > 1: open\nelse: close")
    with pytest.raises(DiprlError, match="did you mean open"):
        write_handover(program, tmp_path / "out", fallback="opne")
    with pytest.raises(DiprlError, match="2 numbers with commas"):
        write_handover(NESTED, tmp_path / "out", fallback="9,0")
    with pytest.raises(DiprlError, match="blends primitives cannot be handed over"):
        write_handover(BLEND, tmp_path / "out")
    (tmp_path / "out").mkdir()
    with pytest.raises(DiprlError, match="is there already"):
        write_handover(program, tmp_path / "out", replace=True)
    with pytest.raises(DiprlError, match="is no hand-over"):
        list(check_handover(tmp_path / "out"))
    with pytest.raises(DiprlError, match="name a run folder"):
        run("handover", [])
