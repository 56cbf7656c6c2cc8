"""PPO with a neural policy: the reference that programs are compared with."""

from diprl.methods.agents import neural_agent
from diprl.runs.result import Result
from diprl.runs.session import Session
from diprl.runs.stage import Stage
from diprl.runs.trainer import Trainer


def fit(session: Session) -> Result:
    """Train the network, which acts by its likeliest action; where a program blends primitives, it moves actuators."""
    trainer = Trainer(session)
    return trainer.finish(trainer.train(Stage("training", session.spec.settings, neural_agent)), None)
