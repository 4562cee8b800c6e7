"""Makes the calls of CasADi and of an FMI importer, with ctypes alone: python3 wrap_by_hand.py LIBRARY FMU_FOLDER ROBOT"""

import csv
import ctypes
import io
import os
import subprocess
import sys
import xml.etree.ElementTree as tree
import zipfile

library, folder, robot = sys.argv[1:]
PSDM = os.environ["PSDM"]
NUMBERS = ctypes.POINTER(ctypes.c_double)


def array(values):
    return (ctypes.c_double * max(len(values), 1))(*values)


def evaluate(function, row):
    text = ",".join(row) + "\n" + ",".join(f"{x:.17g}" for x in row.values()) + "\n"
    done = subprocess.run([PSDM, "eval", robot, function, "--in", "-"], input=text, capture_output=True, text=True, check=True)
    return [float(x) for x in list(csv.reader(io.StringIO(done.stdout)))[1]]


def close(what, got, want, tolerance=1e-12):
    scale = max(map(abs, want), default=0) or 1
    error = max((abs(a - b) for a, b in zip(got, want)), default=0) / scale
    assert len(got) == len(want) and error <= tolerance, f"{what}: off by {error:.1e} of {scale:.3g}"


# ---- CasADi's side ----
lib = ctypes.CDLL(os.path.abspath(library))


def sparsity(function, side, k):
    get = getattr(lib, f"{function}_sparsity_{side}")
    get.restype, get.argtypes = ctypes.POINTER(ctypes.c_longlong), [ctypes.c_longlong]
    s = get(k)
    if not s:
        return None
    rows, columns = s[0], s[1]
    if s[2] == 1:
        return rows, columns, [(r, c) for c in range(columns) for r in range(rows)]
    begin = [s[2 + c] for c in range(columns + 1)]
    assert begin == sorted(begin) and begin[0] == 0
    entries = [(s[3 + columns + k], c) for c in range(columns) for k in range(begin[c], begin[c + 1])]
    assert all(0 <= r < rows for r, _ in entries) and len(set(entries)) == len(entries)
    return rows, columns, entries


def call(function, *inputs, skip=()):
    """All results, full and row-major; None for an input is NULL, and so is a result in skip."""
    sizes = [ctypes.c_longlong() for _ in range(4)]
    assert getattr(lib, f"{function}_work")(*map(ctypes.byref, sizes)) == 0
    count_in, count_out = (getattr(lib, f"{function}_n_{side}")() for side in ("in", "out"))
    assert count_in == len(inputs) and sizes[0].value >= count_in and sizes[1].value >= count_out and sizes[2].value == 0
    for side, count in (("in", count_in), ("out", count_out)):
        assert sparsity(function, side, count) is None and sparsity(function, side, -1) is None
    arguments = (NUMBERS * sizes[0].value)(*(ctypes.cast(array(x), NUMBERS) if x is not None else NUMBERS() for x in inputs))
    shapes = [sparsity(function, "out", k) for k in range(count_out)]
    buffers = [array([float("nan")] * len(shape[2])) for shape in shapes]
    results = (NUMBERS * sizes[1].value)(*(NUMBERS() if k in skip else ctypes.cast(b, NUMBERS) for k, b in enumerate(buffers)))
    words = array([float("nan")] * sizes[3].value)
    memory = getattr(lib, f"{function}_checkout")()
    assert getattr(lib, function)(arguments, results, None, words, memory) == 0
    getattr(lib, f"{function}_release")(memory)
    full = []
    for (rows, columns, entries), buffer in zip(shapes, buffers):
        matrix = [0.0] * (rows * columns)
        for value, (r, c) in zip(buffer, entries):
            matrix[r * columns + c] = value
        full.append(matrix)
    return full


n = sparsity("inverse", "in", 0)[0]
q, qd, qdd = ([0.3 * ((7 * k + 3 * j) % 5 - 2) for k in range(n)] for j in range(3))
row = {f"{key}{k + 1}": x[k] for key, x in (("q", q), ("qd", qd), ("qdd", qdd)) for k in range(n)}
tau = evaluate("inverse", row)
close("inverse", call("inverse", q, qd, qdd)[0], tau)
close("inverse at zero", call("inverse", None, None, None)[0], evaluate("inverse", dict.fromkeys(row, 0.0)))
close("mass", call("mass", q)[0], evaluate("mass", {k: v for k, v in row.items() if k[1] != "d"}))
close("regressor", call("regressor", q, qd, qdd)[0], evaluate("regressor", row))
accelerating = {k: v for k, v in row.items() if not k.startswith("qdd")} | {f"tau{k + 1}": tau[k] for k in range(n)}
close("forward", call("forward", q, qd, tau)[0], qdd, 1e-10)
close("d inverse", sum(call("jac_inverse", q, qd, qdd, None), []), evaluate("linearize-inverse", row))
close("d forward", sum(call("jac_forward", q, qd, tau, None), []), evaluate("linearize-forward", accelerating), 1e-10)
some = call("jac_forward", q, qd, tau, None, skip=(1,))
close("d forward in part", some[0] + some[2], evaluate("linearize-forward", accelerating)[: n * n] + evaluate("linearize-forward", accelerating)[2 * n * n :], 1e-10)

