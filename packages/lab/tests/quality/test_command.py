"""``milepost lab quality`` from the command line."""

import json
import re
import sys

import pytest
from click import MissingParameter, NoSuchOption
from click.testing import CliRunner

from milepost.console.options import Settings
from milepost.errors import InputError
from milepost_lab.quality.command import command as quality

BEES = (
    "The queen lays the eggs of the hive.",
    "Workers feed the young bees with pollen.",
    "Drones leave the hive in early summer.",
    "A swarm of bees left the garden with its old queen.",
    "Honey is kept for the winter in the upper combs.",
    "Wax cells are built by young bees.",
)
SHIPS = (
    "Tugs pull large ships to the quay. The harbour is deep.",
    "The mainsail was woven from hemp.",
    "A ship needs deep water. The pilot knows where it is.",
    "The captain of the ship ordered the anchor raised.",
    "The hull of the steamer was painted black.",
    "Sailors furled the canvas in the storm.",
)


def write(path, *, labels=True, more=()):
    """Six texts on bees and six on ships."""
    lines = [
        {"text": text, **({"label": label} if labels else {})}
        for label, texts in (("bees", BEES), ("ships", SHIPS))
        for text in texts
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *more]))
    return path


def run(*args, code=0):
    result = CliRunner().invoke(
        quality,
        [str(arg) for arg in args],
        obj=Settings(),
        standalone_mode=False,
        catch_exceptions=False,
    )
    assert result.return_value == code
    return result.stdout


def test_labels_beside_chance(tmp_path, model):
    texts = write(tmp_path / "texts.jsonl")
    given = ("separation", texts, "--no-controls", "--permutations", 19, *model)
    made = json.loads(run(*given, "--json"))["quality"]
    assert [view["name"] for view in made] == ["raw", "standardised", "unit length", "length alone"]
    probe = made[0]["measures"]["probe"]
    assert probe["value"] > probe["chance"]
    assert probe["p"] <= 0.05
    assert made[0]["measures"]["dunn"]["low"] is None
    shown = run(*given)
    assert "permuted" in shown
    assert "Separable does not mean good or safe." in shown


def test_every_sentence_s_vector(tmp_path, model):
    given = (
        "separation",
        write(tmp_path / "t.jsonl"),
        "--landmarks",
        "--no-controls",
        "--permutations",
        1,
        "--json",
        *model,
    )
    made = json.loads(run(*given))["quality"]
    assert made[0]["measures"]["neighbours"]["value"] > 0.5


def test_a_model_beside_itself_rings_no_alarm(tmp_path, model):
    name = model[1] if model else "landmark-minilm"
    texts = write(tmp_path / "texts.jsonl")
    shown = run("drift", texts, "--against", name, "--neighbours", 3, "--no-controls", *model)
    assert "neighbours kept  1.000 (1.000 to 1.000); by chance 0.273" in shown
    assert shown.endswith("no alarm\n")


def test_another_model_rings_the_alarm_and_ends_in_1(tmp_path, model):
    if model:
        pytest.skip("needs the shipped models")
    texts = write(tmp_path / "texts.jsonl", labels=False)
    args = ("drift", texts, "--against", "landmark-light", "--neighbours", 3, "--min-kept", 1)
    args += ("--no-controls",)
    made = json.loads(run(*args, "--json", code=1))["quality"]
    assert made["kept"]["mean"] < 1
    assert made["separation"] is None
    assert made["alarms"] == [f"texts keep {made['kept']['mean']:.0%} of their neighbours"]
    assert "ALARM: texts keep" in run(*args, code=1)


@pytest.mark.torch
def test_layers_of_a_network(tmp_path):
    pytest.importorskip("torch", reason="needs the train extra")
    from support.tiny_transformers import tiny_folder

    folder = tiny_folder(tmp_path / "net", "llama")
    given = ("layers", write(tmp_path / "t.jsonl"), "--network", folder, "--permutations", 9)
    shown = run(*given, "--no-controls")
    rows = [line.split("  ")[0] for line in shown.splitlines()]
    assert rows[:6] == ["layers", "layer 1", "layer 2", "even", "random", "trained"]
    assert re.search(r"^layer 1 +[\d.]+ +[\d.]+ to [\d.]+ ", shown, re.MULTILINE)
    assert "the half of the texts on which no weights were trained" in shown


