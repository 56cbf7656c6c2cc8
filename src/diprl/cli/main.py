"""The `diprl` command: find the subcommand, run it, turn a user's mistake into one sentence and exit code 2."""

import faulthandler
import os
import sys
import tomllib
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from diprl.errors import DiprlError, check_known, visible

COMMANDS: dict[str, str] = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
"""What each command does; the class of its name, in the module of its name, holds its options and does it."""
ALIASES = {"enjoy": "watch"}


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit."""
    arguments = sys.argv[1:] if arguments is None else arguments
    with suppress(AttributeError, OSError, ValueError):  # no standard error to write to
        if not faulthandler.is_enabled():
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
        complain(error)
        sys.exit(2)
    except KeyboardInterrupt as stopped:
        print(file=sys.stderr)
        complain(str(stopped) or "stopped")
        sys.exit(130)
    except BrokenPipeError:
        # The reader closed the pipe, as head does; closing our end quietly keeps Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        complain(f"{error.filename or 'a file'}: {error.strerror or error}")
        sys.exit(2)


def complain(problem: object) -> None:
    """One sentence on standard error, wrapped between words in a terminal."""
    text = f"diprl: {visible(' '.join(str(problem).splitlines()))}"
    if sys.stderr.isatty():
        from shutil import get_terminal_size
        from textwrap import fill

        text = fill(text, get_terminal_size().columns, break_long_words=False, break_on_hyphens=False)
    print(text, file=sys.stderr)


def run(name: str, arguments: list[str]) -> int:
    check_known("command", COMMANDS, name, see="diprl --help")
    from diprl.cli.options import kept_for_json, parse

    command = parse(find_command(name), name, arguments)
    if "--json" not in arguments:
        return command.run() or 0
    with kept_for_json():
        return command.run() or 0


def find_command(name: str) -> type:
    """The options of a command, with what it does as `run`."""
    name = ALIASES.get(name, name)
    return getattr(import_module(f"diprl.cli.{name}"), name.capitalize())


def usage() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:{width}}  {text}" for name, text in COMMANDS.items())
    return f"usage: diprl COMMAND …\n\nPolicies that are programs.\n\n{rows}\n\nMore: diprl COMMAND --help"
