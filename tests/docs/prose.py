"""The prose of a page: its sentences, without code, tables, links' addresses and lists of names."""

import re
from pathlib import Path

FENCE = re.compile(r"^```.*?^```\n", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
DISPLAY = re.compile(r"\$\$.*?\$\$", re.DOTALL)
LINK = re.compile(r"!?\[((?:[^\]\[]|\[[^\]]*\])*)\]\([^)]*\)")
END = re.compile(r"(?<=[.!?:])[*)]*\s+(?=[A-Z0-9*\"“`$(−])")


def paragraphs(text: str) -> list[str]:
    """Paragraphs and list items, each in one line; headings, tables and code are left out."""
    text = DISPLAY.sub("\n\n", COMMENT.sub("", FENCE.sub("\n\n", text)))
    found: list[str] = []
    for part in re.split(r"\n\s*\n", text):
        lines = [line for line in part.splitlines() if not re.match(r"\s*(#|\||:::|    |-{3})", line)]
        for line in lines:
            item = re.match(r"\s*(?:[-*]|\d+\.) (.*)", line)
            if item or line is lines[0]:
                found.append(item[1] if item else line)
            else:
                found[-1] += " " + line.strip()
    return found


def plain(paragraph: str) -> str:
    """The words that a reader sees; code and formulas count as one word."""
    text = LINK.sub(r"\1", paragraph)
    text = re.sub(r"`[^`]*`|\$[^$]*\$", "X", text)
    return re.sub(r"[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", "", text)


def sentences(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [sentence for paragraph in paragraphs(text) for sentence in END.split(plain(paragraph)) if sentence.strip()]


def length(sentence: str) -> int:
    return len(re.findall(r"[\w’'.,+−–-]*\w[\w’'-]*", sentence))
