"""Documents by name, and documents that are replaced."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import milepost
from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost.types import Document
from support.files import write_files


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[milepost.Index]:
    names = ("reports/2024/costs.txt", "reports/2025/costs.txt", "reports/plan.txt")
    write_files(tmp_path, {name: f"The fee of {name} was raised. " for name in names})
    monkeypatch.chdir(tmp_path)
    with milepost.open(model=fake_encoder()) as opened:
        opened.add(["reports", Document("plan", "The fee of a plan. ")])
        yield opened


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("plan", "plan"),
        ("plan.txt", "reports/plan.txt"),
        ("./plan.txt", "reports/plan.txt"),
        (Path("plan.txt"), "reports/plan.txt"),
        ("reports/plan.txt", "reports/plan.txt"),
        ("2024/costs.txt", "reports/2024/costs.txt"),
        ("reports/2025/../2024/costs.txt", "reports/2024/costs.txt"),
    ],
)
def test_a_document_is_found(
    index: milepost.Index, tmp_path: Path, written: str | Path, found: str
) -> None:
    name = found if found == "plan" else str(tmp_path / found)
    for given in (written, [written]):
        assert {p.document for p in index.search("fee", documents=given)} == {name}
    assert [p.document for p in index.search_many(["fee"], documents=written)[0]] == [name]
    assert index.document(written).name == name
    assert index.check("The fee of", documents=written).verdict == "verbatim"
    assert index.remove(written).removed == (name,)


@pytest.mark.parametrize("written", ["costs.txt", "./costs.txt"])
def test_what_several_documents_end_in_is_refused(index: milepost.Index, written: str) -> None:
    for use in (
        lambda: index.search("fee", documents=written),
        lambda: index.document(written),
        lambda: index.remove(["plan.txt", written]),
    ):
        with pytest.raises(InputError) as caught:
            use()
        for year in ("2024", "2025"):
            assert str(Path("reports", year, "costs.txt")) in str(caught.value)
    assert len(index.documents()) == 4


@pytest.mark.parametrize("written", ["osts.txt", "reports", "2024", "txt", "", ".", "/"])
def test_what_is_no_name_is_not_in_the_index(index: milepost.Index, written: str) -> None:
    """Ends count in whole parts of a path."""
    with pytest.raises(InputError, match="is not in the index"):
        index.search("fee", documents=written)
