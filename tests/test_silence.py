"""Nothing that Milepost imports calls home, and OpenVINO's converter waits until it is needed."""

import os
import subprocess
import sys
from pathlib import Path

LOAD = """
import sys
from pathlib import Path
from milepost.engine.openvino import OpenVinoEngine
from milepost.errors import ModelError

try:
    OpenVinoEngine(Path("no such graph.xml"), cache=None)
except ModelError:
    late = "openvino_telemetry", "openvino.tools.ovc"
    print([name for name in sys.modules if name.startswith(late)])
from openvino import convert_model
print(convert_model.__module__)
try:
    import openvino; openvino.convert
except AttributeError as error:
    print(error)
print([name for name in sys.modules if name.startswith("openvino_telemetry")])
"""


def test_the_engine_starts_without_telemetry(tmp_path: Path):
    """OpenVINO reports its import and leaves an id at home; through Milepost it cannot."""
    # In CI OpenVINO's telemetry is off by itself.
    kept = {k: v for k, v in os.environ.items() if k not in ("CI", "TF_BUILD", "JENKINS_URL")}
    home = {"HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", LOAD],
        env=kept | home,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert run.stdout.splitlines() == [
        "[]",
        "openvino.tools.ovc.convert",
        "module 'openvino' has no attribute 'convert'",
        "[]",
    ]
    assert list(tmp_path.iterdir()) == []
