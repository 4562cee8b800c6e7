"""Shared by the tests: robots, states, and the command that the package is compared with ($PSDM_TOOL, else the package's own)."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import psdm
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("SEED", "1"))


def pytest_report_header() -> str:
    return f"psdm {psdm.__version__} from {pathlib.Path(psdm.__file__).parent}, seed {SEED}"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


@pytest.fixture
def source() -> pathlib.Path:
    return SOURCE


@pytest.fixture(scope="session")
def two_link() -> psdm.Robot:
    return psdm.Robot.shipped("two_link")


@pytest.fixture(scope="session")
def kr6() -> psdm.Robot:
    return psdm.Robot.shipped("kuka_kr6")


@pytest.fixture(scope="session")
def tool() -> str:
    return os.environ.get("PSDM_TOOL") or psdm.executable()


def run_tool(tool: str, *words: str, stdin: str = "") -> str:
    done = subprocess.run([tool, *words], input=stdin, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
