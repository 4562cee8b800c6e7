"""Random URDFs: trees, fixed links with inertia, odd axes, turned inertial frames, mimics, massless links, any order."""

import math
import random


def _list(values):
    return " ".join(repr(float(x)) for x in values)


def _vector(rng, size):
    return [rng.uniform(-size, size) for _ in range(3)]


def _angles(rng):
    kind = rng.random()
    if kind < 0.2:
        return [0.0, 0.0, 0.0]
    if kind < 0.4:
        return [rng.randrange(-4, 5) * math.pi / 4 for _ in range(3)]
    if kind < 0.5:
        return [rng.uniform(-3, 3), rng.choice((1, -1)) * (math.pi / 2 + rng.uniform(-1e-9, 1e-9)), rng.uniform(-3, 3)]
    return _vector(rng, math.pi)


def _axis(rng):
    kind = rng.random()
    if kind < 0.1:
        return None  # x
    if kind < 0.45:
        axis = [0.0, 0.0, 0.0]
        axis[rng.randrange(3)] = rng.choice((1.0, -1.0))
        return axis
    if kind < 0.55:
        return [rng.uniform(-1e-6, 1e-6), rng.uniform(-1e-6, 1e-6), rng.choice((1.0, -1.0))]
    return [x * 10 ** rng.uniform(-2, 2) for x in _vector(rng, 1)]


def _inertial(rng):
    """A body that could exist: second moments a, b, c along its axes, in axes of its own or turned by an rpy."""
    mass = 10 ** rng.uniform(-1.3, 1.3)
    a, b, c = (mass * rng.uniform(0.02, 0.2) ** 2 for _ in range(3))
    xyz, rpy = _vector(rng, 0.2), _angles(rng) if rng.random() < 0.5 else [0, 0, 0]
    off = [rng.uniform(-0.3, 0.3) * min(a, b, c) for _ in range(3)]
    values = dict(ixx=b + c, iyy=a + c, izz=a + b, ixy=off[0], ixz=off[1], iyz=off[2])
    return (f'    <inertial>\n      <origin xyz="{_list(xyz)}" rpy="{_list(rpy)}"/>\n      <mass value="{mass!r}"/>\n      <inertia '
            + " ".join(f'{k}="{v!r}"' for k, v in values.items()) + "/>\n    </inertial>\n")


def _shapes(rng):
    if rng.random() < 0.7:
        return ""
    shape = rng.choice(('<box size="0.1 0.2 0.3"/>', '<cylinder length="0.2" radius="0.05"/>', '<sphere radius="0.1"/>'))
    return f"    <visual><geometry>{shape}</geometry></visual>\n    <collision><geometry>{shape}</geometry></collision>\n"


def make(seed, index):
    """(text, whether its mass matrix is singular)"""
    rng = random.Random(f"{seed}/{index}")
    count = rng.randint(2, 12)
    types = [rng.choices(("revolute", "continuous", "prismatic", "fixed"), (45, 15, 20, 20))[0] for _ in range(count)]
    types[rng.randrange(count)] = "revolute"
    parents = [k if rng.random() < 0.7 else rng.randint(0, k) for k in range(count)]  # link 0 is the root, link k+1 behind joint k
    children = [[j for j in range(count) if parents[j] == k] for k in range(count + 1)]

    # a link may be massless if a link after it is not; a fixed leaf always may; a moving leaf in one robot of twelve
    hollow = [rng.random() < 0.15 for _ in range(count + 1)]
    bare_tip = rng.random() < 1 / 12
    for k in reversed(range(1, count + 1)):
        weighs_behind = any(not hollow[j + 1] for j in children[k])
        if types[k - 1] != "fixed" and not weighs_behind and not bare_tip:
            hollow[k] = False

    def weightless(k):
        return hollow[k] and all(weightless(j + 1) for j in children[k])

    moving = [j for j in range(count) if types[j] != "fixed"]
    follows = {}
    if len(moving) > 2 and rng.random() < 0.3:
        order = rng.sample(moving, len(moving))  # a joint follows one later in this order: chains, but no cycles
        for at in range(rng.randint(1, min(3, len(order) - 1))):
            follows[order[at]] = (rng.choice(order[at + 1:]), rng.choice((-1.0, 1.0, 2.0, rng.uniform(-1.5, 1.5))), rng.choice((0.0, rng.uniform(-1, 1))))

    def leader(j):
        return leader(follows[j][0]) if j in follows else j

    # singular: an independent joint moves no mass, not even through its followers
    pulled = {leader(j) for j in moving if not weightless(j + 1)}
    singular = any(leader(j) not in pulled for j in moving)

    links = [f'  <link name="link{k}">\n{"" if hollow[k] else _inertial(rng)}{_shapes(rng)}  </link>\n' for k in range(count + 1)]
    joints = []
    for j in range(count):
        # after a massless link the axes are general, or two joints could do the same
        general = hollow[parents[j]] or (j + 1 < count and hollow[j + 1])
        rpy, axis = (_vector(rng, 3), _vector(rng, 1)) if general else (_angles(rng), _axis(rng))
        text = f'  <joint name="joint{j + 1}" type="{types[j]}">\n    <origin xyz="{_list(_vector(rng, 0.4))}" rpy="{_list(rpy)}"/>\n'
        text += f'    <parent link="link{parents[j]}"/>\n    <child link="link{j + 1}"/>\n'
        if types[j] != "fixed":
            text += f'    <axis xyz="{_list(axis)}"/>\n' if axis else ""
            text += '    <limit lower="-3" upper="3" effort="50" velocity="5"/>\n' if types[j] != "continuous" else ""
            text += '    <dynamics damping="0.3" friction="0.1"/>\n' if rng.random() < 0.2 else ""
        if j in follows:
            other, factor, offset = follows[j]
            text += f'    <mimic joint="joint{other + 1}" multiplier="{factor!r}" offset="{offset!r}"/>\n'
        joints.append(text + "  </joint>\n")
    parts = links + joints
    if rng.random() < 0.5:
        rng.shuffle(parts)
    return f'<?xml version="1.0"?>\n<robot name="random{index}">\n' + "".join(parts) + "</robot>\n", singular
