"""Does a landmark find more if it sees what follows its sentence? An encoder beside a decoder.

    python bench/both_sides.py [--shared ../shared/data] [--steps N] [--quick]

or in two processes, one per core; the last to finish prints the report:

    OMP_NUM_THREADS=1 taskset -c 0 python bench/both_sides.py --kind encoder &
    OMP_NUM_THREADS=1 taskset -c 1 python bench/both_sides.py --kind decoder

The paper (Landmark Embedding, arXiv 2402.11573) puts landmarks into a decoder, LLaMA-2-7B with
LoRA; Milepost reads both sides. Here one network, four layers of LLaMA, is pre-trained twice on the
same rows in the same order from the same weights: to guess masked words while it sees both sides,
and to guess next words while it sees what precedes. As many words are guessed in both. Then each is
trained by stage III of ``milepost train``, with LoRA and in full, and its landmarks alone are asked
development questions.

``--out`` keeps pre-trained weights and finished trainings, so that a kill loses one of them at
most.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import shutil
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from milepost_lab.data.long_documents import Words
from milepost_lab.lmk.base import BaseSettings, MaskedHead, guessed, rows_of, vocabulary
from milepost_lab.lmk.material import training_texts
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from milepost_eval.provenance import commit, machine, today
from milepost_eval.report.tally import Tally
from milepost_train.choices import Dtype
from milepost_train.config import Config, Lora, Part, Stage, Windows
from milepost_train.data_settings import DataSettings
from milepost_train.fit_steps import take_step
from milepost_train.journal import Journal
from milepost_train.material import load_material
from milepost_train.model import open_checkpoint
from milepost_train.model.huggingface import HuggingFace
from milepost_train.objectives import build
from milepost_train.run import opened
from milepost_train.schedule import warmed
from milepost_train.stages import MarkedStage
from short_runs import OPEN, TASKS, development, measured, trained

KINDS = ("encoder", "decoder")
WAYS = ("lora", "full")
HALOS = {
    "encoder": Windows(size=320, left=48, right=16),
    "decoder": Windows(size=320, left=64, right=0),
}
"""As many tokens of company; a decoder sees none behind the sentence."""
PAIRS = {
    f"encoder less decoder, {way}, {metric}": (
        (("encoder", way), metric),
        (("decoder", way), metric),
    )
    for way in WAYS
    for metric in ("alone", "front-2", "both-sides-2", "boundary")
}


@dataclass(frozen=True)
class Settings:
    """All that the figures depend on, besides code and data.

    Attributes:
        network: width, heads, rows and pre-training steps; its local attention is not used.
        texts: of the corpus, at most; None for all.
        steps, rates: of the training at landmarks; LoRA's rate and that of all weights.
        documents, questions: of each task's development split, at most.
        budget: characters in which the evidence is to be found.
        dtype: of training and reading at landmarks; pre-training is in float32.
    """

    network: BaseSettings = field(default_factory=BaseSettings)
    texts: int | None = None
    steps: int = 200
    rates: tuple[float, float] = (1e-3, 3e-4)
    window: int = 224
    hold_out: float = 0.0
    documents: int = 24
    questions: int = 60
    budget: int = 1600
    dtype: Dtype = "float32"
    seeds: tuple[int, ...] = (0, 1, 2)


QUICK = Settings(
    BaseSettings(layers=2, width=64, heads=2, vocabulary=1024, row=128, batch=4, steps=6),
    texts=20,
    steps=3,
    hold_out=0.97,
    documents=1,
    questions=5,
    seeds=(0,),
)


def llama(settings: BaseSettings) -> Any:
    """A network of ``transformers`` with random weights, the same each time."""
    from transformers import LlamaConfig, LlamaModel

    torch.manual_seed(settings.seed)
    config = LlamaConfig(
        vocab_size=settings.vocabulary,
        hidden_size=settings.width,
        intermediate_size=2 * settings.width,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        max_position_embeddings=2048,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        attn_implementation="sdpa",
    )
    return LlamaModel(config)


def pretrain(kind: str, folder: Path, settings: Settings, shared: Path) -> Path:
    """Pre-train a network unless it is there; its folder holds ``losses.json``, too."""
    place = folder / kind
    if place.is_dir():
        return place
    plain = settings.network
    texts = training_texts(shared, settings.texts)
    words = folder / "tokenizer.json"
    if not words.is_file():
        draft = folder / f"{kind}-tokenizer.part"  # another process may be making the same file
        vocabulary(texts, plain.vocabulary).save(str(draft))
        draft.replace(words)
    rows = rows_of(Words(words).ids(texts), plain.row)
    network = llama(plain)
    reader = HuggingFace(network, bidirectional=kind == "encoder")
    head = MaskedHead(plain.width, plain.vocabulary)
    both = nn.ModuleList([network, head])
    adam = torch.optim.AdamW(both.parameters(), lr=plain.rate, betas=(0.9, 0.98), weight_decay=0.01)
    losses = []
    for step in range(plain.steps):
        ids, marks, wanted = guessed(rows, step, plain)
        if kind == "decoder":  # the same places are guessed, each from what precedes it
            ids, marks = ids.scatter(1, marks, wanted), marks - 1
        valid = torch.ones(ids.shape, dtype=torch.bool)
        states = reader(ids, valid, marks, None)
        scores: Tensor = head(states.flatten(0, 1), network.embed_tokens.weight)
        loss = cross_entropy(scores, wanted.flatten())
        share = warmed(step, plain.steps, max(1, plain.steps // 20), floor=0.05)
        take_step(adam, loss, share, list(both.parameters()))
        losses.append(round(loss.item(), 4))
        if (step + 1) % 20 == 0:
            print(f"{kind}: step {step + 1} of {plain.steps}, loss {losses[-1]}", flush=True)
    draft = folder / f"{kind}.part"
    shutil.rmtree(draft, ignore_errors=True)  # of a run that was killed
    network.save_pretrained(draft)
    (draft / "losses.json").write_text(json.dumps(losses))
    shutil.copy(words, draft / "tokenizer.json")
    checkpoint = open_checkpoint(
        draft, landmark="[SEP]", bos_token="[CLS]", bidirectional=kind == "encoder"
    )
    checkpoint.reading.write(draft)
    draft.rename(place)
    return place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("scratch/both-sides"))
    parser.add_argument("--steps", type=int, help="optimizer steps of stage III")
    parser.add_argument("--kind", choices=KINDS, help="do the work of this network alone")
    parser.add_argument("--quick", action="store_true", help="a rehearsal of a minute or two")
    options = parser.parse_args()
    settings = QUICK if options.quick else Settings()
    if options.steps:
        settings = replace(settings, steps=options.steps)
    key = hashlib.sha256(json.dumps([asdict(settings.network), settings.texts]).encode())
    base = options.out / key.hexdigest()[:8]
    base.mkdir(parents=True, exist_ok=True)
    folder = base / f"{settings.steps}-steps"
    folder.mkdir(exist_ok=True)
    for kind in [options.kind] if options.kind else KINDS:
        train_and_ask(kind, base, folder, settings, options.shared)
    made = [folder / f"{kind}.jsonl.run" for kind in KINDS]
    if all(len(finished(file)) == len(WAYS) * len(settings.seeds) for file in made):
        print(conclude(base, folder, settings))


def train_and_ask(kind: str, base: Path, folder: Path, settings: Settings, shared: Path) -> None:
    """Pre-train one network, train it in both ways with each seed, and ask its landmarks."""
    network = pretrain(kind, base, settings, shared)
    marked = MarkedStage(
        documents=4, questions=4, hard=0, windows=(settings.window,), distil=0.0, open_tasks=OPEN
    )
    data = DataSettings(
        tasks=tuple(shared / "tasks" / name for name in TASKS), hold_out=settings.hold_out
    )
    configs = {
        way: Config(
            file=base / "both-sides.toml",  # no such file: it is all here
            init=str(network),
            out=base,
            stages=(Stage((Part("marked", marked),), settings.steps, rate=rate, warm_up=20),),
            data=data,
            windows=HALOS[kind],
            threads=int(os.environ.get("OMP_NUM_THREADS", "2")),
            lora=Lora() if way == "lora" else None,
            attention="sdpa",
            dtype=settings.dtype,
            log_every=max(1, settings.steps // 4),
        )
        for way, rate in zip(WAYS, settings.rates, strict=True)
    }
    checkpoint = opened(configs["full"])
    causal = checkpoint.model.causal
    if causal != (kind == "decoder"):
        raise SystemExit(f"{kind}: causal is {causal}")
    asked = development(
        shared, checkpoint, documents=settings.documents, questions=settings.questions
    )
    own = Tokenizer.from_str(checkpoint.tokenizer.to_str())
    objective = build(marked, load_material(data, own, checkpoint.reading, causal=causal))
    facts = {
        "settings": asdict(settings),
        "questions": [
            (each.task, each.text.name, q.name, q.kind) for each in asked for q in each.questions
        ],
    }
    with Journal(folder / f"{kind}.jsonl", facts) as journal:
        for seed, (way, config) in product(settings.seeds, configs.items()):
            piece = f"{kind}-{way}-{seed}"
            if piece not in journal.done:
                seeded = replace(config, seed=100 + seed)
                named = {"kind": kind, "way": way, "seed": seed}
                weights = partial(trained, seeded, objective, folder / piece)
                asking = replace(seeded, lora=None)
                measured(journal, piece, named, weights, asking, asked, settings.budget)


def finished(record: Path) -> list[str]:
    """Lines of a journal's record, one for each finished training."""
    return record.read_text("utf-8").splitlines()[1:] if record.is_file() else []


