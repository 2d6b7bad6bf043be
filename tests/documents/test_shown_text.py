"""What is read is what a person sees: other forms of the same things, in each format."""

import pytest

from milepost.documents import read_bytes
from support.office_writer import MC, W, epub, opendocument, pptx, run, shape, word
from support.shown import shown

MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def styled(properties: str, more: str = "") -> dict[str, str]:
    style = f"<w:style w:type='character' w:styleId='X'><w:rPr>{properties}</w:rPr></w:style>"
    return {"styles": f"<w:styles xmlns:w='{W}'>{style}{more}</w:styles>"}


NUM = "<w:num w:numId='1'><w:abstractNumId w:val='5'/></w:num>"


def numbering(levels: str, more: str = NUM) -> dict[str, str]:
    kind = f"<w:abstractNum w:abstractNumId='5'>{levels}</w:abstractNum>"
    return {"numbering": f"<w:numbering xmlns:w='{W}'>{kind}{more}</w:numbering>"}


def level(number: int, form: str, text: str, more: str = "") -> str:
    form = f"<w:numFmt w:val='{form}'/><w:lvlText w:val='{text}'/>"
    return f"<w:lvl w:ilvl='{number}'>{more}{form}</w:lvl>"


def items(*levels: int) -> str:
    return "".join(
        f"<w:p><w:pPr><w:numPr><w:ilvl w:val='{k}'/><w:numId w:val='1'/></w:numPr></w:pPr>"
        f"{run(letter)}</w:p>"
        for letter, k in zip("abcdef", levels, strict=False)
    )


BEGIN, SEPARATE, END = (
    f"<w:r><w:fldChar w:fldCharType='{kind}'/></w:r>" for kind in ("begin", "separate", "end")
)
CHOICES = "<w:ffData><w:ddList><w:listEntry w:val='A'/></w:ddList></w:ffData>"


@pytest.mark.parametrize(
    ("body", "more", "wanted"),
    [
        (run("10") + run("6", "<w:position w:val='8'/>"), {}, "10^6"),
        (run("10") + run("6", "<w:vertAlign w:val='superscript'/>"), {}, "10^6"),
        (
            run("10") + run("6", "<w:rStyle w:val='X'/>"),
            styled("<w:vertAlign w:val='superscript'/>"),
            "10^6",
        ),
        (
            run("A") + run("b", "<w:rStyle w:val='X'/><w:vanish w:val='off'/>"),
            styled("<w:vanish/>"),
            "Ab",
        ),
        (
            run("gone") + run("A", "<w:vanish w:val='0'/>"),
            styled("", "<w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr></w:rPrDefault>"
                   "</w:docDefaults>"),
            "A",
        ),
        (f"{BEGIN}{run('no')}{BEGIN}{run('no')}{SEPARATE}{run('no')}{END}{SEPARATE}{run('A')}{END}",
         {}, "noA"),
        (f"{BEGIN}<w:instrText>SYMBOL 109 \\f Symbol</w:instrText>{END}", {}, "µ"),
        (f"{BEGIN}<w:instrText>EQ \\o\\ad(\\s\\up 9(と),都)</w:instrText>{END}", {}, "都"),
        (f"<w:fldChar w:fldCharType='begin'>{CHOICES}</w:fldChar>{SEPARATE}{run('A')}{END}",
         {}, "A"),
        ("<w:r><w:pict style='visibility:hidden'><v:textpath xmlns:v='v' string='no'/></w:pict>"
         "</w:r>" + run("A"), {}, "A"),
        (run("b", "<w:rFonts w:ascii='Symbol'/>") + run("-rays"), {}, "β-rays"),
        ("<w:r><w:sym w:font='Wingdings 2' w:char='F052'/></w:r>", {}, "☑"),
        ("<w:r><w:sym w:font='Wingdings' w:char='F077'/></w:r>", {}, "⬩"),
        (run("w\xab\x8c", "<w:rFonts w:ascii='Wingdings' w:hAnsi='Wingdings'/>"), {}, "⬩★➊"),
        (run("\xae\xe9\x6a", "<w:rFonts w:ascii='Wingdings 2' w:hAnsi='Wingdings 2'/>"), {}, "⬥★①"),
        (f"<mc:AlternateContent xmlns:mc='{MC}'><mc:Fallback>{run('Old')}</mc:Fallback>"
         "</mc:AlternateContent>", {}, "Old"),
        ("<w:r><w:pict><v:textpath xmlns:v='v' string='DRAFT'/></w:pict></w:r>", {}, "DRAFT"),
        (run("A") + "<w:r><w:br w:type='page'/></w:r>" + run("b"), {}, "A b"),
        (run("A") + "<w:r><w:rPr><w:vanish/></w:rPr><w:txbxContent><w:p><w:r><w:t>no</w:t></w:r>"
         "</w:p></w:txbxContent></w:r>", {}, "A"),
    ],
)  # fmt: skip
def test_word(body: str, more: dict[str, str], wanted: str) -> None:
    assert shown(word(f"<w:p>{body}</w:p>", more=more), "a.docx") == wanted


