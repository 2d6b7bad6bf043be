"""Several threads at one time."""

import threading
from collections.abc import Callable


def at_once(*work: Callable[[], object]) -> list[BaseException]:
    """Run all at the same moment, each in a thread of its own; what they have raised."""
    faults: list[BaseException] = []
    barrier = threading.Barrier(len(work))

    def run(each: Callable[[], object]) -> None:
        barrier.wait()
        try:
            each()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads)
    return faults
