"""Notes of a search: no document is left, words or copies are missing, a language is not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath

from milepost.filters import Filter
from milepost.language.detection import UNKNOWN, SupportedLanguages, Written, judge
from milepost.language.numbers import others
from milepost.language.terms import words_of
from milepost.store.base import DocumentSelection, Snapshot
from milepost.types import Passage
from milepost.wording import counted

_LONGEST = 200  # maximum number of characters of a filter that the note quotes


def filter_matches_none(snapshot: Snapshot, among: DocumentSelection) -> bool:
    """Whether the index has documents but the filter, perhaps of an unknown key, matches none."""
    if among.where is None or not snapshot.statistics().documents:
        return False
    return snapshot.select(among, most=0) == []


def no_match(where: Filter) -> str:
    """Write the note for a filter that matches no document."""
    written = str(where)
    return f"no document matches {written if len(written) <= _LONGEST else written[:199] + '…'}"


def no_text(snapshot: Snapshot, names: Collection[str] | None) -> str:
    """Write the note for a search of documents, all or those named, that have no sentence."""
    if names is not None and not names and snapshot.statistics().documents:
        return "no document was chosen"
    return "there is no text to search"


def missing_words(question: str, idf: Mapping[str, float]) -> list[str]:
    """A note of the words that are not in the text, as the user wrote them."""
    for form, start, end in others(question):  # its day or month may stand nowhere by itself
        if idf.get(form, 0.0) > 0.0:
            question = question[:start] + " " * (end - start) + question[end:]
    words = words_of(question)
    # What is no word, such as the one form of a date, is only another way to find the text.
    absent = (words[term] for term, weight in idf.items() if weight <= 0.0 and term in words)
    missing = ", ".join(dict.fromkeys(absent))
    return [f"not in the text: {missing}"] if missing else []


def copies(passages: Sequence[Passage], number_of: Counter[str]) -> list[str]:
    """Notes of the files that are not searched, as they are copies of what was found."""
    names = dict.fromkeys(each.document for each in passages)
    return [
        f"not searched: {counted(number_of[name], 'file')} with the content of "
        f"{PurePath(name).name}"
        for name in names
        if number_of[name]
    ]


LITTLE_KNOWN = 0.5  # vocabulary coverage below which a note is given for any language
_CHARACTERS = 4000  # number of characters of each passage that are looked at
_PASSAGES = 20
_OF_QUESTION = 2  # least number of words that identify the language of a question


def language_notes(
    question: str,
    passages: Sequence[str],
    reads: SupportedLanguages | None,
    vocab_coverage: float,
    landmark_share: float,
) -> tuple[str, ...]:
    """Return a note about a language that the model does not read, or none.

    ``passages`` are best first; ``vocab_coverage``, 0–1, is the lower of question and documents;
    ``landmark_share`` the weight, 0–1, of the landmarks in the score.
    """
    if reads is not None:
        written = _most(passages)
        note = reads.note(written, "what was found")
        note = note or reads.note(judge(question, _OF_QUESTION), "the question")
        if note:
            return (note,)
        if written.script in reads.scripts:
            return ()
    if vocab_coverage < LITTLE_KNOWN and landmark_share < 1.0:
        return (
            "the model hardly knows this language or notation (vocabulary coverage "
            f"{vocab_coverage:.0%}): landmarks weigh {landmark_share:.0%}",
        )
    return ()


def _most(passages: Sequence[str]) -> Written:
    """Find the language of most passages, or of all together if each is too short to tell."""
    heads = [text[:_CHARACTERS] for text in passages[:_PASSAGES]]
    known = [each for each in map(judge, heads) if each != UNKNOWN]
    if not known:
        return judge("\n".join(heads))
    foreign = Counter(each for each in known if not each.english)
    if 2 * foreign.total() < len(known):
        return UNKNOWN
    return foreign.most_common(1)[0][0]
