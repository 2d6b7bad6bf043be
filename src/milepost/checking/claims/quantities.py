"""Numbers, amounts and dates of a sentence as ranges that can be compared.

"1,234", "$1.2bn", "12 %", "a third" and "more than 12 %" become a range of values and a unit;
"3 May 1998", "May 1998" and "1998-05-03" become a range of days. Figures are read as the search
reads them; number words and bounds are English.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter

from milepost.checking.claims.dates import dates
from milepost.checking.claims.quantity import Quantity, times
from milepost.checking.claims.units import (
    BEHIND,
    ORDINAL,
    SCALED,
    SMALL,
    UNITS,
    WORDS,
    known,
    ordinal,
)
from milepost.language.amounts import figures
from milepost.language.detection import judge
from milepost.language.numbers import SAME, SCALES, western
from milepost.language.patterns import is_dash, late
from milepost.language.stemming import stem
from milepost.language.terms import STOP_WORDS

_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
_WORD = "|".join(sorted({*WORDS, *SCALED}, key=len, reverse=True))
_COUNT = rf"(?:\d+|{'|'.join(SMALL[1:])})"
_SPELLED = late(
    rf"\b(?:(?:(?P<of>{_COUNT}|an?)[\s-])?(?P<part>half|third|quarter|fourth|fifth|tenth)s?"
    r"(?=\s(?:of|the|all)\b)"
    rf"|(?P<one>{_COUNT})\s(?:out\sof(?:\severy)?|in(?:\severy)?)\s(?P<all>{'|'.join(SMALL[2:])})"
    r"|(?P<half>half(?:\san?)?)(?=[\s-]\w)"
    rf"|(?P<ordinal>{ORDINAL})|(?P<fold>{_COUNT})fold"
    r"|(?:12\s)?(?P<twelve>noon|midnight)|(?P<once>once)(?=\s(?:an?|per|each|every|\w+ly)\b)"
    r"|(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d))?(?:\s?(?P<noon>[ap])\.?m\b|(?<=:\d\d))"
    rf"|(?P<words>(?:{_WORD})(?:[\s-](?:{_WORD})|(?<=hundred|housand|million)\sand\s(?:{_WORD}))*)"
    r"(?P<more>\sand\sa\shalf)?)(?![^\W_])",
    re.IGNORECASE,
)
_MINUS = "minus "
_CONFIDENCE = re.compile(r"\s?(?:%|per ?cent)?[\s-]?(?:confidence|credible|CI\b|CrI\b)")
_HIGH = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_HALVES = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_DECIMAL = r"(?<![\w.,/])\d+(?:\.\d+)?"
_NOTATION = late(
    rf"(?:(?P<factor>{_DECIMAL})\s?[x×·*]\s?|(?<![\w.,]))10(?:\^?(?P<high>⁻?[⁰¹²³⁴-⁹]{{1,2}})"
    r"|\^\{?(?P<power>[-−]?\d{1,2})\}?)(?!\d)"
    rf"|(?P<digits>{_DECIMAL})[eE](?P<exponent>[-+]?\d{{1,2}})(?![\w.])"
    rf"|(?:(?<![\d.,/])(?P<whole>\d{{1,3}})\s?)?(?P<sign>[{_HALVES}])"
    r"|(?<![\d.,/])(?:(?P<full>\d{1,3})[\s-])?(?P<above>\d{1,2})[/⁄](?P<below>[2-9]|10|12|16|32|64)"
    r"(?![\d/⁄.,]*\d)(?(full)|(?=\sof\b))"
)
"""Powers of ten, and fractions: "3 × 10^5", "1e6", "2½", "2 1/2", "1/3 of"."""
_BOUND = late(
    r"(?:(?:(?P<more>>(?!=)|\b(?:more than|over|above|exceed(?:s|ed|ing)?|greater than|higher than"
    r"|(?:larger|bigger|longer|older) than|upwards of|surpass(?:ed|es|ing)?|better than))"
    r"|(?P<least>≥|>=|\b(?:at least|(?:no|not(?: be)?) (?:fewer|less) than|minimum of|wait))"
    r"|(?P<less><(?!=)|\b(?:less than|fewer than|under|below|almost|nearly"
    r"|(?:lower|smaller|shorter|younger) than))"
    r"|(?P<most>≤|<=|\b(?:at most|up to|(?:no|not(?: be)?) (?:more|later|longer|greater) than"
    r"|maximum of|within|capped at|limited to"
    r"|(?:limit|cap|ceiling) (?:is|was|of)"
    r"|(?:not|never)(?: to)? exceed(?:s|ed|ing)?))"
    r"|(?P<about>\b(?:about|around|approximately|roughly|some|circa|c\.|estimated)))"
    r"(?:\s+(?:the|a|an|age of|of|only|just))*\s*|(?P<tilde>~))(?:us)?$",
    re.IGNORECASE,
)
_PERIOD = late(
    r"\s?(?:(?:an?|per|each|every|/)\s?(?P<noun>hour|day|week|month|quarter|year)s?"
    r"|(?P<adverb>hour|dai|week|month|quarter|year|annual)ly)\b",
    re.IGNORECASE,
)
_ROLE = late(
    r"(?<!compared )(?<!close )(?<!equal )(?<!relative )(?<!due )\b(from|to|by"
    r"|(?:increas|decreas|declin|chang)es? of|(?:ris|fall|drop|growth|reduction)e?s? of)"
    r"\s+(?:the\s)?$",
    re.IGNORECASE,
)
_PLUS = late(
    r"\s?(?:\+|(?:or|and) (?:(?P<up>more|over|above|older|higher|longer)"
    r"|(?:less|fewer|under|below|younger|lower|shorter))\b|-?(?:limit|cap|ceiling)\b)",
    re.IGNORECASE,
)
_TO = late(r"\s*(?:(?P<dash>[-\u2010-\u2014])|to|and)\s*")
_JOINT = late(r"\s+(?:and\s+)?")
_LISTED = late(r",\s+(?:(?:and|or)\s+)?|\s+(?:and|or)\s+")
_START = attrgetter("start")


def quantities(text: str) -> list[Quantity]:
    """The numbers and dates of a text, in order.

    >>> [(each.value, each.unit) for each in quantities("It cost $1.2bn, or 12 % of 1,234 farms.")]
    [(1200000000.0, 'dollar'), (12.0, 'percent'), (1234.0, 'farm')]
    """
    text = western(text)
    days = _outside(dates(text), [])
    taken = list(days)
    for read in (_notations, _spelled, _figures):
        taken += _outside(read(text), taken)
    numbers = [_bounded(text, each) for each in sorted(taken[len(days) :], key=_START)]
    return sorted((*days, *_listed(text, [*_joined(text, numbers)])), key=_START)


def _outside(found: Iterator[Quantity], taken: list[Quantity]) -> list[Quantity]:
    """What does not overlap with what was read before."""
    kept: list[Quantity] = []
    for each in found:
        if all(each.end <= one.start or one.end <= each.start for one in (*taken, *kept)):
            kept.append(each)
    return kept


def _number(text: str, value: float, start: int, end: int, unit: str = "") -> Quantity:
    """A number with the unit that is known already, or that stands behind it."""
    if text[max(0, start - len(_MINUS)) : start].lower() == _MINUS:
        start, value = start - len(_MINUS), -value
    name = "confidence" if _CONFIDENCE.match(text, end) else unit
    if not name and (behind := BEHIND.match(text, end)) is not None:
        one, two = behind["one"].lower(), (behind["two"] or "").lower()
        heads = (known(one) or one, one.removesuffix("s"))
        pairs = (f"{head} {SAME.get(each, each)}" for each in (two, two[:-1]) for head in heads)
        pair = next((each for each in pairs if each in UNITS), "")
        name = pair or known(one)
        if name:
            end = behind.end("two" if pair else "one")
        else:
            name = stem(one) if len(one) > 2 and one not in STOP_WORDS else ""
            end = behind.end("one") if name == "time" else end  # "two times" is "twice"
    base, factor = UNITS.get(name, (name, 1.0))
    digits = re.search(r"\d[\d,]*(?:\.(\d+))?", text[start:end])
    slack = 0.5 * 10 ** -len(digits[1] or "") if digits else 0.5
    if digits and (shown := float(digits[0].replace(",", ""))) and abs(value) >= 1e3 * shown:
        slack *= abs(value) / shown  # of "14.2 billion"
        slack = slack if digits[1] else min(slack, 0.05 * abs(value))
    is_measure = name in UNITS
    made = Quantity("number", value, value, base, start, end, is_measure, value, value, name, slack)
    if base == "celsius" and factor != 1.0:
        made = replace(made, low=value - 32, high=value - 32, value=value - 32)
    return times(made, factor, base) if is_measure else made


def _figures(text: str) -> Iterator[Quantity]:
    for each in figures(text):
        start, end = each.start, each.end
        written = text[start:end]
        is_part = start > 1 and is_dash(text[start - 1]) and text[start - 2].isalpha()
        if is_part or not re.fullmatch(r"-?\d+(?:\.\d+)?", each.value):  # B-52, 3.4.1
            continue
        value = float(each.value)
        # A lone point is a decimal one, as in English, even before three digits.
        is_pointed = bool(re.search(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,]*\d)", written))
        if is_pointed:
            value /= 1e3
        words = [SAME.get(word, word) for word in each.words if word not in SCALES]
        tails = (" ".join(words[-n:]) for n in (2, 1))
        unit = next((tail for tail in tails if tail in UNITS), "")
        if not unit:
            end = len(text[: end - len(" ".join(each.behind))].rstrip())
        start -= 2 if text[max(0, start - 2) : start].upper() == "US" else value < 0
        number = _number(text, value, start, end, unit)
        is_foreign = is_pointed and not judge(text, 1).english
        yield replace(number, may_be_thousands=True) if is_foreign else number


def _notations(text: str) -> Iterator[Quantity]:
    for match in _NOTATION.finditer(text):
        start, end = match.span()
        if power := match["power"] or match["high"]:
            value = float(match["factor"] or 1) * 10.0 ** int(power.translate(_HIGH))
        elif match["exponent"]:
            value = float(match["digits"]) * 10.0 ** int(match["exponent"])
        elif match["sign"]:
            value = float(match["whole"] or 0) + unicodedata.numeric(match["sign"])
        else:
            value = float(match["full"] or 0) + float(match["above"]) / float(match["below"])
        is_share = value < 1 and text[end:].startswith(" of ")
        yield _share(value, start, end) if is_share else _number(text, value, start, end)


def _spelled(text: str) -> Iterator[Quantity]:
    for match in _SPELLED.finditer(text):
        start, end = match.span()
        if match["part"]:
            count = _count(match["of"] or "a")
            yield _share(count / _PARTS[match["part"].lower()], start, end)
        elif match["one"]:
            count, total = _count(match["one"]), _count(match["all"])
            if count < total:
                yield _share(count / total, start, end)
        elif match["half"]:
            behind = BEHIND.match(text, end)
            if behind is not None and behind["one"].lower() in SCALED:
                scale = SCALED[behind["one"].lower()]
                yield _number(text, 0.5 * scale, start, behind.end("one"))
            elif behind is not None and known(behind["one"]):
                yield _number(text, 0.5, start, end)
        elif match["ordinal"]:
            before = text[:start].rpartition(" ")[0].rpartition(" ")[2].lower()
            is_time = match["ordinal"].lower() == "second" and before in ("a", "per", "one", "each")
            if not is_time:
                value = float(ordinal(match["ordinal"]))
                yield Quantity("number", value, value, "ordinal", start, end, value=value)
        elif match["fold"]:
            yield _number(text, _count(match["fold"]), start, end, "fold")
        elif match["once"]:
            yield _number(text, 1.0, start, end, "time")
        elif match["twelve"] or match["hour"]:
            hour = int(match["hour"] or 0) % (12 if match["noon"] else 24)
            hour += 12 if (match["noon"] or match["twelve"] or "").lower() in ("p", "noon") else 0
            value = 60.0 * hour + int(match["minute"] or 0)
            name = "hour of a day" if match["noon"] or match["twelve"] or hour > 12 else ""
            yield Quantity("number", value, value, "clock", start, end, True, value, value, name)
        elif not text[:start].rstrip()[-1:].isdigit() or match["words"].lower() not in SCALED:
            words = re.split(r"[\s-]+", match["words"].lower())
            value = _value(words) + (0.5 if match["more"] else 0.0)
            unit = "time" if words[0] in ("twice", "thrice") else ""
            number = _number(text, value, start, end, unit)
            if words != ["one"] or number.is_measure:
                yield number


def _count(word: str) -> float:
    return float(word) if word.isdigit() else WORDS.get(word.lower(), 1.0)


def _share(share: float, start: int, end: int) -> Quantity:
    """A share of all as percent; a third is 33 or 33.3."""
    value = 100.0 * share
    near = 0.0 if value == round(value) else 0.7
    low, high = value - near, value + near
    return Quantity("number", low, high, "percent", start, end, True, value, value, "percent")


def _value(words: list[str]) -> float:
    total, current = 0.0, 0.0
    for word in words:
        if word in ("hundred", "dozen"):
            current = max(current, 1.0) * SCALED[word]
        elif word in SCALED:
            total += max(current, 1.0) * SCALED[word]
            current = 0.0
        else:
            current += WORDS.get(word, 0.0)
    return total + current


def _bounded(text: str, each: Quantity) -> Quantity:
    """A number with the words around it that say what it bounds, and its role."""
    value, step = each.value, 1e-9 * max(1.0, abs(each.value))
    low, high = each.low - step, each.high + step
    lead = text[max(0, each.start - 40) : each.start]
    if (plus := _PLUS.match(text, each.end)) is not None:
        low, high = (value - step, math.inf) if plus["up"] or "+" in plus[0] else (-math.inf, high)
        return replace(each, low=low, high=high, end=plus.end())
    before = _BOUND.search(lead)
    start = each.start
    if before is not None:
        lead, start = lead[: before.start()], start - len(before[0])
        if before["more"] or before["least"]:
            low, high = value + (2 * step if before["more"] else -step), math.inf
        elif before["less"] or before["most"]:
            low, high = -math.inf, value + (step if before["most"] else -2 * step)
        else:
            low, high = value - 0.1 * abs(value), value + 0.1 * abs(value)
    role = _ROLE.search(lead)
    word = role[1].lower() if role else ""
    word = "by" if word.endswith(" of") else word  # "a rise of 5"
    made = replace(each, low=low, high=high, start=start, role=word)
    if (period := _PERIOD.match(text, each.end)) is None:
        return made
    word = (period["noun"] or period["adverb"]).lower()
    per = {"dai": "day", "annual": "year"}.get(word, word)
    return replace(made, per=per, end=period.end())


def _joined(text: str, numbers: list[Quantity]) -> Iterator[Quantity]:
    """Ranges ("3 to 5 days") and sums ("1 hour and 45 minutes") as one quantity each."""
    kept: list[Quantity] = []
    for each in numbers:
        last = kept[-1] if kept else None
        if last is not None and "ordinal" not in (last.unit, each.unit):
            between = text[last.end : each.start]
            if last.unit == each.unit and last.name != each.name and _JOINT.fullmatch(between):
                factors = [UNITS.get(one.name, ("", 0.0))[1] for one in (last, each)]
                if factors[0] > each.value and factors[0] > factors[1] > 0:
                    kept[-1] = replace(
                        last,
                        low=last.low + each.low,
                        high=last.high + each.high,
                        value=last.value + each.value,
                        slack=each.slack,
                        end=each.end,
                    )
                    continue
            joint = _TO.fullmatch(between)
            low = last
            if joint and not last.is_measure and each.name in UNITS:
                low = times(last, UNITS[each.name][1], each.unit)
            is_between = re.search(r"\bbetween\s+$", text[: last.start], re.IGNORECASE)
            is_joint = joint and bool(is_between) == ("and" in between)
            same = low.unit == each.unit or (not last.is_measure and not each.is_measure)
            if is_joint and same and low.value < each.value and not low.role:
                kept[-1] = replace(
                    each, low=low.low, start=last.start, value=(low.value + each.value) / 2, role=""
                )
                continue
        kept.append(each)
    yield from kept


def _listed(text: str, numbers: list[Quantity]) -> list[Quantity]:
    """Numbers with the unit that stands behind the last of their list: "5, 10 and 20 mg"."""
    kept = numbers[-1:]
    for each in reversed(numbers[:-1]):
        after = kept[0]
        is_behind = after.name in UNITS and text[after.start].isalnum()  # not "3 and $5"
        if is_behind and not each.unit and _LISTED.fullmatch(text[each.end : after.start]):
            each = replace(times(each, UNITS[after.name][1], after.unit), name=after.name)
        kept.insert(0, each)
    return kept
