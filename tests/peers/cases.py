"""The robots: shipped ones through psdm convert, tests/robots/urdf, and random ones; and how each is compared with a peer."""

import os
import tempfile
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

import random_urdf
import tool
from judges import PEERS
from urdf import Urdf

SOURCE = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("PSDM_SEED", "20260101"))
STATES = 20
TOLERANCE = 1e-10
FORWARD = {"forward", "linearize-forward", "inverse-mass"}  # need a mass matrix that is positive definite
DYNAMICS = {"inverse", "mass", "energy", "linearize-inverse", *FORWARD}
MATRICES = {"linearize-inverse": 3, "linearize-forward": 3, "inverse-mass": 1}
_scratch = tempfile.TemporaryDirectory(prefix="psdm-peers-")
SCRATCH = Path(_scratch.name)

worst = {}  # (peer, function): (difference, robot), for the table at the end


@dataclass
class Case:
    name: str
    path: Path                     # psdm's file
    text: str                      # URDF that the peers read
    args: tuple = ()               # options of psdm
    gravity: tuple = (0, 0, -9.81)
    armature: dict = field(default_factory=dict)   # {joint: drive inertia}
    couplings: dict = field(default_factory=dict)  # {joint: ({independent joint: factor}, offset)}
    moving: list = None            # tree joints, in psdm's order
    passive: tuple = ()            # those moved by closed loops; test_loops closes them
    tip: str = None                # of a chain
    known: bool = True             # all inertias are known
    bodies: bool = True            # every link is a body: none has first moments without a mass
    singular: bool = False         # the mass matrix is singular

    def __post_init__(self):
        self.urdf = Urdf(self.text)
        self.moving = self.moving or self.urdf.moving()
        self.independent = [j for j in self.moving if j not in self.couplings and j not in self.passive]
        # q_tree = G q + c
        self.G = np.zeros((len(self.moving), len(self.independent)))
        self.c = np.zeros(len(self.moving))
        for row, name in enumerate(self.moving):
            factors, self.c[row] = self.couplings.get(name, ({name: 1.0} if name not in self.passive else {}, 0.0))
            for other, factor in factors.items():
                self.G[row, self.independent.index(other)] = factor
        self.coupled = bool(self.couplings)
        self.n = len(self.independent)
        self.cache = {}

    @cached_property
    def info(self):
        return tool.inspect(self.path, self.args)

    @cached_property
    def links(self):
        """The link after each moving joint, by psdm's name."""
        by_joint = {j["name"]: j["link"] for j in self.info["joints"]}
        return [by_joint[name] for name in self.moving]

    @cached_property
    def states(self):
        rng = np.random.default_rng([SEED, zlib.crc32(self.name.encode())])
        slides = {j.name for j in self.urdf.joints if j.type == "prismatic"}
        reach = np.array([0.5 if name in slides else np.pi for name in self.independent])
        q, qd, qdd = (rng.uniform(-1, 1, (STATES, self.n)) for _ in range(3))
        return {"q": q * reach, "qd": 2 * qd, "qdd": 3 * qdd, "share": rng.uniform(-1, 1, (STATES, self.n))}

    @cached_property
    def looked_at(self):
        """The last link and one in the middle, fixed or moving, of those that have a name in psdm."""
        known = {j["link"] for j in self.info["joints"]}
        links = [j.child for j in (self.urdf.path(self.tip) if self.tip else self.urdf.joints) if j.child in known]
        return sorted({links[-1], links[zlib.crc32(self.name.encode()) % len(links)]})

    def chain(self):
        """The part to one tip, the one with most moving joints whose leaders are on the path; None when there is none."""
        best = None
        for link in self.urdf.links:
            path = self.urdf.path(link)
            moving = [j.name for j in path if j.moves]
            masters = {m for j in moving for m in self.couplings.get(j, ({}, 0))[0]} | {j.mimic[0] for j in path if j.moves and j.mimic}
            if moving and masters <= set(moving) and (best is None or len(path) > len(best[1])):
                best = (link, path, moving)
        if best is None:
            return None
        tip, _, moving = best
        return replace(self, args=(*self.args, "--tip", tip), tip=tip, moving=[m for m in self.moving if m in moving],
                       couplings={k: v for k, v in self.couplings.items() if k in moving},
                       armature={k: v for k, v in self.armature.items() if k in moving})

    # ---- psdm's answers, one call each ----

    def ours(self, function, *options):
        if function == "inverse-mass":
            return self.ours("linearize-forward", *options)[:, 2 * self.n ** 2:]
        key = (function, options)
        if key not in self.cache:
            if function in FORWARD and "tau" not in self.states:
                self.states["tau"] = self.states["share"] * np.abs(self.ours("inverse")).max()
            self.cache[key] = tool.evaluate(self.path, function, self.states, (*self.args, *options))
        return self.cache[key]

    # ---- a peer's, through the coupling ----

    def judge(self, peer):
        if peer not in self.cache:
            extra = {"tip": self.tip} if peer == "kdl" else {}
            self.cache[peer] = PEERS[peer](self.text, self.gravity, self.moving, self.armature, **extra)
        return self.cache[peer]

    def tree(self, i):
        s = self.states
        return self.G @ s["q"][i] + self.c, self.G @ s["qd"][i], self.G @ s["qdd"][i]

    def coupled_forward(self, judge, i):
        """d(qdd) = M^-1 (dtau - dtau/dqd dqd - dtau/dq dq) with the inverse dynamics' derivatives through the coupling."""
        (q, qd, _), G = self.tree(i), self.G
        M = G.T @ judge.mass(q) @ G
        qdd = np.linalg.solve(M, self.states["tau"][i] - G.T @ judge.inverse(q, qd, 0 * qd))
        dq, dqd, _ = judge.linearize_inverse(q, qd, G @ qdd)
        return -np.linalg.solve(M, G.T @ dq @ G), -np.linalg.solve(M, G.T @ dqd @ G), np.linalg.inv(M)

    def theirs(self, peer, function, link=None):
        judge, G, rows = self.judge(peer), self.G, []
        for i in range(STATES):
            q, qd, qdd = self.tree(i)
            if function == "inverse":
                rows.append(G.T @ judge.inverse(q, qd, qdd))
            elif function == "mass":
                rows.append(G.T @ judge.mass(q) @ G)
            elif function == "forward":
                tau = self.states["tau"][i]
                if self.coupled:
                    bias = G.T @ judge.inverse(q, qd, 0 * qd)
                    rows.append(np.linalg.solve(G.T @ judge.mass(q) @ G, tau - bias))
                else:
                    rows.append(judge.forward(q, qd, tau))
            elif function == "linearize-inverse":
                rows.append([G.T @ A @ G for A in judge.linearize_inverse(q, qd, qdd)])
            elif function == "linearize-forward":
                rows.append(self.coupled_forward(judge, i) if self.coupled else judge.linearize_forward(q, qd, self.states["tau"][i]))
            elif function == "inverse-mass":
                rows.append(np.linalg.inv(G.T @ judge.mass(q) @ G) if self.coupled else judge.inverse_mass(q))
            elif function == "energy":
                rows.append(judge.energy(q, qd))
            elif function == "jacobian":
                rows.append(judge.jacobian(q, link) @ G)
            elif function == "pose":
                rows.append(judge.pose(q, link))
            elif function == "regressor":
                drives = [G[k][:, None] * qdd[k]
                          for k, name in enumerate(self.moving) if name in self.armature]
                rows.append(np.hstack([G.T @ judge.regressor(q, qd, qdd, self.links), *drives]))
        return np.array([np.ravel(row) for row in rows])


