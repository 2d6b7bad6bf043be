"""The light model's summed loss against its formula, and its gradient against differences."""

import copy

import numpy as np
import pytest
import torch

from milepost_train.batches import queries_of, windows_of
from milepost_train.check import vectors_of
from milepost_train.data import Question
from milepost_train.light.training import LightMaterial, LightRecipe, LightTrainer, Taught
from milepost_train.model import LandmarkEncoder
from support.small_models import LIGHT_CONFIG

VOCABULARY, TEACHER, WIDTH, LANDMARK = 40, 10, 6, 3
RECIPE = LightRecipe(
    documents=3, windows=1, tokens=20, questions=2, queries=2, rate=0.0,
    temperature=0.3, distance=0.7, ranking=0.4, contrast=0.25,
)  # fmt: skip
"""A rate of 0: a step computes everything and moves nothing."""


def taught(random, sentences):
    """A text of sentences of three tokens, with vectors of its own as the teacher's."""
    ids = random.integers(5, VOCABULARY, 3 * sentences).astype(np.int32)
    targets = random.normal(size=(sentences, TEACHER))
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    spans = [(n, n + 1) for n in range(sentences)]
    starts = np.arange(0, 3 * sentences + 1, 3)
    return Taught("", "", ids, starts, spans, targets=targets.astype(np.float16))


@pytest.fixture
def trainer():
    """Two texts: in the first, of an open task, two questions with evidence of their own."""
    random = np.random.default_rng(1)
    asked = [
        ("trials", 0, (1, 2)), ("trials", 0, (4,)), ("written", 1, (0,)),
        ("written", 1, (2, 3)), ("pairs", -1, ()), ("pairs", -1, ()),
    ]  # fmt: skip
    texts, said = [taught(random, 6), taught(random, 5)], [taught(random, 1) for _ in asked]
    questions = [
        Question("", task, own.ids, *place) for own, (task, *place) in zip(said, asked, strict=True)
    ]
    material = LightMaterial(texts, questions, [own.targets[0] for own in said])
    torch.manual_seed(1)
    sizes = {"vocab_size": VOCABULARY, "table_width": 5, "hidden_size": WIDTH, "reach": 1}
    config = {**LIGHT_CONFIG, **sizes, "num_hidden_layers": 1}
    model = LandmarkEncoder(config, own_sentence=False)
    axes = random.normal(size=(TEACHER, WIDTH)).astype(np.float32)
    return LightTrainer(model, material, LANDMARK, axes, RECIPE)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def softmax(values):
    powers = np.exp(values)
    return powers / powers.sum()


def longhand(landmarks, queries, targets, wanted, owners, asked):
    """The three parts, written out: sentences and questions beside the teacher's, one by one.

    distance = mean over sentences of 1 - cos(own, teacher's) + the same over questions
    ranking  = mean over questions of  sum_j t_j log(t_j / p_j),
               p, t = softmax of own and of the teacher's cosines over the temperature
    contrast = mean over questions with evidence of the mean over its evidence of
               log(1 + sum over negatives of exp((s_n - s_p) / temperature))
    """
    heat = RECIPE.temperature
    distance = np.mean([1 - v @ t for v, t in zip(landmarks, targets, strict=True)])
    distance += np.mean([1 - v @ t for v, t in zip(queries, wanted, strict=True)])
    ranking = []
    for query, teacher in zip(queries, wanted, strict=True):
        p, t = softmax(landmarks @ query / heat), softmax(targets @ teacher / heat)
        ranking.append(sum(t * np.log(t / p)))
    contrast = []
    for query, one in zip(queries, asked, strict=False):
        own = [n for n, (text, i) in enumerate(owners) if text == one.text and i in one.evidence]
        maybe = set(own)
        if one.task == "trials":  # evidence of the text's other questions may answer, too
            both = {i for other in asked if other.text == one.text for i in other.evidence}
            maybe |= {n for n, (text, i) in enumerate(owners) if text == one.text and i in both}
        others = [n for n in range(len(owners)) if n not in maybe]
        scores = landmarks @ query
        each = [np.log(1 + sum(np.exp((scores[others] - scores[n]) / heat))) for n in own]
        contrast += [np.mean(each)] if each else []
    return distance, np.mean(ranking), np.mean(contrast)


def drawn(trainer):
    """What the next step will draw, without drawing it: places of its sentences, its questions."""
    state = trainer._random.getstate()
    pieces, questions = trainer._draw()
    free = trainer._random.sample(trainer._free, RECIPE.queries)
    trainer._random.setstate(state)
    owners = [(text, i) for text, first, last in pieces for i in range(first, last)]
    return pieces, owners, questions, free


def parts(trainer, pieces, owners, questions, free):
    """The longhand's parts at the trainer's weights, all but the network's vectors in NumPy."""
    texts, numbers = trainer.material.texts, [*questions, *free]
    asked = [trainer.material.questions[n] for n in numbers]
    with torch.no_grad():
        windows = (
            windows_of(pieces, texts, None, LANDMARK),
            queries_of([q.ids for q in asked], None, LANDMARK),
        )
        landmarks, queries = (vectors_of(trainer.model, each).double().numpy() for each in windows)
    axes = trainer._axes.double().numpy()
    targets = unit(np.array([texts[t].targets[i] for t, i in owners], float) @ axes)
    told = [trainer.material.targets[n] for n in numbers]
    wanted = unit(np.array(told, float) @ axes)
    return longhand(landmarks, queries, targets, wanted, owners, asked[: len(questions)])


def whole(given):
    return RECIPE.distance * given[0] + RECIPE.ranking * given[1] + RECIPE.contrast * given[2]


def test_each_part_is_its_formula(trainer):
    """Over several draws, among them questions of one text whose evidence is masked."""
    masked = 0
    for _ in range(6):
        draw = drawn(trainer)
        wanted = parts(trainer, *draw)
        found = trainer.step()
        assert tuple(found) == ("distance", "ranking", "contrast")
        assert list(found.values()) == pytest.approx(wanted, rel=2e-5)
        masked += {0, 1} <= set(draw[2])
    assert masked


def test_the_gradient_is_that_of_the_weighted_sum(trainer):
    """Along random directions the sum changes as the step's gradient says (rate 0, no clipping)."""
    draw = drawn(trainer)
    model = trainer.model
    before = copy.deepcopy(model.state_dict())
    trainer.step()
    weights = dict(model.named_parameters())
    assert all(torch.equal(before[name], weight) for name, weight in weights.items())
    gradients = {name: weight.grad.clone() for name, weight in weights.items()}
    length = torch.stack([g.norm() for g in gradients.values()]).norm().item()
    assert 0.01 < length < 4.9  # a longer one is cut to 5
    random = torch.Generator().manual_seed(2)
    ways = [{name: g / length for name, g in gradients.items()}]
    for _ in range(3):
        way = {name: torch.randn(g.shape, generator=random) for name, g in gradients.items()}
        norm = torch.stack([each.norm() for each in way.values()]).norm()
        ways.append({name: each / norm for name, each in way.items()})
    width = 1e-2
    for way in ways:
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                for name, weight in weights.items():
                    weight.copy_(before[name] + sign * width * way[name])
            ends.append(whole(parts(trainer, *draw)))
        model.load_state_dict(before)
        slope = (ends[0] - ends[1]) / (2 * width)
        told = sum((gradients[name] * each).sum().item() for name, each in way.items())
        assert slope == pytest.approx(told, rel=0.02, abs=2e-4)
