"""The house's arrows: who may import whom, and what stays out of memory until it is needed."""

import ast
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "diprl"
FILES = sorted(SOURCE.rglob("*.py"))

ROOMS = {
    "errors": "",
    "system": "",
    "program": "",
    "export": "program",
    "verify": "program",
    "handover": "program export verify",
    "tasks": "program",
    "policy": "tasks",
    "extract": "program tasks policy",
    "train": "tasks policy",
    "arena": "program tasks policy train",
    "search": "program tasks arena",
    "runs": "program tasks policy train arena search",
    "methods": "program tasks policy extract train arena search runs",
    "terminal": "program",
    "experiment": "program tasks policy extract train arena runs methods",
    "report": "program export verify tasks arena search runs methods",
    "model": "program export tasks extract train arena search runs methods terminal report",
    "cli": "program export verify handover tasks train arena search runs methods terminal experiment report",
}
"""The rooms from top to bottom, and the rooms that each one uses; `errors` and `system` are for all but `errors`."""
ENTRANCES = {"__init__", "__main__"}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Every module a file imports anywhere, except for the eyes of type checkers only."""
    names: set[str] = set()
    statements: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while statements:
        node = statements.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            statements += node.orelse
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        statements += ast.iter_child_nodes(node)
    return names


def test_every_file_lies_in_a_room() -> None:
    assert {part_of(path) for path in FILES} == ROOMS.keys() | ENTRANCES


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_uses_rooms_above_it_and_no_others(room: str) -> None:
    above = list(ROOMS)[: list(ROOMS).index(room)]
    allowed = set(ROOMS[room].split())
    assert allowed <= set(above), "arrows point up the list"
    used: set[str] = set()
    for path in [path for path in FILES if part_of(path) == room]:
        used |= {name.split(".")[1] for name in imports(path) if name.startswith("diprl.")} & ROOMS.keys()
    assert used - {room, "errors", "system"} == allowed
    assert room not in ("errors", "system") or used <= {room, "errors"}


@pytest.mark.parametrize("part", ["program", "export", "verify", "handover"])
def test_programs_never_speak_of_jax(part: str) -> None:
    for path in [path for path in FILES if part_of(path) == part]:
        roots = {name.split(".")[0] for name in imports(path)}
        assert not roots & {"jax", "jaxlib", "equinox", "optax", "jaxtyping"}, path


def loaded_by(statement: str) -> set[str]:
    """The modules in memory after a statement in a fresh process."""
    script = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["diprl.program", "diprl.export", "diprl.verify", "diprl.handover"])
def test_programs_need_no_jax(module: str) -> None:
    assert not loaded_by(f"import {module}") & {"jax", "jaxlib", "equinox", "optax", "gymnasium"}


def test_a_received_program_runs_without_jax() -> None:
    text = "# diprl program 1\nfeatures:\n    x\nactions: left, right\n\nif x > 0:\n    left\nelse:\n    right\n"
    statement = f"from diprl import Program\nassert Program.from_text({text!r}).act([1.0]) == 0"
    assert not loaded_by(statement) & {"jax", "gymnasium"}


@pytest.mark.parametrize("statement", ["import diprl", "from diprl.cli import main", "import diprl.cli.main"])
def test_starting_up_loads_nothing_heavy(statement: str) -> None:
    heavy = {"jax", "jaxlib", "numpy", "scipy", "gymnasium", "mujoco", "rich", "tyro", "equinox", "optax"}
    assert not loaded_by(statement) & heavy


def test_help_loads_nothing_heavy() -> None:
    statement = "from diprl.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    assert not loaded_by(statement) & {"jax", "numpy", "gymnasium", "tyro"}


def test_parsing_the_options_of_train_needs_no_jax() -> None:
    statement = "from diprl.cli import main\ntry:\n    main(['train', '--nonsense'])\nexcept SystemExit:\n    pass"
    assert not loaded_by(statement) & {"jax", "gymnasium"}


def test_what_moves_is_there_before_anything_heavy() -> None:
    """So that something can be seen within a second of Enter."""
    statement = "from diprl.cli.main import find_command\nfrom diprl.terminal.progress import Display, Working\n"
    for command in ("train", "eval", "tasks", "doctor", "runs", "compare", "polish", "simplify", "verify", "reproduce"):
        loaded = loaded_by(statement + f"find_command({command!r})\nWorking('…').show('…')\nDisplay()")
        assert not loaded & {"jax", "numpy", "scipy", "gymnasium", "z3"}, command


def test_training_batches_on_a_bare_machine_needs_jax_alone() -> None:
    statement = "import diprl.methods.registry, diprl.experiment.suites, diprl.experiment.executors"
    assert not loaded_by(statement) & {"gymnasium", "minigrid", "mujoco", "sklearn"}


FORBIDDEN = {"eval", "exec", "compile", "__import__"}
UNSAFE = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_that_is_read_can_run(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert not called & FORBIDDEN
    only_the_error = {"pickle", "pickle.PicklingError"}
    used = imports(path) - (only_the_error if only_the_error <= imports(path) else set())
    assert not {name.split(".")[0] for name in used} & UNSAFE
    assert "allow_pickle=True" not in path.read_text(encoding="utf-8")


def test_the_package_stays_small() -> None:
    lengths = [len(path.read_text(encoding="utf-8").splitlines()) for path in FILES]
    assert sum(lengths) <= 26_120
    assert 70 <= median(lengths) <= 120


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_stay_short_and_say_what_they_are_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    assert ast.get_docstring(ast.parse(text))
