"""Compiled code against the recursions: every function, both precisions, arguments, single states and batches."""

from __future__ import annotations

import subprocess

import numpy as np
import psdm
import pytest

ALL = ["inverse", "gravity", "bias", "mass", "forward", "regressor", "energy", "jacobian", "pose", "linearize_inverse", "linearize_forward", "inverse_mass"]


@pytest.fixture(scope="module")
def code(kr6):
    return kr6.compile(ALL, effort=-1)


@pytest.mark.parametrize("shape", [(), (1,), (33,), (3, 7)])
def test_all_functions(kr6, code, rng, shape):
    q, qd, qdd, tau = rng.uniform(-2, 2, (4, *shape, 6))
    assert code.info.native
    # forward dynamics of the KR6 lose two or three digits to the mass matrix's condition
    close = dict(rtol=1e-9, atol=1e-9)
    for name, arguments in {"inverse": (q, qd, qdd), "gravity": (q,), "bias": (q, qd), "mass": (q,), "forward": (q, qd, tau), "regressor": (q, qd, qdd), "energy": (q, qd),
                            "jacobian": (q,), "pose": (q,), "linearize_inverse": (q, qd, qdd), "linearize_forward": (q, qd, tau)}.items():
        ours, theirs = getattr(code, name)(*arguments), getattr(kr6, name)(*arguments)
        for mine, other in zip(ours if isinstance(ours, tuple) else [ours], theirs if isinstance(theirs, tuple) else [theirs]):
            assert mine.shape == other.shape, name
            np.testing.assert_allclose(mine, other, err_msg=name, **close)
    np.testing.assert_allclose(code.inverse_mass(q) @ kr6.mass(q), np.broadcast_to(np.eye(6), (*shape, 6, 6)), atol=1e-9)


TERMS = {"coriolis": 2, "mass_rate": 2, "momentum": 2, "momentum_rate": 3, "innovations": 1, "inverse_along": 6, "forward_along": 6, "inverse_second": 9, "linearize_second": 6,
         "sensitivity": 3, "cartesian_jacobian": 1, "cartesian_mass": 1, "cartesian_coriolis": 2, "cartesian_gravity": 1, "cartesian_factor": 2, "cartesian_inverse": 1,
         "cartesian_null_space": 1}


def test_terms(kr6, rng):
    task = dict(point=[0.1, -0.2, 0.3], directions=["x", "y", "rz"], link="A5")
    code = kr6.compile(TERMS, effort=-1, **task)
    for name, count in TERMS.items():
        states = rng.uniform(0.2, 0.6, (count, 40, 6))
        ours, theirs = getattr(code, name)(*states), getattr(kr6, name)(*states, **(task if name.startswith("cartesian") else {}))
        for mine, other in zip(ours if isinstance(ours, tuple) else [ours], theirs if isinstance(theirs, tuple) else [theirs]):
            assert mine.shape == other.shape, name
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-11 * np.max(np.abs(other)), err_msg=name)


def test_loops(rng):
    """Passive joints are found row by row; a state where the loops do not close is an error."""
    for name in ("five_bar", "planar_3rrr"):
        robot = psdm.Robot.shipped(name)
        code = robot.compile(["inverse", "mass", "linearize_forward"], effort=-1)
        assert code.arguments("mass") == ("q", "passive")
        home = {"five_bar": [np.pi / 2, np.pi / 2], "planar_3rrr": [-0.2767, 1.8177, -2.3711]}[name]
        q = home + rng.uniform(-0.15, 0.15, (30, robot.n))
        qd, qdd = rng.uniform(-1, 1, (2, 30, robot.n))
        np.testing.assert_allclose(code.inverse(q, qd, qdd), robot.inverse(q, qd, qdd), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(code.mass(q[0]), robot.mass(q[0]), rtol=1e-11, atol=1e-11)
        for mine, other in zip(code.linearize_forward(q, qd, qdd), robot.linearize_forward(q, qd, qdd)):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9 * np.abs(other).max())
        with pytest.raises(psdm.PsdmError, match="loop"):
            code.mass(np.full(robot.n, np.nan))
        assert robot.base_model.l == {"five_bar": 11, "planar_3rrr": 13}[name]


def test_singular_task(two_link):
    code = two_link.compile(["cartesian_mass"], directions="x,y", effort=-1)
    assert np.all(np.isnan(code.cartesian_mass([0.3, 0.0])))
    assert np.all(np.isfinite(code.cartesian_mass([0.3, 0.5])))
    with pytest.raises(psdm.PsdmError, match="cannot move in every direction"):
        two_link.cartesian_mass([[0.3, 0.5], [0.3, 0.0]], directions="x,y")
    with pytest.raises(psdm.PsdmError, match="choose at most 2 directions"):
        two_link.cartesian_mass([0.3, 0.5])
    with pytest.raises(ValueError, match="some of x, y, z, rx, ry, rz"):
        two_link.cartesian_mass([0.3, 0.5], directions="x,w")


def test_float(kr6, rng):
    q, qd, qdd = rng.uniform(-2, 2, (3, 100, 6))
    code = kr6.compile(["inverse"], real="float", effort=-1)
    tau = code.inverse(q, qd, qdd)
    assert tau.dtype == np.float32
    right = kr6.inverse(q, qd, qdd)
    assert np.max(np.abs(tau - right)) < 1e-4 * np.max(np.abs(right))


