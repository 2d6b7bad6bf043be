"""Modules as one script."""

from pathlib import Path

import pytest

from milepost.exports.view import bundle


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
