"""Which lines the paper's tables have, and where each takes its numbers from: our records and the paper."""

from typing import NamedTuple

from diprl.experiment.results import Measure, at_end, at_stage, entropy, extracted, relaxed, score, size, total_gap
from diprl.experiment.suites import AUTOMATIC, FIXED_ALPHAS, TARGETS
from diprl.methods.registry import METHODS


class Line(NamedTuple):
    """One row of a table: a measure of the runs of a method, and the paper's row for it."""

    label: str
    method: str
    measure: Measure
    paper: tuple[str, ...] = ()
    """Path in the paper's results; empty where the paper has no such row."""
    variant: str = ""


class PaperTable(NamedTuple):
    """A table before its numbers."""

    name: str
    title: str
    lines: tuple[Line, ...]
    digits: int = 2
    first_column: str = "method"


BY_TITLE = {method.title: name for name, method in METHODS.items()}
PROGRAMS = ("VIPER", "DTSemNet", "pi-PRL", "DiPRL")
"""The methods whose policies are programs."""
ALL = ("PPO", "VIPER", "DTSemNet", "pi-PRL (relaxed)", "pi-PRL (extracted)", "pi-PRL", "DiPRL")
"""The rows of the paper's main tables."""


def lines(labels: tuple[str, ...], final: Measure, paper: str = "", **stages: Measure) -> tuple[Line, ...]:
    """A line for each label: `METHOD` for what a run hands over, `METHOD (stage)` for an earlier stage of it."""
    found = []
    for label in labels:
        title, _, stage = label.rstrip(")").partition(" (")
        measure = stages[stage] if stage else final
        found.append(Line(label, BY_TITLE[title], measure, (paper, label) if paper else ()))
    return tuple(found)


def returns(paper: str) -> tuple[Line, ...]:
    return lines(ALL, score, paper, relaxed=relaxed, extracted=extracted)


ALPHAS = {
    stage: tuple(
        Line(f"α = {label}, {stage}", "diprl", measure, ("alpha_ablation", label, stage), label)
        for label in (*FIXED_ALPHAS, AUTOMATIC)
    )
    for stage, measure in (("relaxed", relaxed), ("extracted", score))
}
"""The lines of the ablation of α by stage."""
ENTROPY_TARGETS = tuple(
    Line(f"{label} × log D", "diprl", score, ("target_entropy_ablation", label), label) for label in TARGETS
)
ENTROPIES = lines(("pi-PRL (relaxed)", "DiPRL"), entropy, "normalised_architecture_entropy", relaxed=entropy)
DISTANCES = lines(
    ALL,
    at_end("distance"),
    "goal_distance",
    relaxed=at_stage("relaxed", "distance"),
    extracted=at_stage("extracted", "distance"),
)
STAGES = (
    Line("pi-PRL (relaxed)", "pi-prl", relaxed, ("discrete_reward", "pi-PRL (relaxed)")),
    Line("pi-PRL (extracted)", "pi-prl", extracted, ("discrete_reward", "pi-PRL (extracted)")),
    Line("pi-PRL (fine-tuned)", "pi-prl", score, ("discrete_reward", "pi-PRL")),
    Line("DiPRL (relaxed)", "diprl", relaxed),
    Line("DiPRL (extracted)", "diprl", extracted),
    Line("DiPRL", "diprl", score, ("discrete_reward", "DiPRL")),
)
GAPS = (Line("pi-PRL, at extraction", "pi-prl", total_gap), Line("DiPRL", "diprl", total_gap))
ABOUT_PROGRAMS = (
    PaperTable("conditions", "Conditions in the programs", lines(PROGRAMS, size("conditions")), 0),
    PaperTable("coefficients", "Non-zero numbers in the programs", lines(PROGRAMS, size("coefficients")), 0),
    PaperTable("gap", "Return lost between the relaxed policy and the extracted program", GAPS),
)
TABLES: dict[str, tuple[PaperTable, ...]] = {
    "discrete": (
        PaperTable("returns", "Returns on the discrete tasks", returns("discrete_reward")),
        *ABOUT_PROGRAMS,
    ),
    "continuous": (
        PaperTable("returns", "Returns on the continuous tasks", returns("continuous_reward")),
        PaperTable("distances", "Distance to the goal at the end of an episode", DISTANCES),
        PaperTable("success", "Share of episodes that reach the goal", lines(("PPO", *PROGRAMS), at_end("is_success"))),
        *ABOUT_PROGRAMS,
    ),
    "alpha": (
        PaperTable(
            "alpha",
            "Fixed and automatic weight of the architecture entropy",
            tuple(line for pair in zip(*ALPHAS.values(), strict=True) for line in pair),
            first_column="α",
        ),
    ),
    "target-entropy": (
        PaperTable("targets", "Target of the architecture entropy", ENTROPY_TARGETS, first_column="target"),
    ),
    "depth": (
        PaperTable("depths", "Depth of the programs", lines(("pi-PRL", "DiPRL"), size("depth"), "program_depth")),
    ),
    "entropy": (PaperTable("entropies", "Architecture entropy as a share of its largest value", ENTROPIES, 3),),
    "failure": (PaperTable("stages", "Return before and after extraction", STAGES),),
}
"""The tables of each experiment."""
