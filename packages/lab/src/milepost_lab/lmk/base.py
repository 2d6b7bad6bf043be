"""Base encoders trained without any pooling, so that no pooling starts ahead.

``pretrained`` trains one from scratch by masked language modelling (30 % of the tokens, 80/10/10).
It has ModernBERT's layers (arXiv 2412.13663): rotary positions, gated feed-forward layers, most
layers local (128 tokens). ``[CLS]`` and ``[SEP]`` are never masked and nothing is pooled, so no
state has learned to represent a text. ``minilm`` loads the control with absolute positions,
all-MiniLM-L6-v2, which was trained for mean pooling.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu

from milepost.errors import InputError
from milepost_lab.data.long_documents import Words
from milepost_lab.lmk.long_bert import load_long_bert
from milepost_train.fit_steps import take_step
from milepost_train.model.modernbert import ModernBert
from milepost_train.record import SCHEMA
from milepost_train.run_folder import CHECKPOINT, RunFolder
from milepost_train.schedule import warmed
from milepost_train.whole_files import put

SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[MASK]")
PAD, CLS, SEP, MASK = range(len(SPECIAL))

MINILM_LAYERS = (1, 3, 5)
"""Layers of all-MiniLM-L6-v2 that the control keeps."""

Progress = Callable[[str, int, int], None]
"""Called with the current work, the steps done and the total."""


@dataclass(frozen=True, slots=True)
class BaseSettings:
    """Size and pre-training of an encoder.

    Attributes:
        layers: number of layers; the last is global, and every ``spacing``-th before it.
        width: width of the states.
        heads: attention heads.
        vocabulary: tokens of the byte-level BPE.
        spacing: one layer in ``spacing`` attends to the whole text.
        row: tokens of a training row, ``[CLS]`` and ``[SEP]`` included.
        batch: rows per step.
        steps: training steps; 1,200 are one epoch over ten million tokens.
        rate: peak learning rate, after a warm-up over 5 % of the steps; then a cosine to 5 % of it.
        seed: seed of weights, order and masks.
    """

    layers: int = 4
    width: int = 192
    heads: int = 3
    vocabulary: int = 8192
    spacing: int = 2
    row: int = 512
    batch: int = 16
    steps: int = 1200
    rate: float = 1e-3
    seed: int = 0

    @property
    def config(self) -> dict[str, Any]:
        """The fields of a ModernBERT ``config.json``."""
        kinds = [
            "full_attention" if left % self.spacing == 0 else "sliding_attention"
            for left in reversed(range(self.layers))
        ]
        return {
            "model_type": "modernbert",
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "intermediate_size": 2 * self.width,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "max_position_embeddings": 131_072,
            "local_attention": 128,
            "layer_types": kinds,
        }


class RotaryEncoder(nn.Module):
    """A ``ModernBert`` with the interface of ``reader.Network``."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.encoder = ModernBert(config)

    def forward(self, ids: Tensor, valid: Tensor, marks: Tensor) -> Tensor:
        """States of the last layer at the marks, ``(b, m, d)``."""
        return self.encoder(ids, valid, marks, None)

    @contextmanager
    def without_positions(self) -> Iterator[None]:
        """Turn off rotary positions within the context (the authors' ``disable_rope``)."""
        layers: list[Any] = list(self.encoder.layers)
        kept = [layer.theta for layer in layers]
        for layer in layers:
            layer.theta = None
        try:
            yield
        finally:
            for layer, theta in zip(layers, kept, strict=True):
                layer.theta = theta


class MaskedHead(nn.Module):
    """Predicts masked tokens; its output weights are the token embeddings."""

    def __init__(self, width: int, vocabulary: int) -> None:
        super().__init__()
        self.dense, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, states: Tensor, table: Tensor) -> Tensor:
        """Logits over the vocabulary: ``(n, d)`` and ``(v, d)`` → ``(n, v)``."""
        scores: Tensor = self.norm(gelu(self.dense(states))) @ table.T + self.bias
        return scores


