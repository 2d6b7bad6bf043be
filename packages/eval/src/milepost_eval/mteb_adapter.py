"""A landmark model as mteb wants its encoders, so that it runs in mteb's benchmarks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from milepost._optional import require
from milepost.embedding import embed_documents, embed_query
from milepost.encoder import load
from milepost.engine.folder import shipped_models
from milepost.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.encoder import Encoder


class MtebModel:
    """Implements mteb's ``EncoderProtocol``: one vector a text, compared by cosine.

    Queries become ``Encoder.encode_query``. Everything else, also the texts of tasks that know no
    queries (clustering, similarity of sentences …), is read whole and becomes the document's
    vector, the mean of its landmarks. Nothing is truncated.

    Args:
        encoder: the model.
        languages: what the model reads, as mteb writes it: ISO 639-3, a hyphen, ISO 15924.

    Attributes:
        mteb_model_meta: mteb's record of the model; its revision is the model's fingerprint.

    Raises:
        MissingExtra: mteb is not installed.
    """

    def __init__(self, encoder: Encoder, *, languages: Sequence[str] = ("eng-Latn",)) -> None:
        self._encoder = encoder
        self.mteb_model_meta: Any = _meta(encoder, languages)

    def encode(
        self,
        inputs: Iterable[Mapping[str, Any]],
        *,
        task_metadata: Any,
        hf_split: str,
        hf_subset: str,
        prompt_type: str | None = None,
        **kwargs: Any,
    ) -> NDArray[np.float32]:
        """The vectors of all texts, ``(n, d)`` float32, unit length.

        A text that is empty or white space gets zeros: a cosine of 0 to everything.

        Args:
            inputs: batches (mteb gives a ``DataLoader``). ``text`` is what is read: mteb has
                joined a document's title, or a query's instruction, to it.
            task_metadata: not used; the model has no prompts.
            hf_split: not used.
            hf_subset: not used.
            prompt_type: ``query``, ``document`` or None.
            **kwargs: ``batch_size`` and ``show_progress_bar`` have no effect.

        Raises:
            InputError: another ``precision`` than float32 is asked for.
        """
        import numpy as np

        precision = kwargs.get("precision") or "float32"
        if precision != "float32":  # mteb would file the scores under what it asked for
            raise InputError(
                f"vectors for mteb are float32, not {precision}",
                "encode_kwargs without precision",
            )
        texts = [text for batch in inputs for text in batch["text"]]
        if prompt_type != "query":
            return embed_documents(self._encoder, texts)
        vectors = np.zeros((len(texts), self._encoder.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[:] = embed_query(self._encoder, text)
        return vectors

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosines of all pairs, ``(n, m)``, as a torch tensor."""
        return _functions().cos_sim(embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosines of each vector with the one at its place, ``(n,)``, as a torch tensor."""
        return _functions().pairwise_cos_sim(embeddings1, embeddings2)


def mteb_model(name: str | os.PathLike[str] | None = None) -> MtebModel:
    """The shipped model, or another by name or folder, for ``mteb.evaluate``.

    Args:
        name: see ``milepost.load``.

    Raises:
        ModelError: the model is missing or damaged.
        MissingExtra: mteb is not installed.
    """
    return MtebModel(load(name))


def _functions() -> Any:
    return require("mteb.similarity_functions", extra="mteb")


def _meta(encoder: Encoder, languages: Sequence[str]) -> Any:
    """What is known of the model; mteb takes None for unknown."""
    models = require("mteb.models", extra="mteb")
    shipped = {model.manifest.fingerprint for model in shipped_models()}
    ours = encoder.fingerprint in shipped
    return models.ModelMeta(
        loader=None,  # mteb's own command line finds only models of mteb's own list
        name=f"milepost/{encoder.manifest.name.replace('/', '-')}",
        revision=encoder.fingerprint,
        release_date=None,
        languages=list(languages),
        n_parameters=None,
        memory_usage_mb=None,
        max_tokens=float("inf"),
        embed_dim=encoder.dimensions,
        license="apache-2.0" if ours else None,
        open_weights=True if ours else None,
        public_training_code=None,
        public_training_data=None,
        framework=["OpenVINO"],
        similarity_fn_name="cosine",
        use_instructions=False,
        training_datasets=None,
    )
