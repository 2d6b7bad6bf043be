r"""What a page shows for the signs of TeX in a text: ``\alpha`` is α, ``M\"uller`` is Müller.

Only what a table of signs and a pair of braces can say; the rest stays as it is written. Signs are
read in the same way wherever they stand, so that a part of a text is read as the whole is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from milepost.language.patterns import late

_NAMES = """
    leq ≤; le ≤; geq ≥; ge ≥; neq ≠; ne ≠; ll ≪; gg ≫; approx ≈; sim ∼; simeq ≃; equiv ≡; propto
    ∝; times ×; cdot ·; div ÷; pm ±; mp ∓; ast ∗; circ ∘; bullet •; oplus ⊕; otimes ⊗; infty ∞;
    partial ∂; nabla ∇; sum ∑; prod ∏; int ∫; sqrt √; degree °; prime ′; hbar ℏ; ell ℓ; in ∈;
    notin ∉; subset ⊂; subseteq ⊆; cup ∪; cap ∩; emptyset ∅; forall ∀; exists ∃; neg ¬; wedge ∧;
    vee ∨; to →; rightarrow →; leftarrow ←; leftrightarrow ↔; Rightarrow ⇒; mapsto ↦; Leftarrow
    ⇐; Leftrightarrow ⇔; ldots …; dots …; cdots ⋯; langle ⟨; rangle ⟩; perp ⊥; parallel ∥; ss ß;
    ae æ; AE Æ; oe œ; OE Œ; o ø; O Ø; l ł; L Ł; aa å; AA Å; S §; P ¶; copyright ©; pounds £;
    euro €; textdegree °; textmu µ; textendash –; textemdash —; lambda λ; Lambda Λ; varepsilon
    ε; vartheta ϑ; varphi φ; varrho ϱ; varsigma ς; percent %
"""
_SIGNS = dict(row.split() for row in _NAMES.split(";"))
for _sign in "αβγδεζηθικμνξπρστυφχψωΑΒΓΔΕΖΗΘΙΚΜΝΞΠΡΣΤΥΦΧΨΩ":
    _name = unicodedata.name(_sign).split()[-1].lower()
    _SIGNS[_name if _sign.islower() else _name.title()] = _sign

_MARKS = dict(
    zip(
        "`'^\"~=.uvHckrdb",
        "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a\u0323\u0331",
        strict=True,
    )
)
"""Sign of an accent → the mark of its letter."""

_SPACES = {" ": " ", ",": "\u2009", ";": " ", ":": " ", "~": "\u00a0"}

_INNER = r"(?:[^{}]|\{[^{}]{0,80}\})"
_INNER_PARTS = ("styled", "inside", "capital")
_SIGN = late(
    r"(?<!\\)(?:"
    r"(?P<group>\{)?\\(?:(?P<accent>[`'^\"~=.])|(?P<letter>[uvHckrdb])(?=\{))"
    r"(?P<brace>\{)?\\?(?P<base>[A-Za-z])(?(brace)\})(?(group)\})"
    rf"|\\(?:[dt]?frac)\{{(?=(?P<above>{_INNER}{{1,80}}?)\}}\{{(?P<below>{_INNER}{{1,80}}?)\}})"
    r"|\\(?:emph|text(?:bf|it|sc|sf|sl|tt|rm|up|normal|super|sub)?|math(?:rm|bf|it|sf|tt|cal|bb)"
    r"|mbox|operatorname|underline|boldsymbol|(?:sub){0,2}section|chapter|caption|title|unit|si)"
    rf"\*?\{{(?=(?P<styled>{_INNER}{{0,400}})\}})"
    r"|(?<![^\s(-])\{(?=(?P<capital>[\w-]*[A-Z][\w-]*)\}(?![\w{]))"
    r"|(?P<script>[\^_])\{(?=(?P<inside>[^{}\n]{1,60})\})"
    r"|(?P<wrap>\{)?\\(?P<name>[A-Za-z]+)(?P<empty>\{\})?(?(wrap)\})"
    r"|\\(?P<space>[ ,;:])|\\(?=[%&#_$])|\\[!/]"
    r"|(?<=[A-Za-z.])(?P<tie>~)(?=[\w\\]))"
)
_MATHS = late(
    r"(?<![\\$\w])(\$\$?)(?=[^\s$])(?:(?=[^$]*?[\\^_=])[^$]{1,400}|[A-Za-z]['*]?)(?<!\s)(\1)(?![\w$])"
    r"|(\\[(\[])(?=[^$]{0,400}?[\\^_=])[^$]{1,400}?(\\[)\]])"
)


_BEGINS = late(r"\\[^\s\\]|\\ |\{[\\\w]|[\^_]\{|~[\w\\]")
_BEGINS_MATHS = late(r"\$[^\s]|\\[(\[]")
"""What begins a match: looking for it first takes a tenth of the time."""


def signs_of_tex(text: str) -> Iterator[tuple[int, int, str]]:
    r"""Yield start and end of signs of TeX, each with the one character that is shown, or none.

    >>> shown(r"$x \leq 5\,\mathrm{mm}$, $10^{6}$, 5\%, Erd\H{o}s, M{\"u}ller, \frac{a}{2}")
    'x ≤ 5\u2009mm, 10^6, 5%, Erdős, Müller, a/2'
    """
    for match in _matches(_SIGN, _BEGINS, text):
        start, end = match.span()
        if base := match["base"]:
            mark = _MARKS[match["accent"] or match["letter"]]
            yield start, end, unicodedata.normalize("NFC", base + mark)[:1]
        elif match["above"] is not None:
            yield start, end, ""
            yield match.end("above"), match.end("above") + 2, "/"
            yield match.end("below"), match.end("below") + 1, ""
        elif inner := next((each for each in _INNER_PARTS if match[each] is not None), None):
            yield start + bool(match["script"]), end, ""
            yield match.end(inner), match.end(inner) + 1, ""
        elif match["name"] is not None:
            sign = _SIGNS.get(match["name"])
            if sign is not None:
                yield start, end, sign
                # A space only ends the name.
                if sign.isalpha() and text[end - 1] != "}" and text[end : end + 1] == " ":
                    yield end, end + 1, ""
        else:
            yield start, end, _SPACES.get(match["space"] or match["tie"], "")
    for match in _matches(_MATHS, _BEGINS_MATHS, text):
        for part in (1, 2, 3, 4):
            if match[part]:
                yield *match.span(part), ""


def _matches(
    pattern: re.Pattern[str], begins: re.Pattern[str], text: str
) -> Iterator[re.Match[str]]:
    end = 0
    for begin in begins.finditer(text):
        if begin.start() >= end and (match := pattern.match(text, begin.start())) is not None:
            yield match
            end = match.end()


def shown(text: str) -> str:
    """A text with what is shown for its signs of TeX."""
    parts: list[str] = []
    at = 0
    for start, end, sign in sorted(signs_of_tex(text)):
        if start >= at:
            parts += (text[at:start], sign)
            at = end
    return "".join(parts) + text[at:]
