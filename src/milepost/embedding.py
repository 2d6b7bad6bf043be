"""One vector a text, as other programs' embedding interfaces want it.

Questions are read by ``Encoder.encode_query``; every other text is read whole, whatever its length,
and becomes the mean of its landmarks. What those interfaces allow and a search refuses (an empty
text, a question of punctuation) has a vector here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from milepost.errors import BadQuestion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.encoder import Encoder

# Read together at most: enough to fill the engine's batches, few enough for memory to stay flat.
_BLOCK_TEXTS, _BLOCK_CHARACTERS = 512, 1_000_000


def embed_documents(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """The document vector of each text.

    Returns:
        ``(n, d)`` float32, unit length; zeros for a text of white space.
    """
    import numpy as np

    vectors = np.zeros((len(texts), encoder.dimensions), np.float32)
    for block in _blocks(texts):
        read = encoder.encode_texts([texts[number] for number in block])
        for number, landmarks in zip(block, read, strict=True):
            vectors[number] = landmarks.document
    return vectors


def embed_query(encoder: Encoder, question: str) -> NDArray[np.float32]:
    """The vector of a question; one without letter or digit is read as a text.

    Returns:
        ``(d,)`` float32, unit length; zeros for white space.
    """
    try:
        return encoder.encode_query(question)
    except BadQuestion:
        return encoder.encode(question.strip()).document


def _blocks(texts: Sequence[str]) -> Iterator[list[int]]:
    """Numbers of the texts to read together, alike in length; those of white space are left out.

    White space alone would be a sentence with a vector of its own.
    """
    block: list[int] = []
    characters = 0
    for number in sorted(range(len(texts)), key=lambda number: len(texts[number])):
        if not texts[number].strip():
            continue
        if len(block) == _BLOCK_TEXTS or characters + len(texts[number]) > _BLOCK_CHARACTERS:
            if block:
                yield block
            block, characters = [], 0
        block.append(number)
        characters += len(texts[number])
    if block:
        yield block
