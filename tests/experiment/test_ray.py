"""A grid on a real local Ray, one of whose workers is killed in the middle of a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from diprl.experiment.executors import ray
from diprl.experiment.grid import Grid
from tests.experiment.fixtures import make_run, step_by_step

cluster = pytest.importorskip("ray", reason="Ray is an extra: pip install 'diprl[cluster]'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def local_ray() -> Iterator[None]:
    environment = {"env_vars": {"DIE_AT": "2:7", "PYTHONPATH": str(Path(__file__).parents[2])}}
    cluster.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    yield
    cluster.shutdown()


def test_a_run_whose_worker_was_killed_goes_on_in_another(local_ray: None, tmp_path: Path) -> None:
    grid = Grid(tmp_path, tuple(make_run(seed=seed) for seed in (1, 2, 3)))
    assert ray(grid, lambda _: None, execute=step_by_step) == {}
    assert sorted(record["seed"] for record in grid.store.lines()) == [1, 2, 3]
    assert (tmp_path / "work" / "begun2").read_text() == ".."
    assert [(tmp_path / "work" / f"finished{seed}").read_text() for seed in (1, 2, 3)] == ["."] * 3
    assert not any(grid.work_folder(run).exists() for run in grid.runs)
