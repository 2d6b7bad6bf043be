"""Which instructions the CPU has, and whether 8-bit products are among them.

Linux lists features by name. Windows and Macs with Intel say only which CPU it is; all of Intel's
cores since 2019 and AMD's since Zen 4 have VNNI, so the older ones are listed here.
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

# Models of Intel's family 6 from 85 on without VNNI, beside all below 85. Of model 85, Skylake has
# steppings up to 4 and no VNNI, Cascade Lake and Cooper Lake have it.
_INTEL_WITHOUT = frozenset({87, 92, 94, 95, 102, 122, 133, 134, 138, 142, 150, 156, 158, 165, 166})
_CASCADE_LAKE = (85, 5)
# Models of AMD's family 25 that are Zen 3; the others are Zen 4.
_ZEN_3 = (range(0x10), range(0x20, 0x60))

_CPUINFO = Path("/proc/cpuinfo")
_SYSCTL = "/usr/sbin/sysctl"


def features() -> list[str]:
    """CPU features that matter to the engine; empty where the system does not list them."""
    try:
        with _CPUINFO.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:  # the first core's are enough; a server lists hundreds of cores
                key, _, value = line.partition(":")
                if key.strip() in ("flags", "Features"):
                    flags = set(value.split())
                    return list(dict.fromkeys(n for flag, n in _NAMES.items() if flag in flags))
    except OSError:
        pass
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return ["neon", "neon dot product"]
    return []


def has_int8_dot_product() -> bool | None:
    """Whether the CPU adds up products of 8-bit numbers in one instruction; None: not known."""
    listed = features()
    if listed:
        return not _INT8.isdisjoint(listed)
    return has_vnni(_identity())


def has_vnni(identity: str) -> bool | None:
    """Whether an x86 CPU has VNNI, by its family, model and stepping; None: not known.

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
    """The CPU's family, model, stepping and maker as Windows writes them; empty if not known."""
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
