"""Takes files of the repository that pages link to into the site, and sends the links there.

A page in `docs/` links to `../results/h200.md` as it would in a repository browser. In the site that file lies beside
the page, so its link becomes `results/h200.md`.
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(!?\[(?:[^\]\[]|\[[^\]]*\])*\]\()(?!https?://|#|mailto:)([^)#\s]+)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
STARTS = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
"""Pages at the top of the repository that the navigation names."""


def links_in(text: str) -> list[str]:
    """Targets of the relative links and images of a page."""
    return [match[2] for match in LINK.finditer(CODE.sub("", text))]


def place_of(path: Path) -> str:
    """Where a file of the repository lies in the site's sources."""
    return str(path.relative_to(DOCS) if path.is_relative_to(DOCS) else path.relative_to(ROOT))


def on_files(files: Files, config: Any) -> Files:
    """Add what pages link to, and what those pages link to."""
    waiting = [ROOT / name for name in STARTS] + [Path(file.abs_src_path or "") for file in files.documentation_pages()]
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file() or not path.is_relative_to(ROOT):
            continue
        seen.add(path)
        if files.get_file_from_path(place_of(path)) is None:
            files.append(File(place_of(path), str(ROOT), config["site_dir"], config["use_directory_urls"]))
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            waiting += [(path.parent / target).resolve() for target in links_in(text)]
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turn links of the repository into links of the site."""
    place = page.file.src_uri
    here = DOCS / place if (DOCS / place).exists() or not (ROOT / place).exists() else ROOT / place

    def moved(match: re.Match[str]) -> str:
        target = (here.parent / match[2]).resolve()
        if not target.is_file():
            return match[0]
        return match[1] + os.path.relpath(place_of(target), Path(place).parent)

    parts, last = [], 0
    for code in CODE.finditer(markdown):
        parts += [LINK.sub(moved, markdown[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*parts, LINK.sub(moved, markdown[last:])])
