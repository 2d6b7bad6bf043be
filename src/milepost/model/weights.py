"""In how many bits the frozen weights of a network of ``transformers`` are held while LoRA trains.

Beside them the trained matrices stay in float32, and states leave the network in float32. Four bits
are QLoRA's (arXiv 2305.14314): normal floats with quantised scales, by bitsandbytes.
"""

from __future__ import annotations

from typing import Any

from milepost._optional import require


def loading(weights: str, device: str) -> dict[str, Any]:
    """Arguments of ``from_pretrained``.

    Args:
        weights: ``float32``, ``bfloat16`` or ``4bit``.
        device: where four bits are made; other weights are moved later.

    Raises:
        MissingExtra: four bits are asked for and bitsandbytes is not installed.
    """
    import torch

    if weights == "float32":
        return {"dtype": torch.float32}
    if weights == "bfloat16":
        return {"dtype": torch.bfloat16}
    require("bitsandbytes", extra="qlora")
    from transformers import BitsAndBytesConfig

    four = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.float32 if device == "cpu" else torch.bfloat16,
    )
    return {"quantization_config": four, "dtype": torch.float32, "device_map": {"": device}}
