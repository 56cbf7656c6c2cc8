"""Which runs each experiment of the paper consists of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from diprl.errors import check_known
from diprl.experiment.executors import cached_task
from diprl.experiment.request import Request, parse_names, parse_seeds
from diprl.methods.presets import PRESETS, changed, preset_settings
from diprl.runs.spec import RunSpec
from diprl.tasks.twins.table import TWIN_TASKS
from diprl.train.settings import Settings

DISCRETE = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "DoorKey-6x6", "LunarLander-v3")
CONTINUOUS = ("HalfCheetahHurdle", "Pusher2D", "AntRandomGoal", "AntCrossMaze")
SEEDS = (123, 321, 456)
QUICK = {"total_timesteps": 4096, "num_envs": 8, "num_steps": 128, "minibatch_size": 128, "num_epochs": 2}
QUICK_EPISODES = 10
FIXED_ALPHAS = ("0", "0.001", "0.01", "0.1", "0.5")
AUTOMATIC = "auto"
TARGETS = ("0", "0.1", "0.5", "1.0")
PAPER_DEPTH = 6
DUAL_RATE = 3e-4
"""Step of the dual where a preset has none: large enough to reach its target within the budget."""
Variants = Mapping[str, Callable[[Settings], Settings]]
"""The settings of an ablation by label, each a change of the preset."""


@dataclass(frozen=True)
class Suite:
    """An experiment: methods × tasks × variants."""

    name: str
    methods: tuple[str, ...]
    tasks: tuple[str, ...]
    variants: Variants = field(default_factory=lambda: {"": lambda settings: settings})

    def runs(self, request: Request) -> tuple[RunSpec, ...]:
        """Every run of the experiment, tasks outermost, so that runs that share compiled code stand together."""
        seeds = parse_seeds(request.seeds) if request.seeds else SEEDS[:1] if request.quick else SEEDS
        episodes = QUICK_EPISODES if request.quick else RunSpec.episodes
        return tuple(
            RunSpec(task, method, settings, seed, episodes, preset, variant)
            for task in chosen(request.tasks, self.tasks)
            for method in chosen(request.methods, self.methods)
            for preset in request.presets
            for variant in self.variants
            for settings in [self.settings(task, method, preset, variant, request.quick)]
            for seed in seeds
        )

    def settings(self, task: str, method: str, preset: str, variant: str, quick: bool) -> Settings:
        """The settings of a preset, changed as the experiment wants."""
        budget = (TWIN_TASKS[task] if task in TWIN_TASKS else cached_task(task)).budget
        settings = self.variants[variant](preset_settings(method, preset, task, budget))
        return changed(settings, **QUICK) if quick else settings


def chosen(wanted: str | None, offered: tuple[str, ...]) -> tuple[str, ...]:
    """The part of the experiment that was asked for, in the experiment's order."""
    return tuple(name for name in offered if wanted is None or name in parse_names(wanted))


def alone(settings: Settings) -> Settings:
    """Training and extraction by themselves: what several members or a polished program add would hide their effect.

    There are at least as many depths to choose from as in the paper.
    """
    depth = max(settings.program.max_depth, PAPER_DEPTH)
    return settings.with_values(members=1, polish_share=0.0, feature_entropy=0.0, max_depth=depth)


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
ALPHAS = {label: fixed_alpha(label) for label in FIXED_ALPHAS} | {AUTOMATIC: alone}

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite("discrete", ALL_METHODS, DISCRETE),
        Suite("continuous", ALL_METHODS, CONTINUOUS),
        Suite("alpha", ("diprl",), DISCRETE, ALPHAS),
        Suite("target-entropy", ("diprl",), DISCRETE, {label: targeted(label) for label in TARGETS}),
        Suite("depth", TREES, DISCRETE + CONTINUOUS),
        Suite("entropy", TREES, DISCRETE + CONTINUOUS),
        Suite("failure", TREES, ("MountainCar-v0", "DoorKey-6x6")),
    )
}


def find_suites(name: str) -> list[Suite]:
    """One experiment, or all of them."""
    check_known("experiment", [*SUITES, "all"], name)
    return list(SUITES.values()) if name == "all" else [SUITES[name]]


def requested_runs(suites: Sequence[Suite], request: Request) -> list[tuple[Suite, tuple[RunSpec, ...]]]:
    """The runs of each experiment that has any; a name that no experiment knows is a mistake."""
    check_known("preset", PRESETS, *request.presets)
    tasks, methods = parse_names(request.tasks), parse_names(request.methods)
    check_known("task of this experiment", [task for suite in suites for task in suite.tasks], *tasks)
    check_known("method of this experiment", [name for suite in suites for name in suite.methods], *methods)
    wanted = [(suite, suite.runs(request)) for suite in suites]
    return [(suite, runs) for suite, runs in wanted if runs]
