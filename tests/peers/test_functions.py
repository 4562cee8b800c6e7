"""Every function on every robot against every peer that has it."""

import pytest

import tool
from cases import DYNAMICS, FILES, FORWARD, OPEN, RANDOM, SCRATCH, case_of, compare, difference, from_urdf, record
from judges import PEERS

PAIRS = [(peer, function) for peer, judge in PEERS.items() for function in judge.functions]


@pytest.mark.parametrize("peer, function", PAIRS)
@pytest.mark.parametrize("name", [*OPEN, *FILES, *RANDOM])
def test_function(name, peer, function, need):
    need(peer)
    case = case_of(name)
    if function in DYNAMICS and not case.known:
        pytest.skip(f"{name}: its inertias are unknown; pose, Jacobian and regressor are compared")
    if function in DYNAMICS and not case.bodies:
        pytest.skip(f"{name}: first moments without a mass, which no peer supports; see test_parameters and test_lossy")
    if function in FORWARD and case.singular:
        name = "linearize-forward" if function == "inverse-mass" else function
        done = tool.run("eval", case.path, name, *tool.MASSLESS, *case.args, text=tool.csv_of(case.states | {"tau": case.states["qdd"]}, ("q", "qd", "tau")))
        assert done.returncode == 3 and "accelerations under torques do not exist" in done.stderr, done.stderr
        return
    if peer == "kdl":
        case = case.cache.setdefault("chain", case.chain())
        if case is None:
            pytest.skip(f"{name}: no chain without the joints that its coupled joints follow")
    compare(case, peer, function)


@pytest.mark.parametrize("name", OPEN)
def test_parameters(name, need):
    """psdm's torques are the peer's regressor times psdm's parameters, whatever they are: first moments without a mass too."""
    need("pinocchio")
    case = case_of(name)
    if not case.known:
        pytest.skip(f"{name}: its inertias are unknown; pose, Jacobian and regressor are compared")
    pi = list(case.info["parameters"].values())
    Y = case.theirs("pinocchio", "regressor").reshape(len(case.states["q"]), case.n, -1)
    record("pinocchio", "inverse", difference(case.ours("inverse"), Y @ pi), f"{name}, Y pi")


@pytest.mark.parametrize("peer, function", [pair for pair in PAIRS if pair[0] != "kdl" and pair[1] not in FORWARD])
def test_lossy(peer, function, need):
    """The PUMA without what URDF cannot express: psdm and the peers read the same from the converted file. Without its drives and the
    first moments of link 2 its mass matrix is not positive definite any more, so there is no forward."""
    need(peer)
    path = SCRATCH / "puma560_lossy.urdf"
    path.write_text(case_of("puma560").text)
    compare(from_urdf(path), peer, function)


def test_losses(need):
    """Everything that URDF cannot express is named, not only the first of each joint, and the written file can be read: a limit on one
    side would read as zero on the other."""
    path = SCRATCH / "losses.yaml"
    path.write_text("name: losses\nconvention: dh\njoints:\n"
                    "  - {name: a, type: revolute, a: 1, limits: {lower: 0.5}}\n"
                    "  - {name: b, type: revolute, a: 1, limits: {upper: 2}, drive_inertia: 1, stiffness: 100}\n"
                    "links:\n" + 2 * "  - {mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n")
    done = tool.run("convert", path, "--to", "urdf")
    lost = [line.split(": ")[-1] for line in done.stderr.splitlines() if "cannot express" in line]
    assert done.returncode == 3 and lost == ["joint 'a' has a limit on one side only", "joint 'b' has a drive inertia",
                                            "joint 'b' has a stiffness", "joint 'b' has a limit on one side only"]
    text = tool.ask("convert", path, "--to", "urdf", "--lossy")
    path = SCRATCH / "losses.urdf"
    path.write_text(text)
    assert all(j["limits"]["lower"] is None and j["limits"]["upper"] is None for j in tool.inspect(path)["joints"])
    need("pinocchio")
    compare(from_urdf(path), "pinocchio", "inverse")