# ---- an FMI importer's side: two instances beside each other, a free fall of one step ----
with zipfile.ZipFile(os.path.join(folder, "arm.fmu")) as packed:
    names = packed.namelist()
    packed.extractall("unpacked")
root = tree.parse("unpacked/modelDescription.xml").getroot()
shared = [name for name in names if name.startswith("binaries/") and name.endswith((".so", ".dylib"))]
assert "sources/arm_fmu.c" in names and len(shared) == 1, names
fmu = ctypes.CDLL(os.path.abspath(os.path.join("unpacked", shared[0])))
fmu.fmi2Instantiate.restype = ctypes.c_void_p
for name in ("fmi2GetVersion", "fmi2GetTypesPlatform"):
    getattr(fmu, name).restype = ctypes.c_char_p
assert fmu.fmi2GetVersion() == b"2.0" and fmu.fmi2GetTypesPlatform() == b"default"
said = []
LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p)


class Callbacks(ctypes.Structure):
    _fields_ = [("logger", LOGGER), ("allocate", ctypes.c_void_p), ("free", ctypes.c_void_p), ("finished", ctypes.c_void_p), ("environment", ctypes.c_void_p)]


callbacks = Callbacks(LOGGER(lambda _, who, status, category, form, text: said.append(text)), None, None, None, None)
guid = root.get("guid").encode()


def instance(identity=guid):
    return fmu.fmi2Instantiate(b"arm", 1, identity, b"", ctypes.byref(callbacks), 0, 0)


assert not instance(b"{another}") and b"GUID" in said.pop(), "another model's GUID is accepted"
reference = {v.get("name"): int(v.get("valueReference")) for v in root.find("ModelVariables")}
indices = [v.get("name") for v in root.find("ModelVariables")]
joints = sum(name.startswith("tau[") for name in reference)


def references(*keys):
    return (ctypes.c_uint * len(keys))(*(reference[key] for key in keys))


def get(c, *keys):
    values = array([0.0] * len(keys))
    assert fmu.fmi2GetReal(ctypes.c_void_p(c), references(*keys), ctypes.c_size_t(len(keys)), values) == 0
    return list(values)


def put(c, **pairs):
    keys = [key.replace("_at_", "[") + "]" if "_at_" in key else key for key in pairs]
    return fmu.fmi2SetReal(ctypes.c_void_p(c), references(*keys), ctypes.c_size_t(len(keys)), array(list(pairs.values())))


def step(c, time, h):
    return fmu.fmi2DoStep(ctypes.c_void_p(c), ctypes.c_double(time), ctypes.c_double(h), 1)


pair = instance(), instance()
for c in pair:
    assert step(c, 0, 0.01) == 3 and b"after initialization" in said.pop()
    assert fmu.fmi2SetupExperiment(ctypes.c_void_p(c), 0, ctypes.c_double(0), ctypes.c_double(0), 0, ctypes.c_double(0)) == 0
    assert fmu.fmi2EnterInitializationMode(ctypes.c_void_p(c)) == 0
    assert put(c, q_start_at_1=0.3) == 0 and get(c, "q[1]") == [0.3]
assert put(pair[1], internal_step=0.0005) == 0
for c in pair:
    assert fmu.fmi2ExitInitializationMode(ctypes.c_void_p(c)) == 0
    assert put(c, q_start_at_1=0.1) == 3 and b"before initialization ends" in said.pop()
    assert put(c, q_at_1=0.1) == 3 and b"can be set" in said.pop()
    assert put(c, tau_at_1=float("nan")) == 3 and b"not finite" in said.pop()
    assert step(c, 0, -0.1) == 3 and b"negative" in said.pop()
    assert step(c, 0, 0.0) == 0 and get(c, "q[1]") == [0.3]
    assert step(c, 0, 0.2) == 0
coarse, fine = (get(c, "q[1]", "qd[1]") for c in pair)
# a fourth-order method: halving a step of a millisecond changes the result very little, but it does
assert coarse != fine, "internal_step does nothing"
close("two internal steps", coarse, fine, 1e-9)
assert abs(coarse[0] - 0.3) > 1e-3, "nothing moved"
fmu.fmi2Reset(ctypes.c_void_p(pair[0]))
assert get(pair[0], "q[1]") == [0.0]
# the derivatives of the model structure are those of GetDerivatives
order = [indices[int(u.get("index")) - 1] for u in root.find("ModelStructure/Derivatives")]
dx = array([0.0] * len(order))
assert fmu.fmi2GetDerivatives(ctypes.c_void_p(pair[1]), dx, ctypes.c_size_t(len(order))) == 0
assert list(dx) == get(pair[1], *order) and len(order) == 2 * joints
for c in pair:
    fmu.fmi2FreeInstance(ctypes.c_void_p(c))
print("both interfaces work by hand")