def difference(ours, theirs):
    """The largest difference relative to the largest number over all states."""
    assert ours.shape == theirs.shape, f"{ours.shape} numbers, the peer has {theirs.shape}"
    assert np.isfinite(ours).all() and np.isfinite(theirs).all()
    return float(np.abs(ours - theirs).max() / (np.abs(theirs).max() or 1.0))


def matrix_difference(case, function, k, ours, theirs):
    """Of matrix k of a linearization, state by state; for one that maps to accelerations the torque of the difference, as for
    forward. Where velocities have no effect dtau/dqd is rounding alone, so what M times the motion's size would be counts as well."""
    n = case.n
    assert ours.shape == theirs.shape == (STATES, MATRICES[function] * n * n), f"{ours.shape} numbers, the peer has {theirs.shape}"
    assert np.isfinite(ours).all() and np.isfinite(theirs).all()
    ours, theirs = (x.reshape(STATES, -1, n, n)[:, k] for x in (ours, theirs))
    M = case.ours("mass").reshape(STATES, n, n)
    motion = 0.0 if function == "inverse-mass" or k == 2 else np.abs(case.states[("qdd", "qd")[k]]).max()
    off, terms = (M @ (ours - theirs), np.abs(M) @ np.abs(ours)) if function in FORWARD else (ours - theirs, np.abs(theirs))
    scale = terms.max(axis=(1, 2)) + motion * np.abs(M).max(axis=(1, 2))
    return float((np.abs(off).max(axis=(1, 2)) / np.where(scale > 0, scale, 1.0)).max())


