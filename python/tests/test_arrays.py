"""Shapes, types, layouts and out=: accepted and refused arrays, and no needless copies."""

from __future__ import annotations

import numpy as np
import psdm
import pytest
from psdm._arrays import States


def states(rng, robot, *shape):
    return rng.uniform(-2, 2, (3, *shape, robot.n))


def test_broadcasting(kr6, rng):
    q, qd, qdd = states(rng, kr6, 4, 5)
    whole = kr6.inverse(q, qd, qdd)
    assert whole.shape == (4, 5, 6)
    for i in range(4):
        for j in range(5):
            assert np.array_equal(whole[i, j], kr6.inverse(q[i, j], qd[i, j], qdd[i, j]))
    assert np.array_equal(kr6.inverse(q[0, 0], qd[:, :1], qdd[:1]), kr6.inverse(np.broadcast_to(q[0, 0], q.shape), qd[:, [0] * 5], qdd[[0] * 4]))
    assert kr6.mass(q).shape == (4, 5, 6, 6)
    assert kr6.energy(q, qd).kinetic.shape == (4, 5)
    assert kr6.energy(q[0, 0], qd[0, 0]).potential.shape == ()
    assert kr6.pose(q).rotation.shape == (4, 5, 3, 3)
    assert kr6.inverse(np.empty((0, 6)), np.empty((0, 6)), np.empty((0, 6))).shape == (0, 6)


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, lambda a: np.repeat(a, 2, axis=-1)[..., ::2], lambda a: a[::-1][::-1]])
def test_layouts(kr6, rng, make):
    """Rows, columns, every second number, reversed twice: the same answers, recursions and code."""
    q, qd, qdd = states(rng, kr6, 50)
    code = kr6.compile(["inverse", "mass"], effort=-1)
    plain = kr6.inverse(q, qd, qdd)
    assert np.array_equal(kr6.inverse(make(q), make(qd), make(qdd)), plain)
    np.testing.assert_allclose(code.inverse(make(q), make(qd), make(qdd)), plain, rtol=1e-10, atol=1e-10)
    out = make(np.zeros((50, 6)))
    assert kr6.inverse(q, qd, qdd, out=out) is out
    assert np.array_equal(out, plain)


def test_no_copies(kr6, rng):
    """Rows and columns of float64 are used in place."""
    for layout in (np.ascontiguousarray, np.asfortranarray):
        arrays = [layout(a) for a in states(rng, kr6, 30)]
        for rows, array in zip(States(arrays, "abc", [6] * 3).rows, arrays):
            assert np.shares_memory(rows, array) and rows.__array_interface__["data"][0] == array.__array_interface__["data"][0]
    columns = States([np.asfortranarray(a) for a in states(rng, kr6, 30)], "abc", [6] * 3)
    assert columns.columns
    result = kr6.compile(["inverse"], effort=-1).inverse(*columns.arrays)
    assert result.flags.f_contiguous


def test_other_types(kr6, rng):
    q, qd, qdd = states(rng, kr6, 3)
    assert np.array_equal(kr6.inverse(q.tolist(), qd, qdd), kr6.inverse(q, qd, qdd))
    assert np.array_equal(kr6.gravity([0, 1, 0, 1, 0, 1]), kr6.gravity([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]))
    single = q.astype(np.float32)
    assert np.array_equal(kr6.gravity(single), kr6.gravity(single.astype(np.float64)))
    swapped = q.astype(">f8")
    assert np.array_equal(kr6.gravity(swapped), kr6.gravity(q))