def test_arguments(two_link, rng):
    q, qd, qdd = rng.uniform(-2, 2, (3, 20, 2))
    code = two_link.compile(["inverse", "mass"], theta="argument", gravity=True)
    theta = two_link.base_model.theta
    np.testing.assert_allclose(code.inverse(q, qd, qdd, theta=theta, gravity=two_link.gravity_vector), two_link.inverse(q, qd, qdd), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(code.inverse(q, qd, qdd, theta=2 * theta, gravity=[0, 0, 0]), 2 * (two_link.inverse(q, qd, qdd) - two_link.gravity(q)), rtol=1e-11, atol=1e-11)
    with pytest.raises(TypeError, match="takes theta=, "):
        code.mass(q)
    with pytest.raises(TypeError, match="takes no payload"):
        code.inverse(q, qd, qdd, theta=theta, gravity=[0, 0, 0], payload=np.zeros(10))
    with pytest.raises(ValueError, match="not part of this code"):
        code.forward(q, qd, qdd)
    with pytest.raises(ValueError, match="there is no function 'invers'"):
        two_link.compile(["invers"])
    with pytest.raises(ValueError, match="it may be double, float"):
        two_link.compile(["inverse"], real="half")


def test_graph_where_there_is_no_compiler(two_link, rng):
    q, qd, qdd = rng.uniform(-2, 2, (3, 20, 2))
    code = two_link.compile(["inverse"], compiler="/nowhere/cc", cache="")
    assert not code.info.native and code.info.reason
    np.testing.assert_allclose(code.inverse(q, qd, qdd), two_link.inverse(q, qd, qdd), rtol=1e-12, atol=1e-12)
    with pytest.raises(psdm.PsdmError) as error:
        two_link.compile(["inverse"], compiler="/nowhere/cc", cache="", native=True)
    assert error.value.status == "PSDM_E_COMPILER"


def test_codegen(two_link, tmp_path):
    code = two_link.codegen(tmp_path / "arm", ["inverse", "mass"], prefix="arm")
    assert code.costs["inverse"].multiplications > 0
    assert {path.name for path in (tmp_path / "arm").iterdir()} == {"arm.h", "arm.c", "arm_selftest.c", "Makefile"}
    subprocess.run(["make", "-s", "check"], cwd=tmp_path / "arm", check=True, stdout=subprocess.DEVNULL)


ROUGH = """name: rough
gravity: [0, -9.81, 0]
convention: dh
joints:
  - {name: a, a: 1.2, friction: {coulomb: 2, static: 3, stribeck: 0.05, viscous: 0.5, exponent: 0.7, offset: 0.1, sigma0: 1e4, sigma1: 20}}
  - {name: b, a: 1.1, friction: {coulomb: 1, static: 1.2, stribeck: 0.1, viscous: 0.2, sigma0: 5e3, sigma1: 9}}
links:
  - {mass: 1, com: [-0.6, 0, 0], inertia: {xx: 0.1, yy: 0.5, zz: 0.5}}
  - {mass: 2, com: [-0.5, 0, 0], inertia: {xx: 0.1, yy: 0.3, zz: 0.3}}
"""


def test_friction(rng):
    robot = psdm.Robot.from_text(ROUGH)
    q, qd, qdd = rng.uniform(-2, 2, (3, 20, 2))
    code = robot.compile(["inverse", "forward", "linearize_inverse", "regressor", "friction"], friction="power", effort=-1)
    tau = robot.inverse(q, qd, qdd, friction=True)
    close = dict(rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(code.inverse(q, qd, qdd), tau, **close)
    np.testing.assert_allclose(code.forward(q, qd, tau), qdd, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(code.friction(q, qd), tau - robot.inverse(q, qd, qdd), **close)
    np.testing.assert_allclose(code.linearize_inverse(q, qd, qdd)[1], robot.linearize_inverse(q, qd, qdd, friction=True)[1], **close)
    np.testing.assert_allclose(code.regressor(q, qd, qdd), robot.regressor(q, qd, qdd, friction=True), **close)
    assert code.states == 0
    with pytest.raises(TypeError, match="takes no z"):
        code.inverse(q, qd, qdd, z=q)
    with pytest.raises(ValueError, match="friction model"):
        robot.compile(["inverse"], friction="sticky")


def test_bristles(rng):
    robot = psdm.Robot.from_text(ROUGH)
    code = robot.compile(["inverse"], friction="lugre", effort=-1)
    assert code.states == 2 and "friction_step" in code.functions
    q, qd, qdd = rng.uniform(-2, 2, (3, 2))
    z = np.zeros(2)
    with pytest.raises(TypeError, match="takes z=, 2 numbers"):
        code.inverse(q, qd, qdd)
    for _ in range(200):  # a long way at one speed: the steady state
        z = code.friction_step(q, qd, q, qd, z, dt=1e-2)
    np.testing.assert_allclose(code.inverse(q, qd, qdd, z=z), robot.inverse(q, qd, qdd, friction=True), rtol=1e-12, atol=1e-12)


def test_calibrated_friction(two_link, rng):
    run = two_link.simulate(5, control="computed-torque", reference="fourier", initial="reference", log=True, log_rate=200, log_noise=0.001)
    found = two_link.calibrate(run.log, holdout=0.3, estimator="wls", plain_friction=True)
    arm = two_link.calibrated(found)
    code = arm.compile(["inverse", "friction"], friction="calibrated", params=found, effort=-1)
    q, qd, qdd = rng.uniform(-2, 2, (3, 20, 2))
    np.testing.assert_allclose(code.inverse(q, qd, qdd), arm.inverse(q, qd, qdd) + code.friction(q, qd), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="needs params="):
        arm.compile(["inverse"], friction="calibrated")