def record(peer, function, value, name):
    if value > worst.get((peer, function), (-1.0, ""))[0]:
        worst[peer, function] = (value, name)
    assert value <= TOLERANCE, f"{name}: {function} differs from {peer} by {value:.2e} (relative; {TOLERANCE:g} is let pass)"


def compare(case, peer, function):
    if function in ("jacobian", "pose"):
        for link in case.looked_at:
            theirs = case.theirs(peer, function, link)
            if function == "jacobian" and not theirs.any():
                done = tool.run("eval", case.path, function, *tool.MASSLESS, *case.args, "--link", link, text=tool.csv_of(case.states, ("q",)))
                assert done.returncode == 2 and "is fixed to the base" in done.stderr, done.stderr
                continue
            record(peer, function, difference(case.ours(function, "--link", link), theirs), f"{case.name}, {link}")
        return
    ours = case.ours(function)
    theirs = case.theirs(peer, function)
    if function in MATRICES:
        for k in range(MATRICES[function]):
            record(peer, function, matrix_difference(case, function, k, ours, theirs), case.name)
        return
    if function == "forward":
        # accelerations of light links lose digits to the condition of M on both sides, so what counts is the torque that the
        # difference amounts to, M (qdd - qdd'), relative to the torques that M qdd is the sum of: no solver does better than
        # rounding these (near a singular M, as at the stretched wrist of hollow_links, they are far larger than tau)
        assert np.isfinite(ours).all() and np.isfinite(theirs).all()
        M = case.ours("mass").reshape(STATES, case.n, case.n)
        torque = np.abs(np.einsum("sij,sj->si", M, ours - theirs)).max(axis=1)
        terms = np.einsum("sij,sj->si", np.abs(M), np.abs(ours)).max(axis=1)
        record(peer, function, float((torque / (np.abs(case.states["tau"]).max() + terms)).max()), case.name)
        return
    record(peer, function, difference(ours, theirs), case.name)


# ---- the robots ----

def from_urdf(path, args=("--no-snap",), **more):
    text = Path(path).read_text()
    return Case(Path(path).stem, Path(path), text, args, couplings=Urdf(text).couplings(), **more)


def shipped(path):
    """A robot of robots/: psdm reads its YAML, the peers the file from psdm convert, plus drive inertias and couplings."""
    info = tool.inspect(path)
    done = tool.run("convert", path, "--to", "urdf", "--lossy")
    assert done.returncode == 0, done.stderr
    moving = [j for j in info["joints"] if j["type"] != "fixed"]
    independent = [j["name"] for j in moving if "q" in j]
    couplings = {j["name"]: (dict(zip(independent, j["couple"]["factors"])), j["couple"]["offset"])
                 for j in moving if "couple" in j and None not in j["couple"]["factors"]}
    drives = {j["name"]: info["parameters"][f"Ia{k + 1}"] for k, j in enumerate(moving) if f"Ia{k + 1}" in info["parameters"]}
    pi = np.reshape(list(info["parameters"].values())[:10 * len(moving)], (-1, 10)).astype(float)
    return Case(path.stem, path, done.stdout, (), tuple(info["gravity"]), {k: v or 0.0 for k, v in drives.items()}, couplings,
                passive=tuple(j["name"] for j in moving if "q" not in j and j["name"] not in couplings), known=info["ready"], bodies=not ((pi[:, 0] == 0) & (pi[:, 1:4] != 0).any(axis=1)).any())


def random_case(index):
    text, singular = random_urdf.make(SEED, index)
    path = SCRATCH / f"random{index}.urdf"
    path.write_text(text)
    return from_urdf(path, singular=singular)


SHIPPED = {p.stem: p for p in sorted((SOURCE / "robots").glob("*.yaml"))}
CLOSED = [name for name, path in SHIPPED.items() if "\nloops:" in path.read_text()]  # robots with closed loops: test_loops
OPEN = [name for name in SHIPPED if name not in CLOSED]
FILES = {p.stem: p for p in sorted((SOURCE / "tests/robots/urdf").glob("*.urdf"))}
RANDOM = [f"random{i}" for i in range(int(os.environ.get("PEERS_RANDOM", "100")))]
_made = {}


def case_of(name):
    if name not in _made:
        _made[name] = shipped(SHIPPED[name]) if name in SHIPPED else from_urdf(FILES[name]) if name in FILES else random_case(int(name[6:]))
    return _made[name]
