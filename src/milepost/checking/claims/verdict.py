"""What the best of some sentences says about a claim: supported, contradicted or related."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from milepost.checking.claims.comparison import ATTACHED, RENAMED, ROLES, compare
from milepost.checking.claims.joined import joined
from milepost.checking.claims.kinds import EXACT, is_english
from milepost.checking.claims.quantity import Quantity, comparable
from milepost.checking.claims.reading import Reading, read
from milepost.checking.claims.tables import ClaimedTable, Row
from milepost.checking.claims.turned import paired
from milepost.checking.claims.values import Conflict, is_change_of_value
from milepost.checking.claims.vocabulary import EXCLUSIVE
from milepost.language.detection import ENGLISH_WORDS
from milepost.types import Hit, Passage
from milepost.verdicts import Difference, Match

MIN_COVERAGE = 0.8
"""Share of a claim's words that a sentence, those beside it and the heading have to have to support
it."""

MIN_SHARED = 0.77
"""Share of its words that the sentence itself has to have to support it."""

MIN_CONFLICT = 0.65
"""Share of its other words that a sentence has to have to contradict it: what is about something
else differs in many points."""

MIN_DENIED = 0.75
"""The same share where a negation alone differs: below it 10 of 16 claims of public sets that it
called contradicted were true."""

MIN_SUPPORTED = 0.75
"""Probability from which a model's "supported" counts: at 0.7 it called five more false claims of
418 supported, and three more true ones."""

MIN_CONTRADICTED = 0.68
"""Probability from which a model's "contradicted" counts; it also overrules rules that support. At
0.6 it called 8 of 100 true claims of unknown sources contradicted, here 7."""

MIN_CONTRADICTED_DENIAL = 0.9
"""The same of a claim with a negation or "only", which a model takes for false too easily: of 83
such claims of public sets that it contradicted 19 were not false; from here on 8 of 53."""

MIN_CONFIRMED, MAX_DENIED = 0.3, 0.4
"""Rules support only what the model gives at least the first probability of being supported, and
less than the second of being contradicted: nine in ten of such claims that are true, and six in ten
of those that are false. Where a word of the claim is nowhere, it has to be as sure as without them:
28 of 45 such claims of public sets that it gave less were true."""

MIN_CONFIRMED_IF_WHOLE, MAX_DENIED_IF_WHOLE = 0.1, 0.6
"""The same where one sentence has every word, number and date of a claim: a model hardly knows that
2,500 metres are 2.5 km."""

MIN_SIDED = 0.75
"""Probability of being supported or contradicted from which a passage is about a claim, though the
search doubts it: of 77 claims put to a text about something else, in which the search found nothing
likely, 4 get such a passage, of 28 put to their own text 14."""

MIN_ABOUT = 0.1
"""Probability from which a model judges a claim by a passage..."""

MIN_IN_OTHER_WORDS = 0.5
"""...the same where the passage has none of the claim's words, and the claim no number..."""

MIN_WORDS = 0.4
"""...and share of the claim's words from which it does so below that: by what is about something
else it calls most claims contradicted."""

_TURNED = ("negation", "opposite")  # kinds of difference
_SHORTEST = 3  # fewest different words of a claim that a model judges: a name says nothing

