"""Every target on programs of every kind, with the report that it gives."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from diprl.errors import DiprlError
from diprl.export import TARGETS, Check, ExportReport, Written, c_check, draw, export, json
from diprl.program import Program, parse
from tests.export.examples import BLEND, CHAIN, EXAMPLES, NESTED, NETWORKS

RUNNABLE = ("python", "c", "js", "json", "st")


@pytest.mark.parametrize("target", RUNNABLE)
@pytest.mark.parametrize("program", EXAMPLES, ids=lambda program: program.task)
def test_runnable_targets_agree(target: str, program: Program, tmp_path: Path) -> None:
    report = export(program, target, tmp_path / "new" / "folder")
    assert all(path.is_file() for path in report.files)
    assert report.agrees
    assert all(check.observations > 3000 for check in report.checks)
    assert "exactly on it" in str(report)


@pytest.mark.parametrize("target", ["latex", "svg"])
def test_pictures_say_that_they_were_not_run(target: str, tmp_path: Path) -> None:
    report = CHAIN.export(target, tmp_path)
    assert "not checked: it is for" in str(report)
    assert report.files[0].read_text(encoding="utf-8") in (CHAIN.to_latex(standalone=True), CHAIN.to_svg())


def test_every_target_has_a_module() -> None:
    folder = Path(c_check.__file__).parent
    assert all((folder / f"{target}.py").is_file() for target in TARGETS)


def test_networks_travel_with_the_program(tmp_path: Path) -> None:
    for target, names in (("python", ["blend", "play"]), ("c", ["double", "float"])):
        report = export(BLEND, target, tmp_path, primitives=NETWORKS)
        assert report.agrees
        assert [check.name for check in report.checks][:2] == names
        assert "to within" in report.checks[-1].note


def test_networks_must_fit() -> None:
    with pytest.raises(DiprlError, match="blends none"):
        CHAIN.to_python(NETWORKS)
    with pytest.raises(DiprlError, match="primitives left were not given"):
        BLEND.to_python(NETWORKS[1:])
    with pytest.raises(DiprlError, match="must have as many"):
        parse(str(BLEND).replace("[-0.5, 0.5], ", "")).to_c(NETWORKS)


def test_disagreements_are_counted(tmp_path: Path) -> None:
    other = parse(str(CHAIN).replace("0.1", "0.2"))
    samples = draw(CHAIN)
    assert not ExportReport("x", (), (Check("x", 5, 1),)).agrees
    path = tmp_path / "other.json"
    other.save(path)
    (check,) = json.check(Written(CHAIN, [path], samples))
    expected = int((CHAIN.act_batch(samples.features) != other.act_batch(samples.features)).sum())
    assert check.disagreements == expected > 0
    assert f"DISAGREES {expected} times" in str(check)


def test_a_missing_compiler_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_check, "compiler", lambda: None)
    assert "double: not checked: no C compiler" in str(export(CHAIN, "c", tmp_path))


def test_unknown_targets_offer_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(DiprlError, match="unknown export target 'pyhton': did you mean python"):
        export(CHAIN, "pyhton", tmp_path)


def test_samples_stand_on_thresholds() -> None:
    samples = draw(NESTED, random=100, near=300, seed=1)
    values = samples.features[:, 0] - 0.5
    assert (values == 0.0).sum() > 20
    assert ((values != 0.0) & (np.abs(values) < 1e-12)).sum() > 20
    assert np.isnan(samples.features).any()


def test_python_file_runs_without_the_package(tmp_path: Path) -> None:
    (path, *_) = export(BLEND, "python", tmp_path, primitives=NETWORKS).files
    code = f"import {path.stem} as p; print(p.play([1, 0], [0.0] * 5), p.metadata['actions'])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '{tmp_path}'); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("['up', 'left']\n")
