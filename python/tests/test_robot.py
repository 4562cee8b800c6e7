"""Robots: files, errors, pickles, parameters, models."""

from __future__ import annotations

import pickle

import numpy as np
import psdm
import pytest


def test_errors(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text("convention: dh\njoints:\n  - {name: a, d: 0.3}\n  - {name: b, alpa: 0}\n")
    with pytest.raises(psdm.PsdmError) as error:
        psdm.Robot.load(path)
    assert error.value.status == "PSDM_E_PARSE" and error.value.file == str(path) and error.value.line == 4
    assert "alpha" in error.value.text  # the nearest key
    again = pickle.loads(pickle.dumps(error.value))
    assert str(again) == str(error.value) and again.line == 4
    with pytest.raises(psdm.PsdmError, match="No such file"):
        psdm.Robot.load(tmp_path / "nothing.yaml")
    with pytest.raises(psdm.PsdmError):
        psdm.Robot.from_text("<robot name='x'>")
    with pytest.raises(KeyError):
        psdm.Robot.shipped("nobody")


def test_missing_inertia_is_named():
    robot = psdm.Robot.from_text("{convention: dh, joints: [{name: a, a: 0.3}]}")
    assert not robot.ready and robot.params().names == ["ZZ1"]
    with pytest.raises(psdm.PsdmError) as error:
        robot.gravity([0.0])
    assert error.value.status == "PSDM_E_MISSING" and "link" in error.value.text


@pytest.mark.parametrize("name", sorted(psdm.shipped_robots()))
def test_pickle_and_files(name, rng):
    robot = psdm.Robot.shipped(name)
    copy = pickle.loads(pickle.dumps(robot))
    assert copy == robot and repr(copy) == repr(robot) and np.array_equal(copy.parameters, robot.parameters, equal_nan=True)
    if robot.ready:
        home = np.empty(robot.n)  # where the file's loops begin: far from there they may not close
        psdm._library.lib.psdm_robot_home(robot._pointer, psdm._library.address(home))
        q = home + rng.uniform(-0.05, 0.05, robot.n)
        assert np.array_equal(copy.gravity(q), robot.gravity(q))
        written = [robot.to_yaml()] + ([robot.to_urdf()] if not robot.losses("urdf") else [])
        for text in written:
            # frames are written in another convention: a few roundings
            np.testing.assert_allclose(psdm.Robot.from_text(text, snap=False, gravity=robot.gravity_vector).gravity(q), robot.gravity(q), atol=1e-9 * (1 + np.max(np.abs(robot.gravity(q)))))


def test_pickle_of_options_and_parameters(kr6, rng):
    q = rng.uniform(-2, 2, 6)
    turned = psdm.Robot.load(psdm.shipped_robots()["kuka_kr6"], gravity=[9.81, 0, 0])
    heavy = turned.with_parameters(2 * turned.parameters)
    for robot in (turned, heavy):
        assert np.array_equal(pickle.loads(pickle.dumps(robot)).gravity(q), robot.gravity(q))
    np.testing.assert_allclose(heavy.gravity(q), 2 * turned.gravity(q), rtol=1e-13)
    assert not np.allclose(turned.gravity(q), kr6.gravity(q))


def test_facts(kr6):
    assert kr6.n == 6 and kr6.joint_names == ["A1", "A2", "A3", "A4", "A5", "A6"]
    assert len(kr6.limits.lower) == 6 and len(kr6.parameter_names) == len(kr6.parameters)
    assert kr6.joints[0].type == "revolute" and kr6.joints[0].q == 0
    assert any("inertia" in warning for warning in kr6.warnings)
    assert psdm.Robot.shipped("two_link").losses("yaml") == []


def test_model(two_link, rng, tmp_path):
    model = two_link.derive()
    assert model.E.shape == (10, model.p) and model.E.dtype == np.uint8
    assert model.P.shape == (model.p, 2, model.l) and len(model.entries.value) == np.count_nonzero(model.P)
    q, qd, qdd, tau = rng.uniform(-2, 2, (4, 9, 2))
    np.testing.assert_allclose(model.inverse(q, qd, qdd), two_link.inverse(q, qd, qdd), atol=1e-11)
    np.testing.assert_allclose(model.forward(q, qd, tau), two_link.forward(q, qd, tau), atol=1e-10)
    np.testing.assert_allclose(model.mass(q), two_link.mass(q), atol=1e-11)
    np.testing.assert_allclose(model.regressor(q, qd, qdd), two_link.regressor(q, qd, qdd), atol=1e-11)
    np.testing.assert_allclose(model.energy(q, qd).kinetic, two_link.energy(q, qd).kinetic, atol=1e-11)
    potential = two_link.energy(q, qd).potential - two_link.energy(0 * q[0], 0 * q[0]).potential
    np.testing.assert_allclose(model.energy(q, qd).potential, potential, atol=1e-11)
    np.testing.assert_allclose(model.energy(q, qd, theta=2 * model.theta).kinetic, 2 * two_link.energy(q, qd).kinetic, atol=1e-11)
    np.testing.assert_allclose(two_link.regressor(q, qd, qdd, standard=True) @ two_link.parameters, two_link.inverse(q, qd, qdd), atol=1e-11)
    # the exponents give y: [q; sin q; cos q; qd; qdd]
    x = np.hstack([q, np.sin(q), np.cos(q), qd, qdd])
    y = np.prod(x[:, :, None] ** model.E[None], axis=1)
    gravity = ~np.any(model.E[6:], axis=0)
    y[:, gravity] *= np.linalg.norm(two_link.gravity_vector)
    np.testing.assert_allclose(model.y(q, qd, qdd), y, atol=1e-11)
    model.save(tmp_path / "model.json")
    again = psdm.Model.load(two_link, tmp_path / "model.json")
    assert np.array_equal(again.P, model.P)
    with pytest.raises(psdm.PsdmError, match="joints"):
        psdm.Model.load(psdm.Robot.shipped("kuka_kr6"), tmp_path / "model.json")
    model.save(tmp_path / "model.mat")
    assert (tmp_path / "model.mat").stat().st_size > 0
    base = two_link.params(symbolic=True)
    assert "a1^2" in base["ZZ1"].text and base.fate["m1"] == "regrouped"
    assert two_link.derive(assume=["Ixz1 = 0"]).l <= model.l


def test_full_parameters(kr6):
    """Base parameters back to standard ones: physically possible, with the same theta."""
    links, model = 2, psdm.Robot.shipped("two_link").base_model
    body = psdm.load_to_standard(1.0, [0.1, 0.02, 0.03], [0.02, 0.001, 0.002, 0.03, 0.001, 0.025])
    prior = np.tile(body, links)
    theta = model.theta_of(1.5 * prior)
    full = model.full(theta, prior)
    np.testing.assert_allclose(model.theta_of(full), theta, rtol=1e-8, atol=1e-8)
    assert np.all(full.reshape(links, 10)[:, 0] > 0)


def test_tables():
    robot = psdm.Robot.from_tables([[0.5, 0, 0, 0, 0], [0.4, 0, 0, 0, 0]], [[1, 0.25, 0, 0, 0.01, 0.02, 0.02, 0, 0, 0], [1, 0.2, 0, 0, 0.01, 0.02, 0.02, 0, 0, 0]])
    assert robot.ready and robot.n == 2


def test_state_space(two_link):
    q = np.array([0.3, -0.4])
    second = two_link.second_order(q)
    system = two_link.state_space(q)
    np.testing.assert_allclose(system.A[2:, :2], -np.linalg.solve(second.M, second.D), atol=1e-12)
    np.testing.assert_allclose(system.B[2:], np.linalg.inv(second.M), atol=1e-12)
    # D = dg/dq by central differences, whose error is about h^2
    h = 1e-5
    numeric = np.stack([(two_link.gravity(q + h * e) - two_link.gravity(q - h * e)) / (2 * h) for e in np.eye(2)], axis=1)
    np.testing.assert_allclose(second.G, numeric, atol=1e-7)
    sampled = two_link.state_space(q, dt=0.01)
    gains = sampled.lqr([100, 100, 1, 1], [0.01, 0.01])
    assert np.max(np.abs(np.linalg.eigvals(sampled.A - sampled.B @ gains.K))) < 1
    assert all(abs(mode.eigenvalue) < 1 for mode in gains.modes)
    assert two_link.state_space(q, inputs=[0]).B.shape == (4, 1)
    assert system.analyze().controllable
    held = two_link.equilibrium(two_link.gravity(q))
    assert held.found
    np.testing.assert_allclose(two_link.gravity(held.q), two_link.gravity(q), atol=1e-9)
    with pytest.raises(psdm.PsdmError, match="out of the inputs' reach"):
        psdm.LinearSystem(np.diag([1.0, -1.0]), [[0.0], [1.0]]).lqr([1, 1], [1])


def test_motion_simulator_observer(two_link):
    move = psdm.Motion.polynomial([0, 0], [1, -1], duration=1)
    t = np.linspace(0, 1, 1001)
    q, qd, qdd = move(t)
    np.testing.assert_allclose(np.gradient(q[:, 0], t)[1:-1], qd[1:-1, 0], atol=1e-4)
    # torques of the motion, sampled and held, lead through it to the step's size
    sim = psdm.Simulator(two_link, *(x[0] for x in (q, qd)))
    reached, speed = sim.steps(two_link.inverse(*move(t[:-1] + 0.0005)), 0.001)
    assert np.max(np.abs(reached[-1] - q[-1])) < 1e-3 and abs(sim.t - 1) < 1e-9
    again = psdm.Simulator(two_link, q[0], qd[0])
    for tau in two_link.inverse(*move(t[:-1] + 0.0005)):
        again.step(tau, 0.001)
    assert np.array_equal(again.q, reached[-1]) and np.array_equal(again.qd, speed[-1])
    # an observer finds what the model does not explain
    observer = psdm.Observer(two_link, 1000, bandwidth=100, sigma=[0.1, 0.1], sampled=True)
    push = np.where(t[:, None] > 0.5, [3.0, 0.0], 0.0)
    seen = observer.run(q, qd, two_link.inverse(q, qd, qdd) - push)
    assert np.max(np.abs(seen.torque[:400])) < 0.05 and abs(seen.torque[-1, 0] - 3) < 0.05
    assert not seen.collision[:490].any() and seen.collision[600]
    table = psdm.Motion.table(t, q, qd, qdd)
    np.testing.assert_allclose(table([0.5])[0], move([0.5])[0], atol=1e-12)
    with pytest.raises(psdm.PsdmError):
        psdm.Motion.polynomial([0, 0], [1, -1], duration=-1)


def test_unknown_names_are_told(two_link):
    with pytest.raises(KeyError, match="there is no base parameter 'ZZ3'; the nearest are .*ZZ2"):
        two_link.params()["ZZ3"]
    with pytest.raises(KeyError, match="there is no standard parameter 'nope'; the nearest are "):
        two_link.with_parameters({"nope": 1})
    with pytest.raises(ValueError, match="method is 'x'; it may be exact, dense"):
        two_link.derive(method="x")
    with pytest.raises(ValueError, match="basis is 'x'; it may be standard, echelon"):
        two_link.derive(basis="x")
    with pytest.raises(ValueError, match="format is 'x'; it may be yaml, urdf"):
        two_link.losses("x")
