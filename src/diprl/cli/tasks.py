"""`diprl tasks`: what is built in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from diprl.cli.options import JSONOption
from diprl.errors import DiprlError

if TYPE_CHECKING:
    from diprl.tasks.base import Task


@dataclass(frozen=True, kw_only=True)
class Command(JSONOption):
    """List the built-in tasks with their features, actions, budgets and the paper's scores."""

    def run(self) -> None:
        from diprl.tasks.registry import TASKS
        from diprl.terminal.tables import print_tasks

        rows = []
        for name, make in TASKS.items():
            try:
                rows.append({"task": name} | describe(make()))
            except DiprlError as error:
                rows.append({"task": name, "missing": str(error)})
        self.print_json(tasks=rows) if self.json else print_tasks(rows)


def describe(task: "Task") -> dict[str, Any]:
    """What the list says about a task that can be made here."""
    return {
        "features": list(task.signature.feature_names),
        "actions": list(task.signature.actions.names),
        "backend": stepped_by(task),
        "horizon": task.horizon,
        "budget": task.budget,
        "paper_score": task.paper_score,
    }


def stepped_by(task: "Task") -> str:
    """What steps the environments of a task."""
    return "compiled twin" if task.twin else "batched MuJoCo" if task.environments else "Gymnasium"
