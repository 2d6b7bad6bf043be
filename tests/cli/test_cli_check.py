"""``milepost check``: verdicts, exit codes, output for people and as JSON."""

import json
from pathlib import Path

import pytest

import milepost
from milepost.encoder.engine.folder import cache_folder
from support.files import write_files

CASES = [
    ("the queen  lays the eggs", "verbatim", 0),
    ("Tugs pull large boats to the quay.", "near", 3),
    ("What lays eggs is the queen", "supported", 4),
    ("What lays no eggs is the queen", "contradicted", 5),
    ("The queen lays the eggs, tugs pull large ships to the quay", "stitched", 7),
    ("zebras graze on the plains", "not found", 1),
]


@pytest.mark.parametrize(("text", "verdict", "code"), CASES)
@pytest.mark.parametrize("indexed", [True, False])
def test_verdicts_and_exit_codes(cli, model, notes, db, text, verdict, code, indexed):
    where = ["--db", db] if indexed else [notes]
    result = cli("check", *where, text, "--json", "--min-score", "0.99", *model)
    record = json.loads(result.stdout)
    assert (record["verdict"], result.exit_code) == (verdict, code)
    assert record["version"] == 3
    assert set(record) - {"version", "report"} == set(milepost.CheckResult.__dataclass_fields__)
    assert bool(record["places"]) == (verdict != "not found")
    assert not record["passages"]  # none is that probable
    assert ("report" in record) == (not indexed)
    for place in record["places"]:
        content = Path(place["document"]).read_text(encoding="utf-8")
        assert set(place) == set(milepost.Match.__dataclass_fields__)
        assert place["text"] == content[place["start"] : place["end"]]
        for each in place["differences"]:
            assert set(each) == set(milepost.Difference.__dataclass_fields__)
            assert content[each["start"] : each["end"]] == each["text"]


def test_people_see_the_verdict_and_what_differs(cli, model, notes):
    asked = "check", notes, "Tugs pull large boats to the quay."
    result = cli(*asked, *model)
    lines = result.stdout.splitlines()
    assert lines[0] == "nearly verbatim: some words differ"
    assert lines[1].endswith("ships.md · Harbours · 84% of the words")
    assert lines[2] == "   Tugs pull large [-boats-]{+ships+} to the quay."
    assert result.stderr == ""
    coloured = cli(*asked, "--color", "always", *model).stdout
    assert "\x1b[9;38;5;131mboats" in coloured
    assert "[-" not in coloured
    verbatim = cli("check", notes, "THE QUEEN lays the  eggs", *model).stdout.splitlines()
    assert verbatim[0] == "verbatim"
    assert verbatim[1].endswith("bees.txt · but for white space and case")
    assert verbatim[2] == "   The queen lays the eggs"


def test_a_claim_is_judged_before_people(cli, model, notes):
    held = cli("check", notes, "What lays eggs is the queen", *model)
    assert held.stdout.startswith("supported")
    assert "The queen lays the eggs" in held.stdout
    denied = cli("check", notes, "What lays no eggs is the queen", *model)
    assert denied.stdout.startswith("contradicted")
    assert "negation" in denied.stdout
    missing = cli("check", notes, "Somebody feeds queens of zebras", "--min-score", "1", *model)
    assert (missing.exit_code, missing.stdout) == (1, "not found\n")
    assert "nothing found at 100% or more; the best passage has" in missing.stderr


def test_a_quotation_needs_neither_model_nor_index(cli, model, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "own"))
    assert cli("check", notes, "the queen lays the eggs", *model).exit_code == 0
    assert not (cache_folder() / "indexes").exists()
    cli("check", notes, "zebras graze on the plains", *model)
    assert len(list((cache_folder() / "indexes").iterdir())) == 1
    (notes / "new.txt").write_text("Ants keep gardens of fungus.\n", encoding="utf-8")
    assert cli("check", notes, "ants keep gardens", *model).exit_code == 0


def test_files_that_cannot_be_read_are_reported(cli, model, notes):
    (notes / "empty.txt").write_bytes(b"")
    for text, code in (("the queen lays the eggs", 0), ("zebras graze here", 1)):
        result = cli("check", notes, text, "--min-score", 1, *model)
        assert result.exit_code == code
        assert "empty.txt is empty" in result.stderr
    result = cli("check", notes / "missing.pdf", "the queen", *model)
    assert (result.exit_code, "missing.pdf does not exist" in result.stderr) == (2, True)


