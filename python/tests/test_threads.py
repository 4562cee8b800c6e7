"""Calls run without Python's lock, and nothing is lost in long loops."""

from __future__ import annotations

import gc
import pathlib
import threading

import numpy as np
import psdm


def test_lock_is_released(kr6, rng):
    """While one thread computes, another counts: it makes progress during the call, not only before and after it."""
    code = kr6.compile(["inverse"], effort=-1)
    states = rng.uniform(-2, 2, (3, 50_000, 6))
    for call in (lambda: kr6.inverse(*states), lambda: code.inverse(*states)):
        counts, stop, started = [0], threading.Event(), threading.Event()

        def count() -> None:
            started.set()
            while not stop.is_set():
                counts[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        started.wait()
        during = []
        for _ in range(8):  # one short call may fall between two turns of a busy machine
            before = counts[0]
            call()
            during.append(counts[0] - before)
        stop.set()
        thread.join()
        assert max(during) > 100, during


def test_threads_share_a_robot(kr6, rng):
    states = rng.uniform(-2, 2, (8, 3, 2000, 6))
    right = [kr6.inverse(*s) for s in states]
    code = kr6.compile(["inverse"], effort=-1)
    compiled = [code.inverse(*s) for s in states]
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(5):
            if not (np.array_equal(kr6.inverse(*states[k]), right[k]) and np.array_equal(code.inverse(*states[k]), compiled[k])):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def resident() -> int:
    """Bytes in memory."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_no_leaks(rng):
    """Hundreds of objects of each kind, made and forgotten."""
    text = psdm.shipped_robots()["two_link"].read_text()
    q = rng.uniform(-2, 2, (3, 10, 2))

    def once(k: int) -> None:
        robot = psdm.Robot.from_text(text)
        model = robot.derive()
        model.inverse(*q)
        robot.inverse(*q)
        robot.params()
        robot.state_space(q[0, 0]).lqr(np.ones(4), np.ones(2))
        psdm.Motion.polynomial([0, 0], [1, 1], 1).at([0.5])
        if k % 10 == 0:
            robot.compile(["inverse"], graph=True, effort=-1).inverse(*q)
        try:
            psdm.Robot.from_text("{joints: 3}")
        except psdm.PsdmError:
            pass

    for k in range(30):
        once(k)
    gc.collect()
    before = resident()
    for k in range(200):
        once(k)
    gc.collect()
    # a robot and a model of two links are some 20 kB: 200 of them would be 4 MB
    assert resident() - before < 1_500_000
