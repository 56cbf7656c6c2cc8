"""Models as files: the agent's numbers with the settings, the program and the results that belong to them."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.random as jr

from diprl.errors import DiprlError
from diprl.methods.acting import agent_act
from diprl.methods.base import Outcome, Trained, engine_for
from diprl.methods.registry import find_method
from diprl.program import Program
from diprl.system.storage import load_facts as stored_facts
from diprl.train import schedule
from diprl.train.checkpoint import load_checkpoint, save_checkpoint
from diprl.train.evaluate import program_act

if TYPE_CHECKING:
    from diprl.model import Model


def save_model(model: "Model", path: Path) -> None:
    outcome: Outcome = model.outcome
    state, signature = outcome.trained.state, model.task.signature
    facts = {
        "method": model.method,
        "task": model.task.name,
        "env_kwargs": model.env_kwargs,
        "feature_names": signature.feature_names,
        "action_names": signature.actions.names,
        "seed": model.seed,
        "preset": model.preset,
        "settings": asdict(model.config),
        "program": json.loads(outcome.program.to_json()) if outcome.program else None,
        "steps": outcome.steps,
        "results": outcome.facts,
    }
    try:
        json.dumps(facts)
    except (TypeError, ValueError) as error:
        raise DiprlError(
            f"a model is saved as JSON and numbers, which its settings are not: {error}"
        ) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    save_checkpoint(path, (state.vector, state.normaliser), facts)


def read_description(path: Path, method: str) -> dict[str, Any]:
    """What a saved model says of itself."""
    facts = stored_facts(path)
    if facts.get("method") != method:
        raise DiprlError(f"{path} holds a model of method {facts.get('method')!r}, not {method!r}")
    return facts


def restore_outcome(model: "Model", path: Path) -> Outcome:
    """The learnt part of a saved model, for a model that was set up like it."""
    config, make_agent = model.config, find_method(model.method).agent
    engine, validator = engine_for(model.task, config.static(), make_agent)
    state = jax.jit(lambda key: engine.begin(make_agent(model.task, config, key=key), key=key))(
        jr.key(model.seed)
    )
    (vector, normaliser), facts = load_checkpoint(path, (state.vector, state.normaliser))
    state = state._replace(vector=vector, normaliser=normaliser)
    trained = Trained(engine, validator, state, schedule.temperatures(config.hyper(), 1.0), facts["steps"])
    program = Program.from_json(json.dumps(facts["program"])) if facts["program"] else None
    act = program_act(model.task, program) if program else agent_act(trained)
    return Outcome(act, program, facts["steps"], trained, facts["results"])
