"""Shell completion: the scripts are run by the shells themselves, where they are installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from diprl.cli.completion import all_words, bash, fish, zsh


def completed_by_bash(*words: str) -> set[str]:
    quoted = " ".join(f"'{word}'" for word in ("diprl", *words))
    script = (
        f"{bash(all_words())}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _diprl; printf '%s\\n' ${{COMPREPLY[@]}}"
    )
    return set(subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("tr",), {"train"}),
        (("co",), {"compare", "completion"}),
        (("train", "Cart"), {"CartPole-v1"}),
        (("train", "CartPole-v1", "--learning"), {"--learning-rate", "--learning-rate-end"}),
        (("train", "CartPole-v1", "--method", "p"), {"ppo", "pi-prl"}),
        (("export", "run", "--to", "s"), {"svg", "st"}),
        (("completion", "f"), {"fish"}),
        (("primitives", "tr"), {"train"}),
        (("simplify", "run", "--tol"), {"--tolerance"}),
    ],
)
def test_bash_completes(words: tuple[str, ...], found: set[str]) -> None:
    assert completed_by_bash(*words) == found


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(tmp_path: Path) -> None:
    (tmp_path / "diprl.fish").write_text(fish(all_words()))
    ask = f"source {tmp_path}/diprl.fish; complete -C 'diprl train --meth'; complete -C 'diprl train --method p'"
    done = subprocess.run(["fish", "--no-config", "-c", ask], capture_output=True, text=True, check=True)
    assert {line.split()[0] for line in done.stdout.splitlines()} >= {"--method", "ppo", "pi-prl"}


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_reads_the_script(tmp_path: Path) -> None:
    (tmp_path / "_diprl").write_text(zsh(all_words()))
    ask = f"autoload -U compinit; compinit -D; source {tmp_path}/_diprl; print $_comps[diprl]"
    done = subprocess.run(["zsh", "-f", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "_diprl"


@pytest.mark.parametrize("script", [zsh, fish])
def test_scripts_of_the_other_shells_name_everything(script) -> None:
    words = all_words()
    text = script(words)
    for each in words:
        assert each.command in text
        assert all(option.removeprefix("--") in text for option in each.options)