def test_what_two_styles_hide_is_shown() -> None:
    """A paragraph's style hides its runs, and a style of characters that also hides shows them."""
    style = (
        "<w:style w:type='paragraph' w:styleId='P'><w:rPr><w:vanish/><w:strike/></w:rPr></w:style>"
    )
    plain = "<w:r><w:t>none </w:t></w:r>"
    named, off = "<w:rStyle w:val='X'/>", "<w:vanish w:val='0'/><w:strike w:val='0'/>"
    body = (
        f"<w:p><w:pPr><w:pStyle w:val='P'/></w:pPr>{plain}{run('both ', named)}"
        f"{run('not struck', off)}"
        f"{run(' gone', named + '<w:vanish/>')}</w:p><w:p>{run('hidden', named)}</w:p>"
    )
    more = styled("<w:vanish/><w:strike/>", style)
    assert shown(word(body, more=more), "a.docx") == "both not struck"


BASED = {
    "styles": f"<w:styles xmlns:w='{W}'>"
    + "".join(
        f"<w:style w:type='paragraph' w:styleId='{name}'><w:basedOn w:val='{base}'/><w:pPr>"
        f"<w:numPr>{said}</w:numPr></w:pPr></w:style>"
        for name, base, said in (
            ("H1", "", "<w:numId w:val='1'/>"),
            ("H2", "H1", "<w:ilvl w:val='1'/>"),
            ("H3", "H2", ""),
        )
    )
    + "</w:styles>"
}
INHERITED = "".join(
    f"<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr>{run(letter)}</w:p>"
    for style, letter in zip(("H1", "H2", "H3", "H2"), "abcd", strict=True)
)


@pytest.mark.parametrize(
    ("body", "parts", "wanted"),
    [
        (items(0, 0), numbering(level(0, "upperRoman", "%1)")), "I) a II) b"),
        (items(0, 1, 1, 0, 1),
         numbering(level(0, "decimal", "%1.") + level(1, "lowerLetter", "(%2)")),
         "1. a (a) b (b) c 2. d (a) e"),
        (items(0, 0), numbering(level(0, "ordinal", "%1")), "1st a 2nd b"),
        (items(0, 0, 1),
         numbering(level(0, "ordinalText", "%1:") + level(1, "cardinalText", "%2)")),
         "First: a Second: b One) c"),
        (items(0, 0), numbering(level(0, "chineseCounting", "%1、")), "一、 a 二、 b"),
        (items(0, 0), numbering(level(0, "numberInDash", "%1")), "- 1 - a - 2 - b"),
        (f"{items(0)}{items(0).replace(run('a'), '')}{items(0)}",
         numbering(level(0, "decimal", "%1.")), "1. a 3. a"),
        (items(0, 1, 0, 1), numbering(level(0, "decimal", "%1.")
         + level(1, "decimal", "Rule %2.", "<w:lvlRestart w:val='0'/>")),
         "1. a Rule 1. b 2. c Rule 2. d"),
        (items(0), numbering("<w:numStyleLink w:val='S'/>", "<w:abstractNum w:abstractNumId='6'>"
         f"<w:styleLink w:val='S'/>{level(0, 'decimal', '%1.')}</w:abstractNum>"
         f"{NUM}"), "1. a"),
        (f"{INHERITED}<w:p><w:pPr><w:pStyle w:val='H2'/><w:numPr><w:ilvl w:val='0'/></w:numPr>"
         f"</w:pPr>{run('e')}</w:p>",
         numbering(level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2")) | BASED,
         "1. a 1.1 b 1.2 c 1.3 d 2. e"),
    ],
)  # fmt: skip
def test_lists_of_word(body: str, parts: dict[str, str], wanted: str) -> None:
    assert shown(word(body, more=parts), "a.docx") == wanted


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("<w:object><o:OLEObject xmlns:o='o' ProgID='Equation.3'/></w:object>", "Equation.3"),
        (f"{BEGIN}<w:instrText> EQ \\f(1;2)</w:instrText>{END}", "a formula in a field"),
        (f"{BEGIN}<w:instrText>LISTNUM</w:instrText>{END}", "a number of a paragraph"),
    ],
)
def test_notes_of_word(body: str, what: str) -> None:
    notes = read_bytes(word(f"<w:p>{body}{run('A')}</w:p>"), "a.docx").notes
    assert len(notes) == 1
    assert what in notes[0]


