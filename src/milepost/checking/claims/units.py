"""English number words and the units of measurement, by the names that the search gives them."""

from __future__ import annotations

from milepost.language.numbers import SAME, SCALES
from milepost.language.patterns import late

SMALL = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen twenty
""".split()
_TENS = "thirty forty fifty sixty seventy eighty ninety".split()
WORDS = {word: float(value) for value, word in enumerate(SMALL)}
WORDS |= {word: 10.0 * value for value, word in enumerate(_TENS, 3)}
WORDS |= {"twice": 2.0, "thrice": 3.0}
SCALED = {"dozen": 12.0, "hundred": 1e2, **{name: 10.0**power for name, power in SCALES.items()}}
_NTHS = """
    second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
""".split()
ORDINALS = {word: value for value, word in enumerate(_NTHS, 2)}

UNITS: dict[str, tuple[str, float]] = {}
"""Name of a unit → its base unit, and how many of these it has."""
for _base, _names in {
    "meter": "meter 1; kilometer 1e3; centimeter 0.01; millimeter 1e-3; mile 1609.344; mi 1609.344;"
    " foot 0.3048; ft 0.3048; inch 0.0254; yard 0.9144",
    "square meter": "square meter 1; square kilometer 1e6; hectare 1e4; acre 4046.86;"
    " square mile 2589988; square foot 0.092903",
    "gram": "gram 1; kilogram 1e3; milligram 1e-3; tonne 1e6; lb pound 453.592; ounce 28.3495",
    "second": "second 1; sec 1; millisecond 1e-3; minute 60; min 60; hour 3600",
    "day": "day 1; week 7; wk 7; fortnight 14",
    "month": "month 1; mth 1; year 12; decade 120; century 1200",
    "liter": "liter 1; milliliter 1e-3; cubic meter 1e3",
    "speed": "h hour 1; kilometer hour 1; mile hour 1.609344",
    "percent": "percent 1; per cent 1",
    "point": "percentage point 1; percent point 1; basis point 0.01",
    "dollar": "dollar 1; us dollar 1; cent 0.01",
    "pound": "pound 1; sterling 1",
    **{each: f"{each} 1" for each in "euro yen rupee franc yuan sek nok dkk pln zar brl".split()},
    "celsius": "celsius 1; degree celsius 1; degree c 1; fahrenheit 0.5555555556;"
    " degree fahrenheit 0.5555555556; degree f 0.5555555556",
    "watt": "watt 1; kilowatt 1e3; megawatt 1e6; gigawatt 1e9",
    "watt hour": "kilowatt hour 1e3; megawatt hour 1e6; gigawatt hour 1e9",
    "pascal": "pascal 1; pa 1; hectopascal 100; hpa 100; kilopascal 1e3; kpa 1e3; bar 1e5;"
    " millibar 100; mbar 100; psi 6894.757",
    "volt": "volt 1; v 1; millivolt 1e-3; mv 1e-3; kilovolt 1e3; kv 1e3",
    "ampere": "ampere 1; amp 1; milliampere 1e-3; milliamp 1e-3; ma 1e-3;"
    " microampere 1e-6; microamp 1e-6; µa 1e-6; μa 1e-6",
    "hertz": "hertz 1; hz 1; kilohertz 1e3; khz 1e3; megahertz 1e6; gigahertz 1e9",
    "joule": "joule 1; kilojoule 1e3; kj 1e3; kilocalorie 4184; kcal 4184",
    "byte": "byte 1; kilobyte 1e3; megabyte 1e6; gigabyte 1e9; terabyte 1e12",
}.items():
    for _each in _names.split(";"):
        *_spelled, _factor = _each.split()
        UNITS[" ".join(_spelled)] = (_base, float(_factor))

_TEN = rf"(?:twenty|{'|'.join(_TENS)})[\s-]"
ORDINAL = rf"\d{{1,3}}(?:st|nd|rd|th)|(?:{_TEN})?(?:{'|'.join(ORDINALS)})|{_TEN}first"
BEHIND = late(r"[\s-]{0,2}(?P<one>%|[€$£¥]|[^\W\d_]+)(?:[\s-](?:(?:per|an)\s)?(?P<two>[^\W\d_]+))?")


def ordinal(written: str) -> int:
    """The number of "21st" or "twenty-first"."""
    if written[0].isdigit():
        return int(written[:-2])
    *tens, last = written.lower().replace("-", " ").split()
    return int(sum(WORDS[each] for each in tens)) + ORDINALS.get(last, 1)


def known(word: str) -> str:
    """A word as the table of units has it, or ""."""
    word = "percent" if word == "%" else SAME.get(word.lower(), word.lower())
    forms = (word, SAME.get(word[:-1], word[:-1]), word.removesuffix("es"))
    return next((each for each in forms if each in UNITS), "")
