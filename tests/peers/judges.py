"""The peers behind one interface. Each has the whole tree: vectors are in the order of `moving`, the names of its moving joints."""

import xml.etree.ElementTree as ET

import numpy as np

try:
    import pinocchio as pin
except ImportError as missing:
    pin, pin_missing = None, str(missing)
try:
    import mujoco
except ImportError as missing:
    mujoco, mujoco_missing = None, str(missing)
try:
    import PyKDL as kdl
except ImportError as missing:
    kdl, kdl_missing = None, str(missing)

from urdf import Urdf


def without_shapes(text):
    """The URDF without <visual> and <collision>: their meshes are not part of this repository."""
    tree = ET.fromstring(text.encode())
    for link in tree.findall("link"):
        for shape in link.findall("visual") + link.findall("collision"):
            link.remove(shape)
    return tree


class Pinocchio:
    functions = ("inverse", "forward", "mass", "energy", "jacobian", "pose", "regressor", "linearize-inverse", "linearize-forward", "inverse-mass")
    # m mx my mz XX XY XZ YY YZ ZZ <- m mx my mz XX XY YY XZ YZ ZZ
    order = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]

    def __init__(self, text, gravity, moving, armature={}):
        self.use(pin.buildModelFromXML(ET.tostring(without_shapes(text), encoding="unicode")), gravity, moving, armature)

    @classmethod
    def of(cls, model, gravity, moving):
        """A judge with the caller's model."""
        judge = cls.__new__(cls)
        judge.use(model, gravity, moving)
        return judge

    def use(self, model, gravity, moving, armature={}):
        self.model, self.data = model, model.createData()
        model.gravity.linear = np.array(gravity)
        self.ids = [model.getJointId(name) for name in moving]
        self.v = [model.joints[i].idx_v for i in self.ids]
        for name, inertia in armature.items():
            model.armature[model.joints[model.getJointId(name)].idx_v] = inertia

    def configuration(self, q):
        """An unbounded joint has the cosine and the sine of its angle for coordinates."""
        out = pin.neutral(self.model)
        for i, x in zip(self.ids, q):
            at, width = self.model.joints[i].idx_q, self.model.joints[i].nq
            out[at:at + width] = x if width == 1 else (np.cos(x), np.sin(x))
        return out

    def spread(self, x):
        out = np.zeros(self.model.nv)
        out[self.v] = x
        return out

    def frame(self, link):
        return self.model.getFrameId(link, pin.FrameType.BODY)

    def inverse(self, q, qd, qdd):
        return pin.rnea(self.model, self.data, self.configuration(q), self.spread(qd), self.spread(qdd))[self.v]

    def forward(self, q, qd, tau):
        return pin.aba(self.model, self.data, self.configuration(q), self.spread(qd), self.spread(tau))[self.v]

    def square(self, A):
        return np.array(A)[np.ix_(self.v, self.v)]

    def symmetric(self, A):
        """Pinocchio fills the upper triangle."""
        return self.square(np.triu(A) + np.triu(A, 1).T)

    def mass(self, q):
        return self.symmetric(pin.crba(self.model, self.data, self.configuration(q)))

    def inverse_mass(self, q):
        return self.symmetric(pin.computeMinverse(self.model, self.data, self.configuration(q)))

    def linearize_inverse(self, q, qd, qdd):
        """dtau/dq, dtau/dqd, M"""
        pin.computeRNEADerivatives(self.model, self.data, self.configuration(q), self.spread(qd), self.spread(qdd))
        return self.square(self.data.dtau_dq), self.square(self.data.dtau_dv), self.symmetric(self.data.M)

    def linearize_forward(self, q, qd, tau):
        """dqdd/dq, dqdd/dqd, M^-1"""
        pin.computeABADerivatives(self.model, self.data, self.configuration(q), self.spread(qd), self.spread(tau))
        return self.square(self.data.ddq_dq), self.square(self.data.ddq_dv), self.symmetric(self.data.Minv)

    def energy(self, q, qd):
        at = self.configuration(q)
        return np.array([pin.computeKineticEnergy(self.model, self.data, at, self.spread(qd)),
                         pin.computePotentialEnergy(self.model, self.data, at)])

    def jacobian(self, q, link):
        J = pin.computeFrameJacobian(self.model, self.data, self.configuration(q), self.frame(link), pin.LOCAL_WORLD_ALIGNED)
        return J.reshape(6, -1)[:, self.v]

    def pose(self, q, link):
        pin.framesForwardKinematics(self.model, self.data, self.configuration(q))
        placement = self.data.oMf[self.frame(link)]
        return np.concatenate([placement.translation, placement.rotation.ravel()])

    def regressor(self, q, qd, qdd, links):
        """Columns of the parameters of `links`, one per moving joint, in their own frames. A frame different from Pinocchio's joint frame (x' = R x + p) transforms the parameters by a constant matrix."""
        Y = pin.computeJointTorqueRegressor(self.model, self.data, self.configuration(q), self.spread(qd), self.spread(qdd))
        Y = Y.reshape(self.model.nv, -1)[self.v]
        blocks = []
        for i, link in zip(self.ids, links):
            own = Y[:, 10 * (i - 1):10 * i][:, self.order]
            placement = self.model.frames[self.frame(link)].placement
            blocks.append(own @ moved_parameters(placement.rotation, placement.translation))
        return np.hstack(blocks)


