"""Guess the encoding of a text by how common its letters are, or by the language they belong to.

The wrong encoding often gives letters of some script, too: Hebrew reads as Cyrillic, and KOI8 as
Cyrillic whose capitals are small. Only the right one gives common letters.
"""

from __future__ import annotations

import codecs
import math
import re
import unicodedata
from collections import Counter
from functools import lru_cache

_SEARCHED = 1 << 20  # bytes from the first that is not ASCII, of which a sample is taken
_MAX, _MAX_LATIN = 2_000, 20_000  # bytes of the sample that are looked at
_LEAST = 0.05  # share of the letters that are not ASCII in a script other than Latin
_MIN_BYTES = 5
_MIXED = 4.0  # log likelihood of a Latin letter beside one of another script
_ENOUGH = -4.6  # log likelihood of each byte

_LETTERS = {
    "cyrillic": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ",
    "greek": "αοιετσνηυρπκμλωςάδόίγέχθύήφώβξζψϊΐΰϋ",
    "hebrew": "יהולאתברנמשםעדחקפכטסזגןצךףץ",
    "arabic": "اليمنوتربعدهفكسقحجةشصىضخطثأزذإءغظئآؤ",
    "thai": "านรอกเงยม่ท้ลวีดัตสปิบคจพะไขหื์แุชำูณใธผศโถษ็ภซญๆฟฉฮฝ",
}
"""Letters from the most common to the least."""

_SINGLE = (
    ("cp1251", "cyrillic"), ("koi8_r", "cyrillic"), ("koi8_u", "cyrillic"), ("cp866", "cyrillic"),
    ("iso8859_5", "cyrillic"), ("mac_cyrillic", "cyrillic"), ("cp855", "cyrillic"),
    ("cp1253", "greek"), ("iso8859_7", "greek"), ("cp737", "greek"), ("cp1255", "hebrew"),
    ("cp862", "hebrew"), ("cp1256", "arabic"), ("iso8859_6", "arabic"), ("cp874", "thai"),
)  # fmt: skip
_SIGNS = "«»“”„‘’–—…№°§€\xa0،؟؛·"

_KANA = "".join(map(chr, range(0x3041, 0x3094)))
_DOUBLE = {
    "cp932": (_KANA, 0.01, range(0x88, 0x98)),
    "euc_jp": (_KANA, 0.01, range(0xB0, 0xD0)),
    "gb18030": (
        "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
        "日月天三二五六八十小书家开学行动高长关工",
        0.005,
        range(0xB0, 0xD8),
    ),
    "big5hkscs": (
        "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡"
        "日月天三二五六八十小書家開學行動高長關工",
        0.005,
        range(0xA4, 0xC7),
    ),
    "cp949": (
        "이다는의에을가고하지를은로어기한사니스인그시도리자아서대일나수해부전정으상들라했보었장",
        0.012,
        range(0xB0, 0xC9),
    ),
}
"""Common characters, the share of each, and the first bytes of those in everyday use."""

_MARKS = "、。，．！？「」『』（）：；　ー"
_USUAL, _RARE, _NONE = math.log(1.3e-4), math.log(3e-6), math.log(1e-5)


COMMON = frozenset("".join(common for common, _, _ in _DOUBLE.values()) + _MARKS)
"""Common characters of Chinese, Japanese and Korean."""

_LATIN = (
    ("cp1252", "àâäáãåæçèéêëìíîïñòóôöõøœùúûüÿß¡¿ªº"),
    ("cp1250", "ąćęłńóśźż"),
    ("cp1250", "áäčďéěíĺľňóôŕřšťúůýž"),
    ("cp1250", "áéíóöőúüű"),
    ("cp1250", "ăâîşţ"),
    ("cp1250", "čćđšž"),
    ("cp1254", "âçğıîöşûüi̇"),
    ("iso8859_2", "ąćęłńóśźż"),
    ("iso8859_2", "áäčďéěíĺľňóôŕřšťúůýž"),
    ("cp1257", "ąčęėįšųūž"),
    ("cp1257", "āčēģīķļņōŗšūž"),
    ("iso8859_2", "čćđšž"),
    ("cp1258", "àâãèéêìíòóôõùúýăđĩơư\u0300\u0301\u0303\u0309\u0323₫"),
    ("mac_roman", "äöüß"),
    ("mac_roman", "àâçèéêëîïôùûœ"),
    ("mac_roman", "áéíñóúü¡¿"),
    ("cp437", "äöüß"),
    ("cp437", "àâçèéêëîïôùû"),
    ("cp852", "ąćęłńóśźż"),
)
"""Letters of languages in each encoding; the codes of some are letters of others in the next."""

