"""Which lines the paper's tables have, and where each takes its numbers from: our records and the paper."""

from dataclasses import dataclass

from diprl.experiment import results
from diprl.experiment.results import Measure
from diprl.experiment.suites import AUTOMATIC, FIXED_ALPHAS, TARGETS


@dataclass(frozen=True)
class Line:
    """One row of a table: a measure of the runs of a method, and the paper's row for it."""

    label: str
    method: str
    measure: Measure
    paper: tuple[str, ...] = ()
    """Path in the paper's results; empty where the paper has no such row."""
    variant: str = ""


@dataclass(frozen=True)
class TableLayout:
    """A table before its numbers."""

    name: str
    title: str
    first_column: str
    lines: tuple[Line, ...]
    digits: int = 2


def returns(table: str) -> tuple[Line, ...]:
    return (
        Line("PPO", "ppo", results.score, (table, "PPO")),
        Line("VIPER", "viper", results.score, (table, "VIPER")),
        Line("DTSemNet", "dtsemnet", results.score, (table, "DTSemNet")),
        Line("pi-PRL (relaxed)", "pi-prl", results.relaxed, (table, "pi-PRL (relaxed)")),
        Line("pi-PRL (extracted)", "pi-prl", results.extracted, (table, "pi-PRL (extracted)")),
        Line("pi-PRL", "pi-prl", results.score, (table, "pi-PRL")),
        Line("DiPRL", "diprl", results.score, (table, "DiPRL")),
    )


DISTANCE_LINES = (
    Line("PPO", "ppo", results.distance, ("goal_distance", "PPO")),
    Line("VIPER", "viper", results.distance, ("goal_distance", "VIPER")),
    Line("DTSemNet", "dtsemnet", results.distance, ("goal_distance", "DTSemNet")),
    Line("pi-PRL (relaxed)", "pi-prl", results.relaxed_distance, ("goal_distance", "pi-PRL (relaxed)")),
    Line("pi-PRL (extracted)", "pi-prl", results.extracted_distance, ("goal_distance", "pi-PRL (extracted)")),
    Line("pi-PRL", "pi-prl", results.distance, ("goal_distance", "pi-PRL")),
    Line("DiPRL", "diprl", results.distance, ("goal_distance", "DiPRL")),
)
DEPTH_LINES = (
    Line("pi-PRL", "pi-prl", results.depth, ("program_depth", "pi-PRL")),
    Line("DiPRL", "diprl", results.depth, ("program_depth", "DiPRL")),
)
ENTROPY = "normalised_architecture_entropy"
ENTROPY_LINES = (
    Line("pi-PRL (relaxed)", "pi-prl", results.entropy, (ENTROPY, "pi-PRL (relaxed)")),
    Line("DiPRL", "diprl", results.entropy, (ENTROPY, "DiPRL")),
)
GAP_LINES = (
    Line("pi-PRL, at extraction", "pi-prl", results.total_gap),
    Line("DiPRL", "diprl", results.total_gap),
)
FAILURE_LINES = (
    Line("pi-PRL (relaxed)", "pi-prl", results.relaxed, ("discrete_reward", "pi-PRL (relaxed)")),
    Line("pi-PRL (extracted)", "pi-prl", results.extracted, ("discrete_reward", "pi-PRL (extracted)")),
    Line("pi-PRL (fine-tuned)", "pi-prl", results.score, ("discrete_reward", "pi-PRL")),
    Line("DiPRL (relaxed)", "diprl", results.relaxed),
    Line("DiPRL (extracted)", "diprl", results.extracted),
    Line("DiPRL", "diprl", results.score, ("discrete_reward", "DiPRL")),
)


def alpha_lines() -> tuple[Line, ...]:
    measures = {"relaxed": results.relaxed, "extracted": results.score}
    return tuple(
        Line(f"α = {label}, {stage}", "diprl", measure, ("alpha_ablation", label, stage), label)
        for label in (*FIXED_ALPHAS, AUTOMATIC)
        for stage, measure in measures.items()
    )


def target_lines() -> tuple[Line, ...]:
    return tuple(
        Line(f"{label} × log D", "diprl", results.score, ("target_entropy_ablation", label), label) for label in TARGETS
    )


PROGRAMS = {"VIPER": "viper", "DTSemNet": "dtsemnet", "pi-PRL": "pi-prl", "DiPRL": "diprl"}
"""The methods whose policies are programs."""


def of_methods(methods: dict[str, str], measure: Measure) -> tuple[Line, ...]:
    """A measure that the paper does not report, one line per method."""
    return tuple(Line(label, method, measure) for label, method in methods.items())


SIZE_LAYOUTS = (
    TableLayout("conditions", "Conditions in the programs", "method", of_methods(PROGRAMS, results.conditions), 0),
    TableLayout(
        "coefficients",
        "Non-zero numbers in the programs",
        "method",
        of_methods(PROGRAMS, results.coefficients),
        0,
    ),
)
GAP_LAYOUT = TableLayout("gap", "Return lost between the relaxed policy and the extracted program", "method", GAP_LINES)
LAYOUTS: dict[str, tuple[TableLayout, ...]] = {
    "discrete": (
        TableLayout("returns", "Returns on the discrete tasks", "method", returns("discrete_reward")),
        *SIZE_LAYOUTS,
        GAP_LAYOUT,
    ),
    "continuous": (
        TableLayout("returns", "Returns on the continuous tasks", "method", returns("continuous_reward")),
        TableLayout("distances", "Distance to the goal at the end of an episode", "method", DISTANCE_LINES),
        TableLayout(
            "success",
            "Share of episodes that reach the goal",
            "method",
            of_methods({"PPO": "ppo"} | PROGRAMS, results.success),
        ),
        *SIZE_LAYOUTS,
        GAP_LAYOUT,
    ),
    "alpha": (TableLayout("alpha", "Fixed and automatic weight of the architecture entropy", "α", alpha_lines()),),
    "target-entropy": (TableLayout("targets", "Target of the architecture entropy", "target", target_lines()),),
    "depth": (TableLayout("depths", "Depth of the programs", "method", DEPTH_LINES),),
    "entropy": (
        TableLayout("entropies", "Architecture entropy as a share of its largest value", "method", ENTROPY_LINES, 3),
    ),
    "failure": (TableLayout("stages", "Return before and after extraction", "method", FAILURE_LINES),),
}
