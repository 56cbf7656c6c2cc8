"""Writes the reference of commands and of settings from the code, each time the site is built."""

import argparse
import re
import tomllib
import warnings
from pathlib import Path
from typing import Any

import tyro
from mkdocs.structure.files import File, Files

from diprl.cli.main import ALIASES, COMMANDS, find_command
from diprl.cli.options import field_docstrings
from diprl.methods.presets import PRESETS, preset_values
from diprl.train.settings import LIMITS, PPOSettings, ProgramSettings, Settings

ADVICE = Path(__file__).with_name("settings.toml")


def on_files(files: Files, config: Any) -> Files:
    """Add both pages."""
    for name, text in {"commands.md": commands(), "settings.md": settings()}.items():
        files.append(File.generated(config, name, content=text))
    return files


def commands() -> str:
    """Every command with its options, as `--help` shows them."""
    lines = [
        "# Commands\n",
        "This page is made from the code. `diprl COMMAND --help` prints the same in your console.",
        "A `PROGRAM` is a run folder or a program file. The exit code is 0 after success and 2 after a mistake.",
        "`compare`, `export`, `verify` and `reproduce` use 1 where something differs, fails or is missing.\n",
    ]
    for name, summary in COMMANDS.items():
        lines += [f"## diprl {name}\n", f"{summary[0].upper()}{summary[1:]}.\n"]
        if name not in ALIASES:
            lines += described(parser_of(name))
    return "\n".join(lines) + "\n"


def parser_of(name: str) -> argparse.ArgumentParser:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pairs_off = (tyro.conf.FlagCreatePairsOff,)
        return tyro.extras.get_parser(find_command(name), prog=f"diprl {name}", config=pairs_off)


def described(parser: argparse.ArgumentParser) -> list[str]:
    """The usage and the options of a command, and of the commands within it."""
    within = next((action for action in parser._actions if isinstance(action.choices, dict)), None)
    shown = [action for action in parser._actions if action is not within and action.dest != "help"]
    names = [action for action in shown if not action.option_strings]
    usage = " ".join([parser.prog, *(["{" + ",".join(within.choices) + "}"] if within else map(metavar, names))])
    options = " [OPTIONS]" if len(shown) > len(names) else ""
    lines = ["```text", f"{usage}{options}", "```", ""]
    if shown:
        lines += ["| argument | what it is |", "| --- | --- |", *map(row, [*names, *filter(flagged, shown)]), ""]
    for name, inner in within.choices.items() if within else ():
        lines += [f"### {parser.prog} {name}\n", f"{sentence(inner.description)}\n", *described(inner)]
    return lines


def flagged(action: argparse.Action) -> bool:
    return bool(action.option_strings)


def metavar(action: argparse.Action) -> str:
    return str(action.metavar or action.dest.upper()).replace("{None}|", "")


def row(action: argparse.Action) -> str:
    name = " ".join([*action.option_strings[:1], *([metavar(action)] if action.nargs != 0 else [])])
    text = re.sub(r" ?\((?:required|default: (?:False|None))\)", "", action.help or "")
    text = f"Turns this off: {text}".replace(" (default: True)", "") if name.startswith("--no-") else text
    return f"| `{escaped(name)}` | {escaped(text).strip()} |"


def escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def sentence(text: Any) -> str:
    return " ".join(str(text or "").split())


def settings() -> str:
    """Every setting with its values in both presets, what it does and when to change it."""
    lines = [
        "# Settings\n",
        "Every setting is an option of `diprl train` (`--max-depth 4`) and a keyword argument in Python",
        "(`DiPRL(env, max_depth=4)`). This page is made from the code. *Default* is the value for an environment",
        "that nobody has tuned, *paper* the value that trains as published, *release* that of the authors' code.",
        "Built-in tasks have values of their own:",
        "`config.json` in a run folder holds what a run used. Times are fractions of the whole run.\n",
        "Start with these: `total_timesteps`, `max_depth`, `gamma`, `learning_rate`, `members`, `max_numbers`.\n",
    ]
    advice = tomllib.loads(ADVICE.read_text(encoding="utf-8"))
    values = {name: Settings().values() | preset_values("diprl", name, "") for name in PRESETS}
    for record, title in ((PPOSettings, "Training with PPO"), (ProgramSettings, "The program")):
        lines += [f"## {title}\n"]
        for name, text in field_docstrings(record).items():
            shown = ", ".join(f"{preset} {number(values[preset][name])}" for preset in PRESETS)
            lines += [f"### `{name}`\n", f"{text}\n", f"{shown.capitalize()}. {allowed(name)}\n"]
            lines += [f"*When to change it:* {advice[name]}\n"]
    return "\n".join(lines)


def number(value: Any) -> str:
    return f"`{value:,}`" if isinstance(value, int) and not isinstance(value, bool) else f"`{value}`"


def allowed(name: str) -> str:
    limits = LIMITS[name]
    if isinstance(Settings().values()[name], bool):
        return "True or False."
    if limits["fraction"]:
        return "Between 0 and 1."
    return "Above 0." if limits["positive"] else "0 or more."
