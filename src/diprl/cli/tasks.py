"""`diprl tasks`: what is built in."""

from dataclasses import dataclass
from typing import Any

from diprl.cli.options import JSONOption
from diprl.errors import DiprlError
from diprl.terminal.layout import print_table
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Tasks(JSONOption):
    """List the built-in tasks with their features, actions, budgets and the paper's scores."""

    def run(self) -> None:
        with Working("looking at the tasks"):
            from diprl.terminal.printing import TASKS

            rows = task_rows()
        self.print_json(tasks=rows)
        print_table(TASKS, [row | {"paper": row.get("paper_score")} for row in rows])


def task_rows(make_environments: bool = False) -> list[dict[str, Any]]:
    """What is known about each built-in task, or why it cannot be used here."""
    from diprl.tasks.registry import TASKS

    rows = []
    for name, make in TASKS.items():
        try:
            task = make()
            if make_environments:
                task.reference().close()
        except DiprlError as error:
            rows.append({"task": name, "missing": str(error)})
            continue
        rows.append(
            {
                "task": name,
                "features": list(task.signature.feature_names),
                "actions": list(task.signature.actions.names),
                "backend": "compiled twin" if task.twin else "batched MuJoCo" if task.environments else "Gymnasium",
                "horizon": task.horizon,
                "budget": task.budget,
                "paper_score": task.paper_score,
            }
        )
    return rows
