"""Which runs each experiment of the paper consists of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from diprl.errors import unknown
from diprl.experiment.paper import CONTINUOUS, DISCRETE, SEEDS
from diprl.methods.presets import PRESETS, changed, preset_settings
from diprl.runs.spec import RunSpec
from diprl.train.settings import Settings

QUICK: dict[str, Any] = {
    "total_timesteps": 4096,
    "num_envs": 8,
    "num_steps": 128,
    "minibatch_size": 128,
    "num_epochs": 2,
}
QUICK_EPISODES = 10
FIXED_ALPHAS = ("0", "0.001", "0.01", "0.1", "0.5")
AUTOMATIC = "auto"
TARGETS = ("0", "0.1", "0.5", "1.0")
PAPER_DEPTH = 6
DUAL_RATE = 3e-4
"""Step of the dual where a preset has none: large enough to reach its target within the budget."""


@dataclass(frozen=True)
class Request:
    """What the user asked for; None leaves the choice to the experiment."""

    presets: tuple[str, ...] = ("default",)
    methods: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | None = None
    quick: bool = False


Variants = Mapping[str, Callable[[Settings], Settings]]
"""The settings of an ablation by label, each a change of the preset."""


def unchanged(settings: Settings) -> Settings:
    return settings


@dataclass(frozen=True)
class Suite:
    """An experiment: methods × tasks × variants."""

    name: str
    methods: tuple[str, ...]
    tasks: tuple[str, ...]
    variants: Variants

    def runs(self, request: Request) -> tuple[RunSpec, ...]:
        """Every run of the experiment, tasks outermost, so that runs that share compiled code stand together."""
        tasks = chosen(request.tasks, self.tasks)
        methods = chosen(request.methods, self.methods)
        seeds = request.seeds or (SEEDS[:1] if request.quick else SEEDS)
        return tuple(
            make_run(
                RunSpec(task, method, seed=seed, preset=preset, variant=variant),
                request.quick,
                self.variants[variant],
            )
            for task in tasks
            for method in methods
            for preset in request.presets
            for variant in self.variants
            for seed in seeds
        )


def chosen(wanted: Sequence[str] | None, offered: tuple[str, ...]) -> tuple[str, ...]:
    """The part of the experiment that was asked for, in the experiment's order."""
    return tuple(name for name in offered if wanted is None or name in wanted)


def make_run(run: RunSpec, quick: bool, change: Callable[[Settings], Settings]) -> RunSpec:
    """The run with the settings of its preset, changed as the experiment wants."""
    settings = change(preset_settings(run.method, run.preset, run.task, budget(run.task)))
    if quick:
        return replace(run, settings=changed(settings, **QUICK), episodes=QUICK_EPISODES)
    return replace(run, settings=settings)


def budget(task: str) -> int:
    """Environment steps of a full run, known without Gymnasium for tasks with a twin."""
    from diprl.tasks.twins.table import TWIN_TASKS

    if task in TWIN_TASKS:
        return TWIN_TASKS[task].budget
    from diprl.experiment.execute import cached_task

    return cached_task(task).budget


def alone(settings: Settings) -> Settings:
    """Training and extraction by themselves: what several members or a polished program add would hide their effect.

    There are at least as many depths to choose from as in the paper.
    """
    depth = max(settings.program.max_depth, PAPER_DEPTH)
    return settings.with_values(members=1, polish_share=0.0, max_depth=depth)


def undriven(settings: Settings) -> Settings:
    """Nothing that pulls towards one depth; conditions still harden, though they no longer settle at the end."""
    return alone(settings).with_values(
        alpha_ramp=0.0, alpha_dual=0.0, architecture_temperature_end=1.0, settle_temperature=1.0
    )


def fixed_alpha(label: str) -> Callable[[Settings], Settings]:
    """A constant weight of the architecture entropy."""
    return lambda settings: undriven(settings).with_values(alpha=float(label))


def targeted(label: str) -> Callable[[Settings], Settings]:
    """The paper's automatic weight with this target."""
    return lambda settings: undriven(settings).with_values(
        target_entropy=float(label), alpha_dual=settings.program.alpha_dual or DUAL_RATE
    )


ALL_METHODS = ("ppo", "viper", "dtsemnet", "pi-prl", "diprl")
TREES = ("pi-prl", "diprl")
PLAIN: Variants = {"": unchanged}

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite("discrete", ALL_METHODS, DISCRETE, PLAIN),
        Suite("continuous", ALL_METHODS, CONTINUOUS, PLAIN),
        Suite(
            "alpha",
            ("diprl",),
            DISCRETE,
            {label: fixed_alpha(label) for label in FIXED_ALPHAS} | {AUTOMATIC: alone},
        ),
        Suite("target-entropy", ("diprl",), DISCRETE, {label: targeted(label) for label in TARGETS}),
        Suite("depth", TREES, DISCRETE + CONTINUOUS, PLAIN),
        Suite("entropy", TREES, DISCRETE + CONTINUOUS, PLAIN),
        Suite("failure", TREES, ("MountainCar-v0", "DoorKey-6x6"), PLAIN),
    )
}


def find_suites(name: str) -> list[Suite]:
    """One experiment, or all of them."""
    if name == "all":
        return list(SUITES.values())
    if name not in SUITES:
        raise unknown("experiment", name, [*SUITES, "all"])
    return [SUITES[name]]


def requested_runs(suites: Sequence[Suite], request: Request) -> list[tuple[Suite, tuple[RunSpec, ...]]]:
    """The runs of each experiment that has any; a name that no experiment knows is a mistake."""
    check_names("preset", request.presets, PRESETS)
    check_names("task of this experiment", request.tasks, [task for suite in suites for task in suite.tasks])
    check_names("method of this experiment", request.methods, [name for suite in suites for name in suite.methods])
    wanted = [(suite, suite.runs(request)) for suite in suites]
    return [(suite, runs) for suite, runs in wanted if runs]


def check_names(kind: str, wanted: Sequence[str] | None, known: Sequence[str]) -> None:
    for name in wanted or ():
        if name not in known:
            raise unknown(kind, name, set(known))
