"""Calls run without Python's lock, and long loops leak nothing."""

from __future__ import annotations

import gc
import pathlib
import threading
import time

import numpy as np
import psdm


def runs_beside(call) -> bool:
    """Another thread, which wakes every millisecond, does so all through a call: no pause is as long as half of what the call takes by itself.

    A call that keeps Python's lock makes a pause of its whole length, whatever happens before and after it.
    """
    alone = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        call()
        alone = min(alone, time.perf_counter() - begin)
    assert alone > 0.02, "too short to say"
    ticks, stop = [], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    calm = False
    for _ in range(20):  # on a busy machine either thread may have to wait
        begin = time.perf_counter()
        call()
        end = time.perf_counter()
        inside = [t for t in ticks if begin < t < end]
        calm = len(inside) > 2 and bool(np.max(np.diff([begin, *inside, end])) < alone / 2)
        if calm:
            break
    stop.set()
    thread.join()
    return calm


def test_lock_is_released(kr6, rng):
    states = rng.uniform(-2, 2, (3, 300_000, 6))
    code = kr6.compile(["inverse"], graph=True, effort=-1)  # slower than machine code, by the same call
    simulator, observer = psdm.Simulator(kr6), psdm.Observer(kr6, rate=1000)
    rows = np.zeros((100_000, 6))
    assert runs_beside(lambda: kr6.inverse(*states))
    assert runs_beside(lambda: code.inverse(*states))
    assert runs_beside(lambda: simulator.steps(np.zeros(6), 1e-6, 50_000))
    assert runs_beside(lambda: observer.run(rows, rows, rows))
    assert not runs_beside(lambda: sum(range(20_000_000)))  # keeps the lock: the result that the calls above must not give


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


class Raced(list):
    """Spare scratch that another thread takes between the check and the use: it seems to exist, but does not."""

    def __len__(self) -> int:
        return 1


def test_scratch_may_be_taken_by_another(kr6, rng):
    states = rng.uniform(-2, 2, (3, 10, 6))
    robot, code = psdm.Robot.shipped("kuka_kr6"), kr6.compile(["inverse"], effort=-1)
    robot._spare = Raced()
    code._scratch = {number: Raced() for number, _, _ in code._slots.values()}
    assert np.array_equal(robot.inverse(*states), kr6.inverse(*states))
    np.testing.assert_allclose(code.inverse(*states), kr6.inverse(*states), rtol=1e-10, atol=1e-10)


def together(call, count: int = 4) -> list:
    """The answers of simultaneous calls from several threads."""
    found: list = []
    ready = threading.Barrier(count)

    def work() -> None:
        ready.wait()
        found.append(call())

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == count
    return found


def test_threads_share_a_simulator(two_link):
    """Calls come one after the other, in whichever order: together they are one long call."""
    shared, alone = psdm.Simulator(two_link), psdm.Simulator(two_link)
    parts = [q for q, _ in together(lambda: shared.steps([0.1, 0.0], 1e-5, 20_000))]
    right, _ = alone.steps([0.1, 0.0], 1e-5, 80_000)
    assert shared.t == alone.t and np.array_equal(shared.q, alone.q)
    assert all(any(np.array_equal(part, block) for part in parts) for block in np.split(right, 4))


def test_threads_share_an_observer(two_link):
    shared, alone = psdm.Observer(two_link, rate=1e6, bandwidth=1.0), psdm.Observer(two_link, rate=1e6, bandwidth=1.0)
    q = np.tile([0.3, 0.2], (20_000, 1))
    held = two_link.gravity(q) - [0.5, 0.0]
    parts = [found.torque for found in together(lambda: shared.run(q, 0 * q, held))]
    right = [alone.run(q, 0 * q, held).torque for _ in range(4)]
    assert not np.array_equal(right[0], right[1])
    assert all(any(np.array_equal(part, block) for part in parts) for block in right)


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

    for k in range(200):  # the heap settles
        once(k)
    gc.collect()
    before = resident()
    for k in range(200):
        once(k)
    gc.collect()
    # a robot and a model of two links are some 20 kB: 200 of them would be 4 MB
    assert resident() - before < 1_500_000
