"""Shared by the scripts in this folder: the tool, random states, tables of numbers. Every random number comes from one seed, which is printed."""

import os
import pathlib
import subprocess
import sys

import numpy as np

PSDM = os.environ["PSDM"]
ROBOTS = pathlib.Path(os.environ["SOURCE"]) / "robots"
EPSILON = np.finfo(float).eps
SEED = int(os.environ.get("SEED", "11"))
random = np.random.default_rng(SEED)
wrong = 0


def tool(*words):
    """Runs the tool; its standard output."""
    done = subprocess.run([PSDM, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"psdm {' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def make(folder, *targets):
    done = subprocess.run(["make", "-s", "-C", str(folder), *targets], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"make {' '.join(targets)} in {folder}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def robot(name):
    return ROBOTS / f"{name}.yaml"


def write_table(path, **columns):
    """Each keyword is a channel, (states x n)."""
    names = [f"{key}{k + 1}" for key, x in columns.items() for k in range(x.shape[1])]
    np.savetxt(path, np.hstack(list(columns.values())), delimiter=",", header=",".join(names), comments="", fmt="%.17g")


def read_table(text):
    lines = text.splitlines()
    return lines[0].split(","), np.array([[float(x) for x in line.split(",")] for line in lines[1:]])


def evaluate(name, function, path, *options):
    """psdm eval at the states of a file; (states x numbers)."""
    return read_table(tool("eval", robot(name), function, "--in", path, "--ignore-extra", *options))[1]


def expect(what, got, want, tolerance):
    """Largest difference as a share of the largest number."""
    global wrong
    got, want = np.asarray(got, float), np.asarray(want, float)
    scale = max(np.abs(want).max(initial=0), np.finfo(float).tiny)
    error = np.abs(got - want).max(initial=0) / scale if got.shape == want.shape else np.inf
    good = error <= tolerance
    wrong += not good
    print(f"  {what:44s} {error:8.1e} of {scale:9.3g}  allowed {tolerance:.1e}{'' if good else '   WRONG'}")


def expect_below(what, value, limit):
    global wrong
    good = value <= limit
    wrong += not good
    print(f"  {what:44s} {value:8.1e}  allowed {limit:.1e}{'' if good else '   WRONG'}")


def finish(what):
    print(f"{what}: {'all agree' if not wrong else f'{wrong} WRONG'} (seed {SEED})")
    sys.exit(wrong > 0)