def test_refusals(kr6, rng):
    q, qd, qdd = states(rng, kr6, 3)
    with pytest.raises(ValueError, match=r"q has shape \(3, 5\): its last dimension must be 6"):
        kr6.inverse(q[:, :5], qd, qdd)
    with pytest.raises(ValueError, match="do not broadcast"):
        kr6.inverse(q, qd[:2], qdd)
    with pytest.raises(ValueError):
        kr6.gravity(1.0)
    with pytest.raises(TypeError, match="complex"):
        kr6.gravity(q.astype(complex))
    with pytest.raises(TypeError):
        kr6.gravity(np.array(["a"] * 6))
    with pytest.raises(ValueError, match="it needs"):
        kr6.inverse(q, qd, qdd, out=np.empty((3, 5)))
    with pytest.raises(TypeError, match="float64"):
        kr6.inverse(q, qd, qdd, out=np.empty((3, 6), dtype=np.float32))
    fixed = np.empty((3, 6))
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        kr6.inverse(q, qd, qdd, out=fixed)
    with pytest.raises(ValueError, match="2 arrays"):
        kr6.linearize_inverse(q, qd, qdd, out=(np.empty((3, 6, 6)), np.empty((3, 6, 6))))
    with pytest.raises(ValueError, match="no link or joint 'elbow'"):
        kr6.pose(q, "elbow")


def test_out_overlaps(kr6, rng):
    """An argument may be given as out: the answer is right."""
    q, qd, qdd = states(rng, kr6, 40)
    right = kr6.inverse(q, qd, qdd)
    qdd_too = qdd.copy()
    assert np.array_equal(kr6.inverse(q, qd, qdd_too, out=qdd_too), right)
    code = kr6.compile(["inverse"], effort=-1)
    whole = np.concatenate([q, qd, qdd, np.zeros_like(q)], axis=1)
    code.inverse(whole[:, :6], whole[:, 6:12], whole[:, 12:18], out=whole[:, 18:])
    np.testing.assert_allclose(whole[:, 18:], right, rtol=1e-10, atol=1e-10)
    assert np.array_equal(whole[:, :6], q)


def test_outs(kr6, rng):
    q, qd, qdd = states(rng, kr6, 4)
    out = tuple(np.empty((4, 6, 6)) for _ in range(3))
    answer = kr6.linearize_inverse(q, qd, qdd, out=out)
    assert answer.M is out[2]
    np.testing.assert_allclose(answer.M, kr6.mass(q), rtol=1e-12, atol=1e-12)


def test_outs_that_overlap_are_refused(kr6, rng):
    q, qd, qdd = states(rng, kr6, 4)
    code = kr6.compile(["inverse", "linearize_inverse"], effort=-1)
    one, two = np.empty((4, 6, 6)), np.empty((4, 6, 6))
    strided = np.lib.stride_tricks.as_strided
    for who in (kr6, code):
        with pytest.raises(ValueError, match="overlaps out for"):
            who.linearize_inverse(q, qd, qdd, out=(one, one, one))
        with pytest.raises(ValueError, match="overlaps out for"):
            who.linearize_inverse(q, qd, qdd, out=(one, two, one[:, :, ::-1]))
        for strides in ((0, 8), (48, 0), (8, 8), (-8, 8)):
            with pytest.raises(ValueError, match="overlaps itself"):
                who.inverse(q, qd, qdd, out=strided(np.zeros(60)[20:], (4, 6), strides))
        # side by side in one array, turned, or every second number: these are apart
        whole = np.zeros((4, 6, 20))
        answer = who.linearize_inverse(q, qd, qdd, out=(whole[..., 0:12:2], whole[..., 1:12:2], whole[..., 17:11:-1].swapaxes(1, 2)))
        for mine, right in zip(answer, who.linearize_inverse(q, qd, qdd)):
            assert np.array_equal(mine, right)
    assert kr6.gravity(np.empty((0, 6)), out=strided(np.empty(1), (0, 6), (0, 0))).shape == (0, 6)


def test_joints_without_inertia_are_named(rng):
    robot = psdm.Robot.shipped("two_link").with_parameters(np.zeros(20))
    with pytest.raises(psdm.PsdmError, match="'shoulder', 'elbow' move nothing that has inertia") as error:
        robot.forward(np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    assert error.value.status == "PSDM_E_SINGULAR"
