"""The same numbers as the command's, of every function, for several robots: two ways into one library, so equal to the last bit."""

from __future__ import annotations

import io
import json

import numpy as np
import psdm
import pytest
from conftest import run_tool
from psdm._library import lib, text_of

ROBOTS = ["two_link", "kuka_kr6", "puma560", "hitachi_hpr", "parallelogram", "two_branch"]
FUNCTIONS = {
    "inverse": ("q qd qdd", lambda r, *s: [r.inverse(*s)]),
    "forward": ("q qd tau", lambda r, *s: [r.forward(*s)]),
    "mass": ("q", lambda r, *s: [r.mass(*s)]),
    "bias": ("q qd", lambda r, *s: [r.bias(*s)]),
    "gravity": ("q", lambda r, *s: [r.gravity(*s)]),
    "regressor": ("q qd qdd", lambda r, *s: [r.regressor(*s)]),
    "energy": ("q qd", lambda r, *s: r.energy(*s)),
    "jacobian": ("q", lambda r, *s: [r.jacobian(*s)]),
    "pose": ("q", lambda r, *s: r.pose(*s)),
    "inverse_mass": ("q", lambda r, *s: [r.inverse_mass(*s)]),
    "linearize_inverse": ("q qd qdd", lambda r, *s: r.linearize_inverse(*s)),
    "linearize_forward": ("q qd tau", lambda r, *s: r.linearize_forward(*s)),
}
COUNT = 7
TERMS = {
    "coriolis": "q qd",
    "mass_rate": "q qd",
    "momentum": "q qd",
    "momentum_rate": "q qd tau",
    "innovations": "q",
    "inverse_along": "q qd qdd dq dqd dqdd",
    "forward_along": "q qd tau dq dqd dtau",
    "inverse_second": "q qd qdd dq dqd dqdd eq eqd eqdd",
    "linearize_second": "q qd qdd dq dqd dqdd",
    "sensitivity": "q qd tau",
}
TASKS = {
    "cartesian_jacobian": "q",
    "cartesian_mass": "q",
    "cartesian_coriolis": "q qd",
    "cartesian_gravity": "q",
    "cartesian_factor": "q qd",
    "cartesian_inverse": "q",
    "cartesian_null_space": "q",
}


def table(columns: dict[str, np.ndarray]) -> str:
    names = [f"{name}{k + 1}" for name, value in columns.items() for k in range(value.shape[1])]
    buffer = io.StringIO()
    np.savetxt(buffer, np.hstack(list(columns.values())), fmt="%.17g", delimiter=",", header=",".join(names), comments="")
    return buffer.getvalue()


def test_all_functions_are_here():
    names = [text_of(lib.psdm_function_name(k)) for k in range(lib.PSDM_FUNCTION_COUNT)]
    assert sorted([*FUNCTIONS, *TERMS, *TASKS]) == sorted(names[:lib.PSDM_F_FRICTION])
    assert all(callable(getattr(psdm.Code, name)) for name in names)


@pytest.mark.parametrize("name", ROBOTS)
def test_functions(name, rng, tool):
    robot = psdm.Robot.shipped(name)
    path = str(psdm.shipped_robots()[name])
    for function, (groups, ours) in FUNCTIONS.items():
        states = {group: rng.uniform(-2, 2, (COUNT, robot.n)) for group in groups.split()}
        if not robot.ready and function not in ("regressor", "jacobian", "pose"):
            continue
        theirs = np.loadtxt(io.StringIO(run_tool(tool, "eval", path, function, "--in", "-", stdin=table(states))), delimiter=",", skiprows=1, ndmin=2)
        got = np.hstack([part.reshape(COUNT, -1) for part in ours(robot, *states.values())])
        assert got.shape == theirs.shape, function
        assert np.array_equal(got, theirs), function


def evaluated(robot, path, function, states, tool, options=(), **given):
    theirs = np.loadtxt(io.StringIO(run_tool(tool, "eval", path, function.replace("_", "-"), "--in", "-", *options, stdin=table(states))), delimiter=",", skiprows=1, ndmin=2)
    ours = getattr(robot, function)(*states.values(), **given)
    got = np.hstack([part.reshape(COUNT, -1) for part in (ours if isinstance(ours, tuple) else (ours,))])
    assert got.shape == theirs.shape, function
    assert np.array_equal(got, theirs), function


