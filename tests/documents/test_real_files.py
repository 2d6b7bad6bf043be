"""Real files as people have them: each is read, and its question's sentence is in its place."""

import pytest

from milepost.documents import read, split
from support.real_files import FILES, QUESTIONS, squeezed


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "sentence"), [(name, said) for name, said, _ in QUESTIONS if ".pdf" not in name]
)
def test_the_sentence_is_found(name: str, sentence: str) -> None:
    document = read(FILES / name)
    spans = split(document.text, document.blocks)
    found = (squeezed(document.text[start:end]) for start, end in spans)
    assert any(squeezed(sentence) in each for each in found)
