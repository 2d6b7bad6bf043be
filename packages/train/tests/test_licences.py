"""Every spelling of a licence that forbids commercial use, and those that are free."""

import pytest

from milepost_eval.tasks.reading import objects
from milepost_train.data import barred

CLOSED = [
    "cc-by-nc-4.0",
    "CC BY-NC-SA",
    "ccbync-sa NC",
    "Creative Commons Attribution-NonCommercial 4.0",
    "Non-Commercial",
    "research only",
    "CC BY 4.0, no commercial use",
    "Commercial use prohibited (CC BY)",
    "For research purposes",
    "evaluation only",
    "mit; policies of OPP-115: attribution, non-commercial",
    "Speaker's permission of the House of Commons of Canada: non-commercial (nc)",
]
UNKNOWN = ["CC-BY-ND 4.0", "cc_by_nd", "All rights reserved", "Proprietary", "Foo License", "?"]
UNKNOWN += ["© MIT Press", "Artistic works reserved", "Abdruck nur mit Genehmigung"]
UNKNOWN += ["non-free software"]
FREE = [
    "",
    None,
    "cc0-1.0",
    "CC-BY 4.0",
    "Creative Commons Attribution 4.0",
    "public domain in the US",
    "MIT",
    "Apache-2.0",
    "GPLv3+",
    "MPL-2.0",
    "OGL-UK-3.0 (Senedd record); collection MIT",
    "BSD 3-Clause",
    "The MIT License",
    "Open Database License",
    "GNU General Public License",
    "CC BY 4.0; academic use welcome",
]


@pytest.mark.parametrize("licence", CLOSED)
def test_non_commercial_licences_in_any_spelling(licence: str) -> None:
    for spelling in (licence, licence.upper(), licence.lower()):
        assert barred(spelling) == "a non-commercial"


@pytest.mark.parametrize("licence", UNKNOWN)
def test_licences_that_nobody_has_read(licence: str) -> None:
    assert barred(licence) == "an unrecognised"


@pytest.mark.parametrize("licence", FREE)
def test_free_licences_and_none_at_all(licence: str | None) -> None:
    assert barred(licence) == ""


def test_the_shared_documents_are_told_apart(shared_data) -> None:
    """All licences of the shared data are known; those that bar are the ones its page names."""
    found = {}
    for path in sorted((shared_data / "tasks").glob("*/documents.jsonl.gz")):
        for row in objects(path):
            licence = row["meta"]["licence"]
            found.setdefault(barred(licence), set()).add((path.parent.name, licence))
    assert set(found) == {"", "a non-commercial"}
    assert {task for task, _ in found["a non-commercial"]} == {"trials", "policies", "meetings"}
    for path in sorted((shared_data / "corpus").glob("*.jsonl.gz")):
        assert {barred(row["licence"]) for row in objects(path)} == {""}
