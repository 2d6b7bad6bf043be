"""The sentence splitter: it tiles any text, and its borders are where a reader sees them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.documents import read_bytes
from milepost.documents.sentences import LIMIT, split


def sentences(text: str, blocks: tuple[int, ...] = ()) -> list[str]:
    return [text[start:end].strip() for start, end in split(text, blocks)]


def assert_tiles(text: str, spans: list[tuple[int, int]]) -> None:
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == len(text)
    assert all(start < end for start, end in spans)


ENGLISH = [
    "Dr. Smith met Mr. Jones at 5 p.m. on Friday.|They talked.",
    "He lives in the U.S.|He likes it.|The U.S. Army came.",
    "See Fig. 3 and Figs. 4 and 5.|See Eq. (3).|See Sec. 2.1.|Now No. 5 came.",
    "Vol. 3 is out.|Read pp. 3-5 of Art. 7.",
    "Rowling et al. (2013) show it.|It is e.g. good, i.e. fine, cf. Smith, vs. Jones.",
    "J. K. Rowling wrote it.|J.R.R. Tolkien did not.|By T. S. Eliot.",
    "It costs 3.50 dollars.|It grew by 5.|Then it fell.|Version 2.0.1 came.",
    '"Really?" he asked.|"No!" she cried.|He left.',
    "“Go.|Now.”|He went.",
    "Is it?|Wow!|That is it...|And more.|Well... maybe.|What?!|No way!!|Yes.",
    "(This is so.)|Then that.|This (see Fig. 2.) is it.",
    "He came (she had left. Then he knew) and sat.|It rained.",
    "Apple Inc. is big.|He works at Apple Inc.|They pay well.",
    "Smith Jr. came.|She has a Ph.D.|He has none.",
    "On Jan. 5 he came.|The St. Louis team won.",
    "The first one.|3 men came.|5 women left.",
    "Visit www.example.com.|Then open file.txt and http://a.b/c.|Good.",
    "End of one.[12]|Start of two.[3][4]|More.",
    "End of one. [12]|Start of two.",
    "1. Introduction.|2. Methods.|a. First.|b. Second.",
    "Incubated for 90 min.|Unbound cells were washed off.",
    "They treat childhood cancer.|Treatment takes long.",
    "The probing depth was 5 mm.|A threshold was set.",
    "It grows in up to 75 mM.|They disagree.",
    "Patients with HS.|Therefore we wait.",
    "The value (Beckman, CA).|The next one.",
    "Lt. Col. Jones and Gen. Lee met Capt. Ahab.|They sailed.",
    "Yahoo! is a firm.|He shouted “Stop!” and ran.",
    "Wait . . . what?|He paused.",
    "Prof. X. Y. Zee spoke.|The hall was full.",
    "It was approx. 5 km.|The road was wet.",
    "Thanks.|Andrew, do you have anything?",
    "They live in Iowa.|Bob came to New York.|Born in 1990, he left the bank.|24 people stayed.",
    "So what?|Nobody knows etc. and so on.",
]

OTHERS = [
    "他来了。你好吗？很好！“走吧。”他说。>他来了。|你好吗？|很好！|“走吧。”|他说。",
    "「行く。」と言った。彼は去った。「はい」>「行く。」と言った。|彼は去った。|「はい」",
    "本当！？いいえ。>本当！？|いいえ。",
    "１．はじめに図１．構成を示す．３．５倍だ．>１．はじめに図１．構成を示す．|３．５倍だ．",
    "이 법은 2023. 12. 31. 일부개정되었다. 그렇다.>이 법은 2023. 12. 31. 일부개정되었다.|그렇다.",
    "Verze 2 z 22. 1. 2014. Ústav má data.>Verze 2 z 22. 1. 2014.|Ústav má data.",
    "هل هذا صحيح؟ نعم. كانت السماء صافية؛ ثم أمطرت. انتهى!>هل هذا صحيح؟|نعم.|"
    "كانت السماء صافية؛ ثم أمطرت.|انتهى!",
    "یہ کتاب ہے۔ وہ قلم ہے۔>یہ کتاب ہے۔|وہ قلم ہے۔",
    "यह एक वाक्य है। यह दूसरा है॥ १ ॥ क्या यह तीसरा है? हाँ।>यह एक वाक्य है।|यह दूसरा है॥ १ ॥|"
    "क्या यह तीसरा है?|हाँ।",
    "А. С. Пушкин писал в 1830 г. много. Он уехал. Это т. е. так, и т. д. без конца.>"
    "А. С. Пушкин писал в 1830 г. много.|Он уехал.|Это т. е. так, и т. д. без конца.",
    "Стоит 5 тыс. руб. за штуку. Живёт на ул. Ленина.>Стоит 5 тыс. руб. за штуку.|"
    "Живёт на ул. Ленина.",
    "Das ist z. B. gut. Am 3. Oktober kam Dr. Müller. Im 19. Jahrhundert war es so. Er kam bzw. "
    "ging.>Das ist z. B. gut.|Am 3. Oktober kam Dr. Müller.|Im 19. Jahrhundert war es so.|"
    "Er kam bzw. ging.",
    "Nach Vollendung des 50. Lebensjahres geht es. Der 2. Vorsitzende gilt nach §§ 187 bis 193. "
    "Fristen laufen.>Nach Vollendung des 50. Lebensjahres geht es.|Der 2. Vorsitzende gilt nach "
    "§§ 187 bis 193.|Fristen laufen.",
    "M. Dupont est là. «Non! dit-il, jamais.» Il part.>M. Dupont est là.|"
    "«Non! dit-il, jamais.»|Il part.",
    "Il dit « Qui est là\u00a0? » Puis il part. « Bon.\u202f» Et voilà.>"
    "Il dit « Qui est là\u00a0? »|Puis il part.|« Bon.\u202f»|Et voilà.",
    "„Gut.“ Er blieb. »Es ist neu.« Ja.>„Gut.“|Er blieb.|»Es ist neu.«|Ja.",
    "Cfr. Rossi. A norma dell’art. 3 e dell'art. 5 (comma 2) il sig. Rossi paga. Sì.>Cfr. Rossi.|"
    "A norma dell’art. 3 e dell'art. 5 (comma 2) il sig. Rossi paga.|Sì.",
    "Vive en EE. UU. Vino ayer.>Vive en EE. UU.|Vino ayer.",
    "डॉ. शर्मा ने रु. 500 दिए। वे गए।>डॉ. शर्मा ने रु. 500 दिए।|वे गए।",
    "Είναι καλό. Δεν είναι.>Είναι καλό.|Δεν είναι.",
    "Zie afb. 5, zgn. Bos. Ppłk. Nowak jest tu. Glej sl. 3 in pogl. 2. Müh. Ali geldi.>"
    "Zie afb. 5, zgn. Bos.|Ppłk. Nowak jest tu.|Glej sl. 3 in pogl. 2.|Müh. Ali geldi.",
    "Սա է։ Դա չէ։>Սա է։|Դա չէ։",
    "ይህ ነው። ያ አይደለም።>ይህ ነው።|ያ አይደለም።",
]


@pytest.mark.parametrize("case", ENGLISH)
def test_english(case: str) -> None:
    assert sentences(case.replace("|", " ")) == case.split("|")


@pytest.mark.parametrize("case", OTHERS)
def test_other_languages(case: str) -> None:
    text, expected = case.split(">")
    assert sentences(text) == expected.split("|")


@pytest.mark.parametrize(
    "cells",
    [
        ["Lead | Helps others. | ", "Acts as a mentor of those who join. ", "She is sought. |"],
        ["Rule | Do this. | | ", "Then do all that is said in the next rule"],
        ["规则 | 他来了。 | ", "他走了。 |"],
        ["7.1 | Sign each page. | 2 | by the one who has written what is on it"],
        ["Item: Nut | Qty. Ordered: 4 | Std. Error: 0.7\n", "Time | 12\n", "No. Items | 3"],
        ["Land: Chad | Note: The bill failed. It was the third of its kind. | Link: www.a.org\n"],
    ],
)
def test_a_sentence_ends_with_its_cell(cells: list[str]) -> None:
    text = "".join(cells)
    assert [text[start:end] for start, end in split(text)] == cells


def test_thai_is_cut_at_spaces_of_some_distance() -> None:
    clause = "ภาษาไทยเป็นภาษาที่ไม่มีเครื่องหมายจบประโยค"
    spans = split(" ".join([clause] * 8))
    assert 2 < len(spans) < 8
    assert all(end - start >= 60 for start, end in spans)


def test_wrapped_lines_are_joined() -> None:
    text = (
        "It was the best of times, it was the worst of times, it was the age of\n"
        "wisdom. It was the age of foolishness, and the epoch of belief in the\n"
        "whole of the kingdom. All of us were\n"
        "there.\n"
    )
    assert len(sentences(text)) == 3


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (  # from the documents of chardet
            "This library is a port of `the auto-detection code in\n"
            "Mozilla <https://www-archive.mozilla.org/projects/intl/chardet.html>`__.\n"
            "I have attempted to maintain it.",
            2,
        ),
        (
            '-  HTML documents can define a ``<meta http-equiv="content-type">``\n'
            "   element in the ``<head>`` of a web page.\n"
            "-  XML documents can.",
            2,
        ),
        (
            "where `<FEATURE_NAME>` is the name of an experimental feature that affects both\n"
            "experimental and stable APIs.",
            1,
        ),
        (
            "Emitted when the request has been aborted by the client. This event is only\n"
            "emitted on the first call to `abort()`.",
            2,
        ),
        (
            "You should have received a copy of the GNU General Public License\n"
            "    along with this program.  If not, see <https://www.gnu.org/licenses/>.",
            2,
        ),
        (
            "(a) deliver to the Lender within ninety days after the end of each fiscal year\n"
            "    the audited accounts of the Company and of each of its Subsidiaries;\n\n"
            "(b) maintain insurance with reputable insurers against the risks that are usual\n"
            "    for a business of that kind, and pay all premiums when they are due.",
            2,
        ),
        ("/* x */\nunsigned int number_of_open_connections = 0, y;\nint z;", 3),
        ("The following people wrote it:\nAnn Bolt <ann@x.org>\nBob Carr <bob@y.org>", 3),
        ('<p class="lead">Words of a page\n<a href="https://x.org/a">of the net</a>', 2),
        ("[`a::b`]: https://x.org/first/index.html\n[`c::d`]: https://x.org/other/index.html", 2),
    ],
)
def test_tags_addresses_and_semicolons_in_prose_make_no_code(text: str, count: int) -> None:
    assert len(split(text)) == count


def test_a_line_is_a_paragraph_where_lines_are_long() -> None:
    long = "This line goes on for much longer than anyone would wrap a text by hand " * 3
    assert len(split(f"{long}\n{long}\n{long}")) == 3
    said = "「それはまた、どうしてね？」"
    told = "　主人は呼鈴を鳴らして、夜食の残りを下げるように命じた。" * 5 + "――「決りました」"
    assert said in sentences(f"{told}\n{said}\n{told[15:]}\n　{told[:30]}")
    short = ["A short line", "Another short line", "Third"]
    assert sentences("\n".join(short)) == short


WRAPPED = (
    "The provider scrambles the data that is stored by another provider, and",
    "unscrambles them when they are read. It is used where the storage of the",
    "mails is shared with other programs.",
)


@pytest.mark.parametrize(
    ("before", "prefix", "after"),
    [
        ("", "# ", "\nx = 1"),
        ("", "// ", "\nint x;"),
        ("/*\n", " * ", "\n */\nint x;"),
        ("Ann wrote:\n", "> ", "\n>\n> Yes."),
        ("*\tMail:\n\n*\t", "", "\n*\tmore"),
        ("Title\n~~~~~\n", "", ""),
        ("News of the club\n~~~~~~~~~~~~~~~~~~~~~~~~\n\n", "", ""),
        ("# ~~~ WARNING ~~~ of the storage of mails\n#\n", "# ", ""),
        ("```\n", "", "\n\n```sh is a fence."),
        ("", "", "\n```\nx = 1\n```"),
        ("Press <kbd>Ctrl</kbd> to open the menu that shows all of the settings of\n", "", ""),
        (f"The page at\nhttps://example.org/{'a' * 130}\n", "", ""),
    ],
)
def test_wrapped_lines_are_joined_behind_prefixes(before: str, prefix: str, after: str) -> None:
    lines = "\n".join(prefix + line for line in WRAPPED)
    found = sentences(before + lines + after)
    assert any(
        each.endswith(f"and\n{prefix}unscrambles them when they are read.") for each in found
    )
    assert any(each.startswith(f"It is used where the storage of the\n{prefix}") for each in found)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("See src/*.py:\n\n* one item that is long enough to fill\n* another item\n* a third", 4),
        (">>> f(1)\n>>> f(2)", 2),
        ("It says:\n\n> 1. Semantics\n> 2. Syntax\n\n## 3. Words\n\nMore.", 5),
        ("# Title\nA paragraph follows it. And more.", 3),
        ("Title\n=====\nA paragraph.", 2),
        ("Things:\n- one thing\n- another thing\n1. first\n2) second", 5),
        ("name | age\nAnn | 5\nBob | 7", 3),
        ("name\tage\nAnn\t5", 2),
        ("```\nx = 1\ny = 2\n```\nText.", 4),
        ("def f(x):\n    y = x + 1\n    return y\n", 3),
        ("Ann: how are you\nBob: fine\nAnn: good", 3),
        ("First paragraph without a stop\n\nSecond one", 2),
        ("Chapter 1 ..... 5\nChapter 2 ..... 9", 2),
    ],
)
def test_lines_that_are_units(text: str, count: int) -> None:
    assert len(split(text)) == count


def test_a_number_at_the_start_of_a_wrapped_line_is_no_list() -> None:
    text = (
        "The quick brown fox jumped over the lazy dogs and came to rest in front of\n"
        "4. That was the number of the house in which the old man lived until now he\n"
        "died."
    )
    assert text[: split(text)[0][1]].strip().endswith("4.")


def test_white_space_belongs_to_the_sentence_before() -> None:
    assert split("  One.  Two. \n\n Three.  ") == [(0, 8), (8, 16), (16, 24)]
    assert split("") == []
    assert split(" \n ") == [(0, 3)]


def test_rules_and_braces_begin_nothing() -> None:
    assert sentences("One thing.\n\n* * *\n\nAnother.") == ["One thing.\n\n* * *", "Another."]


def test_signs_that_underline_a_line_belong_to_it() -> None:
    text = "# Place \n=======\n\nWhat is it?\n-----------\n\nA mill.\n"
    assert sentences(text) == ["# Place \n=======", "What is it?\n-----------", "A mill."]
    document = read_bytes(f"{text}\n-----\n".encode(), "a.md")
    spans = split(document.text, document.blocks)
    assert [text[start:end].strip() for start, end in spans[:-1]] == sentences(text)


def test_long_runs_are_cut_at_clauses() -> None:
    clauses = "and it went on and on through the night, " * 60
    assert all(text.endswith("night,") for text in sentences(clauses.strip())[:-1])
    dated = "die Verordnung (EU) Nr. 1093/2010 des Rates vom 20. Oktober 2020, " * 40
    assert all(text.endswith("2020,") for text in sentences(dated.strip()))
    words = "word " * 500
    assert set(" ".join(sentences(words)).split()) == {"word"}


def test_cuts_keep_characters_whole() -> None:
    for unit in ("e\u0301\u0323", "👩\u200d👩\u200d👧", "🇩🇪", "\u0915\u094d\u0937"):
        for part in sentences(unit * 1200):
            assert part.startswith(unit)


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 200_000,
        "a" * 200_000,
        " " * 199_999 + "b",
        "word " * 40_000,
        "A. " * 60_000,
        "?" * 200_000,
        "a\n" * 100_000,
        "日本語" * 66_666,
        "<a" * 100_000,
        "(Aa. b " * 28_000,
    ],
    ids=lambda text: repr(text[:4]),
)
def test_long_runs_of_one_kind_are_tiled(text: str) -> None:
    """An algorithm of quadratic time would take minutes for these 200,000 characters."""
    spans = split(text, range(0, len(text), 1000))
    assert_tiles(text, spans)
    assert max(len(text[start:end].strip()) for start, end in spans) <= LIMIT


texts = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            [
                *(". ", "\n", "\n\n", "! ", "? ", "。", "- ", "# ", " | ", "\t", "Dr. ", "A: "),
                *("```\n", "é", "\u200d", "🇩🇪", "अ।", "word " * 150, "x" * 700, "ไทย ", "1. "),
                *("(", ")"),
            ]
        ),
    ),
    max_size=25,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(texts, st.lists(st.integers(min_value=-3, max_value=900), max_size=8))
def test_any_text_is_tiled(text: str, blocks: list[int]) -> None:
    spans = split(text, blocks)
    if not text:
        assert spans == []
        return
    assert_tiles(text, spans)
    starts = {start for start, _ in spans}
    ink = [offset for offset, character in enumerate(text) if not character.isspace()]
    assert all(not text[start].isspace() for start in starts - {0})
    assert all(len(text[start:end].strip()) <= LIMIT for start, end in spans)
    for block in blocks:
        after = next((offset for offset in ink if offset >= block), None)
        if after is not None and ink[0] < after:
            assert after in starts
