"""`diprl completion`: what lets a shell complete commands, options and their choices, without starting Python."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated, NamedTuple

import tyro

from diprl.cli.options import JSONOption, one_of, options_of
from diprl.errors import check_known

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, kw_only=True)
class Completion(JSONOption):
    """Print a script for your shell that completes commands, options and their choices.

    bash: add  source <(diprl completion bash)  to ~/.bashrc
    zsh:  add  source <(diprl completion zsh)  to ~/.zshrc, after compinit
    fish: diprl completion fish > ~/.config/fish/completions/diprl.fish
    """

    shell: Annotated[str, tyro.conf.Positional, one_of(*SHELLS)]
    """Your shell."""

    def run(self) -> None:
        check_known("shell", SHELLS, self.shell)
        script = {"bash": bash, "zsh": zsh, "fish": fish}[self.shell](all_words())
        self.print_json(shell=self.shell, script=script) if self.json else print(script)


class Words(NamedTuple):
    """What may follow a command."""

    command: str
    about: str
    first: list[str]
    """Names that its first argument may have; files may too."""
    options: dict[str, list[str]]
    """Each with its choices."""


def all_words() -> list[Words]:
    from diprl.cli.main import COMMANDS, find_command
    from diprl.tasks.registry import TASKS

    first = {"train": list(TASKS), "completion": list(SHELLS), "primitives": ["list", "train", "compare"]}
    return [
        Words(name, about, first.get(name, []), options_of(find_command(name)) | {"--help": []})
        for name, about in COMMANDS.items()
    ]


def bash(words: list[Words]) -> str:
    """One `case` by command and the word before: an option with choices, or anything else."""
    cases = []
    for each in words:
        chosen = [(f":{option}", choices) for option, choices in each.options.items() if choices]
        for pattern, following in [*chosen, (":*", [*each.first, *each.options])]:
            cases.append(f"    {each.command}{pattern}) words={quote(' '.join(following))} ;;")
    script = Path(__file__).with_name("completion.bash").read_text(encoding="utf-8").rstrip()
    commands = quote(" ".join(each.command for each in words))
    return script.replace("CASES", "\n".join(cases)).replace("COMMANDS", commands)


def zsh(words: list[Words]) -> str:
    """The same: zsh runs functions for bash."""
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash(words)}"


def fish(words: list[Words]) -> str:
    lines = []
    for each in words:
        lines.append(f"complete -c diprl -n __fish_use_subcommand -f -a {each.command} -d {quote(each.about)}")
        when = quote(f"__fish_seen_subcommand_from {each.command}")
        lines += [f"complete -c diprl -n {when} -a {quote(' '.join(each.first))}"] if each.first else []
        for option, choices in each.options.items():
            values = f" -x -a {quote(' '.join(choices))}" if choices else ""
            lines.append(f"complete -c diprl -n {when} -l {option.removeprefix('--')}{values}")
    return "\n".join(lines)
