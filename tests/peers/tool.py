"""psdm, called like by any user."""

import json
import os
import subprocess
from functools import lru_cache

import numpy as np

PSDM = os.environ.get("PSDM", "psdm")
INPUTS = {"inverse": ("q", "qd", "qdd"), "forward": ("q", "qd", "tau"), "mass": ("q",), "bias": ("q", "qd"), "gravity": ("q",),
          "regressor": ("q", "qd", "qdd"), "energy": ("q", "qd"), "jacobian": ("q",), "pose": ("q",),
          "linearize-inverse": ("q", "qd", "qdd"), "linearize-forward": ("q", "qd", "tau")}


MASSLESS = ("--missing-inertia", "zero")  # how the peers treat a link without <inertial>


def run(*args, text=None):
    return subprocess.run([PSDM, *map(str, args)], input=text, capture_output=True, text=True, timeout=120)


def ask(*args, text=None):
    done = run(*args, text=text)
    assert done.returncode == 0, f"psdm {' '.join(map(str, args))}: exit {done.returncode}\n{done.stderr}"
    return done.stdout


@lru_cache(maxsize=None)
def _inspect(path, args):
    return json.loads(ask("inspect", path, "--json", *MASSLESS, *args))


def inspect(path, args=()):
    return _inspect(str(path), tuple(args))


def csv_of(states, names):
    n = states[names[0]].shape[1]
    header = ",".join(f"{name}{i + 1}" for name in names for i in range(n))
    rows = np.hstack([states[name] for name in names])
    return header + "\n" + "".join(",".join(repr(float(x)) for x in row) + "\n" for row in rows)


def evaluate(path, function, states, args=()):
    """(states x outputs): one call for all states."""
    extra = ["--standard"] if function == "regressor" else []
    out = ask("eval", path, function, *MASSLESS, *extra, *args, text=csv_of(states, INPUTS[function]))
    return np.array([[float(x) for x in line.split(",")] for line in out.splitlines()[1:]])
