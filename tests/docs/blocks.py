"""The code blocks of the pages: found in the text, run in a folder of their own, compared with what the page shows.

A comment before a block says what is special about it:

    <!-- file: tank.py -->          the reader writes this file
    <!-- not run: needs Slurm -->   commands are parsed only
    <!-- output varies -->          the output below is an example

A `text` block right after commands or Python shows what they print; a line `…` in it stands for lines left out.
What `diprl train` prints at its full budget is kept in `examples/runs`; here it trains for a moment only.
UPDATE_DOCS=1 writes what is printed into the pages.
"""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from diprl.cli.main import COMMANDS, find_command, main
from diprl.cli.options import parse
from diprl.runs.folder import read_result
from diprl.terminal.printing import print_result

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(
    r"(?P<mark>(?:^<!-- .*? -->\n)*)^```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
SNIPPET = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)
LONG = re.compile(r"\b(?:\d{2,3}_000|\d_000_000|\d{2,3},000)\b")
"""Budgets in Python; a test trains for two rollouts."""
SHORT = "8_192"
SMALL = [
    *("--total-timesteps", "2048", "--num-envs", "16", "--num-steps", "64", "--minibatch-size", "256"),
    *("--members", "1", "--episodes", "2", "--raw"),
]
CHANGING = re.compile(r"\d+(?:\.\d+)? (?:s|MB|µs)\b")
PARSED_ONLY = {"studio", "primitives", "reproduce"}
"""Commands that wait for a browser or train for hours."""
DATA = {"yaml": yaml.safe_load, "toml": tomllib.loads, "json": json.loads}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    language: str
    text: str
    mark: str
    start: int
    """Where its text begins in the page."""
    script: str = ""
    """The example that it shows, which has a test of its own."""

    @property
    def name(self) -> str:
        line = self.page.read_text(encoding="utf-8")[: self.start].count("\n") + 1
        return f"{self.page.name}:{line}"

    @property
    def reason(self) -> str:
        """Why it is not run; empty if it is."""
        found = re.search(r"not run: (.+?) -->", self.mark)
        return found[1] if found else ""

    @property
    def file(self) -> str:
        found = re.search(r"file: (.+?) -->", self.mark)
        return found[1] if found else ""

    @property
    def lines(self) -> list[str]:
        """The commands of the block, those that a backslash continues as one."""
        joined = self.text.replace("\\\n", " ").splitlines()
        return [line for line in joined if line.strip() and not line.startswith("#")]


def blocks_of(page: Path) -> list[Block]:
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [
        Block(
            page,
            block["language"],
            with_snippets(block["text"]),
            block["mark"],
            block.start("text"),
            "".join(SNIPPET.findall(block["text"])),
        )
        for block in found
    ]


def with_snippets(text: str) -> str:
    return SNIPPET.sub(lambda match: (ROOT / match[1]).read_text(encoding="utf-8").rstrip("\n"), text)


