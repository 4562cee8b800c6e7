"""Closed loops, which no peer reads from URDF: the peer computes the open tree, the test closes it.

The gap of a loop is the difference of two points, one on each link. x are the independent and the passive joints, and q_tree = C x + c the
joints of the tree, some of which are coupled to passive ones. Newton's method closes all loops, in small steps from the position with which
the robot file begins, so that both sides are on one branch. With A = d gap / dx, dx = G qd and x'' = G qdd + h, where A G = 0 and
A h + dA/dt dx = 0."""

import numpy as np
import pytest

import judges
import tool
from cases import CLOSED, SHIPPED, STATES, difference, record, shipped

yaml = pytest.importorskip("yaml")
REACH = {"slide": 0.05, "turn": 0.15}  # of the states about the first position: all loops can be closed there


def number(text):
    return np.deg2rad(float(text.split()[0])) if isinstance(text, str) else float(text)


class Closed:
    def __init__(self, case, spec):
        pin = self.pin = judges.pin
        self.case = case
        passive, at, couple = {}, {}, {j["name"]: j["couple"] for j in spec["joints"] if "couple" in j}
        for loop in spec["loops"]:
            passive.update(zip(loop["joints"], map(number, loop["start"])))
            at.update({name: number(value) for name, value in loop.get("at", {}).items()})
        self.free = [name for name in case.moving if name not in passive and name not in couple]
        names = [*self.free, *passive]
        self.home, self.start = np.array([at.get(name, 0.0) for name in self.free]), np.array(list(passive.values()))
        self.C = np.array([[float(couple[row].get(name, 0)) if row in couple else float(row == name) for name in names] for row in case.moving])
        model = pin.buildModelFromXML(case.text)
        self.loops = [[self.end(model, link, point) for link, point in zip(loop["links"], loop["points"])] for loop in spec["loops"]]
        self.judge = judges.Pinocchio.of(model, case.gravity, case.moving)
        for name, inertia in case.armature.items():
            model.armature[model.joints[model.getJointId(name)].idx_v] = inertia

    def end(self, model, link, point):
        frame = model.frames[model.getFrameId(link, self.pin.FrameType.BODY)]
        at = frame.placement * self.pin.SE3(np.eye(3), np.array(point, dtype=float))
        return model.addFrame(self.pin.Frame(f"{link}_end{model.nframes}", frame.parentJoint, at, self.pin.FrameType.OP_FRAME))

    def states(self, rng):
        slides = {j.name for j in self.case.urdf.joints if j.type == "prismatic"}
        reach = np.array([REACH["slide" if name in slides else "turn"] for name in self.free])
        q, qd, qdd = (rng.uniform(-1, 1, (STATES, len(self.free))) for _ in range(3))
        return {"q": self.home + q * reach, "qd": 2 * qd, "qdd": 3 * qdd}

    def gap(self, x, xd):
        """The gaps, their derivative A by x, and dA/dt xd."""
        pin, judge = self.pin, self.judge
        model, data = judge.model, judge.data
        at, speed = judge.configuration(self.C @ x), judge.spread(self.C @ xd)
        pin.forwardKinematics(model, data, at, speed, 0 * speed)
        pin.updateFramePlacements(model, data)
        point = lambda f: data.oMf[f].translation.copy()
        drift = lambda f: pin.getFrameClassicalAcceleration(model, data, f, pin.LOCAL_WORLD_ALIGNED).linear
        gaps, drifts = (np.hstack([of(a) - of(b) for a, b in self.loops]) for of in (point, drift))
        slope = lambda f: pin.computeFrameJacobian(model, data, at, f, pin.LOCAL_WORLD_ALIGNED)[:3, judge.v]
        return gaps, np.vstack([slope(a) - slope(b) for a, b in self.loops]) @ self.C, drifts

    def solve(self, A, right):
        return np.linalg.lstsq(A[:, len(self.free):], right, rcond=None)[0]

    def close(self, q, passive):
        x = np.hstack([q, passive])
        for _ in range(20):
            gap, A, _ = self.gap(x, 0 * x)
            step = self.solve(A, gap)
            x[len(self.free):] -= step
            if np.abs(step).max() < 1e-15:
                break
        assert np.abs(gap).max() < 1e-13
        return x

    def follow(self, q):
        x, steps = np.hstack([self.home, self.start]), 20
        for k in range(steps + 1):
            x = self.close(self.home + (q - self.home) * k / steps, x[len(self.free):])
        return x

    def motion(self, q, qd, qdd):
        x, n = self.follow(q), len(self.free)
        _, A, _ = self.gap(x, 0 * x)
        G = np.vstack([np.eye(n), -self.solve(A, A[:, :n])])
        _, _, drift = self.gap(x, G @ qd)
        h = np.hstack([np.zeros(n), -self.solve(A, drift)])
        return self.C @ x, self.C @ G, self.C @ (G @ qd), self.C @ (G @ qdd + h)


@pytest.mark.parametrize("name", CLOSED)
def test_loop(name, need):
    need("pinocchio")
    case = shipped(SHIPPED[name])
    closed = Closed(case, yaml.safe_load(SHIPPED[name].read_text()))
    assert case.independent == closed.free
    case.states = closed.states(np.random.default_rng(20260101))
    judge = closed.judge
    inverse, mass, energy, pose = [], [], [], []
    for q, qd, qdd in zip(*(case.states[key] for key in ("q", "qd", "qdd"))):
        tree, G, rate, acceleration = closed.motion(q, qd, qdd)
        inverse.append(G.T @ judge.inverse(tree, rate, acceleration))
        mass.append((G.T @ judge.mass(tree) @ G).ravel())
        energy.append(judge.energy(tree, rate))
        pose.append(judge.pose(tree, case.links[-1]))
    last = ("--link", case.links[-1])
    for function, theirs, options in (("inverse", inverse, ()), ("mass", mass, ()), ("energy", energy, ()), ("pose", pose, last)):
        record("pinocchio", function, difference(case.ours(function, *options), np.array(theirs)), f"{name}, closed")


def test_every_loop_is_tested():
    """The other tests skip robots with passive joints: they must be here."""
    assert CLOSED == [name for name, path in SHIPPED.items() if any(j.get("passive") for j in tool.inspect(path)["joints"])]


def test_branch():
    """Away from singular states the linkage does not jump: at q1 = 1 the left coupler follows q2 through [-1, 1]."""
    q2 = np.linspace(-1, 1, 20001)
    poses = tool.evaluate(SHIPPED["five_bar"], "pose", {"q": np.stack([np.ones_like(q2), q2], axis=1)}, ("--link", "left_coupler"))
    assert np.abs(np.diff(poses, axis=0)).max() < 0.01
