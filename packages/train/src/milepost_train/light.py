"""The light model, distilled into token vectors and two convolutions: checkpoint and folder.

    python -m milepost_train.light --shared ../shared/data --out scratch/light

Learned from are texts with the landmarks of the model that is distilled. Documents of the tasks
(training split) come with their questions and evidence, documents of the corpus (training split)
with neither. None has a licence with ``nc`` in it, and none is held out for the fusion weights.

The model begins with a table of the big one's vectors and a linear map. The table begins as
model2vec's does (Tulkens and van Dongen 2024): each token alone through the teacher, its vector cut
to the principal axes, its length that of SIF (Arora et al. 2017). What a step learns is stage III,
much of it of texts that nobody asks about.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from milepost.cli.console.options import Settings
from milepost.encoder.engine.base import Engine
from milepost.encoder.engine.folder import ModelFolder, cache_folder, find_model
from milepost.encoder.engine.manifest import Manifest
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows.document_vector import unit
from milepost.encoder.windows.plan import WindowSize
from milepost_eval.tasks.reading import objects
from milepost_train.batches import Piece, queries_of, windows_of
from milepost_train.check import load_check
from milepost_train.cli.train import Screen
from milepost_train.config import CheckSettings, Config, Part, Stage, resolved
from milepost_train.data import Question, Text, held_out, tokenize
from milepost_train.generated import sources
from milepost_train.loading import Report, Texts, load_task
from milepost_train.loop import Event, Loop, OnProgress
from milepost_train.material import Material
from milepost_train.model import Checkpoint, LandmarkEncoder, export
from milepost_train.model.export import with_rounded_table
from milepost_train.model.landmark_encoder import Reading
from milepost_train.model.light import MODEL_TYPE, Light
from milepost_train.model.special import load_tokenizer, special_tokens
from milepost_train.objectives.base import Objective
from milepost_train.objectives.marked import Marked
from milepost_train.processes import Processes
from milepost_train.record import describe
from milepost_train.run import reproducible
from milepost_train.run_folder import RunFolder
from milepost_train.settings import MarkedStage
from milepost_train.teacher import LandmarkTeacher, Targets, Teacher


def token_vectors(
    engine: Engine, count: int, bos_id: int | None, landmark: int
) -> NDArray[np.float32]:
    """``(count, d)``: what the teacher makes of a sentence that is one token, for each token."""
    rows = []
    for first in range(0, count, 512):
        tokens = np.arange(first, min(first + 512, count), dtype=np.int32)
        batch = queries_of(list(tokens[:, None]), bos_id, landmark)
        feed = (batch.ids, batch.sentences, batch.marks)
        rows.append(engine.run(*(part.numpy().astype(np.int32) for part in feed))[:, 0])
    return np.concatenate(rows)


def principal_axes(vectors: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """``(d, width)``: the axes on which the vectors differ most, as columns, the first the most."""
    middle = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh((middle.T @ middle).astype(np.float64))
    return np.ascontiguousarray(axes[:, ::-1][:, :width]).astype(np.float32)


def begin(
    model: Light, vectors: NDArray[np.float32], texts: Sequence[Text], rarity: float = 1e-3
) -> None:
    """Fill the table: principal axes of the tokens' vectors, lengths of ``a / (a + p)``."""
    table = model.embeddings["word_embeddings"].weight
    middle = vectors - vectors.mean(0)
    small = middle @ principal_axes(vectors, table.shape[1])
    small /= np.linalg.norm(small, axis=1, keepdims=True) + 1e-6
    counts = np.zeros(len(vectors))
    for text in texts:
        counts += np.bincount(text.ids, minlength=len(vectors))
    weights = rarity / (rarity + counts / counts.sum())
    with torch.no_grad():
        table.copy_(torch.from_numpy(small * weights[:, None].astype(np.float32)))


@torch.no_grad()
def align(model: Light, material: Material, texts: int = 150) -> None:
    """Let the untrained network's states give the targets as well as a linear map can.

    Least squares over some texts, in the place of random weights of the projection.
    """
    assert material.targets is not None
    states, targets = [], []
    every = material.texts
    for number in Random(1).sample(range(len(every)), min(texts, len(every))):
        count = min(len(every[number].spans), 40)
        batch = windows_of([(number, 0, count)], every, None, material.landmark)
        states.append(model.gather(batch.ids, batch.sentences, batch.marks)[batch.used])
        targets.append(torch.from_numpy(material.targets.of_text(every[number])[:count]))
    held = torch.cat(states)
    ones = torch.cat([held, torch.ones(len(held), 1)], dim=1).double()
    pull = 1e-2 * len(held) * torch.eye(ones.shape[1], dtype=torch.float64)
    found = torch.linalg.solve(ones.T @ ones + pull, ones.T @ torch.cat(targets).double())
    model.project.weight.copy_(found[:-1].T)
    model.project.bias.copy_(found[-1])


WINDOWS, QUERIES = 2, 32
"""Most windows of a document, and questions of no document, in a step."""