_ORDERS = frozenset(["please", "let", "tell", "show", "give", "find", "make"])
_OBJECTS = frozenset("the a an your these it".split())
_LEADING = frozenset(
    """
    like unlike despite within without throughout toward towards among across along behind beside
    besides beyond near inside outside onto since till unless although though whereas once whether
    via per either neither half even quite rather many later soon today sometimes often perhaps
    maybe thus hence given around beneath underneath amid amidst whenever wherever instead yet
    never seldom in on at for over above below against almost now here all
    """.split()
)
"""Words in front of an article that are no verb, as those in -ly and -ing are not..."""
_VERBS = frozenset("apply supply rely reply comply multiply fly bring sing ring swing".split())
"""...but for these."""
_CELLS = re.compile(r"\t|(?:^|\s)\|\s|[^\W\d],[^\s,]+,\S|\S,[^\s,]+,[^\W\d]")
"""What parts cells: the same words in other columns say something else, as no sentence does."""
_TURNS = re.compile(r"\s*(?:However|But)\b")
"""What a sentence begins with that says otherwise than the one before: it lends that no words."""
_WISHES = frozenset(["hopefully", "i wish", "we wish", "i hope", "we hope", "if only"])


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a document says about a claim.

    The sentence that decides, if one does, has the share of the claim's words that it and its
    neighbours have, and what the claim has in place of what it says. Its place is not looked up.
    ``shared`` is the share of the sentence alone, by rules; ``about`` are the passages that are
    about the claim by what a model says of it.
    """

    verdict: Literal["supported", "contradicted", "related"]
    sentence: Match | None = None
    shared: float = 0.0
    about: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """What a model says of a claim beside a passage: probabilities, 0–1, together at most 1.

    ``sentence`` is most about the claim. What a reranker says of roles, and of numbers that have
    none beside them to compare, rules check; a judge reads these better than they do.
    """

    supported: float
    contradicted: float
    sentence: Hit
    by_judge: bool = False


def why_not(claim: str) -> str | None:
    """Why a sentence claims nothing that could be judged; None where it does."""
    text, words = claim.strip(), claim.split()
    first = words[0].lower().strip(",") if words else ""
    second = words[1].lower() if len(words) > 1 else ""
    if text.endswith("?"):
        return "a question cannot be supported or contradicted"
    is_verb = first in _VERBS or not first.endswith(("ly", "ing"))
    is_order = second in _OBJECTS and words[0].isalpha() and is_verb
    if first in _ORDERS or (is_order and first not in ENGLISH_WORDS | _LEADING):
        return "an order cannot be supported or contradicted"
    if first in _WISHES or f"{first} {second}" in _WISHES or text.endswith("!"):
        return "a wish cannot be supported or contradicted"
    if _CELLS.search(text):
        return "a row of a table is only compared cell by cell"
    return None


def judge(
    claim: str,
    passages: Sequence[Passage],
    model: Callable[[Sequence[Passage]], Sequence[Said]] = lambda passages: (),
) -> Judgement:
    """Judge one sentence by the sentences of some passages, best first.

    ``model`` gives what a model says of the claim beside each of some passages, nothing for the
    rules alone; it is called in English where they do not contradict, or only by a name in a
    sentence that differs in more: seven of eight such claims of public sets that it called
    supported were true.
    """
    if why_not(claim) is not None:
        return Judgement("related")
    own = read(claim)
    english = is_english(own, " ".join(passage.text for passage in passages))
    ruled = _by_rules(own, passages, english)
    about = [each for each in passages if _is_about(own, each) and not _is_paired(own, each)]
    if _is_exact(ruled) or not english or len(own.by_base) < _SHORTEST:
        return ruled
    holding = ruled.sentence if ruled.verdict == "supported" else None
    if holding is not None and ruled.shared == 1.0:
        # Where one sentence has every word, what another passage says is of something else.
        about = [each for each in about if each.document == holding.document]
        about = [each for each in about if each.start < holding.end <= each.end]
    said = model(about) if about else ()
    if not said:
        return ruled
    beside = list(zip(about, said, strict=False))  # it reads the first few
    sided = (passage for passage, each in beside if each.supported + each.contradicted >= MIN_SIDED)
    return replace(_by_model(own, ruled, beside), about=tuple(sided))


def _by_model(own: Reading, ruled: Judgement, beside: Sequence[tuple[Passage, Said]]) -> Judgement:
    """Judge a claim by rules and by what a model says of it beside passages."""
    denying, against = max(beside, key=lambda each: each[1].contradicted)
    confirming, for_it = max(beside, key=lambda each: each[1].supported)
    denied, held = against.contradicted, for_it.supported
    if ruled.verdict == "contradicted":
        return ruled if held < MIN_SUPPORTED else Judgement("related")
    is_denial = bool(own.negations or EXCLUSIVE & {word.text.lower() for word in own.words})
    least = MIN_CONTRADICTED_DENIAL if is_denial else MIN_CONTRADICTED
    if denied >= least and denied > held and _has_rivals(own, denying, against):
        return Judgement("contradicted", _place_by_model(own, denying, against))
    if ruled.sentence is not None and ruled.verdict == "supported":
        is_sure = held >= MIN_SUPPORTED
        if ruled.shared == 1.0:
            is_sure |= held >= MIN_CONFIRMED_IF_WHOLE and denied < MAX_DENIED_IF_WHOLE
        if ruled.sentence.similarity == 1.0:
            is_sure |= held >= MIN_CONFIRMED and denied < MAX_DENIED
        return ruled if is_sure else Judgement("related")
    if held >= MIN_SUPPORTED and _has_facts(own, confirming, for_it):
        return Judgement("supported", _place_by_model(own, confirming, for_it))
    return ruled


def _is_exact(ruled: Judgement) -> bool:
    """Whether rules contradict, not only by a name in a sentence that lacks other words, too."""
    differences = ruled.sentence.differences if ruled.sentence else ()
    is_name = ruled.shared < 1.0 and {each.kind for each in differences} == {"name"}
    return ruled.verdict == "contradicted" and not is_name


def _is_about(claim: Reading, passage: Passage) -> bool:
    """Whether a passage is likely to be about a claim, or has enough of its words."""
    texts = _texts(passage)
    held = sum(any(text.find(word) for text in texts) for word in claim.content)
    if passage.score >= (MIN_ABOUT if held or claim.quantities else MIN_IN_OTHER_WORDS):
        return True
    return held > 0 and held >= MIN_WORDS * len(claim.content)


def _is_paired(claim: Reading, passage: Passage) -> bool:
    """Whether a passage says with "respectively" what belongs together, as no model reads it."""
    return any(paired(claim, text) for text in _texts(passage))


def _has_facts(claim: Reading, passage: Passage, said: Said) -> bool:
    """Whether a passage has all numbers and dates of a claim, and no other name in its place."""
    texts, table = _texts(passage), _table(claim, passage)
    if table is not None and not any(map(table.agrees, table.rows)):
        return False
    there = [each for text in texts for each in text.quantities]
    if not all(any(map(each.follows, there)) for each in claim.quantities):
        return False
    if any(each(claim, texts) for each in RENAMED):
        return False
    if said.by_judge:
        return True
    whole = [text for text in texts if all(map(text.find, claim.content))]
    return not any(each(claim, text) for text in texts for each in ATTACHED) and not any(
        each(claim, text) for text in whole for each in ROLES
    )


def _has_rivals(claim: Reading, passage: Passage, said: Said) -> bool:
    """Whether a passage has numbers and dates that could be in the place of a claim's.

    Of a table only a row that the claim speaks of can contradict it.
    """
    table = _table(claim, passage)
    row = table.row(said.sentence) if table else None
    if table and (row is None or not table.speaks_of(row)):
        return False
    if said.by_judge:
        return True
    there = [each for text in _texts(passage) for each in text.quantities]

    def is_rival(each: Quantity, other: Quantity) -> bool:
        return comparable(each, other) and not is_change_of_value(each, other, claim)

    return all(
        any(each.allows(other) or is_rival(each, other) for other in there)
        for each in claim.quantities
    )


def _texts(passage: Passage) -> list[Reading]:
    """The sentences of a passage, and what stands above it."""
    return [*(read(hit.text) for hit in passage.hits), *_above(passage)]


def _above(passage: Passage) -> list[Reading]:
    """The heading of a passage, and the caption of its table."""
    caption = passage.table.caption if passage.table else None
    return [read(text) for text in (passage.heading, caption) if text]


def _table(claim: Reading, passage: Passage) -> ClaimedTable | None:
    table = passage.table
    return ClaimedTable(claim, table, _above(passage)) if table and table.rows else None


def _place(
    passage: Passage, hit: Hit, similarity: float, differences: tuple[Difference, ...] = ()
) -> Match:
    return Match(
        document=passage.document,
        source=passage.source,
        start=hit.start,
        end=hit.end,
        text=hit.text,
        page=None,
        heading=None,
        similarity=similarity,
        differences=differences,
    )


def _place_by_model(claim: Reading, passage: Passage, said: Said) -> Match:
    return _place(passage, said.sentence, compare(claim, read(said.sentence.text)).coverage)


def _is_of_another(claim: Reading, sentence: Reading, found: Sequence[Conflict]) -> bool:
    """Whether what differs shows that a sentence is about something else.

    It has another number and another name or the opposite, or another date and not the number.
    """
    kinds = {each.kind for each in found}
    differing = {each.given[0] for each in found}
    values = {each.value for each in sentence.quantities}
    is_foreign = any(e.value not in values for e in claim.quantities if e.start in differing)
    numbers = [each for each in claim.quantities if each.kind == "number"]
    lacks_one = any(not any(map(each.allows, sentence.quantities)) for each in numbers)
    return (
        ("name" in kinds and not kinds.isdisjoint(EXACT))
        or (is_foreign and not kinds.isdisjoint(_TURNED))
        or ("date" in kinds and lacks_one)
    )


def _difference(own: Reading, hit: Hit, row: Row | None, conflict: Conflict) -> Difference:
    """A conflict with a sentence, or with a row as it is read, at its place in the document."""
    given = conflict.given
    start, end = conflict.found if row is None else row.in_text(conflict.found, hit)
    return Difference(
        given=own.text[slice(*given)],
        text=hit.text[start:end],
        given_start=given[0],
        given_end=given[1],
        start=hit.start + start,
        end=hit.start + end,
        kind=conflict.kind,
    )


def _by_rules(own: Reading, passages: Sequence[Passage], is_english: bool) -> Judgement:
    """Judge a claim without a model.

    A sentence that contradicts decides over one that supports only if it says more of the claim:
    "Sales rose in 2019" stands beside "Sales fell in 2018" in many a report.
    """
    says_something = len(own.by_base) + len(own.quantities) > 1
    supporting: list[Judgement] = []
    contradicting: list[Judgement] = []
    others = [read(hit.text) for passage in passages for hit in passage.hits]
    others = [text for text in others if any(map(text.find, own.content))]
    for passage in passages:
        above, table = _above(passage), _table(own, passage)
        units = joined(sorted(passage.hits, key=lambda hit: hit.start))  # they come best first
        texts = [read(unit.words) for unit in units]
        for number, unit in enumerate(units):
            hit = unit.hit
            row = table.row(hit) if table else None
            beside = texts[max(0, number - 1) : number] + texts[number + 1 : number + 2]
            beside = [text for text in beside if not _TURNS.match(text.text)]
            found = (
                table.compare(row)
                if table and row
                else compare(own, texts[number], beside + above, others)
            )
            kinds = [each for each in found.conflicts if is_english or each.kind in EXACT]
            differing = {each.kind for each in kinds}
            # What is in a list is denied by no other item of it.
            if unit.kind == "question" or (unit.kind == "item" and "name" in differing):
                continue
            shown = kinds if unit.kind != "answer" else []  # a "no" behind it is no difference
            differences = tuple(_difference(own, hit, row, each) for each in shown)
            place = _place(passage, hit, found.coverage, differences)
            is_other = _is_of_another(own, texts[number], kinds)
            is_other |= passage.table is not None and found.lacks_name
            is_other |= bool(table and row and not table.speaks_of(row))
            least = MIN_DENIED if differing == {"negation"} else MIN_CONFLICT
            if kinds and not is_other and found.shared >= least:
                contradicting.append(Judgement("contradicted", place, found.shared))
            is_all = says_something and found.is_whole and found.coverage >= MIN_COVERAGE
            if not kinds and is_english and is_all and found.shared >= MIN_SHARED:
                supporting.append(Judgement("supported", place, found.shared))
    best = max(supporting, key=lambda each: each.shared, default=None)
    worst = max(contradicting, key=lambda each: each.shared, default=None)
    if worst is not None and (best is None or worst.shared > best.shared):
        return worst
    return best or Judgement("related")