@dataclass(frozen=True, slots=True)
class Base:
    """An encoder to start from, with its tokenizer.

    Attributes:
        name: name of the encoder.
        words: its tokenizer.
        load: makes a new network with the pre-trained weights, on the CPU.
        facts: its settings, reported with the figures.
    """

    name: str
    words: Words
    load: Callable[[], nn.Module]
    facts: dict[str, Any]


def minilm(folder: Path) -> Base:
    """Load the control with absolute positions.

    Raises:
        InputError: the folder has no ``tokenizer.json``.
    """
    if not (folder / "tokenizer.json").is_file():
        raise InputError(f"{folder} has no tokenizer.json", "--minilm FOLDER of all-MiniLM-L6-v2")
    words = Words(folder / "tokenizer.json")
    return Base(
        "minilm", words, lambda: load_long_bert(folder, MINILM_LAYERS), {"layers": MINILM_LAYERS}
    )


def pretrained(
    folder: Path,
    texts: Sequence[str],
    settings: BaseSettings,
    device: torch.device,
    dtype: torch.dtype,
    progress: Progress,
) -> Base:
    """Pre-train an encoder in a folder, resume it, or load it if it is finished.

    Args:
        folder: stores vocabulary, weights and log.
        texts: training texts.
        settings: size and training of the encoder.
        device: training device.
        dtype: dtype of matrix products.
        progress: called every few steps.

    Raises:
        InputError: the folder holds an encoder with other settings or texts, or all texts are too
            short.
        RunInterrupted: the folder cannot be written.
    """
    facts = {**asdict(settings), "characters": sum(map(len, texts)), "texts": len(texts)}
    run = RunFolder(folder, resume=(folder / "config.toml").is_file(), restart="another --out")
    done = folder / CHECKPOINT / "tokenizer.json"  # the last file to be written
    # Several processes may read a finished encoder at once.
    with nullcontext() if done.is_file() else run.alone():
        known = run.facts()
        if known is None:
            run.begin("# milepost lab lmk\n", {"schema": SCHEMA, **facts})
        elif {name: known.get(name) for name in facts} != facts:
            differ = [name for name in facts if known.get(name) != facts[name]]
            raise InputError(
                f"{folder} holds an encoder with another {differ[0]}: {known.get(differ[0])}, "
                f"not {facts[differ[0]]}",
                "another --out",
            )
        if not done.is_file():
            _pretrain(run, texts, settings, device, dtype, progress)
    place = folder / CHECKPOINT

    def load() -> nn.Module:
        network = RotaryEncoder(settings.config)
        network.encoder.load_state_dict(load_file(place / "model.safetensors"))
        return network

    losses = [line["loss"] for line in run.lines()]
    return Base("rotary", Words(place / "tokenizer.json"), load, {**facts, "loss": losses[-1]})