def moved_parameters(R, p):
    """(10 x 10): standard parameters about a frame to those about the frame in which it is at R, p."""
    columns = []
    for k in range(10):
        m, h, I = float(k == 0), np.zeros(3), np.zeros((3, 3))
        if 1 <= k <= 3:
            h[k - 1] = 1
        if k >= 4:
            i, j = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)][k - 4]
            I[i, j] = I[j, i] = 1
        h, I = R @ h, R @ I @ R.T
        I = I + (2 * p @ h + m * p @ p) * np.eye(3) - np.outer(p, h) - np.outer(h, p) - m * np.outer(p, p)
        columns.append([m, *(h + m * p), I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]])
    return np.array(columns).T


class MuJoCo:
    functions = ("inverse", "forward", "mass", "energy", "jacobian", "pose")

    def __init__(self, text, gravity, moving, armature={}):
        self.model = model = self.compile(text)
        self.data = mujoco.MjData(model)
        model.opt.gravity[:] = gravity
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # no limits, no contacts, no equalities of mimics
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        model.dof_damping[:] = 0
        self.v = [int(model.joint(name).dofadr[0]) for name in moving]
        for name, inertia in armature.items():
            model.dof_armature[model.joint(name).dofadr[0]] = inertia

    def compile(self, text):
        """MuJoCo's compiler refuses massless moving bodies, inertias that are not positive definite and broken triangle
        inequalities; then it gets placeholders first, and the file's numbers afterwards."""
        tree = without_shapes(text)
        settings = ET.SubElement(ET.SubElement(tree, "mujoco"), "compiler")
        settings.attrib.update(fusestatic="false", inertiafromgeom="false", balanceinertia="false", boundmass="0", boundinertia="0")
        try:
            return mujoco.MjModel.from_xml_string(ET.tostring(tree, encoding="unicode"))
        except ValueError as refusal:
            if "inertia" not in str(refusal):
                raise
        for link in tree.findall("link"):
            for inertial in link.findall("inertial"):
                link.remove(inertial)
            link.append(ET.fromstring('<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><mass value="1"/>'
                                      '<inertia ixx="1" iyy="1.1" izz="1.2" ixy="0" ixz="0" iyz="0"/></inertial>'))
        model = mujoco.MjModel.from_xml_string(ET.tostring(tree, encoding="unicode"))
        for link in Urdf(text).links.values():
            body = model.body(link.name)
            moments, axes = np.linalg.eigh(tensor(link.inertia))
            axes = rotation(link.rpy) @ axes * np.sign(np.linalg.det(axes))
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, axes.ravel())
            body.mass[:], body.ipos[:], body.inertia[:], body.iquat[:] = link.mass, link.xyz, moments, quaternion
        return model

    def set(self, q, qd=None):
        self.data.qpos[self.v] = q
        self.data.qvel[self.v] = 0 if qd is None else qd
        self.data.qfrc_applied[:] = 0

    def inverse(self, q, qd, qdd):
        self.set(q, qd)
        self.data.qacc[self.v] = qdd
        mujoco.mj_inverse(self.model, self.data)
        return self.data.qfrc_inverse[self.v].copy()

    def forward(self, q, qd, tau):
        self.set(q, qd)
        self.data.qfrc_applied[self.v] = tau
        mujoco.mj_forward(self.model, self.data)
        return self.data.qacc[self.v].copy()

    def position(self, q, qd=None):
        self.set(q, qd)
        mujoco.mj_fwdPosition(self.model, self.data)

    def mass(self, q):
        self.position(q)
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M[np.ix_(self.v, self.v)]

    def energy(self, q, qd):
        self.position(q, qd)
        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        # links that are fixed to the ground have a potential too, a constant that psdm and Pinocchio omit
        ground = self.model.body_weldid == 0
        constant = -self.model.body_mass[ground] @ self.data.xipos[ground] @ self.model.opt.gravity
        return np.array([self.data.energy[1], self.data.energy[0] - constant])

    def jacobian(self, q, link):
        self.position(q)
        J = np.zeros((6, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, J[:3], J[3:], self.model.body(link).id)
        return J[:, self.v]

    def pose(self, q, link):
        self.position(q)
        body = self.data.body(link)
        return np.concatenate([body.xpos, body.xmat])


def tensor(inertia):
    xx, xy, xz, yy, yz, zz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def rotation(rpy):
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                     [-sp, cp * sr, cp * cr]])


