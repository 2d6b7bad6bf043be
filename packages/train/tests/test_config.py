"""Settings and stages of a configuration."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import UnreadableFile
from milepost_train.config import CheckSettings, Lora, read_config, resolved
from milepost_train.settings import MarkedStage, PairsStage, Place, WrongSettings, fill
from support.tiny_runs import CHECK, write_run

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "train"
ONE = '[[stage]]\nkind = "pairs"\nsteps = 3\n'
MARKED = '[[stage]]\nkind = "marked"\nsteps = 3\n'


def test_stages_and_their_parts(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path, "\n[lora]\nrank = 4\n" + CHECK))
    first, second = config.stages
    assert [part.weight for part in first.parts] == [2.0, 1.0]
    assert first.parts[0].settings == MarkedStage(distil=0, question_dropout=0.1)
    assert first.parts[1].settings == PairsStage(pairs=4)
    assert (first.steps, first.rate, first.accumulate) == (6, 1e-3, 2)
    assert type(read_config(write_run(tmp_path, average=0)).average) is float
    assert (first.kind, second.kind) == ("marked+pairs", "marked")
    assert second.parts[0].settings == MarkedStage(distil=0)
    assert config.check == CheckSettings((tmp_path / "task",), every=20, budget=60)
    assert config.lora == Lora(rank=4)


def test_paths_start_from_the_file_and_options_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder beside the file is meant where there is one, else a model of the hub."""
    file = write_run(tmp_path / "configs", init="init")
    config = read_config(file)
    assert config.init == str(tmp_path / "configs" / "init")
    assert config.out == tmp_path / "configs" / "run"
    assert config.data.tasks == (tmp_path / "configs" / "task",)
    write_run(tmp_path / "configs", init="owner/name", out=None)
    assert read_config(file, out=Path("here")).init == "owner/name"
    changed = read_config(file, init="other", out=Path("here"), device="cpu")
    assert (changed.init, changed.out, changed.device) == ("other", Path("here"), "cpu")
    monkeypatch.chdir(tmp_path / "configs")
    bare = read_config(Path("run.toml"), init="init", out=Path("here"))
    again = read_config(file, init=str(tmp_path / "configs" / "init"), out=Path("there"))
    assert resolved(bare) == resolved(again), "the same run from another folder"


@pytest.mark.parametrize(
    ("text", "changes", "problem", "hint"),
    [
        ("", {"sede": 3}, "unknown key 'sede'", "'seed'"),
        ("", {"init": None}, "missing key 'init'", "--init MODEL"),
        ("", {"stages": ""}, "missing [[stage]]", "add one"),
        ("", {"stages": "[stage]\nsteps = 3\n"}, "stage is not a list", "with [[stage]]"),
        ("", {"stages": "[[stage]]\nsteps = 3\n"}, "[[stage]] 1: missing key 'kind'", "pairs, mer"),
        ("", {"stages": "[[stage]]\nkind = 'pears'\nsteps = 3\n"}, "unknown kind 'pe", "'pairs'"),
        ("", {"stages": "[[stage]]\nkind = 'pairs'\n"}, "1: missing key 'steps'", "add steps"),
        ("", {"stages": ONE + "warm_up = -1\n"}, "[[stage]] 1: warm_up is -1", "to 0"),
        ("", {"stages": ONE + "weight = 1\n"}, "[[stage]] 1: unknown key 'weight'", "one of"),
        ("", {"stages": "[[stage]]\nsteps = 3\nkind = 'judge'\ntemperature = 0.1\n"},
         "[[stage]] 1: unknown key 'temperature'", "one of"),
        ("", {"stages": "[[stage]]\nsteps = 3\npart = 1\n"}, "part is not a l", "[[stage.part]]"),
        ("", {"stages": "[[stage]]\nsteps = 3\n[[stage.part]]\nkind = 'pairs'\nsteps = 2\n"},
         "[[stage.part]] 1 of stage 1: unknown key 'steps'", "one of"),
        ("", {"stages": f"{ONE}rate = 1e300\n"}, "rate is 1e+300", "equal to 1e+38"),
        ("", {"stages": f"{MARKED}windows = []\n"}, "windows is []", "at least 1 item"),
        ("", {"stages": MARKED + "noise = {typos = 0.6, keywords = 0.6}\n"}, "noise is", "at most"),
        ("[check]\nsplit = 'test'\n", {}, "check.split is \"test\"", "dev"),
        ("", {"average": 1.0}, "average is 1", "less than 1"),
        ("", {"on_collapse": "ignore"}, 'on_collapse is "ignore"', "'warn' or 'stop'"),
        ("", {"average": True}, "average is true", "number"),
        ("[lora]\nalpha = nan\n", {}, "lora.alpha is NaN", "number"),
        ("", {"threads": 1.5}, "threads is 1.5", "integer"),
        ("", {"frozen": "a"}, 'frozen is "a"', "array"),
        ("[lora]\nrnk = 3\n", {}, "unknown key 'lora.rnk'", "'rank'"),
    ],
)  # fmt: skip
def test_single_faults_are_named(
    tmp_path: Path, text: str, changes: dict[str, str], problem: str, hint: str
) -> None:
    file = write_run(tmp_path, text, **changes)
    with pytest.raises(WrongSettings) as caught:
        read_config(file)
    (fault,) = caught.value.faults
    assert fault.problem.startswith(f"{file}: ")
    assert problem in fault.problem
    assert hint in fault.hint


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from(["tasks", "split", "every", "keep"]) | st.text(), VALUES))
def test_any_table_is_read_or_refused(table: dict[str, Any]) -> None:
    place = Place(Path("configs/run.toml"))
    made = fill(CheckSettings, table, place)
    assert (made is None) == bool(place.faults)
    assert made is None or all(isinstance(path, Path) for path in made.tasks)


