"""Which runs each experiment consists of: the paper's, and one on environments that nobody has tuned."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from diprl.errors import check_known
from diprl.experiment.executors import cached_task
from diprl.experiment.request import Request, parse_names, parse_seeds
from diprl.experiment.rivals import RANDOM, RIVALS, SB3_PPO
from diprl.methods.presets import DIRECTIONS, PRESETS, changed, has_preset, settings_for
from diprl.runs.spec import RunSpec
from diprl.tasks.twins.table import TWIN_TASKS
from diprl.train.settings import Settings

DISCRETE = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "DoorKey-6x6", "LunarLander-v3")
CONTINUOUS = ("HalfCheetahHurdle", "Pusher2D", "AntRandomGoal", "AntCrossMaze")
UNMODIFIED = {"AntRandomGoal": "AntRandomGoal-return", "AntCrossMaze": "AntCrossMaze-unmodified"}
"""What presets other than ours train on, where our task trains on something else than it is scored on."""
SEEDS = (123, 321, 456)
QUICK = {"total_timesteps": 4096, "num_envs": 8, "num_steps": 128, "minibatch_size": 128, "num_epochs": 2}
QUICK_EPISODES = 10
FIXED_ALPHAS = ("0", "0.001", "0.01", "0.1", "0.5")
AUTOMATIC, LINEAR = "auto", "linear"
TARGETS = ("0", "0.1", "0.5", "1.0")
PAPER_DEPTH = 6
DUAL_RATE = 3e-4
"""Step of the dual where a preset has none: large enough to reach its target within the budget."""


class Variant(NamedTuple):
    """What an experiment changes in the settings of a preset."""

    values: Mapping[str, Any] = {}
    least: Mapping[str, Any] = {}
    """What a setting is raised to where it is lower."""
    instead_of_zero: Mapping[str, Any] = {}
    settings_of: str = ""
    """Whose settings are changed, unless the method's own."""
    presets: tuple[str, ...] = PRESETS

    def change(self, settings: Settings) -> Settings:
        given = settings.values()
        raised = {name: max(given[name], value) for name, value in self.least.items()}
        filled = {name: given[name] or value for name, value in self.instead_of_zero.items()}
        return settings.with_values(**self.values, **raised, **filled)


@dataclass(frozen=True)
class Suite:
    """An experiment: methods × tasks × presets × variants × seeds."""

    name: str
    methods: tuple[str, ...]
    tasks: tuple[str, ...]
    variants: Mapping[str, Variant] = field(default_factory=lambda: {"": Variant()})
    """By label; those of methods other than DiPRL have none."""
    presets: tuple[str, ...] = ()
    """What it compares on one page; otherwise each preset has a page of its own."""
    seeds: tuple[int, ...] = SEEDS
    seeds_without_twin: int | None = None
    """Only so many of them on a task that takes long."""
    budgets: Mapping[str, int] = field(default_factory=dict)
    """Environment steps by task, for tasks that nobody has tuned."""

    def runs(self, request: Request) -> tuple[RunSpec, ...]:
        """Every run of the experiment, tasks outermost, so that runs that share compiled code stand together."""
        episodes = QUICK_EPISODES if request.quick else RunSpec.episodes
        return tuple(
            RunSpec(trained, method, settings, seed, episodes, preset, variant)
            for task in chosen(request.tasks, self.tasks)
            for method in chosen(request.methods, self.methods)
            for preset in (request.presets if request.preset else self.presets or request.presets)
            for trained in [task if preset == "default" else UNMODIFIED.get(task, task)]
            for variant in self.variants_of(method, preset)
            if variant != LINEAR or cached_task(task).continuous
            for settings in [self.settings(task, method, preset, variant, request.quick)]
            for seed in self.seeds_of(task, request)
        )

    def variants_of(self, method: str, preset: str) -> list[str]:
        known = self.variants.items() if method in RIVALS or has_preset(method, preset) else ()
        return [label for label, variant in known if preset in variant.presets and (method == "diprl" or not label)]

    def seeds_of(self, task: str, request: Request) -> Sequence[int]:
        if request.seeds:
            return parse_seeds(request.seeds)
        seeds = self.seeds if task in TWIN_TASKS else self.seeds[: self.seeds_without_twin]
        return seeds[:1] if request.quick else seeds

    def settings(self, task: str, method: str, preset: str, label: str, quick: bool) -> Settings:
        """The settings of a preset, changed as the experiment wants."""
        if self.budgets:
            budget, ours = {"total_timesteps": self.budgets[task]}, method not in RIVALS
            settings = settings_for(method, preset, cached_task(task), **budget) if ours else Settings()
            settings = self.variants[label].change(settings.with_values(**budget))
            return changed(settings, **QUICK, candidates=1) if quick else settings
        variant, known = self.variants[label], TWIN_TASKS[task] if task in TWIN_TASKS else cached_task(task)
        settings = variant.change(settings_for(variant.settings_of or method, preset, known))
        return changed(settings, **QUICK) if quick else settings


