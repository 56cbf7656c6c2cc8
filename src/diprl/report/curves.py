"""How training went."""

from diprl.report.draw import Chart, Series, area_chart, line_chart
from diprl.report.source import Curves


def training_charts(curves: Curves) -> list[Chart]:
    """Return, gap, depths, entropy and α, each where it was measured."""
    returns = [
        Series("while training", curves.training, "s3"),
        Series("relaxed policy", curves.relaxed, "s2"),
        Series("program", curves.program, "s1"),
    ]
    programs = dict(curves.program)
    gap = [(step, value - programs[step]) for step, value in curves.relaxed if step in programs]
    weights = {value for _, value in curves.alpha}
    constant = f"It stayed at {min(weights):g} throughout." if len(weights) == 1 else ""
    charts = (
        line_chart("Return", returns),
        line_chart(
            "Gap: relaxed − program",
            [Series("gap", gap, "s4")],
            note="Above zero, the relaxed policy is better than the program inside it.",
            baseline=0.0,
        ),
        area_chart("Depth of the program", curves.depths),
        line_chart(
            "Architecture entropy",
            [Series("architecture entropy", curves.entropy, "s5")],
            note="1: every depth is as likely as any other; 0: the depth is settled.",
            span=(-0.02, 1.05),
        ),
        line_chart("α, the weight of the entropy penalty", [Series("α", curves.alpha, "s6")], note=constant),
    )
    return [chart for chart in charts if chart is not None]