EVERYTHING_WRONG = """
sede = 3

[data]
hold_out = 2

[[stage]]
kind = "merged"
steps = 3
window = "x"
landmarks = "x"

[[stage]]
steps = 0

[[stage.part]]
kind = "pears"
foo = 3
"""


def test_every_fault_of_a_file_is_reported(tmp_path: Path) -> None:
    """One line a fault; what only follows from a wrong value (a window's size) is not one."""
    file = tmp_path / "run.toml"
    file.write_text(EVERYTHING_WRONG)
    with pytest.raises(WrongSettings) as caught:
        read_config(file)
    wanted = [
        *(": missing key 'init'", ": missing key 'out'", ": unknown key 'sede'"),
        ": data.hold_out is 2",
        *(': [[stage]] 1: window is "x"', ': [[stage]] 1: landmarks is "x"'),
        ": [[stage.part]] 1 of stage 2: unknown kind 'pears'",
        *(": [[stage.part]] 1 of stage 2: unknown key 'foo'", ": [[stage]] 2: steps is 0"),
    ]
    lines = str(caught.value).splitlines()
    assert sorted(line.partition(";")[0] for line in lines) == sorted(
        f"{file}{fault}" for fault in wanted
    )
    assert lines == list(map(str, caught.value.faults))


def test_files_that_are_not_toml(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    with pytest.raises(UnreadableFile, match=r"run.toml cannot be read: No such file"):
        read_config(file)
    file.write_text("seed = \n")
    with pytest.raises(UnreadableFile, match=r"run.toml is not TOML: .*line 1"):
        read_config(file)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.name)
def test_examples_are_right(file: Path, tmp_path: Path) -> None:
    assert read_config(file, init="owner/name", out=tmp_path).stages


def test_steps_and_what_is_kept_from_the_command_line(tmp_path: Path) -> None:
    file = write_run(tmp_path, CHECK, stages='[[stage]]\nkind = "pairs"\nsteps = 9\n')
    read = read_config(file, steps=3, keep="best")
    assert (read.stages[0].steps, read.check.keep) == (3, "best")
    assert read_config(file, keep="all").check.keep is True
    with pytest.raises(WrongSettings, match="there are 2"):
        read_config(write_run(tmp_path / "two"), steps=3)


def test_data_must_name_something(tmp_path: Path) -> None:
    file = write_run(tmp_path)
    text = file.read_text()
    a, b = text.index("[data]"), text.index("[[stage]]")
    file.write_text(text[:a] + "[data]\nlongest = 9\n" + text[b:])
    with pytest.raises(WrongSettings, match="no tasks, pairs or judged rows"):
        read_config(file)
