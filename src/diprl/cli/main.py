"""The `diprl` command: find the subcommand, run it, turn a user's mistake into one sentence and exit code 2."""

import faulthandler
import os
import sys
from contextlib import suppress
from importlib import import_module

from diprl.errors import DiprlError, unknown

COMMANDS = {
    "train": ("train", "learn a program for an environment, print it and score it"),
    "eval": ("programs", "score a saved program on its environment"),
    "show": ("programs", "print a saved program"),
    "polish": ("change", "search for better numbers of a saved program on its true return"),
    "simplify": ("change", "drop conditions, coefficients and digits that do not matter"),
    "edit": ("change", "change a program by hand and see what that does"),
    "verify": ("programs", "prove or refute properties of a saved program"),
    "explain": ("explain", "say why a program acts as it does in one state"),
    "export": ("programs", "write a saved program in Python, C, JSON, LaTeX, SVG, Structured Text or ONNX"),
    "report": ("programs", "write a page about a run: program, scores, curves, a rollout to scrub through"),
    "watch": ("programs", "watch a program play, or record it"),
    "enjoy": ("programs", "the same as watch"),
    "reproduce": ("reproduce", "make the paper's tables and figures again, beside its numbers"),
    "primitives": ("primitives", "list, train or compare the controllers that programs for MuJoCo tasks blend"),
    "tasks": ("machine", "list the built-in tasks"),
    "doctor": ("machine", "say what is installed and what works"),
}
"""The module of each command, whose class of the same name tyro turns into options, and what the command does."""
ALIASES = {"enjoy": "watch"}


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit."""
    arguments = sys.argv[1:] if arguments is None else arguments
    with suppress(AttributeError, OSError, ValueError):  # no standard error to write to
        faulthandler.enable(sys.__stderr__)  # type: ignore[arg-type]  # an environment may crash without a word
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        sys.exit(0)
    if arguments[0] == "--version":
        from diprl import __version__

        print(f"diprl {__version__}")
        sys.exit(0)
    try:
        sys.exit(run(arguments[0], arguments[1:]))
    except DiprlError as error:
        print(f"diprl: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as stopped:
        print(f"\ndiprl: {str(stopped) or 'stopped'}", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader closed the pipe, as head does; closing our end quietly keeps Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(f"diprl: {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(2)


def run(name: str, arguments: list[str]) -> int:
    if name not in COMMANDS:
        raise unknown("command", name, COMMANDS)
    from diprl.cli.options import parse

    return parse(find_command(name), name, arguments).run() or 0


def find_command(name: str) -> type:
    """The options of a command, with what it does as `run`."""
    module, _ = COMMANDS[name]
    return getattr(import_module(f"diprl.cli.{module}"), ALIASES.get(name, name).capitalize())


def usage() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:{width}}  {text}" for name, (_, text) in COMMANDS.items())
    return f"usage: diprl COMMAND …\n\nPolicies that are programs.\n\n{rows}\n\nMore: diprl COMMAND --help"
