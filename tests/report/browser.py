"""Opens a page in headless Chromium, where there is one."""

import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--enable-logging=stderr", "--virtual-time-budget=1000", "--dump-dom",
)  # fmt: skip

needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium here: what a browser does with the page is not checked"
)


def browse(path: Path, profile: Path) -> tuple[str, list[str]]:
    """The document after its scripts have run, and what the console said."""
    command = [BROWSER or "", *OPTIONS, f"--user-data-dir={profile}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
