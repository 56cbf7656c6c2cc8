"""The site: built strictly, complete, loading nothing from elsewhere; a term is linked where it is first used."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import diprl
from diprl.cli.main import COMMANDS
from diprl.train.settings import FIELDS
from tests.docs.blocks import ROOT

pytest.importorskip("material", reason="the site needs an extra: pip install 'diprl[docs]'")
LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
ASIDE = {"nav", "header", "footer", "script", "style", "code", "pre", "math"}
TERMS = re.findall(r"^### (.+)$", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)


class Page(HTMLParser):
    """The links, images, anchors and readable words of a built page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.words: list[tuple[str, bool]] = []
        """Pieces of the article's prose, each with whether it is a link or a heading."""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {given[name] or "" for name in ("id", "name") if name in given}
        if tag in LOADING and given.get(LOADING[tag]):
            self.loads.append(given[LOADING[tag]] or "")
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag not in ("meta", "link", "img", "input", "br", "hr", "source", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while tag in self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "article" in self.open and not ASIDE & set(self.open) and not HEADINGS & set(self.open):
            self.words.append((data, "a" in self.open))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page], site: Path) -> None:
    for path, page in pages.items():
        assert [address for address in page.loads if urlsplit(address).scheme not in ("", "data")] == [], path
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", styles)


def test_every_link_and_image_leads_somewhere(pages: dict[Path, Page], site: Path) -> None:
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for address in {*page.links, *page.loads}:
            parts = urlsplit(address)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = target in pages and parts.fragment not in ("", *pages[target].anchors, "__tabbed_1_1")
            if not target.exists() or known:
                broken.append(f"{path.relative_to(site)}: {address}")
    assert broken == []


def test_terms_are_linked_where_they_are_first_used(pages: dict[Path, Page], site: Path) -> None:
    assert len(TERMS) >= 20
    late = []
    for path, page in pages.items():
        if path.name == "glossary.html":
            continue
        for term in TERMS:
            used = [linked for text, linked in page.words if word(term).search(text)]
            if used and not used[0] and not in_longer_term(page, term):
                late.append(f"{path.relative_to(site)}: {term}")
    assert late == []


def word(term: str) -> re.Pattern[str]:
    """A term in one or in many."""
    many = f"{term[:-1]}(?:y|ies)" if term.endswith("y") else f"{term}s?"
    return re.compile(rf"(?<![\w-]){many}(?![\w-])", re.IGNORECASE)


def in_longer_term(page: Page, term: str) -> bool:
    """Whether uses before the first link are all parts of longer terms, as the program in a relaxed program is."""
    longer = [other for other in TERMS if term in other and term != other]
    for text, linked in page.words:
        left = text
        for other in longer:
            left = word(other).sub("", left)
        if word(term).search(left):
            return linked
    return True


def test_every_page_has_a_place_in_the_navigation(site: Path) -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [path.name for path in (ROOT / "docs").glob("*.md") if f" {path.name}\n" not in navigation] == []


def test_the_references_are_complete(site: Path) -> None:
    commands = (site / "commands.html").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f'id="diprl-{name}"' not in commands] == []
    assert "--env-timeout" in commands
    settings = (site / "settings.html").read_text(encoding="utf-8")
    assert [name for name in FIELDS if f'id="{name}"' not in settings] == []
    assert settings.count("When to change it:") == len(FIELDS)
    python = (site / "python.html").read_text(encoding="utf-8")
    assert [name for name in diprl.__all__ if not re.search(rf'id="diprl\.[\w.]*\b{name}"', python)] == []


def test_formulas_need_no_script(site: Path) -> None:
    concepts = (site / "concepts.html").read_text(encoding="utf-8")
    assert concepts.count("<math") >= 20
    assert "arithmatex" not in concepts
    assert "mathjax" not in concepts.lower()
