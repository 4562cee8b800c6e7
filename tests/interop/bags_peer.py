"""Bags by other writers: rosbags (both storages, both encodings of its own) and Foxglove's mcap (every compression). psdm reads the same rows as from the CSV of the same numbers."""

import pathlib
import tempfile

import numpy as np
from mcap.writer import CompressionType, Writer
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as BagWriter
from rosbags.typesys import Stores, get_typestore

from peer import expect_below, finish, random, robot, tool

NAME, JOINTS, ROWS, BEGIN = "two_link", 2, 3000, 1_700_000_000_123_456_789
store = get_typestore(Stores.ROS2_HUMBLE)
JointState = store.types["sensor_msgs/msg/JointState"]
Header, Time = store.types["std_msgs/msg/Header"], store.types["builtin_interfaces/msg/Time"]


def names():
    import json

    return [joint["name"] for joint in json.loads(tool("inspect", robot(NAME), "--json"))["joints"]]


def motion():
    """Smooth positions and their true rates, torques with noise: (rows x joints) each."""
    t = np.arange(ROWS)[:, None] * 1e-3
    w = random.uniform(1, 3, JOINTS)
    return np.sin(w * t), w * np.cos(w * t), random.normal(0, 1, (ROWS, JOINTS)) + np.sin(2 * w * t)


def stamp(k):
    return BEGIN + k * 1_000_000


def state(k, joints, q, qd, tau):
    """Joints in the opposite order, with one of another device between."""
    def mixed(x, other):
        return np.array([*x[k][::-1], other])

    s = stamp(k)
    return JointState(Header(Time(s // 10**9, s % 10**9), "base"), [*joints[::-1], "finger"], mixed(q, 0.1), mixed(qd, 0.2), mixed(tau, 0.3))


def write_rosbag(path, storage, joints, q, qd, tau):
    with BagWriter(path, version=8, storage_plugin=storage) as bag:
        connection = bag.add_connection("/joint_states", JointState.__msgtype__, typestore=store)
        for k in range(ROWS):
            bag.write(connection, stamp(k) + 500, store.serialize_cdr(state(k, joints, q, qd, tau), JointState.__msgtype__))


def write_mcap(path, compression, joints, q, qd, tau):
    with open(path, "wb") as stream:
        writer = Writer(stream, compression=compression, chunk_size=100_000)
        writer.start("ros2", "peer")
        schema = writer.register_schema(JointState.__msgtype__, "ros2msg", b"")
        channel = writer.register_channel("/joint_states", "cdr", schema)
        for k in range(ROWS):
            # one message in two is big-endian
            data = store.serialize_cdr(state(k, joints, q, qd, tau), JointState.__msgtype__, little_endian=k % 2 == 0)
            writer.add_message(channel, stamp(k) + 500, bytes(data), stamp(k))
        writer.finish()


def fit(log):
    """All numbers of a calibration of the log."""
    import json

    answer = json.loads(tool("calibrate", robot(NAME), "--log", log, "--accept", "useless", "--json"))  # the torques are noise: the numbers must agree, not be good
    return np.array([[p["value"], p["sd"]] for p in answer["parameters"]])


def compare():
    joints, (q, qd, tau) = names(), motion()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        columns = [f"{key}{j + 1}" for key in ("q", "qd", "tau") for j in range(JOINTS)]
        t = np.array([(stamp(k) - BEGIN) // 10**9 + 1e-9 * ((stamp(k) - BEGIN) % 10**9) for k in range(ROWS)])
        np.savetxt(folder / "log.csv", np.column_stack([t, q, qd, tau]), delimiter=",", header=",".join(["t"] + columns), comments="", fmt="%.17g")
        want = fit(folder / "log.csv")
        bags = {}
        for storage in StoragePlugin:
            bags[f"rosbags, {storage.name}"] = folder / f"run_{storage.name}"
            write_rosbag(bags[f"rosbags, {storage.name}"], storage, joints, q, qd, tau)
        for compression in CompressionType:
            bags[f"mcap, {compression.name}"] = folder / f"{compression.name}.mcap"
            write_mcap(bags[f"mcap, {compression.name}"], compression, joints, q, qd, tau)
        for what, path in bags.items():
            got = fit(path)
            expect_below(f"{what}: other bits than from CSV", np.count_nonzero(got != want) if got.shape == want.shape else np.inf, 0)
        inside = next((folder / "run_SQLITE3").glob("*.db3"))
        expect_below("the file of a folder, its topic named", np.count_nonzero(fit(f"{inside}:/joint_states") != want), 0)


compare()
finish("bags")
