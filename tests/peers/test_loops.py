"""Closed loops, which no peer reads from URDF: the peer computes the open tree, the test closes it.

The gap of a loop is the difference of two points, one on each link. Newton's method closes it, from where psdm has the passive joints, so
that both are on one branch. With A = d gap / d q_tree, qd_tree = G qd and qdd_tree = G qdd + h, where A G = 0 and A h + dA/dt qd_tree = 0."""

import numpy as np
import pytest

import judges
import tool
from cases import CLOSED, SHIPPED, STATES, difference, record, shipped

# what robots/five_bar.yaml says: (link, point) twice, {passive joint: (the link before it, the link behind it)}; all turn about z
LOOPS = {"five_bar": ((("left_coupler", (0.55, 0, 0)), ("right_coupler", (0.55, 0, 0))),
                      {"left_elbow": ("left_crank", "left_coupler"), "right_elbow": ("right_crank", "right_coupler")})}


def yaw(case, link):
    R = case.ours("pose", "--link", link)
    return np.arctan2(R[:, 6], R[:, 3])


class Closed:
    def __init__(self, case, ends, passive):
        pin = self.pin = judges.pin
        self.case = case
        self.start = np.array([yaw(case, behind) - yaw(case, before) for before, behind in passive.values()]).T
        model = pin.buildModelFromXML(case.text)
        self.frames = []
        for link, point in ends:
            frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
            at = frame.placement * pin.SE3(np.eye(3), np.array(point))
            self.frames.append(model.addFrame(pin.Frame(f"{link}_end", frame.parentJoint, at, pin.FrameType.OP_FRAME)))
        self.judge = judges.Pinocchio.of(model, case.gravity, case.moving)
        for name, inertia in case.armature.items():
            model.armature[model.joints[model.getJointId(name)].idx_v] = inertia
        self.passive = [case.moving.index(j) for j in passive]
        self.free = [k for k in range(len(case.moving)) if k not in self.passive]

    def gap(self, q, qd):
        """The gap, its derivative A and dA/dt qd."""
        pin, judge = self.pin, self.judge
        model, data = judge.model, judge.data
        at, speed = judge.configuration(q), judge.spread(qd)
        pin.forwardKinematics(model, data, at, speed, 0 * speed)
        pin.updateFramePlacements(model, data)
        points = [data.oMf[f].translation.copy() for f in self.frames]
        drift = [pin.getFrameClassicalAcceleration(model, data, f, pin.LOCAL_WORLD_ALIGNED).linear for f in self.frames]
        A = [pin.computeFrameJacobian(model, data, at, f, pin.LOCAL_WORLD_ALIGNED)[:3, judge.v] for f in self.frames]
        return points[0] - points[1], A[0] - A[1], drift[0] - drift[1]

    def close(self, q, start):
        tree = np.zeros(len(self.case.moving))
        tree[self.free], tree[self.passive] = q, start
        for _ in range(50):
            gap, A, _ = self.gap(tree, 0 * tree)
            step = np.linalg.lstsq(A[:, self.passive], gap, rcond=None)[0]
            tree[self.passive] -= step
            if np.abs(step).max() < 1e-15:
                break
        return tree

    def solve(self, A, right):
        return np.linalg.lstsq(A[:, self.passive], right, rcond=None)[0]

    def motion(self, i):
        q, qd, qdd = (self.case.states[name][i] for name in ("q", "qd", "qdd"))
        tree, G = self.close(q, self.start[i]), np.zeros((len(self.case.moving), len(self.free)))
        _, A, _ = self.gap(tree, 0 * tree)
        G[self.free, :] = np.eye(len(self.free))
        G[self.passive, :] = -self.solve(A, A[:, self.free])
        _, _, drift = self.gap(tree, G @ qd)
        h = np.zeros(len(tree))
        h[self.passive] = -self.solve(A, drift)
        return tree, G, G @ qd, G @ qdd + h


@pytest.mark.parametrize("name", LOOPS)
def test_loop(name, need):
    need("pinocchio")
    case = shipped(SHIPPED[name])
    closed = Closed(case, *LOOPS[name])
    assert case.independent == [case.moving[k] for k in closed.free]
    judge = closed.judge
    inverse, mass, energy, pose = [], [], [], []
    for i in range(STATES):
        q, G, qd, qdd = closed.motion(i)
        inverse.append(G.T @ judge.inverse(q, qd, qdd))
        mass.append((G.T @ judge.mass(q) @ G).ravel())
        energy.append(judge.energy(q, qd))
        pose.append(judge.pose(q, case.links[-1]))
    last = ("--link", case.links[-1])
    for function, theirs, options in (("inverse", inverse, ()), ("mass", mass, ()), ("energy", energy, ()), ("pose", pose, last)):
        record("pinocchio", function, difference(case.ours(function, *options), np.array(theirs)), f"{name}, closed")


def test_every_loop_is_tested():
    """A robot with passive joints has no place in the other tests: it must be here."""
    passive = {name for name, path in SHIPPED.items() if any(j.get("passive") for j in tool.inspect(path)["joints"])}
    assert passive == set(LOOPS) == set(CLOSED)


def test_branch():
    """Away from singular states the linkage does not jump: at q1 = 1 the left coupler follows q2 through [-1, 1]."""
    q2 = np.linspace(-1, 1, 20001)
    poses = tool.evaluate(SHIPPED["five_bar"], "pose", {"q": np.stack([np.ones_like(q2), q2], axis=1)}, ("--link", "left_coupler"))
    assert np.abs(np.diff(poses, axis=0)).max() < 0.01
