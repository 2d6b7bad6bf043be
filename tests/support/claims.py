"""A passage that a claim is judged by."""

from milepost.types import Hit, Passage


def passage(*sentences: str) -> Passage:
    text = " ".join(sentences)
    hits = []
    for sentence in sentences:
        start = text.index(sentence)
        hits.append(Hit(start, start + len(sentence), 0.5, 0.0, {}, sentence))
    return Passage(text, "d.txt", None, 0, len(text), 0.5, tuple(hits), None, None)