STAGE = MarkedStage(
    documents=12,
    hard=0,
    windows=(126, 294, 420, 420, 840),
    open_tasks=("covid_papers", "trials", "meetings"),
    distil=4.0,
    distil_questions=1.0,
    rank=1.0,
)


class Projected:
    """A teacher whose vectors are cut to some axes, ``(d, width)``. Implements ``Teacher``."""

    def __init__(self, teacher: Teacher, axes: NDArray[np.float32]) -> None:
        self._teacher, self._axes = teacher, axes
        self.width = axes.shape[1]
        digest = hashlib.sha256(teacher.fingerprint.encode() + axes.tobytes())
        self.fingerprint = digest.hexdigest()

    def of_questions(self, questions: Sequence[str]) -> NDArray[np.float16]:
        """``(n, width)`` unit vectors of questions."""
        return self._cut(self._teacher.of_questions(questions))

    def of_sentences(self, text: Text) -> NDArray[np.float16]:
        """``(n, width)`` unit vectors of a text's sentences."""
        return self._cut(self._teacher.of_sentences(text))

    def _cut(self, vectors: NDArray[np.float16]) -> NDArray[np.float16]:
        return unit(vectors.astype(np.float32) @ self._axes).astype(np.float16)


class Distilled(Marked):
    """Steps of stage III whose texts need no questions, and whose questions need no text.

    A question whose text is below 0 is asked of none: its vector and its ranking of the step's
    sentences are the teacher's, and it has no evidence.
    """

    def __init__(self, stage: MarkedStage, material: Material) -> None:
        super().__init__(stage, material)
        groups = material.by_text
        self._free = [n for text, group in groups.items() if text < 0 for n in group]
        self._asked_of = sorted(text for text in groups if text >= 0)

    def draw(self, random: Random) -> tuple[list[int], list[Piece]]:
        """Numbers of questions and windows; every third text is one that is asked about."""
        stage, material = self.stage, self.material
        pieces: set[Piece] = set()
        asked: list[int] = []
        for place in range(stage.documents):
            text = random.randrange(len(material.texts))
            if place % 3 == 0:
                text = random.choice(self._asked_of)
            own = material.by_text.get(text, [])
            chosen = random.sample(own, min(stage.questions, len(own)))
            asked += [number for number in chosen if number not in asked]
            centres = [random.choice(material.questions[n].evidence) for n in chosen[:WINDOWS]]
            sentences = range(len(material.texts[text].spans))
            for centre in centres or random.choices(sentences, k=WINDOWS):
                pieces.add(self._window(text, centre, random.choice(stage.windows), random))
        free = random.sample(self._free, min(QUERIES, len(self._free)))
        return [*asked, *free], sorted(pieces)


HOLD_OUT = 0.12
TASKS = {"written": 400, "squad_articles": 60, "covid_papers": 90, "trials": 120, "meetings": 80}
"""Tasks and at most how many of their training documents are read."""

CONFIG: dict[str, Any] = {
    "model_type": MODEL_TYPE,
    "table_width": 192,
    "hidden_size": 256,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "reach": 3,
    "max_position_embeddings": 8192,
}
SIZES: dict[str, Any] = {"window": 1024, "left": 64, "right": 64, "longest": 128}
SEED = 1
DATA = (
    "corpus (train), written, squad_articles, covid_papers, trials, meetings, all without nc; pairs"
)

_LETTERS_TASK, _LETTERS_CORPUS = 24_000, 6_000  # of a document, at most
_QUERIES = 15_000
_TOGETHER = 512  # questions of no text that the teacher reads at once


