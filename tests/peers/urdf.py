"""A small URDF reader that shares nothing with psdm: it builds KDL's chains, and says which joints move together."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

import numpy as np

MOVING = ("revolute", "continuous", "prismatic")


def _numbers(element, name, default):
    text = element.get(name) if element is not None else None
    return np.array([float(x) for x in text.split()]) if text is not None else np.array(default, dtype=float)


@dataclass
class Link:
    name: str
    mass: float = 0.0
    xyz: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rpy: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: tuple = (0.0,) * 6  # ixx ixy ixz iyy iyz izz, in the axes of the inertial frame


@dataclass
class Joint:
    name: str
    type: str
    parent: str
    child: str
    xyz: np.ndarray
    rpy: np.ndarray
    axis: np.ndarray
    mimic: tuple = None  # (joint, multiplier, offset)

    @property
    def moves(self):
        return self.type in MOVING


def _link(e):
    inertial = e.find("inertial")
    if inertial is None:
        return Link(e.get("name"))
    origin, inertia = inertial.find("origin"), inertial.find("inertia")
    moments = tuple(float(inertia.get(k, 0)) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")) if inertia is not None else (0.0,) * 6
    return Link(e.get("name"), float(inertial.find("mass").get("value")), _numbers(origin, "xyz", (0, 0, 0)),
                _numbers(origin, "rpy", (0, 0, 0)), moments)


def _joint(e):
    origin, mimic = e.find("origin"), e.find("mimic")
    follows = (mimic.get("joint"), float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))) if mimic is not None else None
    return Joint(e.get("name"), e.get("type"), e.find("parent").get("link"), e.find("child").get("link"),
                 _numbers(origin, "xyz", (0, 0, 0)), _numbers(origin, "rpy", (0, 0, 0)), _numbers(e.find("axis"), "xyz", (1, 0, 0)), follows)


class Urdf:
    def __init__(self, text):
        self.tree = ET.fromstring(text.encode())
        self.links = {e.get("name"): _link(e) for e in self.tree.findall("link")}
        self.joints = [_joint(e) for e in self.tree.findall("joint")]
        self.above = {j.child: j for j in self.joints}  # the joint whose child a link is
        self.root = next(name for name in self.links if name not in self.above)

    def moving(self):
        return [j.name for j in self.joints if j.moves]

    def path(self, link):
        """The joints from the root to a link."""
        joints = []
        while link in self.above:
            joints.insert(0, self.above[link])
            link = joints[0].parent
        return joints

    def below(self, link):
        """The links after a link, without itself."""
        found = []
        for joint in self.joints:
            if joint.parent == link:
                found += [joint.child] + self.below(joint.child)
        return found

    def couplings(self):
        """{joint: ({independent joint: factor}, offset)} with chains of mimics resolved."""
        by_name, result = {j.name: j for j in self.joints}, {}

        def expand(name):
            mimic = by_name[name].mimic
            if mimic is None:
                return {name: 1.0}, 0.0
            factors, offset = expand(mimic[0])
            return {k: mimic[1] * f for k, f in factors.items()}, mimic[1] * offset + mimic[2]

        for joint in self.joints:
            if joint.moves and joint.mimic:
                result[joint.name] = expand(joint.name)
        return result

    def text(self):
        return ET.tostring(self.tree, encoding="unicode")

    def rooted_at(self, link):
        """The text of a subtree, with this link as its root."""
        keep = {link, *self.below(link)}
        robot = ET.Element("robot", self.tree.attrib)
        robot.extend(e for e in self.tree.findall("link") if e.get("name") in keep)
        robot.extend(e for e in self.tree.findall("joint") if e.find("parent").get("link") in keep)
        return ET.tostring(robot, encoding="unicode")