def vocabulary(texts: Sequence[str], size: int) -> Tokenizer:
    """Train a byte-level BPE of ``size`` tokens on texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _pretrain(
    run: RunFolder,
    texts: Sequence[str],
    settings: BaseSettings,
    device: torch.device,
    dtype: torch.dtype,
    progress: Progress,
) -> None:
    words_file = run.path / "tokenizer.json"
    if not words_file.is_file():
        learned = vocabulary(texts, settings.vocabulary).to_str(pretty=True)
        put(words_file, lambda file: file.write(learned.encode()))
    rows = rows_of(Words(words_file).ids(texts), settings.row)
    torch.manual_seed(settings.seed)
    network = RotaryEncoder(settings.config)
    head = MaskedHead(settings.width, settings.vocabulary)
    both = nn.ModuleList([network, head])
    _initialise(both, settings.layers)
    both.to(device)
    adam = _adam(both, settings.rate)
    state = run.load()
    if state is not None:
        both.load_state_dict(state["weights"])
        adam.load_state_dict(state["adam"])
    first = 0 if state is None else int(state["step"])
    table: Any = network.encoder.embeddings["tok_embeddings"]
    for step in range(first, settings.steps):
        ids, marks, wanted = guessed(rows, step, settings)
        valid = torch.ones(ids.shape, dtype=torch.bool, device=device)
        lower = dtype != torch.float32
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=lower):
            states = network(ids.to(device), valid, marks.to(device))
            scores = head(states.flatten(0, 1), table.weight)
        loss = cross_entropy(scores.float(), wanted.flatten().to(device))
        share = warmed(step, settings.steps, max(1, settings.steps // 20), floor=0.05)
        take_step(adam, loss, share, list(both.parameters()))
        if (step + 1) % 20 == 0 or step + 1 == settings.steps:
            progress("masked words", step + 1, settings.steps)
            run.log({"step": step + 1, "loss": round(loss.item(), 4)})
        if (step + 1) % 200 == 0:
            saved = {"weights": both.state_dict(), "adam": adam.state_dict(), "step": step + 1}
            run.save(saved)

    def save(folder: Path) -> None:
        weights = {name: value.cpu() for name, value in network.encoder.state_dict().items()}
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
        (folder / "config.json").write_text(json.dumps(settings.config))
        (folder / "tokenizer.json").write_bytes(words_file.read_bytes())

    run.write_checkpoint(save)


def rows_of(texts: Sequence[Sequence[int]], size: int) -> NDArray[np.int64]:
    """Cut texts into rows ``(n, size)``: ``[CLS]``, tokens, ``[SEP]``; partial rows are dropped.

    Raises:
        InputError: no text fills a row.
    """
    inner = size - 2
    pieces = [
        text[at : at + inner] for text in texts for at in range(0, len(text) - inner + 1, inner)
    ]
    if not pieces:
        raise InputError(
            f"corpus/ of --data has no training text of {inner} tokens",
            "--data FOLDER with longer texts, and another --out",
        )
    rows = np.full((len(pieces), size), SEP, np.int64)
    rows[:, 0] = CLS
    rows[:, 1:-1] = pieces
    return rows


def guessed(
    rows: NDArray[np.int64], step: int, settings: BaseSettings
) -> tuple[Tensor, Tensor, Tensor]:
    """Mask the batch of a step: ids ``(b, t)``, masked positions and their true ids ``(b, m)``."""
    epoch, at = divmod(step * settings.batch, len(rows))
    order = np.random.default_rng((settings.seed, epoch)).permutation(len(rows))
    chosen = order[(at + np.arange(settings.batch)) % len(rows)]
    ids = rows[chosen]
    drawn = np.random.default_rng((settings.seed, 1, step))
    inner = settings.row - 2
    count = round(0.3 * inner)
    marks = drawn.random((settings.batch, inner)).argsort(axis=1)[:, :count] + 1
    wanted = np.take_along_axis(ids, marks, axis=1)
    fate = drawn.random(marks.shape)
    other = drawn.integers(len(SPECIAL), settings.vocabulary, marks.shape)
    shown = np.where(fate < 0.8, MASK, np.where(fate < 0.9, other, wanted))
    np.put_along_axis(ids, marks, shown, axis=1)
    return torch.from_numpy(ids), torch.from_numpy(marks), torch.from_numpy(wanted)


def _initialise(modules: nn.Module, layers: int) -> None:
    """Draw weights with deviation 0.02, divided by √(2 layers) for residual outputs (``Wo``)."""
    for name, weight in modules.named_parameters():
        if weight.dim() > 1:
            deviation = 0.02 / (2 * layers) ** 0.5 if name.endswith("Wo.weight") else 0.02
            nn.init.normal_(weight, std=deviation)


def _adam(modules: nn.Module, rate: float) -> torch.optim.Optimizer:
    matrices = [weight for weight in modules.parameters() if weight.dim() > 1]
    others = [weight for weight in modules.parameters() if weight.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98))
