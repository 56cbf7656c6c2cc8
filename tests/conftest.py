"""Settings that every test shares."""

import os

import pytest
from hypothesis import settings

from tests.rounding import choose_kernels

choose_kernels()
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # or ONNX Runtime looks up a host when it is imported

# A busy machine is not a failure. Continuous integration tries the same examples every time, so that a change is judged
# by what it changed; everybody else goes on looking for new ones.
settings.register_profile("default", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("default")


HEAVY = ("tests/test_", "tests/experiment", "tests/methods", "tests/train", "tests/reliability", "tests/docs")
"""Files that take long: begun first, they do not leave one process working alone at the end."""


@pytest.fixture(autouse=True, scope="session")
def nothing_is_trusted_yet(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests name code of their own, which must not end up in the developer's list."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))


@pytest.fixture(autouse=True, scope="module")
def compiled_code_has_room() -> None:
    """One process runs more than a thousand tests, which compile more functions than it may hold."""
    from diprl.system.device import make_room_for_code

    make_room_for_code()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(HEAVY))


def pytest_configure(config: pytest.Config) -> None:
    """Share compiled code between tests, between the processes that run them, and with those that they start.

    MuJoCo draws off-screen from the first test on, whichever imports it.
    """
    from diprl.system.device import draw_without_screen, use_compilation_cache

    draw_without_screen()
    cache = getattr(config, "cache", None)  # pytest may run without one
    if cache is not None:
        os.environ["DIPRL_CACHE"] = str(cache.mkdir("diprl"))
        use_compilation_cache()
