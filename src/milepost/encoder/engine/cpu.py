"""Detect the CPU's instruction sets, and whether it has an 8-bit dot product.

Linux lists features by name. Windows and Intel Macs only identify the CPU model. Most Intel cores
designed since 2019 and AMD's since Zen 4 have VNNI, so the models without it are listed here.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

_NAMES = {
    "avx2": "avx2",
    "avx512f": "avx512",
    "avx512_vnni": "vnni",
    "avx_vnni": "vnni",
    "amx_int8": "amx",
    "asimd": "neon",
    "asimddp": "neon dot product",
    "i8mm": "neon i8mm",
}
_INT8 = {"vnni", "amx", "neon dot product", "neon i8mm"}

# Models of Intel's family 6 above 85 that lack VNNI; all below 85 lack it. Model 85 is Skylake up
# to stepping 4, which lacks VNNI, and Cascade Lake or Cooper Lake above, which have it.
_INTEL_WITHOUT = frozenset({87, 92, 94, 95, 102, 122, 133, 134, 138, 142, 150, 156, 158, 165, 166})
_CASCADE_LAKE = (85, 5)
# Zen 3 models of AMD's family 25; the others are Zen 4.
_ZEN_3 = (range(0x10), range(0x20, 0x60))

_CPUINFO = Path("/proc/cpuinfo")
_SYSCTL = "/usr/sbin/sysctl"


def features() -> list[str] | None:
    """List the CPU features that matter to the engine; None if the system lists none at all."""
    try:
        with _CPUINFO.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:  # read only the first core: a server lists hundreds
                key, _, value = line.partition(":")
                if key.strip() in ("flags", "Features"):
                    flags = set(value.split())
                    return list(dict.fromkeys(n for flag, n in _NAMES.items() if flag in flags))
    except OSError:
        pass
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return ["neon", "neon dot product"]
    return None


def has_int8_dot_product() -> bool | None:
    """Whether the CPU has an instruction for dot products of 8-bit integers; None if unknown."""
    listed = features()
    if listed is not None:
        return not _INT8.isdisjoint(listed)
    return has_vnni(_identity())


def has_vnni(identity: str) -> bool | None:
    """Whether an x86 CPU has VNNI, by its family, model and stepping; None if unknown.

    >>> has_vnni("Intel64 Family 6 Model 154 Stepping 3, GenuineIntel")  # Alder Lake
    True
    >>> has_vnni("AMD64 Family 25 Model 33 Stepping 0, AuthenticAMD")  # Zen 3
    False
    """
    found = re.search(r"Family (\d+) Model (\d+) Stepping (\d+), (\w+)", identity)
    if found is None:
        return None
    family, model, stepping = map(int, found.groups()[:3])
    if found[4] == "GenuineIntel":
        if family != 6:
            return family > 6 and family != 15  # 15 is the Pentium 4
        if model == _CASCADE_LAKE[0]:
            return stepping >= _CASCADE_LAKE[1]
        return model > _CASCADE_LAKE[0] and model not in _INTEL_WITHOUT
    if found[4] == "AuthenticAMD":
        return family > 25 or (family == 25 and not any(model in zen for zen in _ZEN_3))
    return None


def _identity() -> str:
    """Return the CPU's family, model, stepping and vendor in Windows' format; empty if unknown."""
    if platform.system() != "Darwin":
        return os.environ.get("PROCESSOR_IDENTIFIER", "")  # Windows sets it
    import subprocess

    names = [f"machdep.cpu.{name}" for name in ("family", "model", "stepping", "vendor")]
    try:
        said = subprocess.run(
            [_SYSCTL, "-n", *names], capture_output=True, encoding="utf-8", check=True
        ).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return ""
    return "Family {} Model {} Stepping {}, {}".format(*said) if len(said) == len(names) else ""
