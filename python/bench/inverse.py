"""Inverse dynamics of a million KR6 states: one call from Python beside the C function that it ends in. usage: inverse.py [STATES] [REPEATS] [MOST]

C batch: psdm_compiled_batch on structures of arrays that are there already. All in one run, interleaved, best of REPEATS. With MOST given, exits 1 when rows with out= take
more than MOST times the C batch's time.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

import numpy as np

import psdm
from psdm._library import address, ffi, lib


def c_batch(code: psdm.Code, states: list[Any], tau: Any) -> Callable[[], Any]:
    arguments = ffi.new("const void *[3]", [address(a, "char[]") for a in states])
    results = ffi.new("void *[1]", [address(tau, "char[]")])
    count = states[0].shape[1]
    return lambda: lib.psdm_compiled_batch(code._compiled, lib.PSDM_F_INVERSE, count, arguments, results, ffi.NULL)


def main() -> int:
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    most = float(sys.argv[3]) if len(sys.argv) > 3 else float("inf")
    robot = psdm.Robot.shipped("kuka_kr6")
    code = robot.compile(["inverse"], native=True)
    columns = [np.ascontiguousarray(a) for a in np.random.default_rng(1).uniform(-3, 3, (3, robot.n, count))]
    rows = [np.ascontiguousarray(a.T) for a in columns]
    tau_columns, tau_rows = np.zeros((robot.n, count)), np.zeros((count, robot.n))
    ways: dict[str, Callable[[], Any]] = {
        "C batch": c_batch(code, columns, tau_columns),
        "columns, (n, N).T, out=": lambda: code.inverse(*(a.T for a in columns), out=tau_columns.T),
        "columns, (n, N).T": lambda: code.inverse(*(a.T for a in columns)),
        "rows, (N, n), out=": lambda: code.inverse(*rows, out=tau_rows),
        "rows, (N, n)": lambda: code.inverse(*rows),
        "recursions, rows, out=": lambda: robot.inverse(*rows, out=tau_rows),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for name, call in ways.items():
            begin = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - begin)
    code.inverse(*rows, out=tau_rows)
    worst = float(np.max(np.abs(tau_rows - tau_columns.T)))
    largest = float(np.max(np.abs(tau_rows)))
    print(f"inverse dynamics of {robot.name}, {count} states in one call, best of {repeats}; largest difference {worst / largest:.1e} of the largest torque")
    for name, seconds in best.items():
        print(f"  {name:24s} {1e3 * seconds:8.2f} ms {1e9 * seconds / count:8.2f} ns/state {seconds / best['C batch']:6.2f} x")
    return int(best["rows, (N, n), out="] > most * best["C batch"] or worst > 1e-12 * largest)


if __name__ == "__main__":
    sys.exit(main())
