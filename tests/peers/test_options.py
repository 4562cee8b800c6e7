"""A part of a robot, another gravity, snapped angles: psdm's options against peers that get the same in other ways."""

import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace

import numpy as np
import pytest

import judges
from cases import FILES, FORWARD, OPEN, RANDOM, SEED, STATES, case_of, compare, difference, from_urdf, record
from urdf import Urdf

SOME = RANDOM[:20]
PAIRS = [("pinocchio", "inverse"), ("pinocchio", "forward"), ("pinocchio", "mass"), ("pinocchio", "energy"), ("pinocchio", "pose"),
         ("pinocchio", "linearize-inverse"), ("pinocchio", "linearize-forward"), ("mujoco", "inverse"), ("mujoco", "jacobian"), ("kdl", "inverse"), ("kdl", "mass")]


def randomness(case):
    return np.random.default_rng([SEED, 1, zlib.crc32(case.name.encode())])


def locked(case, values):
    """The peers keep the whole tree; the rows of G of locked joints are zero, their positions constants."""
    couplings = {name: ({}, value) for name, value in values.items()}
    for name, (factors, offset) in case.couplings.items():
        held = sum(f * values[j] for j, f in factors.items() if j in values)
        couplings[name] = ({j: f for j, f in factors.items() if j not in values}, offset + held)
    words = ",".join(f"{name}={value!r}" for name, value in values.items())
    return replace(case, args=(*case.args, "--lock", words), couplings=couplings)


def rooted(case, link):
    """The peers get their own file, cut from the XML."""
    text = case.urdf.rooted_at(link)
    return replace(case, args=(*case.args, "--root", link), text=text, moving=None, couplings=Urdf(text).couplings())


def some_locks(case):
    """Some independent joints, not all. On a chain none that a joint off it follows: it would be locked too, and a locked joint belongs to the chain."""
    rng = randomness(case)
    beside = {m for name, (factors, _) in case.urdf.couplings().items() if name not in case.moving for m in factors}
    free = [name for name in case.independent if name not in beside]
    count = int(rng.integers(1, case.n)) if case.n > 1 else 0
    return {str(name): float(rng.uniform(-0.4, 0.4)) for name in rng.choice(free, min(count, len(free)), replace=False)}


def some_root(case):
    """A link behind a moving joint, with moving joints behind it that follow none of those left out."""
    for joint in case.urdf.joints:
        below = [j for j in case.urdf.joints if j.moves and j.parent in {joint.child, *case.urdf.below(joint.child)}]
        names = {j.name for j in below}
        masters = {j.mimic[0] for j in below if j.mimic}
        if joint.moves and below and masters <= names and any(not j.mimic for j in below):
            return joint.child
    return None


def chain_of(case):
    chain = case.chain()
    if chain is None:
        pytest.skip(f"{case.name}: no chain without the joints that its coupled joints follow")
    return chain


def check(case, peer, function):
    if function in FORWARD and case.singular:
        pytest.skip("a singular mass matrix has no forward")
    compare(chain_of(case) if peer == "kdl" and not case.tip else case, peer, function)


@pytest.mark.parametrize("peer, function", PAIRS)
@pytest.mark.parametrize("name", [*FILES, *SOME])
def test_gravity(name, peer, function, need):
    need(peer)
    case = case_of(name)
    check(replace(case, args=(*case.args, "--gravity", "1.5,-2.25,3.125"), gravity=(1.5, -2.25, 3.125)), peer, function)


# a joint locked at the base leaves constants in the potential, so energies are not compared
@pytest.mark.parametrize("peer, function", [pair for pair in PAIRS if pair[1] != "energy"])
@pytest.mark.parametrize("name", [*[n for n in OPEN if n not in ("denso_vs6556g", "puma560")], *FILES, *SOME])
def test_lock(name, peer, function, need):
    need(peer)
    case = chain_of(case_of(name)) if peer == "kdl" else case_of(name)
    values = some_locks(case)
    if not values:
        pytest.skip("one degree of freedom, nothing to lock")
    check(locked(case, values), peer, function)


