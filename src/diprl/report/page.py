"""Puts the parts of the page together."""

import base64
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from diprl import __version__
from diprl.errors import DiprlError
from diprl.export import TARGETS, ExportReport, export
from diprl.program import Primitives, Program
from diprl.report.charts import gap_rows, score_chart, training_charts
from diprl.report.draw import Markup
from diprl.report.episode import prepare_rendering
from diprl.report.findings import findings
from diprl.report.listing import branch_paths, branches, few_digits, lines, terms
from diprl.report.partition import extent, partition
from diprl.report.replay import record_replay, sparkline, timeline, traced
from diprl.report.source import Source, read_source
from diprl.report.visits import choose_features, influence, visit
from diprl.runs.folder import task_of
from diprl.system.files import check_target, write_text

FILE = "report.html"
LANGUAGES = ("python", "c", "json", "latex", "st", "svg")
"""The exports that are text."""


def write_report(
    path: Path, out: Path | None = None, features: str | None = None, episodes: int = 10, task: str | None = None
) -> Path:
    """Write the page about a run folder or a program file; returns where it is."""
    template = load_template()
    source = read_source(path)
    if features is not None:
        choose_features(source.program, features, [])
    out = out or (path / FILE if path.is_dir() else path.with_suffix(".html"))
    check_target(out, mark="diprl")
    write_text(out, template.render(known(source) | played(source, features, episodes, task)))
    return out


def known(source: Source) -> dict[str, Any]:
    """What can be shown without playing."""
    program = source.program
    style, script = style_sheet(program), asset("script.js")
    return {
        "source": source,
        "program": program,
        "version": __version__,
        "lines": lines(program),
        "branches": branches(program),
        "gap": gap_rows(source.result.gap) if source.result and source.result.gap else None,
        "curves": training_charts(source.curves),
        "findings": findings(source),
        "downloads": downloads(program),
        "targets": TARGETS,
        "blends": isinstance(program.signature.actions, Primitives),
        "style": style,
        "script": script,
        "policy": f"default-src 'none'; img-src data:; style-src {allowed(style)}; script-src {allowed(script)}; "
        "base-uri 'none'; form-action 'none'",
    }


def played(source: Source, features: str | None, episodes: int, name: str | None) -> dict[str, Any]:
    """What playing the program shows, or why it could not be played."""
    program = source.program
    prepare_rendering()
    try:
        task = task_of(source.path, program, name)
        visits, replay = visit(task, program, episodes), record_replay(task, program)
    except DiprlError as error:
        return {"replay": None, "shares": [], "score": score_chart(source, None), "why_not": str(error)}
    names, leaves, shown = program.signature.feature_names, branches(program), traced(program)
    importance = influence(program, visits)
    chosen = choose_features(program, features, importance)
    medians = zip(names, visits.medians(), strict=True)
    plane = [(index, *extent(program, visits, index)) for index in chosen]
    return {
        "replay": replay,
        "score": score_chart(source, task.paper_score),
        "visited": len(visits.branches),
        "shares": visits.shares(len(leaves)),
        "importance": sorted(zip(names, importance, strict=True), key=lambda item: -item[1]),
        "chosen": [names[index] for index in chosen],
        "fixed": [median for index, median in enumerate(medians) if index not in chosen],
        "partition": partition(program, leaves, visits, chosen),
        "timeline": timeline(replay, leaves),
        "sparklines": [
            (terms(each.weights, each.bias, names), sparkline(values))
            for each, values in zip(shown, replay.values, strict=True)
        ],
        "data": replay.to_page()
        | {
            "plane": plane,
            "branches": [(leaf.text, leaf.colour) for leaf in leaves],
            "paths": branch_paths(program) if shown else [() for _ in leaves],
            "conditions": [(each.weights, each.bias) for each in shown],
        },
    }


def downloads(program: Program) -> list[tuple[ExportReport, dict[str, str]]]:
    """The program in other languages, each with its files by name; the large networks of primitives stay out."""
    found = []
    for target in LANGUAGES:
        with TemporaryDirectory() as folder:
            report = export(program, target, folder)
            files = {path.name: path.read_text(encoding="utf-8") for path in report.files}
        found.append((report, {name: text for name, text in files.items() if not name.endswith("_main.c")}))
    return found


def style_sheet(program: Program) -> Markup:
    """The style sheet with a class for every indentation and colour, because style attributes are forbidden."""
    shown = lines(program)
    indents = {f".indent-{line.indent} {{ --indent: {line.indent}; }}" for line in shown}
    colours = {f".{line.style} {{ --c: {line.colour}; }}" for line in shown if line.colour}
    return Markup("\n".join([asset("style.css"), *sorted(indents | colours)]))


def allowed(text: str) -> str:
    """What a security policy says to allow just this text."""
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def asset(name: str) -> Markup:
    return Markup((files("diprl.report") / "assets" / name).read_text(encoding="utf-8"))


def load_template() -> Any:
    """The page's template, which escapes everything that it shows."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise DiprlError("reports need jinja2: install it with: pip install 'diprl[report]'") from error
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters["short"] = lambda value: few_digits(value).replace("-", "−")
    environment.filters["fixed"] = lambda value: f"{value:.2f}".replace("-", "−")
    environment.filters["percent"] = lambda value, digits=0: f"{100 * value:.{digits}f}"
    environment.filters["base64"] = lambda text: base64.b64encode(text.encode()).decode()
    return environment.from_string(asset("page.html"))