class KDL:
    """One chain, from the root to a tip; fixed links beside the chain are part of the link that carries them."""
    functions = ("inverse", "mass", "jacobian", "pose")

    def __init__(self, text, gravity, moving, armature={}, tip=None):
        self.urdf, self.chain, self.segment = Urdf(text), kdl.Chain(), {}
        path = self.urdf.path(tip)
        on_path = {joint.child for joint in path}
        for joint in path:
            at = kdl.Frame(kdl.Rotation.RPY(*joint.rpy), kdl.Vector(*joint.xyz))
            mover = kdl.Joint(joint.name, kdl.Joint.Fixed)
            if joint.moves:
                kind = kdl.Joint.TransAxis if joint.type == "prismatic" else kdl.Joint.RotAxis
                mover = kdl.Joint(joint.name, at.p, at.M * kdl.Vector(*joint.axis), kind, 1, 0, armature.get(joint.name, 0.0))
            self.chain.addSegment(kdl.Segment(joint.child, mover, at, self.lumped(joint.child, on_path)))
            self.segment[joint.child] = self.chain.getNrOfSegments()
        names = [joint.name for joint in path if joint.moves]
        self.take = [moving.index(name) for name in names]
        gravity = kdl.Vector(*gravity)
        self.id = kdl.ChainIdSolver_RNE(self.chain, gravity)
        self.dynamics = kdl.ChainDynParam(self.chain, gravity)
        self.fk = kdl.ChainFkSolverPos_recursive(self.chain)
        self.jac = kdl.ChainJntToJacSolver(self.chain)

    def lumped(self, name, on_path):
        link = self.urdf.links[name]
        about = kdl.RigidBodyInertia(link.mass, kdl.Vector(), kdl.RotationalInertia(*[link.inertia[i] for i in (0, 3, 5, 1, 2, 4)]))
        total = kdl.Frame(kdl.Rotation.RPY(*link.rpy), kdl.Vector(*link.xyz)) * about
        for joint in self.urdf.joints:
            if joint.parent == name and not joint.moves and joint.child not in on_path:
                total = total + kdl.Frame(kdl.Rotation.RPY(*joint.rpy), kdl.Vector(*joint.xyz)) * self.lumped(joint.child, on_path)
        return total

    def array(self, x):
        out = kdl.JntArray(len(self.take))
        for i, k in enumerate(self.take):
            out[i] = float(x[k])
        return out

    def spread(self, values):
        out = np.zeros(len(self.take))
        for i, k in enumerate(self.take):
            out[k] = values[i]
        return out

    def inverse(self, q, qd, qdd):
        tau, none = kdl.JntArray(len(self.take)), [kdl.Wrench() for _ in range(self.chain.getNrOfSegments())]
        assert self.id.CartToJnt(self.array(q), self.array(qd), self.array(qdd), none, tau) == 0
        return self.spread(tau)

    def mass(self, q):
        n = len(self.take)
        H, M = kdl.JntSpaceInertiaMatrix(n), np.zeros((n, n))
        assert self.dynamics.JntToMass(self.array(q), H) == 0
        for i, a in enumerate(self.take):
            for j, b in enumerate(self.take):
                M[a, b] = H[i, j]
        return M

    def jacobian(self, q, link):
        n = len(self.take)
        raw, J = kdl.Jacobian(n), np.zeros((6, n))
        assert self.jac.JntToJac(self.array(q), raw, self.segment[link]) == 0
        for i, k in enumerate(self.take):
            J[:, k] = [raw[r, i] for r in range(6)]
        return J

    def pose(self, q, link):
        at = kdl.Frame()
        assert self.fk.JntToCart(self.array(q), at, self.segment[link]) == 0
        return np.array([*at.p, *[at.M[i, j] for i in range(3) for j in range(3)]])


PEERS = {"pinocchio": Pinocchio, "mujoco": MuJoCo, "kdl": KDL}


def versions():
    """{peer: (version or None, reason)}"""
    return {"pinocchio": (pin.__version__, "") if pin else (None, pin_missing),
            "mujoco": (mujoco.__version__, "") if mujoco else (None, mujoco_missing),
            "kdl": (getattr(kdl, "__version__", "?"), "") if kdl else (None, kdl_missing)}