def conclude(base: Path, folder: Path, settings: Settings) -> str:
    """Write everything that was measured into one file, and make the report."""
    losses = {
        kind: fmean(json.loads((base / kind / "losses.json").read_text())[-50:]) for kind in KINDS
    }
    known = {(folder / f"{kind}.jsonl.run").read_text().splitlines()[0] for kind in KINDS}
    if len(known) > 1:
        raise SystemExit("the two networks were asked different questions")
    facts = {**json.loads(known.pop()), "losses": losses}
    found = [
        json.loads(line)
        for kind in KINDS
        for line in (folder / f"{kind}.jsonl").read_text().splitlines()
    ]
    made = f"{today()}, commit `{commit()}`, {machine()}"
    lines = [json.dumps(line) for line in ({"made": made, **facts}, *found)]
    (folder / "both-sides.jsonl.xz").write_bytes(lzma.compress("\n".join(lines).encode()))
    return report(facts, found)


def report(facts: dict[str, Any], found: list[dict[str, Any]]) -> str:
    """A table of all arms, and the encoder less the decoder; seeds are averaged."""
    tally = Tally()
    lines = [f"loss of the last 50 steps: {facts['losses']}", "", "per cent, mean over tasks:"]
    for kind in KINDS:
        for way in WAYS:
            runs = [line["figures"] for line in found if (line["kind"], line["way"]) == (kind, way)]
            for metric in ("alone", "front-2", "both-sides-2", "boundary"):
                rows = zip(*(run[metric] for run in runs), strict=True)
                for (task, document, *_), row in zip(facts["questions"], rows, strict=True):
                    if None not in row:
                        tally.add((kind, way), task, document, {metric: fmean(row)})
                lines.append(f"{kind:8} {way:5} {metric:13} {tally.mean((kind, way), metric)}")
    lines += ["", "difference, points (95 %), corrected p, detectable:"]
    for name, figure in tally.gains(PAIRS).items():
        if figure is not None:
            lines.append(f"{name:45} {figure}  {figure.p}  {100 * figure.detectable:.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
