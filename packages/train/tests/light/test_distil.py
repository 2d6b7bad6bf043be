"""The light model from data to folder, with a small network and three steps."""

import json
import shutil
from pathlib import Path

import numpy as np

import milepost
from milepost.engine import ModelFolder
from milepost.engine.manifest import read_manifest
from milepost_train.light.distil import CONFIG, SIZES, distil
from milepost_train.light.training import LightRecipe
from milepost_train.model import load_checkpoint
from milepost_train.model.release import release
from support.small_models import write_checkpoint

SMALL = {**CONFIG, "table_width": 16, "hidden_size": 16, "intermediate_size": 16}


def test_from_shared_data_to_a_folder_that_searches(shared: Path, tmp_path: Path) -> None:
    """The folder has the teacher's tokens and the sizes of a light model, and finds a sentence."""
    release(write_checkpoint(tmp_path / "checkpoint", "bert"), tmp_path / "teacher")
    teacher = ModelFolder(tmp_path / "teacher", read_manifest(tmp_path / "teacher"))
    out = tmp_path / "runs" / "light"
    recipe = LightRecipe(steps=3, documents=4, warm_up=1)
    said: list[str] = []
    given = teacher, shared, out, recipe
    settings = {"name": "small", "threads": 1, "config": SMALL, "say": said.append}
    manifest = distil(*given, **settings)
    assert (manifest.dimensions, manifest.window) == (16, SIZES["window"])
    assert manifest.bos_token == ""
    assert manifest.trained["steps"] == 3
    model = milepost.load(out / "small")
    index = milepost.open(model=model)
    index.add(milepost.Document("bees", "Frost came. The bees had left the hive. Nobody knew."))
    assert "bees" in index.search("Who left the hive?", k=1)[0].text
    assert load_checkpoint(out / "checkpoint").dimensions == 16
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["settings"]["recipe"]["steps"] == 3
    assert record["hours"] >= 0
    assert said[-1].startswith("after {")
    # A second run gives the same.
    vectors = model.encode("The bees had left.").vectors
    shutil.rmtree(out)
    again = distil(*given, **settings)
    assert again.fingerprint == manifest.fingerprint
    assert np.array_equal(
        milepost.load(out / "small").encode("The bees had left.").vectors, vectors
    )