def test_formulas_outside_of_paragraphs() -> None:
    parts = "".join(
        f"<m:{tag}><m:r><m:t>{words}</m:t></m:r></m:{tag}>"
        for tag, words in (("sub", "6"), ("sup", "14"), ("e", "C"))
    )
    body = (
        f"<m:oMathPara xmlns:m='{MATH}'><m:oMath><m:sPre>{parts}</m:sPre></m:oMath></m:oMathPara>"
    )
    assert shown(word(body), "a.docx") == "_6^14C"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("<style>x[[{position:fixed} .u{vertical-align:super} .g{display:none}</style>"
         "10<b class=u>6</b><p class=g>no",
         "10^6"),
        ("<style>@media print{.x{display:none}} p.y{display:block} .y{display:none}</style>"
         "<p class=x>A<p class=y>b", "A b"),
        ("<style>@media (min-width:40em){i{display:none}} @media (max-width:700px){"
         "b{display:none}} @media print{u{display:none}} @layer a{s{text-decoration:none}}</style>"
         "<i>no</i><b>A</b> <u>b</u> <s>c</s>", "A b c"),
        ("<style media=print>i{display:none}</style><style media='Screen, print'>b{display:none}"
         "</style><style media='not print'>u{display:none}</style><i>A</i><b>no</b><u>no", "A"),
        ("<table><tfoot><tr><td>b</tfoot><tbody><tr><td>A</table>", "A b"),
        ("<style>.g{display:none}</style><p class=g>A<script>show()</script>", "A"),
        ("<style>p{display:none!important} .x{display:block}</style>"
         "<p class=x style='display:block'>no</p><div>A</div>", "A"),
        ("<style>p{display:none}</style><p style='display:block !important'>A</p>", "A"),
        ("10<span style='position:relative;top:-.4em'>6</span>", "10^6"),
        ("10<span style='vertical-align:30%'>6</span>", "10^6"),
        ("1712<a epub:type=noteref href=#n>4</a>", "1712[4]"),
        ("<style>b{position:absolute}</style><p>a <b class=pagenum>[Pg <a>8]</a></b>b<i role="
         "doc-pagebreak>ix [3]</i> c<i class=lnum>33</i> <i class=pageno>the 9th", "a b c the 9th"),
        ("<p>A <i aria-hidden=true>b</i>", "A b"),
        ("<p><math><mi>n</mi></math> is <i aria-hidden=true>b</i>", "n is b"),
        ("<dialog>no</dialog><dialog open>A</dialog>", "A"),
        ("<math><munderover><mo>∑</mo><mn>1</mn><mn>9</mn></munderover></math>", "∑1^9"),
        ("<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>",
         "(a+b)/2"),
        ("<math><mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts></math>",
         "_6^14C"),
        ("<math><mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac></math>", "2 1/2"),
        ("<math><mfenced open='{' close=']' separators=' ;| '><mi>a</mi><mi>b</mi><mi>c</mi>"
         "<mi>d</mi></mfenced></math>", "{a; b|c|d]"),
        ("<math><mfenced separators=''><mi>a</mi><mo>+</mo></mfenced></math>", "(a+)"),
        ("<i style='display:none'><math><mi>A</mi></math></i><img class='mwe-math-img'>", "A"),
        ("<svg><title>no</title><text>A</text></svg>", "A"),
        ("<table><thead><tr><td rowspan=9>H<td>I<tbody><tr><td>1<td>2</table>", "H | I 1 | 2"),
        ("<table><tr><td><ol><li>a</ol><td>x<tr><td>1<td>2</table>", "1. a | x 1 | 2"),
        ("<ol style='list-style: upper-alpha inside'><li>a</ol>", "A. a"),
        ("<ul style='list-style-type: lower-greek'><li>a</ul>", "α. a"),
        ("<ol start=1 reversed><li>a<li>b<li>c</ol>", "1. a 0. b -1. c"),
        ("<ol style='list-style: arabic-indic' start=-12><li>a</ol>", "-١٢. a"),
        ("<ol><li><ol type=a><li>A<li>b</ol><li><ul><li>c</ul></ol>", "1. a. A b. b 2. c"),
        ("<b style='margin-right:1em'>A</b><b>b</b>", "A b"),
        ("Name<input value=Lind> <input type=checkbox checked><select><option>no"
         "<option selected>large</select>", "Name Lind ☒ large"),
        ("<del style='text-decoration:none'>A</del>", "A"),
        ("<style>.f{display:flex;gap:1em}</style><div class=f><b>A</b><b>b</b></div>", "A b"),
        ("<div style='display:flex'><b>A</b><b>b</b></div>", "Ab"),
        ("<b style='float:left'>Born</b><b style='position:absolute'>A</b>b", "Born A b"),
        ("<b style='float:left;margin:9px'>“O</b>nce <b style='float:left;display:block'>A</b>’s"
         "<b style='float:left'>Tel</b>3", "“Once A’s Tel 3"),
        ("A<button>b</button>c<x-d>d</x-d><x-e>e</x-e>", "A b c d e"),
        ("10<b style='vertical-align:top;font-size:60%'>6</b>", "10^6"),
        ("10<sup>n+1</sup>, 10<sup> 6</sup>", "10^(n+1), 10^6"),
        ("<div style='display:inline-grid'><b>A</b><b>b</b></div>", "A b"),
        ("<style>li{list-style:none} .b{list-style:lower-alpha}</style>"
         "<ol><li>A<li class=b>c</ol>", "- A b. c"),
        ("<select multiple><option selected>A</option><option selected>b</select>", "A b"),
        ("<m:math><m:msup><m:mn>10</m:mn><m:mn>6</m:mn></m:msup></m:math>", "10^6"),
        ("1712<a style='vertical-align:super'>4</a>", "1712[4]"),
        ("10<i style='font-variant-position:super'>6</i>", "10^6"),
        ("<svg><text>10<tspan baseline-shift='super'>6</tspan></text></svg>", "10^6"),
        ("<table><tr><td>A<td style='visibility:hidden'>no<td>b<tr><td>1<td>2<td>3</table>",
         "A | | b 1 | 2 | 3"),
        ("<math><mfrac linethickness='0'><mi>n</mi><mn>2</mn></mfrac></math>", "n; 2"),
        ("<ol style='list-style:hebrew'><li value=15>A<li style='display:block'>b</ol>",
         "טו. A - b"),
        ("<aside epub:type=footnote hidden>A</aside>", "A"),
        ("<main>A <a href=#n>1</a></main><footer><p id=n>b</footer><footer>no", "A 1 b"),
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_pages(body: str, wanted: str) -> None:
    assert shown(f"<!doctype html><body>{body}".encode(), "a.html") == wanted


