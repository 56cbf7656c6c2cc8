"""The pages read well: short sentences, no words of our own that nobody else uses."""

import re
from pathlib import Path
from statistics import median

import pytest

from tests.docs.blocks import PAGES, ROOT
from tests.docs.prose import length, sentences

READ = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
DIALECT = (
    r"rooms?", r"the house", r"hangs? on", r"digit for digit", r"comparison for comparison", r"acts? otherwise",
    r"otherwise than", r"for the eye", r"anew", r"at its half", r"by turns", r"goes? before", r"what lies here",
    r"dearer", r"the walk of", r"(?:is|are) told", r"for ever", r"likewise", r"meets? the same", r"misdeeds?",
    r"for the eyes", r"the door between", r"a minute of polish", r"earn their (?:place|keep)", r"stands? in that",
    r"so many (?:numbers|steps|episodes)", r"no more than the run", r"of an earlier day", r"what was made",
)  # fmt: skip
"""Words and phrases that only this project's authors understand at once."""


def test_sentences_are_short() -> None:
    """The median over all pages and of each page; the ten longest are printed for whoever edits."""
    found = [(length(sentence), page.name, sentence) for page in READ for sentence in sentences(page)]
    for words, name, sentence in sorted(found, reverse=True)[:10]:
        print(f"{words} words, {name}: {sentence}")
    assert len(found) > 500
    assert median(words for words, _, _ in found) < 18
    long = {page.name: median(words for words, name, _ in found if name == page.name) for page in READ}
    assert {name: words for name, words in long.items() if words > 19} == {}
    assert max(found)[0] <= 60


@pytest.mark.parametrize("page", READ, ids=lambda page: page.name)
def test_no_private_words(page: Path) -> None:
    text = " ".join(sentences(page))
    assert [word for word in DIALECT if re.search(rf"\b{word}\b", text, re.IGNORECASE)] == []
