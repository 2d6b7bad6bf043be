"""Export a light checkpoint to a model folder: the table in 8 bits, the rest in bfloat16.

The general export would quantise the graph with NNCF, whose table is converted to float when the
graph is loaded: five times the memory and a slower start. Here a row is converted when it is looked
up.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from milepost.engine.manifest import Manifest
from milepost.errors import ModelError
from milepost_train.model.export import export
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.light import Light, RoundedLight


def with_rounded_table(model: LandmarkEncoder) -> LandmarkEncoder:
    """Copy a model with the table rounded as in the export, to compare both.

    Raises:
        ModelError: the backbone is not light.
    """
    if not isinstance(model.backbone, Light):
        raise ModelError(
            f"{model.config.get('model_type')!r} has no table of static vectors", "a light model"
        )
    small = copy.deepcopy(model)
    small.backbone = RoundedLight(model.backbone, model.config)
    small.eval()
    return small


def export_light(
    model: LandmarkEncoder,
    tokenizer: Path,
    folder: Path,
    *,
    name: str,
    settings: dict[str, Any] | None = None,
) -> Manifest:
    """Write a model folder that ``milepost.load`` reads; its arithmetic is float32.

    Raises:
        ModelError: the backbone is not light.
    """
    return export(
        with_rounded_table(model),
        tokenizer,
        folder,
        name=name,
        f32=False,
        bf16=True,
        settings=settings,
    )
