"""Choose the precision of frozen weights of a ``transformers`` network while LoRA trains.

The trained matrices and the network's output states stay in float32. The 4-bit format is that of
QLoRA (arXiv 2305.14314): NormalFloat with quantised scales, by bitsandbytes.
"""

from __future__ import annotations

from typing import Any

from milepost._optional import require
from milepost.errors import ModelError


def loading(weights: str, device: str) -> dict[str, Any]:
    """Return the arguments of ``from_pretrained``.

    Args:
        weights: ``float32``, ``bfloat16`` or ``4bit``.
        device: device on which 4-bit weights are made; other weights are moved later.

    Raises:
        ModelError: ``weights`` is another word.
        MissingExtra: ``weights`` is ``4bit`` and bitsandbytes is not installed.
    """
    import torch

    if weights == "float32":
        return {"dtype": torch.float32}
    if weights == "bfloat16":
        return {"dtype": torch.bfloat16}
    if weights != "4bit":
        raise ModelError(f"unknown precision {weights!r} of weights", "float32, bfloat16 or 4bit")
    require("bitsandbytes", extra="qlora")
    from transformers import BitsAndBytesConfig

    four = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.float32 if device == "cpu" else torch.bfloat16,
    )
    return {"quantization_config": four, "dtype": torch.float32, "device_map": {"": device}}