@pytest.mark.parametrize("name", [*FILES, *SOME])
def test_lock_reduced(name, need):
    """Pinocchio's own way to lock joints: the regressor, whose columns belong to the lumped links, and the torques."""
    need("pinocchio")
    case = case_of(name)
    values = some_locks(case)
    if case.coupled or not values:
        pytest.skip("one degree of freedom or coupled joints: Pinocchio has no reduced model to compare")
    left = [j for j in case.moving if j not in values]
    full = case.judge("pinocchio")
    at = full.configuration([values.get(j, 0.0) for j in case.moving])
    part = locked(case, values)
    model = judges.pin.buildReducedModel(full.model, [full.model.getJointId(j) for j in values], at)
    reduced = judges.Pinocchio.of(model, case.gravity, left)
    links = [case.links[case.moving.index(j)] for j in left]
    s = part.states
    inverse = np.array([reduced.inverse(s["q"][i], s["qd"][i], s["qdd"][i]) for i in range(STATES)])
    Y = np.array([reduced.regressor(s["q"][i], s["qd"][i], s["qdd"][i], links).ravel() for i in range(STATES)])
    record("pinocchio", "inverse", difference(part.ours("inverse"), inverse), f"{name}, reduced")
    record("pinocchio", "regressor", difference(part.ours("regressor"), Y), f"{name}, reduced")


@pytest.mark.parametrize("peer, function", PAIRS)
@pytest.mark.parametrize("name", [*FILES, *SOME])
def test_root(name, peer, function, need):
    need(peer)
    case = case_of(name)
    link = some_root(case)
    if link is None:
        pytest.skip("no moving joint comes after another, or those that do follow one that does not")
    check(replace(rooted(case, link), singular=case.singular), peer, function)


@pytest.mark.parametrize("peer, function", [pair for pair in PAIRS if pair[1] != "energy"])
def test_root_tip_and_lock(peer, function, need):
    need(peer)
    case = rooted(case_of("lumped_chain"), "drum")
    if peer == "kdl":
        case = chain_of(case)
        assert case.args[-2:] == ("--tip", "bit_tip")
    check(locked(case, {"a2": 0.21}), peer, function)


@pytest.mark.parametrize("peer, function", PAIRS)
def test_snap(peer, function, need):
    """With snapping psdm reads what the peers read from a file with exact angles; without, what they read from this file."""
    need(peer)
    rounded = from_urdf(FILES["rounded_pi"])
    tree, step = ET.fromstring(rounded.text.encode()), np.pi / 12
    for origin in tree.findall("joint/origin"):
        angles = [float(x) for x in origin.get("rpy").split()]
        full = [step * round(x / step) for x in angles]
        origin.set("rpy", " ".join(repr(b if abs(a - b) <= 1e-4 else a) for a, b in zip(angles, full)))
    snapped = replace(rounded, args=(), text=ET.tostring(tree, encoding="unicode"))
    check(snapped, peer, function)
    if function == "inverse" and peer != "kdl":
        apart = difference(rounded.ours("inverse"), snapped.ours("inverse"))
        assert 1e-7 < apart < 1e-3


def direct_mimics(text):
    """The URDF with every mimic pointing at the independent joint that it follows in the end: Pinocchio has no chains of them."""
    urdf = Urdf(text)
    for name, (factors, offset) in urdf.couplings().items():
        (master, factor), = factors.items()
        urdf.tree.find(f"joint[@name='{name}']/mimic").attrib.update(joint=master, multiplier=repr(factor), offset=repr(offset))
    return urdf.text()


@pytest.mark.parametrize("name", ["mimic_gripper", *[n for n in RANDOM if case_of(n).coupled]])
def test_mimic(name, need):
    """Pinocchio's own mimic joints, beside the tree with G that the other tests use."""
    need("pinocchio")
    case = case_of(name)
    try:
        model = judges.pin.buildModelFromXML(direct_mimics(case.text), True)
    except (ValueError, RuntimeError) as refusal:
        pytest.skip(f"Pinocchio's mimic joints refuse: {str(refusal).strip().splitlines()[-1]}")
    peer = judges.Pinocchio.of(model, case.gravity, case.independent)
    s = case.states
    inverse = np.array([peer.inverse(s["q"][i], s["qd"][i], s["qdd"][i]) for i in range(STATES)])
    record("pinocchio", "inverse", difference(case.ours("inverse"), inverse), f"{name}, mimic")
    # the columns of M by rnea: crba of Pinocchio 4.1 keeps sums of the call before where joints mimic
    rest = np.array([peer.inverse(q, 0 * q, 0 * q) for q in s["q"]])
    mass = np.array([[peer.inverse(q, 0 * q, e) - g for e in np.eye(case.n)] for q, g in zip(s["q"], rest)])
    record("pinocchio", "mass", difference(case.ours("mass"), mass.reshape(STATES, -1)), f"{name}, mimic")
