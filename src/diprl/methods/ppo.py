"""PPO with a neural policy: the reference that programs are compared with."""

from diprl.methods.acting import agent_act
from diprl.methods.agents import neural_agent
from diprl.methods.base import Job, Outcome, train_agent


def fit(job: Job) -> Outcome:
    """Train the network, which acts by its likeliest action; where a program blends primitives, it moves actuators."""
    trained = train_agent(job, neural_agent, None)
    return Outcome(agent_act(trained), None, trained.steps, trained)
