"""Modules as one script."""

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.exports.view import bundle
from milepost.exports.view.coding import BITS, LANES, Coded, code
from milepost.exports.view.pack import ALPHABET, Pack, as_characters, varints


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bundle, "OWN", tmp_path)
    monkeypatch.setattr(bundle, "SHARED", tmp_path)
    return tmp_path


def write(folder: Path, **sources: str) -> None:
    for name, source in sources.items():
        (folder / f"{name}.js").write_text(source, encoding="utf-8")


def test_modules_come_after_what_they_import(modules: Path) -> None:
    write(
        modules,
        main='import { one as first } from "./a.js";\nimport * as b from "./b.js";\nawait first;\n',
        a='import { two } from "./b.js";\nexport const one = two;\n',
        b="export async function two() {}\nexport class Three {}\n",
    )
    script = bundle.script()
    assert script.index("module_b") < script.index("module_a = ") < script.index("module_main = ")
    assert "const { one: first } = module_a;" in script
    assert "const b = module_b;" in script
    assert "return { two, Three };" in script
    assert "export" not in script
    assert "import" not in script


def test_a_circle_is_refused(modules: Path) -> None:
    write(modules, main='import { a } from "./a.js";\n', a='import { b } from "./main.js";\n')
    with pytest.raises(ValueError, match=r"circle.*main\.js → a\.js → main\.js"):
        bundle.script()


@pytest.mark.parametrize(
    "source", ['import a from "./a.js";\n', "export { a };\n", "export default 3;\n"]
)
def test_other_forms_are_refused(modules: Path, source: str) -> None:
    write(modules, main=source)
    with pytest.raises(ValueError, match=r"main\.js"):
        bundle.script()


def test_the_page_has_no_module_that_asks_a_server() -> None:
    script = bundle.script()
    assert "fetch(" not in script
    assert "XMLHttpRequest" not in script
    for name in ("key", "upload", "progress"):
        assert f"module_{name} " not in script


def test_an_element_is_taken_whole_and_an_unknown_one_refused() -> None:
    dialog = bundle.element("confirm-dialog")
    assert dialog.lstrip().startswith("<dialog")
    assert dialog.count("<dialog") == dialog.count("</dialog>") == 1
    with pytest.raises(ValueError, match="no element nowhere"):
        bundle.element("nowhere")


def bytes_of(text: str) -> bytes:
    values = [ALPHABET.index(sign) for sign in text if sign in ALPHABET]
    bits = "".join(f"{a * 91 + b:013b}" for a, b in zip(values[::2], values[1::2], strict=True))
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))


@given(st.binary(max_size=400))
def test_characters_hold_bytes_and_nothing_that_html_reads(data: bytes) -> None:
    text = as_characters(data)
    assert bytes_of(text)[: len(data)] == data
    assert set(text) <= {*ALPHABET, "\n"}
    assert not set(text) & set('<&"')


def test_characters_take_a_quarter_more_than_bytes() -> None:
    assert len(as_characters(bytes(1_300_000))) < 1.232 * 1_300_000


@given(st.lists(st.integers(0, 2**40)))
def test_varints_come_back(values: list[int]) -> None:
    found, value, shift = [], 0, 0
    for byte in varints(np.array(values, np.int64)):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    assert found == values


def test_a_section_is_where_the_header_says() -> None:
    pack = Pack()
    pack.facts["n"] = 3
    pack.add("a", b"first" * 100)
    pack.add_json("b", ["\ud800", "\u2028", "</script>"])
    data = pack.to_bytes()
    (length,) = struct.unpack("<I", data[:4])
    header = json.loads(data[4 : 4 + length])
    section = header["sections"]["b"]
    start = 4 + length + section["at"]
    text = zlib.decompress(data[start : start + section["bytes"]], -15)
    assert json.loads(text) == ["\ud800", "\u2028", "</script>"]
    assert header["facts"] == {"n": 3}


def decoded(coded: Coded, groups: np.ndarray) -> np.ndarray:
    states = coded.states.astype(object)
    words = iter(coded.words.tolist())
    starts = np.cumsum(coded.frequencies, axis=1, dtype=np.int64) - coded.frequencies
    symbols = []
    for number in range(coded.rows * coded.columns):
        row, column = divmod(number, coded.columns)
        kind = coded.classes[groups[row], column]
        state = int(states[number % LANES])
        place = state % (1 << BITS)
        symbol = int(np.searchsorted(starts[kind], place, side="right")) - 1
        while not coded.frequencies[kind, symbol]:
            symbol -= 1
        state = int(coded.frequencies[kind, symbol]) * (state >> BITS) + place
        state -= int(starts[kind, symbol])
        if state < 1 << 16:
            state = state << 16 | next(words)
        states[number % LANES] = state
        symbols.append(symbol)
    assert next(words, None) is None
    return np.array(symbols, np.uint8).reshape(coded.rows, coded.columns)


@given(
    rows=st.integers(1, 60),
    columns=st.integers(1, 30),
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([0.0, 0.4, 3.0, 40.0]),
)
def test_symbols_come_back(rows: int, columns: int, seed: int, spread: float) -> None:
    random = np.random.default_rng(seed)
    groups = np.sort(random.integers(0, 3, rows))
    _, groups = np.unique(groups, return_inverse=True)
    symbols = np.clip(random.normal(128, spread, (rows, columns)), 0, 255).astype(np.uint8)
    coded = code(symbols, groups)
    assert (coded.frequencies.astype(int).sum(axis=1) == 1 << BITS).all()
    assert np.array_equal(decoded(coded, groups), symbols)


def test_little_spread_takes_little_space() -> None:
    random = np.random.default_rng(1)
    symbols = np.stack(
        [random.normal(128, spread, 20_000).round() for spread in (0.3, 2.0, 30.0)], axis=1
    ).astype(np.uint8)
    shares = [np.bincount(column) / len(column) for column in symbols.T]
    ideal = -sum(float((s[s > 0] * np.log2(s[s > 0])).sum()) for s in shares) * 20_000 / 8
    coded = code(symbols, np.zeros(len(symbols), np.int64))
    assert coded.words.nbytes < 1.01 * ideal


def test_a_table_of_one_symbol_takes_nothing() -> None:
    coded = code(np.full((1000, 50), 7, np.uint8), np.zeros(1000, np.int64))
    assert not len(coded.words)