@pytest.mark.parametrize(
    "body", ["<img class=tex alt=x>", "<math><annotation>x</annotation></math>"]
)
def test_formulas_that_are_not_read_are_noted(body: str) -> None:
    assert "formula" in read_bytes(f"<html><body>A{body}".encode(), "a.html").notes[0]


@pytest.mark.parametrize(
    ("before", "head", "wanted"),
    [
        ("", "<link rel='stylesheet' href='../S/c.css'/>", "10^6"),
        ("<?xml-stylesheet type='text/css' href='../S/c.css'?>", "", "10^6"),
        ("", "<link rel='stylesheet' href='c.css'/>", "106"),
        ("", "", "106"),
    ],
)
def test_style_sheets_of_books(before: str, head: str, wanted: str) -> None:
    """A chapter may stand in for a file that is no page; lists that are not XML are read."""
    page = f"<!DOCTYPE html [<!ENTITY a '10'>]>{before}<html><head>{head}</head>&a;<b class='u'>6"
    items = (
        "<item id='p' href='p.pdf' media-type='application/pdf' fallback='a'/>"
        "<item id='a' href='T/a.xml' media-type='Application/XML; charset=utf-8'/>"
        "<item id='c' href='S/c.css' media-type='text/css'/>"
        "<item id='d' href='T/c.css' media-type='text/css'/>"
    )
    package = f"<package><meta><manifest>{items}</manifest><spine><itemref idref='p'/></spine>"
    parts = {"O/book.opf": package, "O/T/a.xml": page, "O/S/c.css": ".u{vertical-align:super}"}
    parts |= {"O/T/c.css": "", "META-INF/container.xml": ""}
    assert shown(epub(**parts), "a.epub") == wanted


