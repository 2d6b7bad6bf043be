"""One model, several threads."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import milepost
from support.cli_process import python

TEXT = "Bees build cells of wax. A cell has six walls. The wax is costly to make. "


def test_threads_share_a_model_and_get_the_vectors_they_would_get_alone():
    model = milepost.load("landmark-light", cache=False)
    texts = [TEXT * (1 + n % 5) for n in range(40)]
    alone = [model.encode(text).vectors for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda text: model.encode(text).vectors, texts))
    for mine, wanted in zip(together, alone, strict=True):
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no locale's encoding there")
def test_models_that_load_at_once_leave_the_locale_as_it_was():
    """OpenVINO sets it meanwhile; files that other code opens would be read as ASCII."""
    code = (
        "import locale\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "import milepost\n"
        "def load(_):\n"
        "    milepost.load('landmark-light')\n"
        "before = locale.getpreferredencoding(False)\n"
        "for _ in range(8):\n"
        "    with ThreadPoolExecutor(4) as threads:\n"
        "        list(threads.map(load, range(8)))\n"
        "    assert locale.getpreferredencoding(False) == before != 'ANSI_X3.4-1968'\n"
    )
    python("-c", code, check=True, LC_ALL="C.UTF-8", PYTHONUTF8="0")


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="Linux tells where threads may run"
)
def test_no_thread_is_held_on_a_core():
    """Whoever calls may run anywhere meanwhile, or two processes share a core and one idles."""
    usable = os.sched_getaffinity(0)
    if len(usable) < 2:
        pytest.skip("there is one core only")
    model = milepost.load("landmark-minilm", threads=len(usable), cache=False)
    caller, stop = threading.get_native_id(), threading.Event()
    seen: list[set[int]] = []

    def watch():
        while not stop.wait(0.002):
            seen.append(os.sched_getaffinity(caller))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        model.encode(TEXT * 30)
    finally:
        stop.set()
        watcher.join()
    assert len(seen) > 5
    assert all(each == usable for each in seen)


FORKS = """
import os, signal, sys, threading
from multiprocessing import get_context
import milepost

def ask(question):
    return index.search(question, k=1)[0].document

def ask_on():
    while True:
        ask("wax")

index = milepost.open(model="landmark-minilm")
index.add(milepost.Document("bees", "Bees build cells of wax. A cell has six walls."))
index.search('"no such phrase"')  # its reranker is still being loaded
for fork in range(2):
    with get_context("fork").Pool(2) as pool:
        print(*pool.map_async(ask, ["cells", "walls"]).get(60))
    threading.Thread(target=ask_on, daemon=True).start()
milepost.load("landmark-light").encode("wax")  # and let it go, with its thread
if not (child := os.fork()):
    signal.alarm(60)
    milepost.load("landmark-light").encode("wax")
    sys.exit(ask("cells") != "bees")  # as a worker of gunicorn ends, not by os._exit
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_forks_need_no_thread_of_their_parent() -> None:
    """A pool may be made while a reranker loads or other threads search, and the program end."""
    ran = python("-uc", FORKS)
    assert (ran.returncode, ran.stdout) == (0, "bees bees\n" * 2 + "0\n"), ran.stderr


CODE = """
import gc, os, signal
import milepost
from support.cli_process import python

first, second = milepost.load(cache=False), milepost.load("landmark-light", cache=False)
del first
gc.collect()
del second
gc.collect()
# Whoever is started in the background by a shell without job control ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_after_engines_have_ended() -> None:
    """The plugin of the first engine must not leave its signal stack to that of the second."""
    ran = python("-c", CODE)
    assert (ran.returncode, ran.stdout) == (0, "heard\n"), ran.stderr


FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")


@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is of Linux")
def test_a_preloaded_allocator_is_one_line(tmp_path: Path) -> None:
    """The loader passes over a library that is not there, so none need be installed."""
    found = [file for folder in FOLDERS for file in Path(folder).glob("libjemalloc.so.*")]
    library = found[0] if found else tmp_path / "libjemalloc.so.2"
    text = tmp_path / "a.txt"
    text.write_text("Bees build cells of wax.", encoding="utf-8")
    environ = {"LD_PRELOAD": str(library), "MILEPOST_CACHE": str(tmp_path / "cache")}
    ran = python("-m", "milepost", "search", "what do bees build", text, **environ)
    said = [line for line in ran.stderr.splitlines() if line.startswith("milepost:")]
    assert ran.returncode == 2, ran.stderr
    assert said == [f"milepost: OpenVINO crashes with LD_PRELOAD={library}; try: unset LD_PRELOAD"]