def test_in_limits_the_documents(cli, refusal, model, notes, db):
    for where in ([notes], ["--db", db]):
        asked = "check", *where, "the queen lays the eggs", "--min-score", 1, *model
        assert cli(*asked, "--in", "bees.txt").exit_code == 0
        assert cli(*asked, "--in", "gold.txt").exit_code == 8  # found elsewhere
        assert "no document matches golf.txt; try: 'gold.txt'" in refusal(
            *asked, "--in", "golf.txt"
        )
        unlike = refusal(*asked, "--in", "nothere.txt")
        assert ("a file of those PATHs" if where == [notes] else "milepost info") in unlike


def test_the_text_may_come_from_stdin(cli, refusal, model, notes):
    quotation = "The queen lays\nthe eggs, and the workers feed the young."
    assert cli("check", notes, "-", *model, input=quotation).exit_code == 0
    assert cli("check", "-", "queen lays", *model, input=quotation).exit_code == 0
    assert "stdin cannot be both" in refusal("check", "-", "-", *model, input=quotation)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["{notes}", "  "], "nothing to check"),
        (["{notes}", "?!"], "nothing to check"),
        (["the queen lays", "{notes}/bees.txt"], 'TEXT comes last; try: milepost check PATH "…"'),
        (["the queen"], 'milepost check PATH "…"'),
        (["x.txt", "the queen", "--db", "y"], "give PATHs or --db"),
    ],
)
def test_what_cannot_be_checked_is_one_line(refusal, model, notes, args, said):
    assert said in refusal("check", *(arg.format(notes=notes) for arg in args), *model)


WAX = "Bees build cells of wax. The queen lays the eggs.\n"


@pytest.fixture
def described(tmp_path: Path) -> Path:
    sidecar = {"author": "Bo Chen", "date": "2024-01-01", "project": "hive"}
    files = {"old.md": f"---\nauthor: Ann Lee\ndate: 2020-03\n---\n\n{WAX}", "new.txt": WAX}
    files["new.txt.meta.json"] = json.dumps(sidecar)
    return write_files(tmp_path / "described", files)


def test_search_and_check_and_ask(cli, model, described):
    check = "check", described
    for command in (
        ("search", "wax cells", described),
        ("ask", "wax cells", described),
        (*check, WAX.strip(), "--no-cache", "--min-score", 0),
        (*check, "x wax", "--min-score", 0),
    ):
        where = 'kind = "md" and author contains "lee"'
        record = json.loads(cli(*command, "--where", where, "--json", *model).stdout)
        found = [*record.get("places", ()), *record["passages"]]
        assert {Path(each["document"]).name for each in found} == {"old.md"}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["search", "wax", "{files}"], "nothing found: no document matches year >= 2030"),
        (["check", "{files}", "wax", "--no-cache"], "no document matches year >= 2030"),
        (["check", "{files}", "wax"], "no document matches year >= 2030"),
        (["ask", "wax", "{files}"], "nothing found: no document matches year >= 2030; the"),
    ],
)
def test_no_document_matches(cli, model, described, command, said):
    asked = [word.format(files=described) for word in command]
    result = cli(*asked, "--where", "year>=2030", *model)
    assert (result.exit_code, said in result.stderr) == (1, True)
    if command[0] == "search":
        record = json.loads(cli(*asked, "--where", "year>=2030", "--json", *model).stdout)
        assert record["notes"] == ["no document matches year >= 2030"]


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_bad_filter_is_refused_before_reading(refusal, model, described, command):
    said = refusal(command, "wax", described / "gone", "--where", "kind = pdf", *model)
    assert said == 'milepost: filter, column 8: pdf needs quotation marks; try: "pdf"\n'


def test_info_lists_properties(cli, model, described, tmp_path):
    db = tmp_path / "described.milepost"
    assert cli("index", described, "--db", db, *model).exit_code == 0
    listed = json.loads(cli("info", "--db", db, "--json", *model).stdout)["index"]["documents"]
    held = {Path(each["name"]).name: each["properties"] for each in listed}
    assert held == {
        "new.txt": {"author": "Bo Chen", "date": "2024-01-01", "project": "hive"},
        "old.md": {"author": "Ann Lee", "date": "2020-03"},
    }
