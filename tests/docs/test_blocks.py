"""Every code block of the README and of the site runs, and prints what the page shows."""

from pathlib import Path
from shutil import which

import pytest

from tests import rounding
from tests.docs.blocks import PAGES, ROOT, blocks_of, read_page


@pytest.mark.skipif(not rounding.SAME, reason=rounding.ELSEWHERE)
@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.name)
def test_a_reader_can_do_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "--to c" in page.read_text(encoding="utf-8") and not which("gcc"):
        pytest.skip("the page shows what a C compiler says of an export")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    read_page(page, tmp_path)


def test_nothing_is_left_out_without_a_reason() -> None:
    reasons = {block.reason for page in PAGES for block in blocks_of(page)} - {""}
    known = ("needs ", "trains for ", "asks ")
    assert [reason for reason in reasons if not reason.startswith(known)] == []
    assert (ROOT / "examples" / "runs").is_dir()
