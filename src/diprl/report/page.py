"""Puts the parts of the page together."""

import base64
import json
import shlex
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from diprl import __version__
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.ast import conditions
from diprl.report import listing
from diprl.report.curves import training_charts
from diprl.report.downloads import downloads, omitted
from diprl.report.findings import findings
from diprl.report.observe import Visits, choose_features, influence, observe
from diprl.report.partition import partition_chart, plane
from diprl.report.rollout import Rollout, record_rollout, sparkline, timeline
from diprl.report.scores import gap_chart, score_chart
from diprl.report.source import Source, read_source
from diprl.runs.folder import task_of
from diprl.system.files import check_writable as make_folder
from diprl.system.files import write_text
from diprl.tasks.base import Task

FILE = "report.html"


@dataclass(frozen=True)
class Observed:
    """What playing the program showed, or why it could not be played."""

    task: Task | None = None
    visits: Visits | None = None
    rollout: Rollout | None = None
    why_not: str = ""


def write_report(
    path: Path,
    out: Path | None = None,
    features: str | None = None,
    episodes: int = 10,
    task: str | None = None,
) -> Path:
    """Write the page about a run folder or a program file; returns where it is."""
    template = load_template()
    source = read_source(path)
    if features is not None:
        choose_features(source.program, features, [])
    out = out or (path / FILE if path.is_dir() else path.with_suffix(".html"))
    make_folder(out.parent)
    seen = play(source, task, episodes)
    try:
        page = template.render(**contents(source, seen, features))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DiprlError(
            f"{path}: its config, result or metrics are not those of a run ({error!r:.200})"
        ) from error
    write_text(out, page)
    return out


def play(source: Source, name: str | None, episodes: int) -> Observed:
    """Play the program on its task, where that can be had here."""
    from diprl.watch import prepare_rendering

    prepare_rendering()
    try:
        task = task_of(source.path, source.program, name)
        visits = observe(task, source.program, episodes)
        return Observed(task, visits, record_rollout(task, source.program))
    except DiprlError as error:
        return Observed(why_not=str(error))


def contents(source: Source, seen: Observed, features: str | None) -> dict[str, Any]:
    """Everything that the template names."""
    program = source.program
    branches = listing.branches(program)
    return {
        "source": source,
        "program": program,
        "version": __version__,
        "lines": listing.lines(program),
        "branches": branches,
        "shares": seen.visits.shares(len(branches)) if seen.visits else [],
        "tree": base64.b64encode(program.to_svg().encode()).decode(),
        "seen": seen,
        "score": score_chart(source, seen.task.paper_score if seen.task else None),
        "gap": gap_chart(source.result),
        "curves": training_charts(source.metrics),
        "findings": findings(source),
        "downloads": downloads(program),
        "omitted": omitted(program),
        "command": shlex.join(source.header.get("command", ())),
        "style": asset("style.css"),
        "script": asset("script.js"),
    } | played(source, seen, branches, features)


def played(
    source: Source, seen: Observed, branches: list[listing.Branch], features: str | None
) -> dict[str, Any]:
    """The parts that need episodes."""
    program = source.program
    if seen.visits is None or seen.rollout is None:
        return {"rollout": None, "partition": None}
    known = program.signature.feature_names
    importance = influence(program, seen.visits)
    chosen = choose_features(program, features, importance)
    medians = dict(zip(known, seen.visits.medians(), strict=True))
    names = [known[index] for index in chosen]
    return {
        "importance": sorted(zip(known, importance, strict=True), key=lambda item: -item[1]),
        "chosen": names,
        "fixed": {name: value for name, value in medians.items() if name not in names},
        "partition": partition_chart(program, branches, seen.visits, chosen),
        "rollout": seen.rollout,
        "timeline": timeline(seen.rollout, branches),
        "conditions": [
            {"terms": listing.terms(each.weights, each.bias, known), "spark": sparkline(values)}
            for each, values in zip(conditions(program.root), seen.rollout.values, strict=True)
        ],
        "data": embedded(page_data(program, seen.rollout, branches, plane(program, seen.visits, chosen))),
    }


def page_data(
    program: Program, rollout: Rollout, branches: list[listing.Branch], plane: dict[str, Any] | None
) -> dict[str, Any]:
    """What the script needs to replay the episode."""
    return rollout.to_page() | {
        "branches": [{"text": each.text, "colour": each.colour, "path": each.path} for each in branches],
        "conditions": [{"weights": each.weights, "bias": each.bias} for each in conditions(program.root)],
        "plane": plane,
    }


def embedded(data: dict[str, Any]) -> str:
    """JSON that can stand inside a script element, whatever text it holds."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def asset(name: str) -> str:
    return (files("diprl.report") / "assets" / name).read_text(encoding="utf-8")


def load_template() -> Any:
    """The page's template, with everything that it shows escaped."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise DiprlError("reports need jinja2: install it with: pip install 'diprl[report]'") from error
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["short"] = lambda value: listing.short(value).replace("-", "−")
    environment.filters["fixed"] = lambda value: f"{value:.2f}".replace("-", "−")
    return environment.from_string(asset("page.html"))
