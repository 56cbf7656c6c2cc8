"""Formulas become MathML, so that no page needs a script for them; the first use of a term links to the glossary."""

import html
import re
from functools import cache
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

GLOSSARY = Path(__file__).parents[1] / "glossary.md"
FORMULA = re.compile(r'<(span|div) class="arithmatex">(\\[(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
ENTRY = re.compile(r"^### (.+?)(?: \{#.*\})?\n\n(.+?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
PIECE = re.compile(r"(<[^>]+>)")
CLOSED = {"a", "code", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "math", "script", "style", "svg"}
"""Elements in which nothing is linked."""


@cache
def entries() -> dict[str, str]:
    """Terms of the glossary with the first sentence of what each means."""
    found = ENTRY.findall(GLOSSARY.read_text(encoding="utf-8"))
    return {name: re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`$]", r"\1", text).split(". ")[0] for name, text in found}


def anchor(term: str) -> str:
    return term.lower().replace(" ", "-")


def pattern(term: str) -> re.Pattern[str]:
    """The term as a whole word, with a plural and with a capital."""
    plural = f"{re.escape(term[:-1])}(?:y|ies)" if term.endswith("y") else rf"{re.escape(term)}(?:es|s)?"
    return re.compile(rf"(?<![\w-]){plural}(?![\w-])", re.IGNORECASE)


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    content = FORMULA.sub(formula, content)
    place = page.file.src_uri
    return content if place == "glossary.md" else linked(content, "../" * place.count("/") + "glossary.html")


def formula(match: re.Match[str]) -> str:
    display = "block" if match[2] == "\\[" else "inline"
    return convert(html.unescape(match[3]), display=display)


def linked(content: str, address: str) -> str:
    """The page with the first use of each term linked, unless the author linked it already."""
    waiting = sorted(entries(), key=len, reverse=True)  # "relaxed program" before "program"
    pieces, closed = PIECE.split(content), 0
    in_link = 0
    for number, piece in enumerate(pieces):
        if piece.startswith("<"):
            name = re.match(r"</?(\w*)", piece)
            tag = name[1].lower() if name else ""
            step = 0 if tag not in CLOSED or piece.endswith("/>") else -1 if piece.startswith("</") else 1
            closed += step
            in_link += step if tag == "a" else 0
        elif in_link:
            waiting = [term for term in waiting if not pattern(term).search(piece)]
        elif not closed:
            pieces[number], waiting = link_first(piece, waiting, address)
    return "".join(pieces)


def link_first(text: str, waiting: list[str], address: str) -> tuple[str, list[str]]:
    """A piece of text with links, and the terms that have not been met yet."""
    spans: list[tuple[int, int, str]] = []
    left = []
    for term in waiting:
        match = next((m for m in pattern(term).finditer(text) if not overlaps(m, spans)), None)
        if match:
            spans.append((*match.span(), term))
        else:
            left.append(term)
    for start, end, term in sorted(spans, reverse=True):
        title = html.escape(entries()[term].replace("\n", " "), quote=True)
        link = f'<a class="term" href="{address}#{anchor(term)}" title="{title}">{text[start:end]}</a>'
        text = text[:start] + link + text[end:]
    return text, left


def overlaps(match: re.Match[str], spans: list[tuple[int, int, str]]) -> bool:
    return any(match.start() < end and start < match.end() for start, end, _ in spans)
