"""Random URDFs, and shipped robots written as URDF, against Pinocchio."""

from __future__ import annotations

import sys

import numpy as np
import psdm
import pytest
from conftest import SEED, SOURCE

sys.path.insert(0, str(SOURCE / "tests" / "peers"))
import judges  # noqa: E402
import random_urdf  # noqa: E402

pytestmark = pytest.mark.skipif(judges.pin is None, reason="Pinocchio is not there")


def random_cases(count: int) -> list[str]:
    """Robots whose mass matrix can be inverted, without followers (Pinocchio's tree has a column for each)."""
    found, index = [], 0
    while len(found) < count:
        text, singular = random_urdf.make(SEED, index)
        if not singular and "<mimic" not in text:
            found.append(text)
        index += 1
    return found


def compare(text: str, rng: np.random.Generator) -> None:
    robot = psdm.Robot.from_text(text, snap=False, missing_inertia="zero")
    judge = judges.Pinocchio(text, robot.gravity_vector, robot.joint_names)
    q, qd, qdd, tau = rng.uniform(-2, 2, (4, 5, robot.n))
    link = robot.link_names[-1]
    theirs = {
        "inverse": [judge.inverse(*s) for s in zip(q, qd, qdd)], "forward": [judge.forward(*s) for s in zip(q, qd, tau)], "mass": [judge.mass(s) for s in q],
        "jacobian": [judge.jacobian(s, link) for s in q], "pose": [judge.pose(s, link) for s in q],
    }
    derivatives = [np.stack(part) for part in zip(*(judge.linearize_inverse(*s) for s in zip(q, qd, qdd)))]
    ours = {
        "inverse": robot.inverse(q, qd, qdd), "forward": robot.forward(q, qd, tau), "mass": robot.mass(q), "jacobian": robot.jacobian(q, link),
        "pose": np.hstack([part.reshape(5, -1) for part in robot.pose(q, link)]),
    }
    # forward dynamics of light links behind heavy ones lose digits with the mass matrix's condition
    worst = max(np.linalg.cond(m) for m in ours["mass"])
    for function, value in ours.items():
        size = max(1.0, float(np.max(np.abs(theirs[function]))))
        room = 1e-11 if function != "forward" else 1e-13 * max(100.0, worst)
        assert np.max(np.abs(value - np.stack(theirs[function]))) <= room * size, function
    for mine, other in zip(robot.linearize_inverse(q, qd, qdd), derivatives):
        assert np.max(np.abs(mine - other)) <= 1e-11 * max(1.0, float(np.max(np.abs(other))))


@pytest.mark.parametrize("text", random_cases(12))
def test_random(text, rng):
    compare(text, rng)


@pytest.mark.parametrize("name", ["kuka_kr6", "kuka_lbr7", "puma560"])
def test_shipped(name, rng):
    compare(psdm.Robot.shipped(name).to_urdf(), rng)