@pytest.mark.torch
@pytest.mark.usefixtures("small_controls")
class TestControls:
    """Encoders that know nothing, beside the model in each of the three reports."""

    NAMES = ("random", "nonsense", "hierarchical")

    @pytest.mark.parametrize("landmarks", [(), ("--landmarks",)])
    def test_they_are_columns_beside_a_model_s_labels(self, tmp_path, model, landmarks):
        given = ("separation", write(tmp_path / "t.jsonl"), "--permutations", 9, *landmarks, *model)
        made = {view["name"]: view for view in json.loads(run(*given, "--json"))["quality"]}
        forms = ("raw", "standardised", "unit length")
        assert set(made) == {
            "length alone",
            *forms,
            *(f"{form}@{name}" for form in forms for name in self.NAMES),
        }
        for name in self.NAMES:
            own, theirs = (made[view]["measures"] for view in (f"raw@{name}", "raw"))
            assert own.keys() == theirs.keys()
            assert own["separation"]["value"] != theirs["separation"]["value"]
        if landmarks:
            return  # the lines are those of texts
        shown = run(*given)
        assert shown.count("@random  @nonsense  @hierarchical") == 3
        value = made["raw@hierarchical"]["measures"]["probe"]["value"]
        assert re.search(rf"^probe .* {value:.3g}$", shown, re.MULTILINE)

    def test_they_say_what_a_model_that_knows_nothing_keeps_of_neighbours(self, tmp_path, model):
        name = model[1] if model else "landmark-minilm"
        given = ("drift", write(tmp_path / "t.jsonl"), "--against", name, "--neighbours", 3, *model)
        baselines = json.loads(run(*given, "--json"))["quality"]["baselines"]
        assert tuple(baselines) == self.NAMES
        assert all(0 <= floor["low"] <= floor["mean"] < 1 for floor in baselines.values())
        shown = run(*given)
        assert f"  by random        {baselines['random']['mean']:.3f} (" in shown
        assert shown.endswith("no alarm\n")

    def test_they_are_rows_below_layers(self, tmp_path):
        from support.tiny_transformers import tiny_folder

        folder = tiny_folder(tmp_path / "net", "llama")
        given = ("layers", write(tmp_path / "t.jsonl"), "--network", folder, "--permutations", 9)
        made = json.loads(run(*given, "--json"))["quality"]
        rows = {row["name"]: row for row in made}
        assert [name for name in rows if "@" in name] == [f"even@{name}" for name in self.NAMES]
        assert rows["even@random"]["weights"] == [0.5, 0.5]
        assert rows["even@nonsense"]["weights"] == [1.0]
        figures = [rows[name]["separation"] for name in ("even", "even@random", "even@nonsense")]
        assert len(set(figures)) == 3


def test_without_torch_the_model_is_measured_all_the_same(tmp_path, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    given = ("separation", write(tmp_path / "t.jsonl"), "--permutations", 9, *model)
    result = CliRunner().invoke(quality, [str(arg) for arg in given], obj=Settings())
    assert result.exit_code == 0
    assert "unit length" in result.output
    assert "without untrained baselines: " in result.output


def test_what_cannot_be_used_is_named(tmp_path, model):
    plain = write(tmp_path / "plain.jsonl", labels=False)
    with pytest.raises(InputError, match=r"plain\.jsonl: the lines have no label"):
        run("separation", plain)
    half = write(tmp_path / "half.jsonl", more=[{"text": "no label here"}])
    with pytest.raises(InputError, match="line 13: no 'label'"):
        run("separation", half)
    blank = write(tmp_path / "blank.jsonl", more=[{"text": " ", "label": "bees"}])
    with pytest.raises(InputError, match="line 13: the text is empty"):
        run("separation", blank)
    with pytest.raises(NoSuchOption, match="--landmarks"):
        run("drift", half, "--against", "x", "--landmarks")
    with pytest.raises(MissingParameter, match="network"):
        run("layers", half)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match="no texts"):
        run("separation", tmp_path / "empty.jsonl")
