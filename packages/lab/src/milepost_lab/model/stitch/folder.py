"""Read and write a pool: a folder with two files that hold encoders of all sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from milepost.engine.schema import check_schema
from milepost.errors import InputError, ModelError
from milepost_lab.model.stitch.pool import EncoderPool
from milepost_train.model.checkpoint import load_weights

CONFIG, WEIGHTS = "pool.json", "pool.safetensors"
SCHEMA = 1
_HINT = f"a folder with {CONFIG} and {WEIGHTS}"


def save_pool(pool: EncoderPool, folder: Path, dtype: torch.dtype = torch.float16) -> None:
    """Write the shared weights once, and a list of the descendants.

    ``pool.json`` lists the descendants with their numbers of parameters.
    """
    folder.mkdir(parents=True, exist_ok=True)
    said = {
        "schema": SCHEMA,
        **pool.configs,
        "kernel": pool.kernel,
        "own_sentence": pool.own_sentence,
        "sizes": {size: path.name for size, path in pool.sizes.items()},
        "descendants": {path.name: pool.parameters_of(path) for path in pool.paths},
    }
    (folder / CONFIG).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    weights = {name: each.to(dtype).contiguous() for name, each in pool.state_dict().items()}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def load_pool(folder: Path) -> EncoderPool:
    """Load a pool that ``save_pool`` wrote, in float32 and evaluation mode.

    ``load_pool(folder).encoder("S")`` is its smallest encoder.

    Raises:
        ModelError: a file is missing or damaged, or of another schema.
    """
    try:
        said: Any = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        weights = load_file(folder / WEIGHTS)
    except FileNotFoundError as error:
        raise ModelError(f"{folder} is not a pool of encoders: {error}", _HINT) from error
    except Exception as error:  # safetensors raises its own
        raise ModelError(f"{folder} cannot be read: {error}", _HINT) from error
    schema = said.get("schema") if isinstance(said, dict) else None
    check_schema(folder / CONFIG, schema, SCHEMA, "milepost lab stitch --out FOLDER")
    try:
        pool = EncoderPool(
            said["narrow"], said["wide"], kernel=said["kernel"], own_sentence=said["own_sentence"]
        )
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{folder / CONFIG} is damaged: {error}", "write it again") from error
    load_weights(pool, weights, folder / WEIGHTS, _HINT)
    pool.eval()
    return pool