def chosen(wanted: str | None, offered: tuple[str, ...]) -> tuple[str, ...]:
    """The part of the experiment that was asked for, in the experiment's order."""
    return tuple(name for name in offered if wanted is None or name in parse_names(wanted))


ONE_TRAINING = {"members": 1, "polish_share": 0.0}
"""One member and no search: training and extraction by themselves."""
ALONE = ONE_TRAINING | {"feature_entropy": 0.0, "statistics_until": 1.0, "leaf_balance": 0.0}
"""The method of the paper with our schedules, and nothing else that we have added."""
UNDRIVEN = ALONE | {"alpha_ramp": 0.0, "architecture_temperature_end": 1.0, "settle_temperature": 1.0}
"""Nothing that pulls towards one depth; conditions still harden, though they no longer settle at the end."""
DEPTHS = {"max_depth": PAPER_DEPTH}
ALL_METHODS = ("ppo", "viper", "dtsemnet", "pi-prl", "diprl")
TREES = ("pi-prl", "diprl")
NO_DUAL = {"alpha_dual": 0.0, "target_entropy": 0.1}
ALPHAS = {label: Variant(UNDRIVEN | NO_DUAL | {"alpha": float(label)}, DEPTHS) for label in FIXED_ALPHAS} | {
    AUTOMATIC: Variant(ALONE, DEPTHS)
}
DUAL = {"alpha_dual": DUAL_RATE}
TARGETED = {label: Variant(UNDRIVEN | {"target_entropy": float(label)}, DEPTHS, DUAL) for label in TARGETS}
FAIR = {"": Variant(), "plain": Variant(ONE_TRAINING | DEPTHS, settings_of="dtsemnet", presets=("default",))}
"""The full recipe, and DiPRL with the settings of the baseline that is most like it."""
WITH_TWIN = DISCRETE[:4]
UNTUNED: dict[str, int] = tomllib.loads(Path(__file__).with_name("untuned.toml").read_text(encoding="utf-8"))
"""Environments without settings of their own, each with its budget."""

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite("discrete", ALL_METHODS, DISCRETE, FAIR),
        Suite("seeds", ALL_METHODS, WITH_TWIN, FAIR, seeds=tuple(range(10))),
        Suite(
            "ladder",
            ("diprl",),
            DISCRETE,
            {"": Variant(ONE_TRAINING)},
            presets=PRESETS,
            seeds=tuple(range(10, 40)),
            seeds_without_twin=10,
        ),
        Suite("continuous", ALL_METHODS, CONTINUOUS),
        Suite("alpha", ("diprl",), DISCRETE, ALPHAS),
        Suite("target-entropy", ("diprl",), DISCRETE, TARGETED),
        Suite("depth", TREES, DISCRETE + CONTINUOUS),
        Suite("entropy", TREES, DISCRETE + CONTINUOUS),
        Suite("failure", TREES, ("MountainCar-v0", "DoorKey-6x6", "AntRandomGoal")),
        Suite(
            "untuned",
            (RANDOM, SB3_PPO, "diprl"),
            tuple(UNTUNED),
            {"": Variant(), LINEAR: Variant(DIRECTIONS | {"candidates": 1, "polish_share": 0.0})},
            presets=("default",),
            seeds=(0, 1, 2),
            budgets=UNTUNED,
        ),
    )
}


def find_suites(name: str) -> list[Suite]:
    """One experiment, or all of the paper's."""
    check_known("experiment", [*SUITES, "all"], name)
    return [suite for suite in SUITES.values() if not suite.budgets] if name == "all" else [SUITES[name]]


def requested_runs(suites: Sequence[Suite], request: Request) -> list[tuple[Suite, tuple[RunSpec, ...]]]:
    """The runs of each experiment that has any; a name that no experiment knows is a mistake."""
    check_known("preset", PRESETS, *request.presets)
    tasks, methods = parse_names(request.tasks), parse_names(request.methods)
    check_known("task of this experiment", [task for suite in suites for task in suite.tasks], *tasks)
    check_known("method of this experiment", [name for suite in suites for name in suite.methods], *methods)
    wanted = [(suite, suite.runs(request)) for suite in suites]
    return [(suite, runs) for suite, runs in wanted if runs]
