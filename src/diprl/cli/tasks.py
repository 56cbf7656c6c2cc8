"""`diprl tasks`: what is built in."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """List the built-in tasks with their features, actions, budgets and the paper's scores."""

    json: bool = False
    """Print one JSON object instead of a table."""

    def run(self) -> int:
        from diprl.errors import DiprlError
        from diprl.tasks.registry import TASKS
        from diprl.terminal.tables import print_tasks

        rows = []
        for name, make in TASKS.items():
            try:
                task = make()
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
        print(json.dumps({"tasks": rows})) if self.json else print_tasks(rows)
        return 0
