"""What is said of the CPU, on every system."""

from pathlib import Path

import pytest

from milepost.encoder.engine import cpu

VNNI = "flags\t\t: fpu sse2 avx2 avx512f avx512_vnni\n"
PLAIN = "flags\t\t: fpu sse2 avx2 avx512f avx512bw\n"


@pytest.mark.parametrize(
    ("text", "listed", "dot_product"),
    [
        (f"processor : 0\n{VNNI}\n", ["avx2", "avx512", "vnni"], True),
        (f"processor : 0\n{PLAIN}\nprocessor : 1\n{VNNI}", ["avx2", "avx512"], False),
        ("flags : fpu avx2 avx_vnni avx512_vnni\n", ["avx2", "vnni"], True),
        ("flags : fpu avx2 amx_int8\n", ["avx2", "amx"], True),
        ("Features : fp asimd asimddp i8mm\n", ["neon", "neon dot product", "neon i8mm"], True),
    ],
)
def test_linux_lists_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, listed: list[str], dot_product: bool
) -> None:
    (tmp_path / "cpuinfo").write_text(text, encoding="utf-8")
    monkeypatch.setattr(cpu, "_CPUINFO", tmp_path / "cpuinfo")
    assert cpu.features() == listed
    assert cpu.has_int8_dot_product() is dot_product


@pytest.mark.parametrize(
    ("identity", "vnni"),
    [
        ("Intel64 Family 6 Model 85 Stepping 4, GenuineIntel", False),  # Skylake server
        ("Intel64 Family 6 Model 85 Stepping 7, GenuineIntel", True),  # Cascade Lake
        ("Intel64 Family 6 Model 126 Stepping 5, GenuineIntel", True),  # Ice Lake
        ("Intel64 Family 18 Model 1 Stepping 0, GenuineIntel", True),  # newer than all
        ("AMD64 Family 25 Model 1 Stepping 1, AuthenticAMD", False),  # Zen 3, Milan
        ("AMD64 Family 25 Model 17 Stepping 1, AuthenticAMD", True),  # Zen 4, Genoa
        ("x86 Family 6 Model 7 Stepping 1, CentaurHauls", None),
    ],
)
def test_windows_and_macs_say_which_cpu_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, identity: str, vnni: bool | None
) -> None:
    monkeypatch.setattr(cpu, "_CPUINFO", tmp_path / "none")
    monkeypatch.setattr(cpu.platform, "system", lambda: "Windows")
    monkeypatch.setenv("PROCESSOR_IDENTIFIER", identity)
    assert cpu.features() is None
    assert cpu.has_int8_dot_product() is vnni


def test_apple_silicon_has_the_dot_product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_CPUINFO", tmp_path / "none")
    monkeypatch.setattr(cpu.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(cpu.platform, "machine", lambda: "arm64")
    assert cpu.has_int8_dot_product() is True


def test_a_mac_with_intel_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_CPUINFO", tmp_path / "none")
    monkeypatch.setattr(cpu.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(cpu.platform, "machine", lambda: "x86_64")
    said = tmp_path / "sysctl"
    said.write_text("#!/bin/sh\nprintf '6\\n126\\n5\\nGenuineIntel\\n'\n", encoding="utf-8")
    said.chmod(0o755)
    monkeypatch.setattr(cpu, "_SYSCTL", str(said))
    assert cpu.has_int8_dot_product() is True
    monkeypatch.setattr(cpu, "_SYSCTL", str(tmp_path / "none"))
    assert cpu.has_int8_dot_product() is None
