"""``/v1``: embeddings as OpenAI's clients ask for them, and landmarks on top."""

from __future__ import annotations

import base64
import time
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Request
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from milepost.encoder.engine import shipped_models
from milepost.server.failures import HttpError
from milepost.server.routes.bodies import MAX_TEXTS, RequestBody, texts
from milepost.server.state import ServerState, State, while_connected
from milepost.types import Landmarks

router = APIRouter(prefix="/v1", tags=["embeddings"])

_STARTED = int(time.time())

Text = Annotated[str, StringConstraints(min_length=1)]
Texts = Annotated[
    Text | Annotated[list[Text], Field(min_length=1, max_length=MAX_TEXTS, fail_fast=True)],
    texts(MAX_TEXTS, "a text is needed, and it must not be empty"),
]


class EmbeddingRequest(RequestBody):
    """What ``POST /v1/embeddings`` takes: OpenAI's fields, and two of Milepost's."""

    model_config = ConfigDict(extra="ignore")  # OpenAI's clients send more with each version

    input: Texts = Field(
        description="A text or at most 2,048 of them, of any length that fits into a request: "
        "nothing is cut off. Token numbers are refused, because they belong to another tokenizer."
    )
    model: str | None = Field(
        None, description="The name of the model that is served; see GET /v1/models."
    )
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: Annotated[int, Field(ge=1)] | None = Field(
        None, description="The width of the model's vectors; others are refused."
    )
    user: str | None = Field(None, description="Not used.")
    input_type: Literal["document", "query"] | None = Field(
        "document", description="Whether the texts are documents or questions about them."
    )
    landmarks: bool | None = Field(
        False, description="Add one vector for each sentence, with its offsets in the text."
    )


class Landmark(BaseModel):
    """The vector of one sentence in its context."""

    start: int = Field(description="Offset of the sentence in code points.")
    end: int
    embedding: list[float] | str


class Embedding(BaseModel):
    """The vector of one text."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str = Field(
        description="Numbers, or base64 of little-endian float32. Unit length."
    )
    landmarks: list[Landmark] | None = None


class Usage(BaseModel):
    """Tokens of all texts."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingAnswer(BaseModel):
    """What ``POST /v1/embeddings`` gives."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: Usage


class Model(BaseModel):
    """A model that is served."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "milepost"
    dimensions: int


class Models(BaseModel):
    """What ``GET /v1/models`` gives."""

    object: Literal["list"] = "list"
    data: list[Model]


@router.post("/embeddings", response_model_exclude_none=True)
async def embeddings(
    request: Request, state: ServerState, asked: EmbeddingRequest
) -> EmbeddingAnswer:
    """Vectors of texts, and, if asked for, of each of their sentences."""
    given = _checked(state, asked)
    query = asked.input_type == "query"
    encoded = await while_connected(request, state.batcher.encode(given, query=query))
    as_base64 = asked.encoding_format == "base64"
    tokens = sum(each.tokens for each in encoded)
    state.metrics.tokens.inc(tokens)
    return EmbeddingAnswer(
        data=[
            Embedding(
                index=number,
                embedding=_written(each.vector, as_base64),
                landmarks=_landmarks(each.landmarks, as_base64)
                if asked.landmarks and each.landmarks is not None
                else None,
            )
            for number, each in enumerate(encoded)
        ],
        model=state.encoder.manifest.name,
        usage=Usage(prompt_tokens=tokens, total_tokens=tokens),
    )


@router.get("/models")
async def models(state: ServerState) -> Models:
    """The model that is served."""
    return Models(data=[_model(state)])


@router.get("/models/{name:path}")
async def model(state: ServerState, name: str) -> Model:
    """The model of a name."""
    _check_name(state, name)
    return _model(state)


def _model(state: State) -> Model:
    manifest = state.encoder.manifest
    return Model(id=manifest.name, created=_STARTED, dimensions=manifest.dimensions)


def _checked(state: State, asked: EmbeddingRequest) -> list[str]:
    """The texts of a request that can be answered."""
    if asked.model is not None:
        _check_name(state, asked.model)
    given = [asked.input] if isinstance(asked.input, str) else asked.input
    width = state.encoder.dimensions
    if asked.dimensions not in (None, width):
        raise HttpError(422, f"dimensions: {asked.dimensions}", f"{width}, or leave it out")
    if asked.landmarks and asked.input_type == "query":
        raise HttpError(422, "landmarks: a question has none", '"input_type": "document"')
    return given


def _check_name(state: State, name: str) -> None:
    served = state.encoder.manifest.name
    if name == served:
        return
    other = any(name == model.manifest.name for model in shipped_models())
    hint = f"{served!r}" + (f", or milepost serve --model {name}" if other else "")
    raise HttpError(404, f"the model {name[:80]!r} is not served here", hint)


def _landmarks(marks: Landmarks, as_base64: bool) -> list[Landmark]:
    spans = marks.spans.tolist()
    return [
        Landmark(start=start, end=end, embedding=_written(vector, as_base64))
        for (start, end), vector in zip(spans, marks.vectors, strict=True)
    ]


def _written(vector: NDArray[np.float32], as_base64: bool) -> list[float] | str:
    if as_base64:
        return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
    numbers: list[float] = vector.tolist()
    return numbers
