"""Train on from a program, such as one that was edited."""

from dataclasses import replace

import jax.numpy as jnp
import jax.random as jr

from diprl.extract import embed
from diprl.improve.visits import visited_views
from diprl.methods.agents import tree_agent
from diprl.methods.base import Job
from diprl.methods.diprl import fit
from diprl.methods.registry import settings_for
from diprl.policy.agent import Agent, make_normaliser
from diprl.policy.base import Temperatures
from diprl.program import Program
from diprl.tasks.base import Task
from diprl.train.config import Config


def continue_from(task: Task, program: Program, total_timesteps: int, seed: int) -> Program:
    """Train on from a program: its tree keeps every depth up to the maximum open to change."""
    settings = settings_for("diprl", "default", task)
    depth = max(settings.max_depth, program.depth)
    config = settings.with_values(total_timesteps=total_timesteps, max_depth=depth)
    start = embedded(task, program, config, tree_agent(task, config, key=jr.key(seed)))
    return fit(Job(task, "diprl", config, seed, start=start)).program or program


def embedded(task: Task, program: Program, config: Config, agent: Agent) -> Agent:
    """The agent with the program as its policy, normalising by what the program meets."""
    views = jnp.asarray(visited_views(task, program)[:, : task.layout.critic])
    normaliser = make_normaliser(task.layout.critic).update(views)
    tree = embed(program, config.max_depth, Temperatures(), normaliser)
    return replace(agent, policy=tree, normaliser=normaliser)
