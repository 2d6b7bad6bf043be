"""What a run begins from: networks of every kind, LoRA, landmarks of their own, frozen weights."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from milepost.errors import InputError, ModelError
from milepost_train.config import read_config
from milepost_train.model import open_checkpoint, release
from milepost_train.processes import chosen_device, chosen_dtype
from milepost_train.run import opened, train
from milepost_train.run_folder import RunFolder
from support.files import write_lines
from support.tiny_models import CAUSAL, tiny_folder
from support.tiny_runs import CHECK, MERGED, write_run

STAGES = """
[[stage]]
steps = 3
warm_up = 0
rate = 1e-3
[[stage.part]]
kind = "marked"
distil = 0
windows = [64]
[[stage.part]]
kind = "pairs"
pairs = 4
"""
ALL = f"""{MERGED}
[[stage]]
kind = "marked"
steps = 1
warm_up = 0
distil = 0
alpha = 0.5
windows = [64]

[[stage]]
steps = 2
warm_up = 0
rate = 1e-3
[[stage.part]]
kind = "pairs"
pairs = 4
weight = 9
[[stage.part]]
kind = "marked"
distil = 0
alpha = 0.3
windows = [64]
"""
LORA = "\n[lora]\nrank = 2\n"


def run_of(folder: Path, kind: str, text: str = "", **changes: Any) -> Path:
    """A configuration that begins from a tiny random network of ``transformers``."""
    tiny_folder(folder / "init", kind)
    return write_run(folder / "data", text, **{"stages": STAGES, "init": "../init", **changes})


@pytest.mark.parametrize(
    ("kind", "lora"),
    [("llama", ""), ("qwen2", LORA), ("bert", ""), ("modernbert", ""), ("xlm-roberta", "")],
)
def test_every_stage_on_every_network(tmp_path: Path, kind: str, lora: str) -> None:
    """Pairs, long documents and positions, with their check."""
    config = read_config(run_of(tmp_path, kind, lora + CHECK, stages=ALL, log_every=1))
    begun = open_checkpoint(config.init).model
    done = train(config)
    assert open_checkpoint(done.checkpoint).model.causal is begun.causal is (kind in CAUSAL)
    lines = list(RunFolder(config.out, resume=True).lines())
    assert [(line["step"], line["stage"]) for line in lines] == [
        (0, 1), (1, 1), (2, 2), (3, 3), (4, 3)
    ]  # fmt: skip
    for line in lines[1:]:
        assert math.isfinite(line["loss"])
        assert 0 < line["gradient"] < math.inf
    assert "pairs_loss" in lines[3] or "pairs_loss" in lines[4]
    for line in (lines[0], lines[-1]):
        assert line["check"].keys() == {"task"}


def test_verdicts_beside_lora_are_refused_before_anything_is_learned(tmp_path: Path) -> None:
    config = read_config(run_of(tmp_path, "bert", LORA, verdicts=True))
    with pytest.raises(ModelError, match="beside LoRA are not saved"):
        opened(config)


@pytest.mark.parametrize("kind", ["mistral", "xlm-roberta"])
def test_an_adapter_and_a_landmark_of_its_own(tmp_path: Path, kind: str) -> None:
    """LoRA trains few weights and a new token; the adapter alone is written, and exports."""
    config = read_config(
        run_of(tmp_path, kind, LORA + "[windows]\nsize = 64\nleft = 16\n", landmark="<lmk>")
    )
    begun = opened(config).model
    trained = [name for name, weight in begun.named_parameters() if weight.requires_grad]
    assert all("lora" in name or "trainable_tokens" in name for name in trained)
    done = train(config)
    names = {file.name for file in done.checkpoint.iterdir()}
    assert "adapter_model.safetensors" in names
    assert "model.safetensors" not in names
    found = release(done.checkpoint, tmp_path / "model")
    assert found.manifest.landmark == "<lmk>"
    assert (found.manifest.window, found.manifest.left) == (64, 16)
    assert all(parity.holds for parity in found.parity)


@pytest.mark.parametrize("weights", ["bfloat16", "4bit"])
def test_an_adapter_beside_narrow_weights(tmp_path: Path, weights: str) -> None:
    """The frozen weights are held in fewer bits; it trains, resumes and merges like any other."""
    if weights == "4bit":
        pytest.importorskip("bitsandbytes", reason="needs the qlora extra")
    narrow = f'{LORA}weights = "{weights}"\n'
    config = read_config(run_of(tmp_path, "llama", narrow, gradient_checkpointing=True))
    held = {
        weight.dtype
        for name, weight in opened(config).model.named_parameters()
        if "proj" in name and "lora" not in name
    }
    assert held == {torch.bfloat16 if weights == "bfloat16" else torch.uint8}
    stops = iter([False, True])
    with pytest.raises(KeyboardInterrupt):
        train(config, stopped=lambda: next(stops, True))
    done = train(config, resume=True)
    assert all(math.isfinite(line["loss"]) for line in RunFolder(config.out, resume=True).lines())
    found = release(done.checkpoint, tmp_path / "model")
    assert all(parity.holds for parity in found.parity)


def test_narrow_weights_need_a_network_of_transformers(tmp_path: Path) -> None:
    config = read_config(run_of(tmp_path, "bert", LORA + 'weights = "bfloat16"\n'))
    with pytest.raises(ModelError, match=r"own network.*transformers = true"):
        train(config)


def kept_for_the_backward_pass(model: Any) -> int:
    """Numbers that the graph of one forward pass holds."""
    held: list[int] = []

    def pack(tensor: Any) -> Any:
        held.append(tensor.numel())
        return tensor

    ids = torch.arange(4, 36)[None]
    model.train()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(ids, torch.ones_like(ids), torch.tensor([[8, 31]]))
    return sum(held)


@pytest.mark.parametrize("kind", ["bert", "llama"])
def test_gradient_checkpointing_changes_nothing_but_memory(tmp_path: Path, kind: str) -> None:
    left, held = [], []
    for name, said in (("without", False), ("with", True)):
        config = read_config(run_of(tmp_path / name, kind, gradient_checkpointing=said))
        held.append(kept_for_the_backward_pass(opened(config).model))
        left.append(dict(open_checkpoint(train(config).checkpoint).model.named_parameters()))
    assert held[1] < held[0] / 2
    for name, weight in left[0].items():
        assert torch.allclose(weight, left[1][name], atol=1e-5), name


def test_frozen_weights_stay(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path, stages=STAGES, frozen=["*embeddings*", "*layer.0.*"]))
    done = train(config)
    old, new = (
        dict(open_checkpoint(each).model.named_parameters())
        for each in (config.init, done.checkpoint)
    )
    still = {name for name in old if torch.equal(old[name].half(), new[name].half())}
    assert {name for name in old if "embeddings" in name or "layer.0." in name} <= still
    assert not [name for name in still if "layer.1." in name and "weight" in name]
    for frozen, said in ((["*embedings*"], "no weight matches"), (["*"], "no weight is left")):
        with pytest.raises(ModelError, match=said):
            opened(read_config(write_run(tmp_path, frozen=frozen)))


def test_how_landmarks_see_is_a_setting(tmp_path: Path) -> None:
    for own in (True, False):
        begun = opened(read_config(write_run(tmp_path, own_sentence=own)))
        assert begun.model.own_sentence is begun.reading.own_sentence is own
    with pytest.raises(ModelError, match=r"last layer sees the whole window"):
        opened(read_config(write_run(tmp_path, own_sentence=True, transformers=True)))


def test_what_flatters_or_shortens_a_run_is_said(tmp_path: Path) -> None:
    """Questions of the check that are trained on; a warm-up longer than its stage; the dtype."""
    stages = STAGES.replace("warm_up = 0", "warm_up = 4")
    file = write_run(tmp_path, CHECK, stages=stages, dtype="auto")
    path = tmp_path / "task" / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows += [{**rows[0], "id": "again", "split": "dev", "question": rows[0]["question"].upper()}]
    write_lines(path, rows)
    said: list[str] = []
    done = train(
        read_config(file), on_progress=lambda event: said.extend([event.note, event.warning])
    )
    assert [words.split(" are trained on")[0] for words in said if words and "/" not in words] == [
        "[[stage]] 1: warm_up is 4, more than its steps; taken as 3",
        "1 of 9 questions of the check",
    ]
    recorded = json.loads((done.checkpoint.parent / "run.json").read_text())["settings"]
    assert recorded["dtype"] == chosen_dtype("auto", torch.device("cpu"))


def test_a_run_that_draws_the_batches_of_the_run_before_again(tmp_path: Path) -> None:
    stages = '[[stage]]\nkind = "pairs"\nsteps = 1\npairs = 4\n'
    first = train(read_config(write_run(tmp_path, stages=stages))).checkpoint
    warned = {}
    for seed in (3, 4):
        again = {"init": str(first), "seed": seed, "out": f"again-{seed}"}
        said: list[str | None] = []
        file = write_run(tmp_path, stages=stages, **again)
        train(read_config(file), on_progress=lambda event, said=said: said.append(event.warning))
        warned[seed] = any("with the same seed" in words for words in said if words)
    assert warned == {3: True, 4: False}


def test_what_does_not_fit(tmp_path: Path) -> None:
    """Windows longer than the network reads, an objective without its data, no such device."""
    with pytest.raises(InputError, match=r"a window of 4,096 tokens"):
        train(read_config(write_run(tmp_path, "[windows]\nsize = 4096\n")))
    file = write_run(tmp_path, stages='[[stage]]\nkind = "marked"\nsteps = 1\n', out="second")
    with pytest.raises(InputError, match=r"\[\[stage\]\] 1, distil and rank need a teacher"):
        train(read_config(file))
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match=r"no device 'cuda'"):
            chosen_device("cuda")
    assert chosen_device("auto").type in ("cpu", "cuda", "mps")


def test_the_dtype_is_one_that_the_machine_is_fast_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked for is taken; ``auto`` is bfloat16 where the CPU multiplies it by itself."""
    cpu = torch.device("cpu")
    for name in ("float32", "bfloat16"):
        assert chosen_dtype(name, cpu) == name
    for fast, wanted in ((False, "float32"), (True, "bfloat16")):
        for each in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
            monkeypatch.setattr(torch.cpu, each, lambda fast=fast: fast, raising=False)
        assert chosen_dtype("auto", cpu) == wanted
    assert chosen_dtype("auto", torch.device("mps")) == "float32"
