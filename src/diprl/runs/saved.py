"""What can be opened again: a run folder, finished or not, a saved model, or a checkpoint."""

from pathlib import Path
from typing import Any, NamedTuple

from diprl.errors import DiprlError
from diprl.runs.folder import MODEL, RESULT, checkpoints, read_spec
from diprl.runs.spec import RunSpec
from diprl.system.files import read_json
from diprl.system.storage import is_stored, load_facts


class Saved(NamedTuple):
    """Where the parts of something saved lie."""

    spec: RunSpec
    arrays: Path
    """The file with the training state."""
    result: dict[str, Any] | None
    """None of a run that is not finished."""
    folder: Path | None


def find_saved(path: Path) -> Saved:
    """The parts of a run folder, a model or a checkpoint."""
    if path.is_dir():
        return in_folder(path)
    facts = load_facts(path)
    if not isinstance(facts.get("spec"), dict):
        raise DiprlError(f"{path}: not a saved model")
    try:
        spec = RunSpec.from_json(facts["spec"])
    except DiprlError as error:
        raise DiprlError(f"{path}: {error}") from error
    result = facts.get("result")
    return Saved(spec, path, result if isinstance(result, dict) else None, None)


def in_folder(folder: Path) -> Saved:
    spec = read_spec(folder)
    if (folder / RESULT).exists() and is_stored(folder / MODEL):
        return Saved(spec, folder / MODEL, read_json(folder / RESULT), folder)
    stored = checkpoints(folder)
    if not stored:
        raise DiprlError(f"{folder} holds a run that has not written a checkpoint yet")
    latest = max(stored, key=lambda path: load_facts(path).get("steps", 0))
    return Saved(spec, latest, None, folder)