@pytest.mark.parametrize("name", ["two_link", "kuka_kr6", "five_bar"])
def test_terms(name, rng, tool):
    robot, path = psdm.Robot.shipped(name), str(psdm.shipped_robots()[name])
    for function, groups in TERMS.items():
        states = {group: rng.uniform(-0.2, 0.2, (COUNT, robot.n)) for group in groups.split()}
        if name == "five_bar" and function in ("sensitivity", "inverse_second", "linearize_second"):
            continue
        evaluated(robot, path, function, states, tool)
    if name != "five_bar":
        evaluated(robot, path, "sensitivity", states, tool, ["--standard"], standard=True)
        states = {group: rng.uniform(-2, 2, (COUNT, robot.n)) for group in TERMS["forward_along"].split()}
        evaluated(robot, path, "forward_along", states, tool, ["--dense"], dense=True)


@pytest.mark.parametrize(("name", "link", "directions"), [("two_link", None, "x,y"), ("kuka_kr6", "A5", "x,z,ry"), ("kuka_kr6", None, None), ("five_bar", None, "x")])
def test_tasks(name, link, directions, rng, tool):
    robot, path = psdm.Robot.shipped(name), str(psdm.shipped_robots()[name])
    options = [*(["--link", link] if link else []), *(["--directions", directions] if directions else []), "--point", "0.1,-0.2,0.3"]
    for function, groups in TASKS.items():
        states = {group: rng.uniform(0.1, 0.3, (COUNT, robot.n)) for group in groups.split()}
        evaluated(robot, path, function, states, tool, options, link=link, directions=directions, point=[0.1, -0.2, 0.3])


@pytest.mark.parametrize("name", ["two_link", "kuka_kr6", "fanuc_sr6ia"])
def test_derive_and_params(name, tool):
    robot, path = psdm.Robot.shipped(name), str(psdm.shipped_robots()[name])
    model = robot.derive()
    told = json.loads(run_tool(tool, "derive", path, "--json"))
    assert (model.n, model.p, model.l) == (told["n"], told["p"], told["l"])
    listed = json.loads(run_tool(tool, "params", path, "--json"))["base_parameters"]
    base = robot.params()
    assert [b["name"] for b in listed] == base.names == model.base_parameters.names
    assert [b["formula"] for b in listed] == [b.formula for b in base]
    assert np.array_equal([b["value"] for b in listed], base.theta)
    assert np.array_equal(base.theta, model.theta)


def test_options(tool, rng):
    """Gravity, locks, friction, motor side and wrenches are the same options."""
    path = str(psdm.shipped_robots()["kuka_kr6"])
    robot = psdm.Robot.load(path, gravity=[1, 2, -9], lock={"A4": 0.3})
    q = rng.uniform(-2, 2, (COUNT, 5))
    theirs = np.loadtxt(io.StringIO(run_tool(tool, "eval", path, "gravity", "--gravity", "1,2,-9", "--lock", "A4=0.3", stdin=table({"q": q}))), delimiter=",", skiprows=1)
    assert np.array_equal(robot.gravity(q), theirs)
    denso = psdm.Robot.shipped("denso_vs6556g")
    assert any(joint.friction for joint in denso.joints)
    assert denso.n == 6 and not denso.ready


def test_linearize(two_link, tool):
    path = str(psdm.shipped_robots()["two_link"])
    told = json.loads(run_tool(tool, "linearize", path, "--at", "-", "--lqr", "--Q", "100,1", "--R", "0.01", "--dt", "0.01", "--json", stdin="q1,q2\n1.5,0.2\n"))
    system = two_link.state_space([1.5, 0.2], dt=0.01)
    gains = system.lqr([100, 100, 1, 1], [0.01, 0.01])
    point = told["points"][0]
    np.testing.assert_allclose(point["Ad"], system.A, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(point["K"], gains.K, rtol=1e-9)