def distil(
    teacher: ModelFolder,
    shared: Path,
    out: Path,
    *,
    name: str = "landmark-light",
    steps: int = 2000,
    threads: int = 2,
    resume: bool = False,
    config: Mapping[str, Any] = CONFIG,
    on_progress: OnProgress = lambda event: None,
) -> Manifest:
    """Distil the light model from a landmark model, and write the run and the model folder."""
    said = teacher.manifest
    tasks = tuple(shared / "tasks" / task for task in TASKS)
    stage = Stage(steps, (Part("marked", STAGE),), rate=1e-3, warm_up=60, clip=5.0, decay=0.0)
    settings = Config(
        file=out / "config.toml",
        init=str(teacher.path),
        out=out,
        stages=(stage,),
        check=CheckSettings(tasks, every=400),
        seed=SEED,
        device="cpu",
        dtype="float32",
        threads=threads,
        average=0.99,
    )
    folder = RunFolder(out, resume=resume)
    with folder.alone(), reproducible(settings):
        torch.manual_seed(SEED)
        reader = Tokenizer(teacher.tokenizer, said.bos_token, said.landmark)
        report = Report()
        texts, questions = gather(shared, reader, said.query_prefix, report)
        for line in report.lines():
            on_progress(Event("", 0, 0, note=line))
        guide = LandmarkTeacher(teacher.path)
        sample = np.concatenate([guide.of_sentences(text) for text in texts[::7]])
        axes = principal_axes(sample.astype(np.float32), config["hidden_size"])
        material = Material(
            texts=texts,
            questions=questions,
            landmark=reader.landmark,
            width=axes.shape[1],
            targets=Targets(Projected(guide, axes), cache_folder() / "train"),
        )
        checkpoint = _begun(teacher, reader, material, config, threads)
        model = checkpoint.model
        bare = Tokenizer(teacher.tokenizer, "", said.landmark)
        shape = WindowSize(SIZES["window"], SIZES["left"], SIZES["right"], SIZES["longest"] + 1)
        check = load_check(settings.check, bare, shape, said.query_prefix)
        facts = describe(
            config="",
            settings=resolved(settings) | {"network": dict(config), "sizes": SIZES},
            seeds={"the run": SEED},
            data=[*tasks, shared / "corpus", *_pairs(shared)],
            init=teacher.path,
            device="cpu",
        )
        folder.describe(facts)
        objectives: list[list[Objective]] = [[Distilled(STAGE, material)]]
        processes = Processes(torch.device("cpu"))
        loop = Loop(settings, checkpoint, objectives, check, folder, processes, on_progress)
        loop.run(lambda: False)
        folder.describe({**facts, "hours": round(loop.seconds / 3600, 3)})
    return export(
        with_rounded_table(model),
        teacher.tokenizer,
        out / name,
        name=name,
        f32=False,
        bf16=True,
        settings={
            "bos_token": "",
            "landmark": said.landmark,
            "query_prefix": said.query_prefix,
            **SIZES,
            "trained": {
                "from": f"{said.name} {said.fingerprint}, distilled",
                "steps": steps,
                "data": DATA,
            },
        },
    )


def _begun(
    teacher: ModelFolder,
    reader: Tokenizer,
    material: Material,
    config: Mapping[str, Any],
    threads: int,
) -> Checkpoint:
    said, backend = teacher.manifest, load_tokenizer(teacher.path)
    vocabulary = backend.get_vocab_size()
    engine = OpenVinoEngine(teacher.graph(), cache=None, threads=threads)
    vectors = token_vectors(engine, vocabulary, reader.bos_id, reader.landmark)
    model = LandmarkEncoder({**config, "vocab_size": vocabulary}, own_sentence=False)
    assert isinstance(model.backbone, Light)
    begin(model.backbone, vectors, material.texts)
    align(model.backbone, material)
    reading = Reading("", said.landmark, query_prefix=said.query_prefix, **SIZES)
    return Checkpoint(model, backend, reading, special_tokens(teacher.path, backend))


def gather(
    shared: Path, tokenizer: Tokenizer, query_prefix: str, report: Report
) -> tuple[list[Text], list[Question]]:
    """Texts of tasks and corpus; questions of tasks and pairs, the latter of texts below 0."""
    random = Random(1)
    texts: list[Text] = []
    questions: list[Question] = []
    for task, most in TASKS.items():
        read = Texts(tokenizer, query_prefix=query_prefix)
        asked = load_task(shared / "tasks" / task, read, report, hold_out=HOLD_OUT)
        before = len(texts)
        for text in read.all[:most]:
            ends = [end for _, end in text.spans]
            count = max(1, int(np.searchsorted(ends, _LETTERS_TASK, side="right")))
            texts.append(text.part(0, count))
        for question in asked:
            number = before + question.text
            if number < len(texts) and max(question.evidence) < len(texts[number].spans):
                questions.append(replace(question, text=number))
    for path in sorted((shared / "corpus").glob("*.jsonl.gz")):
        for source in sources([path], report.of(path), report.wrong[path]):
            name, words = source.document.name, source.document.text
            if held_out(name, HOLD_OUT):
                continue
            at = random.randrange(max(1, len(words) - _LETTERS_CORPUS))
            first = 0 if random.random() < 0.3 else words.rfind("\n", 0, at) + 1
            part = words[first : first + _LETTERS_CORPUS]
            texts.append(tokenize(tokenizer, name, "corpus", part))
    queries = sorted({row["query"] for path in _pairs(shared) for row in objects(path)})
    read = Texts(tokenizer, query_prefix=query_prefix)
    for place, query in enumerate(random.sample(queries, min(len(queries), _QUERIES))):
        ids = read.query(query, report.of(shared))
        questions.append(Question("", "pairs", ids, -1 - place // _TOGETHER, (), query))
    return texts, questions


def _pairs(shared: Path) -> list[Path]:
    """Files of pairs whose queries are something that people ask."""
    paths = sorted((shared / "pairs").glob("*.jsonl.gz"))
    return [path for path in paths if not path.name.startswith("sentence-cloze")]


def main() -> None:
    """Read the arguments and distil."""
    parser = argparse.ArgumentParser(
        prog="python -m milepost_train.light", description=distil.__doc__
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--teacher", help="a shipped model or a folder; the default model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="landmark-light")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    given = vars(parser.parse_args())
    teacher = find_model(given.pop("teacher"))
    with Screen(Settings()) as screen:
        manifest = distil(teacher, on_progress=screen, **given)
    sys.stdout.write(f"{manifest}\n")


if __name__ == "__main__":
    main()