def test_embedded_objects_are_noted() -> None:
    objects = "<draw:frame><draw:object-ole/></draw:frame>"
    assert (
        "object" in read_bytes(opendocument("text", f"<text:p>A{objects}</text:p>"), "a").notes[0]
    )
    struck = "<a:p><a:r><a:rPr strike='sngStrike'/><a:t>no</a:t></a:r></a:p>"
    slide = shape("A").replace("</p:txBody>", f"{struck}</p:txBody>")
    document = read_bytes(pptx([slide]), "a.pptx")
    assert (document.text, len(document.notes)) == ("A", 1)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (r"10{\up6 6}\par 10{\dn6 2}", "10^6 10_2"),
        (r"A{\*\do\dptxbx{\dptxbxtext\pard b\par}}\par", "A b"),
        (r"{\upr{no}{\*\ud{\u1055?}}}", "П"),
        (r"A\u8217\rquote s", "A’s"),
        (
            r"\deff1{\fonttbl{\f0\fcharset2 Symbol;}{\f1\fcharset204 A;}}\'cf {\f0 a}\plain\'cf",
            "П αП",
        ),
        (r"\trowd\cellx1\intbl A\cell\row\trowd\cellx1 b{\footnote c}\cell\row\pard d", "A b c d"),
        (r"{\pard\dropcapli3\dropcapt1 T\par}\pard he start\par b", "The start b"),
        (r"A{\shp{\*\shpinst{\sp{\sn gtextUNICODE}{\sv \u1055?b}}}}\par", "A Пb"),
        (
            r"\trowd\cellx1\cellx2\intbl{\listtext 1.\tab}a\par{\listtext 2.\tab}b\cell c\cell\row",
            "1. a 2. b | c",
        ),
        (r"{\*\moMath{\mf{\mnum a+b}{\mden 2}}{\mrad{\mdeg}{\me 2}}}3", "(a+b)/2√(2)3"),
        (r"{\field{\*\fldinst {\*\formfield{\fftype1\ffres25\ffdefres1}}}{\fldrslt}} A", "☒ A"),
        (r"{\field{\*\fldinst FORMDROPDOWN{\*\formfield{\fftype2{\*\ffl A}}}}{\fldrslt A}}", "A"),
        (r'{\field{\*\fldinst {\b SYMBOL 109 \\f "Symbol"}}{\fldrslt\f3}}g', "µg"),
        (r"{\field{\*\fldinst EQ \\* jc2 \\o\\ad(\\s\\up 9(a),\u24179?)}{\fldrslt}}", "平"),
        (r"{\*\moMath{\md{\mdPr{\mbegChr [}{\mendChr ]}}{\me a}}}", "[a]"),
        (r"{\*\moMath{\md{\me{\md{\mdPr{\mbegChr [}}{\me a}}}}}", "([a))"),  # signs of each its own
        (r"{\*\moMath{\md{\mdPr{\msepChr ,}}{\me a}{\me b}}}", "(a, b)"),
        (r"{\*\moMath{\msPre{\msub 6}{\msup 14}{\me C}}}", "_6^14C"),
        (r"10{\super 9}", "10^9"),
        # A picture of bytes, among them zeros and braces; the words after it were lost.
        (r"Before {\pict\jpegblip\bin9 " + "\0}\0{\0\\\0}\0" + r"}after.\par", "Before after."),
        (r"{\i0\*\cs7\cf0 The well} is dry.\par", "The well is dry."),  # a star opens no group
        (r"{\f0 Name\cell Depth\cell }", "Name | Depth"),  # a row that has no end
        (
            r"\trowd\cellx9\cellx10\intbl A\par\itap2 b\nestcell c\nestcell{\*\nesttableprops"
            r"\trowd\cellx3\cellx6\nestrow}\itap1\cell d\cell\row\pard",
            "A b | c d",
        ),
    ],
)
def test_rich_text(body: str, wanted: str) -> None:
    assert shown(rb"{\rtf1\ansi " + body.encode() + b"}", "a.rtf") == wanted