_SIGN = re.compile(rf"[\0-\x7f{_SIGNS}£©®·‚•]|(?<![a-z])[±²³µ¹¼½¾×](?![a-z]{{3}})")


def guess_latin(data: bytes) -> str | None:
    """Return the encoding in which most letters beyond ASCII are those of one European language."""
    sample = _sample(data, _MAX_LATIN)
    fits = [(_fit(sample, codec, letters), codec) for codec, letters in _LATIN]
    fit, codec = max(fits, key=lambda pair: pair[0])
    return codec if fit > 0.5 else None


def _fit(sample: bytes, codec: str, letters: str) -> float:
    """Return the share of the letters beyond ASCII that are those of a language."""
    try:
        text = sample.decode(codec).lower()
    except UnicodeDecodeError:
        return 0.0
    beyond = Counter(_SIGN.sub("", text))
    hungarian, romanian = {"õ"} == {*beyond} & {"õ", "ã"}, {*beyond} >= {"ã", "î"}
    if codec == "cp1252" and (hungarian or romanian):
        return 0.0
    return sum(beyond[letter] for letter in letters) / beyond.total() if beyond else 1.0


def _sample(data: bytes, most: int) -> bytes:
    """Return the first lines, and texts between tags, that are not ASCII."""
    first = re.search(rb"[^\0-\x7f]", data)
    start = max(0, first.start() - 100) if first else 0
    pieces = re.split(rb"[\r\n<>]", data[start : start + _SEARCHED])
    return b"\n".join(piece for piece in pieces if not piece.isascii())[:most]


def guess_letters(data: bytes) -> str | None:
    """Return the encoding in which a text, not UTF-8, has common letters; None if none does."""
    sample = _sample(data, _MAX)
    high = sum(byte > 127 for byte in sample)
    letters = sum(chr(byte).isalpha() for byte in sample if byte < 128)
    if high < _MIN_BYTES or high < _LEAST * (high + letters):
        return None
    scores = {codec: _single(sample, codec, script) for codec, script in _SINGLE}
    scores |= {codec: _double(sample, codec) for codec in _DOUBLE}
    best = max(scores, key=lambda codec: scores[codec][0])
    # Less is a text in Latin letters with many accents, or in a script that is not known here.
    return codecs.lookup(best).name if scores[best][0] > _ENOUGH * scores[best][1] else None


@lru_cache(maxsize=8)
def _common(script: str) -> dict[str, float]:
    """Return the logarithm of the share of each letter of a script."""
    letters = _LETTERS[script]
    fall = 3.2 / len(letters)  # the shares of letters fall by about this much from one to the next
    total = sum(math.exp(-fall * rank) for rank in range(len(letters)))
    return {letter: -fall * rank - math.log(total) for rank, letter in enumerate(letters)}


def _single(sample: bytes, codec: str, script: str) -> tuple[float, int]:
    """Return the log likelihood of the letters that are not ASCII, and their bytes."""
    try:
        text = sample.decode(codec)
    except UnicodeDecodeError:
        return -math.inf, 1
    shares = _common(script)
    score, before = 0.0, " "
    for letter in text:
        if letter > "\x7f":
            small = letter.lower()
            share = shares.get(small)
            if share is None:
                share = math.log(2e-3) if letter in _SIGNS else _NONE
            elif small != letter:  # a capital begins a word, or stands among capitals
                share += -6.0 if before.islower() else (-0.2 if before.isupper() else -1.5)
            score += share
            mixed = before.isascii() and before.isalpha()
        else:
            mixed = before > "\x7f" and letter.isalpha()
        score -= _MIXED * mixed
        before = letter
    return score, sum(letter > "\x7f" for letter in text)


def _double(sample: bytes, codec: str) -> tuple[float, int]:
    """Return the log likelihood of the characters that are not ASCII, and their bytes."""
    try:
        text = sample.decode(codec)
    except UnicodeDecodeError as error:
        if error.start < len(sample) - 2:
            return -math.inf, 1
        text = sample.decode(codec, "ignore")
    common, share, everyday = _DOUBLE[codec]
    known = math.log(share)
    score, before = 0.0, " "
    for letter in text:
        pair, before = before, letter
        if (letter <= "\x7f") != (pair <= "\x7f"):
            score -= _MIXED / 2 * ((letter if letter <= "\x7f" else pair).isalpha())
        if letter <= "\x7f":
            continue
        if letter in common:
            score += known
        elif letter in _MARKS:
            score += math.log(0.02)
        elif "ァ" <= letter <= "ヶ":
            score += math.log(2e-3) if "j" in codec or codec == "cp932" else _RARE
        elif unicodedata.category(letter) == "Lo" and letter.encode(codec)[0] in everyday:
            score += _USUAL
        else:
            score += _RARE
    return score, 2 * sum(letter > "\x7f" for letter in text)