@dataclass
class Reader:
    """Someone who does what a page says, from its top to its bottom."""

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def prepare(self) -> None:
        """The repository's examples, and the runs that they hold, as if the reader had trained them."""
        shutil.copytree(ROOT / "examples", self.folder / "examples")
        shutil.copytree(ROOT / "examples" / "runs", self.folder / "runs", ignore=shutil.ignore_patterns("Tank"))
        shutil.copytree(ROOT / "examples" / "runs" / "Tank", self.folder / "run")
        for path in (self.folder / "run").glob("*.json"):
            path.write_text(path.read_text().replace('"folder": "."', f'"folder": "{self.folder}"'))

    def does(self, block: Block) -> str | None:
        """Run a block; what it prints, or None where that is not to be compared."""
        if block.file:
            (self.folder / block.file).write_text(block.text)
            return None
        match block.language:
            case "sh":
                subprocess.run(["bash", "-n"], input=block.text, text=True, check=True)
                printed = [self.command(line, block) for line in block.lines]
                return None if block.reason else "".join(text or "" for text in printed)
            case "python":
                return self.python(block)
            case "yaml" | "toml" | "json":
                assert DATA[block.language](block.text)
            case "c" | "st":
                written = "\n".join(path.read_text() for path in (self.folder / "export").glob("*.*"))
                assert tidy(block.text) in tidy(written), f"{block.name}: no exported file has these lines"
            case language:
                assert language in ("text", "pascal", "bibtex"), f"{block.name}: what is a {language} block?"
        return None

    def python(self, block: Block) -> str | None:
        code = LONG.sub(SHORT, block.text)
        compiled = compile(code, block.name, "exec")
        if block.reason or block.script:
            return None
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compiled, self.names)
        return printed.getvalue() if code == block.text else None

    def command(self, line: str, block: Block) -> str | None:
        words = [re.sub(r"\$\w+", "0", word) for word in shlex.split(line, comments=True)]
        match words:
            case ["diprl", name, *arguments] if name in COMMANDS:
                return self.diprl(name, arguments, bool(block.reason))
            case ["diprl", "--help" | "--version"] | ["source", "<(diprl", "completion", "bash)"]:
                return None
            case ["make", target]:
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
            case ["make", "-C", folder, *targets] if not block.reason:
                subprocess.run(["make", "-C", str(self.folder / folder), *targets], check=True, capture_output=True)
            case ["pip", "install", *packages]:
                extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
                named = re.findall(r"(?:diprl|\.)\[(.+?)\]", " ".join(packages))
                assert {name for names in named for name in names.split(",")} <= extras.keys(), line
            case ["python", script, *_]:
                assert (ROOT / script).is_file(), line
            case _:
                assert block.reason, f"{block.name}: nobody knows how to test '{line}'"
        return None

    def diprl(self, name: str, arguments: list[str], parse_only: bool) -> str | None:
        """A command in this process; a training is cut short and prints what the committed run says."""
        opens_a_window = name in ("watch", "enjoy") and "--record" not in arguments
        parse(find_command(name), name, [word for word in arguments if word != "--json"])
        if parse_only or name in PARSED_ONLY or opens_a_window:
            return None
        if name == "train" and "--resume" not in arguments:
            return self.train(arguments)
        return self.call([name, *quickened(arguments)])

    def train(self, arguments: list[str]) -> str | None:
        small, out = SMALL, arguments[arguments.index("--out") + 1] if "--out" in arguments else ""
        if out and (self.folder / out).exists():  # the committed run, which the page goes on with
            small = [*SMALL, "--out", f"{out}-small"]
        self.call(["train", *quickened(without(arguments, small)), *small])
        said = shlex.join(["diprl", "train", *arguments])
        for result in sorted((ROOT / "examples" / "runs").rglob("result.json")):
            if json.loads(result.read_text())["command"] == said:
                return full_output(result.parent, arguments)
        return None

    def call(self, arguments: list[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                main(arguments)
            except SystemExit as end:
                code = end.code
        allowed = (0, 1) if arguments[0] in ("verify", "compare") else (0,)
        assert code in allowed, f"diprl {shlex.join(arguments)}\n{printed.getvalue()}{said.getvalue()}"
        return printed.getvalue()


def full_output(run: Path, arguments: list[str]) -> str:
    """What a training printed at its end."""
    place = run.relative_to(ROOT / "examples")
    if "--out" in arguments:
        place = Path(arguments[arguments.index("--out") + 1])
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        result = read_result(run)
        assert result is not None
        print_result(result, place)
    return printed.getvalue()


def quickened(arguments: list[str]) -> list[str]:
    """A second of search instead of a minute, two seeds instead of many."""
    short = {"--seconds": "1", "--seeds": "0:2"}
    return [short.get(before, word) for before, word in zip(["", *arguments], arguments, strict=False)]


def without(arguments: list[str], options: list[str]) -> list[str]:
    """Arguments without the options that are going to be set."""
    names, kept, skip = {word for word in options if word.startswith("--")}, [], False
    for word in arguments:
        if word in names:
            skip = word != "--raw"
        elif skip and not word.startswith("--"):
            skip = False
        else:
            kept.append(word)
            skip = False
    return kept


def assert_shown(shown: str, printed: str, name: str) -> None:
    """The page shows what was printed; a line `…` stands for anything, times and sizes of files may differ."""
    clean, rest = CHANGING.sub("#", tidy(shown)), CHANGING.sub("#", tidy(printed))
    parts = re.split(r"^…\n?", clean, flags=re.MULTILINE)
    whole = len(parts) == 1
    for part in parts:
        start = rest.find(part)
        assert start >= 0, f"{name} shows\n{shown}\nbut this is printed\n{printed}"
        assert not whole or rest.strip("\n") == part.strip("\n"), f"{name} shows\n{shown}\nof\n{printed}"
        rest = rest[start + len(part) :]


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")) + "\n"


def read_page(page: Path, folder: Path) -> None:
    """Do everything on a page and compare."""
    reader, before = Reader(folder), None
    reader.prepare()
    edits: list[tuple[int, int, str]] = []
    for block in blocks_of(page):
        shown = block.language == "text" and not block.file and "output varies" not in block.mark
        if shown and before is not None:
            if os.environ.get("UPDATE_DOCS") and "…" not in block.text:
                edits.append((block.start, block.start + len(block.text), tidy(before)))
            else:
                assert_shown(block.text, before, block.name)
        before = reader.does(block)
    text = page.read_text(encoding="utf-8")
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    if edits:
        page.write_text(text, encoding="utf-8")
