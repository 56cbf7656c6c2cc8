"""Puts the parts of the page together: text, drawings, and scripts without a build step."""

import base64
import tomllib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from diprl import __version__
from diprl.arena.episodes import EVALUATION
from diprl.errors import DiprlError, optional
from diprl.export import TARGETS, ExportReport, export
from diprl.export.js import language
from diprl.program import Primitives, Program
from diprl.program.text_format import format_body
from diprl.report import episode
from diprl.report.charts import FRAME, extent, front_chart, gap_rows, partition, score_chart, training_charts
from diprl.report.draw import Markup, asset
from diprl.report.episode import Replay, Visits
from diprl.report.source import Source, findings, read_source
from diprl.runs.folder import task_of
from diprl.system.files import check_target, write_text
from diprl.tasks.base import Task

FILE = "report.html"
STUDIO = "Played by Python on this machine, from the same seeds as diprl eval."
LANGUAGES = ("python", "c", "json", "latex", "st", "svg")
"""The exports that are text."""
SCRIPTS: dict[str, list[str]] = tomllib.loads(asset("scripts.toml"))
TWINS = tuple(SCRIPTS["twins"])
"""The tasks that a page can play by itself."""
MOST_STATES = 300
"""Visited states that the page knows."""
IN_PAGE = "Played in this page from the same seeds as diprl eval, with the same returns."
ELSEWHERE = "This page cannot play the task by itself: diprl studio scores edits of it."


def write_report(
    path: Path, out: Path | None = None, features: str | None = None, episodes: int = 10, task: str | None = None
) -> Path:
    """Write the page about a run folder or a program file; returns where it is."""
    template = load_template()
    source = read_source(path)
    if features is not None:
        episode.choose_features(source.program, features, [])
    out = out or (path / FILE if path.is_dir() else path.with_suffix(".html"))
    check_target(out, mark="diprl")
    write_text(out, template.render(known(source) | played(source, features, episodes, task)))
    return out


def render_live(source: Source, task: str | None, studio: dict[str, Any], overview: dict[str, Any] | None) -> str:
    """The page as the studio serves it: `studio` is what its script needs to ask for more."""
    content = known(source, page_script("page/studio"), "connect-src 'self'; ") | played(source, None, 10, task)
    data = content.get("data", {}) | {"studio": studio}
    if not data.get("twin"):
        data["words"] = STUDIO
    return load_template().render(content | {"data": data, "studio": studio, "overview": overview})


def known(source: Source, script: Markup | None = None, allow: str = "") -> dict[str, Any]:
    """What can be shown without playing; `allow` is what the page's policy permits beyond its own content."""
    program = source.program
    style, script = asset("style.css"), script or page_script()
    return {
        "source": source,
        "program": program,
        "version": __version__,
        "body": "\n".join(format_body(program.signature, program.root)),
        "gap": gap_rows(source.result.gap) if source.result and source.result.gap else None,
        "front_chart": front_chart([source]) if source.result and source.result.front else None,
        "curves": training_charts(source.metrics),
        "findings": findings(source),
        "downloads": downloads(program),
        "targets": TARGETS,
        "blends": isinstance(program.signature.actions, Primitives),
        "style": style,
        "script": script,
        "studio": None,
        "overview": None,
        "policy": f"default-src 'none'; {allow}img-src data:; style-src {allowed(style)}; "
        f"script-src {allowed(script)}; base-uri 'none'; form-action 'none'",
    }


def played(source: Source, features: str | None, episodes: int, name: str | None) -> dict[str, Any]:
    """What playing the program shows, or why it could not be played."""
    program = source.program
    episode.prepare_rendering()
    try:
        task = task_of(source.path, program, name)
        twin = twin_of(task)
        visits = episode.visit(task, program, episodes)
        replay = episode.record_replay(task, program, pictures=twin is None)
    except DiprlError as error:
        return {"replay": None, "score": score_chart(source, None), "why_not": str(error)}
    names = program.signature.feature_names
    importance = episode.influence(program, visits)
    chosen = episode.choose_features(program, features, importance)
    medians = zip(names, visits.medians(), strict=True)
    return {
        "replay": replay,
        "twin": twin,
        "score": score_chart(source, task.paper_score),
        "importance": sorted(zip(names, importance, strict=True), key=lambda item: -item[1]),
        "chosen": [names[index] for index in chosen],
        "fixed": [median for index, median in enumerate(medians) if index not in chosen],
        "partition": partition(program, visits, chosen),
        "data": live_data(program, visits, replay, chosen, twin),
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


def allowed(text: str) -> str:
    """What a security policy says to allow just this text."""
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def load_template() -> Any:
    """The page's template, which escapes everything that it shows."""
    jinja = optional("jinja2", "reports need jinja2: install it with: pip install 'diprl[report]'")
    strict = {"autoescape": True, "undefined": jinja.StrictUndefined}
    environment = jinja.Environment(**strict, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters["short"] = lambda value: f"{value:.4g}".replace("-", "−")
    environment.filters["fixed"] = lambda value: f"{value:.2f}".replace("-", "−")
    environment.filters["percent"] = lambda value, digits=0: f"{100 * value:.{digits}f}"
    environment.filters["base64"] = lambda text: base64.b64encode(text.encode()).decode()
    return environment.from_string(asset("page.html"))


def simulator() -> Markup:
    """The twins and what plays them."""
    return _together(SCRIPTS["simulator"])


def page_script(*more: str) -> Markup:
    """The one script of a page; `more` files come before its last."""
    parts = [language(), simulator(), _together((*SCRIPTS["page"], *more, "page/main"))]
    return Markup("\n".join(['"use strict";', "(() => {", *parts, "})();"]))


def _together(names: Sequence[str]) -> Markup:
    return Markup("\n".join(asset(f"{name}.js") for name in names))


def twin_of(task: Task) -> str | None:
    """The twin in JavaScript that plays exactly this task, where there is one."""
    changed = getattr(task.reference, "env_kwargs", None) or getattr(task.reference, "functions", None)
    return task.name if task.name in TWINS and not changed else None


def live_data(program: Program, visits: Visits, replay: Replay, chosen: list[int], twin: str | None) -> dict[str, Any]:
    """What the page's script reads."""
    spread = np.std(visits.features, axis=0)
    return {
        "text": str(program),
        "task": program.task,
        "twin": twin,
        "seed": replay.seed,
        "evaluation": EVALUATION.seed,
        "words": IN_PAGE if twin else ELSEWHERE,
        "plane": [(index, *extent(program, visits, index)) for index in chosen],
        "frame": FRAME,
        "medians": visits.medians(),
        "scales": np.where(spread > 0.0, spread, 1.0).tolist(),
        "states": episode.short_floats(visits.features[:: -(-len(visits.features) // MOST_STATES)]),
        **({} if twin else replay.to_page()),
    }
