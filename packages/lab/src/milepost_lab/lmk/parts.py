"""What the study computes: each part once, kept as JSON, left out when time runs out."""

from __future__ import annotations

import dataclasses
import itertools
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from milepost._optional import require
from milepost_eval.embedders.choose import minilm_folder
from milepost_lab.data.pairs import ndcg
from milepost_lab.lmk import convert, material
from milepost_lab.lmk.model import Arm, Retriever, Texts, Training
from milepost_lab.runner import Run
from milepost_train.model.checkpoint import open_checkpoint

RATES: dict[str, tuple[float, ...]] = {"bag": (1e-4, 5e-4, 2e-3)}
USUAL = (2e-5, 5e-5, 1e-4)
WINDOW = 510  # tokens of a text that the parent reads, [CLS] and [SEP] aside
STREAM = 5_000_000  # tokens

Figures = dict[str, Any]
"""``LENGTH`` → nDCG@10 of each question, beside other figures of the part."""


@dataclass
class Parts:
    """What a run computes; networks and texts are opened only where a part is missing."""

    run: Run
    seconds: float | None  # no part is begun if the longest so far would outlast this
    data: Sequence[str]  # folders of texts, see ``material.make``
    parent: str  # folder of the encoder that is converted, or ``minilm``
    device: str  # of torch
    conversion: int  # steps
    steps: int  # of an arm's training
    batch: int
    pairs: int  # most for training
    asked: int  # most test questions
    left_out: list[str] = field(default_factory=list)  # for want of time

    def __post_init__(self) -> None:
        self.begun, self.longest = time.monotonic(), 0.0
        kept = self.run.results
        self.folder = kept.folder if kept else Path(tempfile.mkdtemp(prefix="milepost-lmk-"))

    def is_there(self, name: str) -> bool:
        """Whether a part was computed before."""
        return self.run.results is not None and name in self.run.results

    def part(self, name: str, compute: Callable[[], Figures], cheap: bool = False) -> Figures:
        """A part; empty where it is missing and time is out, unless it is ``cheap``."""
        begun = time.monotonic()
        late = self.seconds is not None and begun - self.begun + self.longest > self.seconds
        if late and not cheap and not self.is_there(name):
            self.left_out.append(name)
            return {}

        def timed() -> Figures:
            self.run.progress(name, 0, 1)
            found = compute()
            passed = time.monotonic() - begun
            if not cheap and name != "conversion":
                self.longest = max(self.longest, passed)
            return {**found, "seconds": round(passed, 2)}

        return self.run.cached(name, timed)

    @cached_property
    def parent_folder(self) -> Path:
        """The parent's folder."""
        return minilm_folder() if self.parent == "minilm" else Path(self.parent)

    @cached_property
    def tokenizer(self) -> Any:
        """The parent's, which cuts nothing."""
        made = Tokenizer.from_file(str(self.parent_folder / "tokenizer.json"))
        made.no_truncation()
        made.no_padding()
        return made

    @cached_property
    def special(self) -> Sequence[int]:
        """Ids of ``[CLS]``, ``[SEP]`` and ``[MASK]``."""
        return [*map(self.tokenizer.token_to_id, ("[CLS]", "[SEP]", "[MASK]"))]

    @cached_property
    def texts(self) -> material.Material:
        """All texts as ids, of the file that is kept beside the parts."""
        path = self.folder / "ids.npz"
        if not path.is_file():
            self.run.progress("token ids", 0, 1)
            folders = [*map(Path, self.data)]
            material.make(folders, self.tokenizer, self.pairs, self.asked, STREAM).write(path)
        return material.Material.read(path)

    @cached_property
    def training(self) -> Training:
        """All texts on the device."""
        usual = "cuda" if torch.cuda.is_available() else "cpu"
        # It builds a plan for every new shape, and lengths of batches differ.
        torch.backends.cuda.enable_cudnn_sdp(False)
        return Training(self.texts, torch.device(usual if self.device == "auto" else self.device))

    def questions(self) -> Figures:
        """Document of each test question, and the depths of its evidence by length."""
        texts, sizes = self.texts, (*material.LENGTHS, material.LONGEST)
        return {
            "documents": texts.names[texts.document_of].tolist(),
            "depths": dict(zip(map(str, sizes), texts.depths.T.tolist(), strict=True)),
        }

    def convert(self) -> Figures:
        """Convert the parent, and write its folder."""
        opened = open_checkpoint(self.parent_folder)
        parent = opened.model.to(self.training.device).requires_grad_(False)
        student = convert.rotary(parent)
        both = parent.backbone, student.backbone
        losses = convert.heal(*both, self.texts, self.special, self.conversion)
        dataclasses.replace(opened, model=student).save(self.folder / "converted")
        return {"losses": losses[:: max(1, self.conversion // 50)], "last": losses[-1]}

    def check(self) -> Figures:
        """Held-out pairs, short texts: the converted encoder and its parent, mean of all tokens."""
        held = self.training.held[:1000]
        own = self.training.passage_of[held]
        some = np.unique(own)
        found: Figures = {}
        for name in ("parent", "converted"):
            made = self._retriever("mean", name)
            queries = _vectors(made, self.training.queries, held)
            scores = queries @ _vectors(made, self.training.passages, some).T
            found[name] = ndcg(scores.cpu().numpy(), np.searchsorted(some, own).tolist())
        return found

    def baseline(self, name: str) -> Figures:
        """``parent`` reads the front of a cut, ``windows`` all of it; ``converted``: untrained."""
        made = self._retriever("mean", "converted" if name == "converted" else "parent")
        return self._search(made, material.LENGTHS, name)

    def rate(self, arm: Arm) -> Figures:
        """The rate with the lowest loss on held-out pairs after a quarter of the steps."""
        held = {}
        for rate in RATES.get(arm, USUAL):
            made = self._retriever(arm)
            self.training.fit(made, max(1, self.steps // 4), rate, 0, self.batch)
            held[str(rate)] = self.training.held_loss(made, self.batch)
        return {"held": held, "rate": float(min(held, key=lambda rate: held[rate]))}

    def arm(self, arm: Arm, seed: int, rate: float, placed: bool) -> Figures:
        """Train an arm and search with it; the first seed reads ``LONGEST`` tokens too."""
        made = self._retriever(arm)
        losses = self.training.fit(made, self.steps, rate, seed, self.batch, placed)
        longest = seed == self.run.seeds[0] and arm in ("lmk", "mean", "cls") and not placed
        sizes = (*material.LENGTHS, material.LONGEST) if longest else material.LENGTHS
        return {**self._search(made, sizes), "losses": losses[:: max(1, self.steps // 20)]}

    def bm25(self) -> Figures:
        """BM25 over the words of the cuts."""
        library, texts = require("bm25s", extra="lab"), self.texts

        def words(ids: Sequence[NDArray[np.uint16]]) -> Any:
            found = self.tokenizer.decode_batch([each.tolist() for each in ids])
            return library.tokenize(found, stopwords="en", return_ids=False, show_progress=False)

        asked = words(np.split(texts.asked, texts.asked_starts[1:-1]))

        def scores(some: NDArray[np.int64], first: NDArray[np.int64], length: int) -> Any:
            index = library.BM25()
            cuts = words([texts.documents[at : at + length] for at in first])
            index.index(cuts, show_progress=False)
            return np.stack([index.get_scores(asked[n]) for n in some])

        return self._by_length((*material.LENGTHS, material.LONGEST), scores)

    def _retriever(self, arm: Arm, name: str = "converted") -> Retriever:
        folder = self.parent_folder if name == "parent" else self.folder / name
        network = open_checkpoint(folder).model.backbone.to(self.training.device)
        return Retriever(network, arm, self.special)

    def _search(self, made: Retriever, sizes: Sequence[int], reading: str = "") -> Figures:
        """See ``_by_length``; of a cut ``parent`` reads the front, ``windows`` each by itself."""
        asked, documents = self.training.asked, self.training.documents
        queries = _vectors(made.eval(), asked, np.arange(len(asked.lengths)))

        def scores(some: NDArray[np.int64], first: NDArray[np.int64], length: int) -> Any:
            edges = np.array([0, min(length, WINDOW) if reading == "parent" else length])
            if reading == "windows":
                edges = np.linspace(0, length, -(-length // WINDOW) + 1).astype(int)
            parts = [
                made.vectors(documents, first + begin, np.full(len(first), end - begin))
                for begin, end in itertools.pairwise(edges)
            ]
            vectors = F.normalize(torch.stack(parts).sum(0), dim=-1)
            return (queries[some] @ vectors.T).cpu().numpy()

        return self._by_length(sizes, scores)

    def _by_length(
        self,
        sizes: Sequence[int],
        scores: Callable[[NDArray[np.int64], NDArray[np.int64], int], Any],
    ) -> Figures:
        """nDCG@10 of each question at each length.

        ``scores`` makes ``(questions, cuts)`` of the numbers of the questions that have a cut, the
        first tokens of these cuts, and their length.
        """
        texts = self.texts
        starts = texts.document_starts[texts.document_of]
        found: Figures = {}
        for length, cuts in zip(sizes, texts.cuts.T, strict=False):
            some = np.flatnonzero(cuts >= 0)
            if len(some) > 1:
                made = scores(some, starts[some] + cuts[some], length)
                found[str(length)] = ndcg_of_own(made, texts.document_of[some])
        return found


def _vectors(made: Retriever, texts: Texts, some: NDArray[np.int64]) -> Tensor:
    return made.vectors(texts, texts.starts[some], texts.lengths[some])


def ndcg_of_own(scores: NDArray[np.floating], documents: NDArray[np.int64]) -> list[float]:
    """nDCG@10 of questions that each search their own cut and those of other documents."""
    same = documents[:, None] == documents
    np.fill_diagonal(same, False)
    return ndcg(np.where(same, -np.inf, scores), list(range(len(documents))))
