"""PREFIX_cuda.py beside psdm eval: cuda_arrays.py FOLDER LIBRARY ROBOT.yaml REAL [fake|torch|cupy]

fake: arrays in ordinary memory that say they were on a GPU, for a library that was compiled as loops (make libarm_loops.so); also every mistake that is
to be refused. torch, cupy: their arrays, on a GPU. Numbers are compared with `psdm eval` at random states, in the precision of the code; $PSDM is the tool,
$PLAIN a shared library of arm.c.
"""
import array
import csv
import ctypes
import os
import random
import subprocess
import sys
import tempfile

folder, library, robot, real, kind = (sys.argv[1:] + ["fake"])[:5]
sys.path.insert(0, folder)
import arm_cuda  # noqa: E402

COUNT = 61
n = arm_cuda.N
letter, size = ("f", 4) if real == "float" else ("d", 8)
seed = int(os.environ.get("SEED", random.randrange(10**6)))
print("seed", seed)
random.seed(seed)


class Fake:
    """Rows of numbers that say they were on a GPU, by one protocol or the other."""

    def __init__(self, rows, dlpack=False, **changes):
        self.shape = (len(rows), len(rows[0]))
        self.data = array.array(letter, [x for row in rows for x in row])
        self.pointer = self.data.buffer_info()[0]
        self.dlpack = dlpack
        self.changes = changes
        if dlpack:
            self.__class__ = Packed

    @property
    def __cuda_array_interface__(self):
        interface = {"shape": self.shape, "typestr": "<f%d" % size, "data": (self.pointer, False), "version": 3, "strides": None}
        interface.update(self.changes)
        return interface

    def rows(self):
        return [list(self.data[k*self.shape[1]:(k + 1)*self.shape[1]]) for k in range(self.shape[0])]


class Packed(Fake):
    __cuda_array_interface__ = None

    def __dlpack_device__(self):
        return (self.changes.get("kind", 2), 0)

    def __dlpack__(self, stream=None):
        self.streams = getattr(self, "streams", []) + [stream]
        self.shape_c = (ctypes.c_int64*2)(*self.shape)
        self.tensor = arm_cuda._Tensor(self.pointer, 2, 0, 2, 2, 8*size, 1, self.shape_c, None, 0)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


def draw(rows, scale):
    """Numbers that float holds exactly."""
    return [[round(random.uniform(-scale, scale)*64)/64 for _ in range(COUNT)] for _ in range(rows)]


def truth(function, **blocks):
    """psdm eval at the same states, column by column."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "in.csv")
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["%s%d" % (name, k + 1) for name, rows in blocks.items() for k in range(len(rows))])
            for i in range(COUNT):
                writer.writerow([repr(rows[k][i]) for rows in blocks.values() for k in range(len(rows))])
        text = subprocess.run([os.environ["PSDM"], "eval", robot, function, "--in", path], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    lines = list(csv.reader(text.splitlines()))[1:]
    return [[float(line[k]) for line in lines] for k in range(len(lines[0]))]


def close(name, got, want, spread=1.0):
    """Roundings of a few hundred operations, of the largest number."""
    largest = max(abs(x) for row in want for x in row)
    error = max(abs(x - y) for a, b in zip(got, want) for x, y in zip(a, b))
    bound = 300*spread*largest*(2**-24 if real == "float" else 2**-53)
    print("%-20s error %.1e of %.3g" % (name, error, largest))
    assert len(got) == len(want) and error <= bound, (name, error, bound)


def refused(error, text, function, *a, **k):
    try:
        function(*a, **k)
    except error as why:
        assert text in str(why), (text, str(why))
        return
    raise AssertionError("not refused: " + text)


def make(rows, kind_of, **changes):
    if kind_of == "torch":
        import torch
        return torch.tensor(rows, dtype=torch.float32 if real == "float" else torch.float64, device="cuda")
    if kind_of == "cupy":
        import cupy
        return cupy.array(rows, dtype="float32" if real == "float" else "float64")
    return Fake(rows, kind_of == "packed", **changes)


def rows_of(x):
    return x.rows() if isinstance(x, Fake) else x.tolist()


def room(rows, kind_of):
    """Results are asked for where the library cannot make them."""
    return None if kind_of in ("torch", "cupy") else Fake([[float("nan")]*COUNT for _ in range(rows)], kind_of == "packed")


def numbers(kind_of):
    q, qd, qdd, tau = draw(n, 3), draw(n, 2), draw(n, 4), draw(n, 20)
    a = {name: make(rows, kind_of) for name, rows in (("q", q), ("qd", qd), ("qdd", qdd), ("tau", tau))}
    close("inverse", rows_of(arm_cuda.inverse(a["q"], a["qd"], a["qdd"], out=room(n, kind_of))), truth("inverse", q=q, qd=qd, qdd=qdd))
    close("mass", rows_of(arm_cuda.mass(a["q"], out=room(n*n, kind_of))), truth("mass", q=q))
    close("forward", rows_of(arm_cuda.forward(a["q"], a["qd"], a["tau"], out=room(n, kind_of))), truth("forward", q=q, qd=qd, tau=tau), 1e4)
    want = truth("regressor", q=q, qd=qd, qdd=qdd)
    close("regressor", rows_of(arm_cuda.regressor(a["q"], a["qd"], a["qdd"], out=room(len(want), kind_of))), want)
    out = None if kind_of in ("torch", "cupy") else [room(n*n, kind_of) for _ in range(3)]
    parts = arm_cuda.linearize_inverse(a["q"], a["qd"], a["qdd"], out=out)
    close("linearize_inverse", [row for part in parts for row in rows_of(part)], truth("linearize_inverse", q=q, qd=qd, qdd=qdd))
    out = None if kind_of in ("torch", "cupy") else [room(n*n, kind_of) for _ in range(3)]
    parts = arm_cuda.linearize_forward(a["q"], a["qd"], a["tau"], out=out)
    close("linearize_forward", [row for part in parts for row in rows_of(part)], truth("linearize_forward", q=q, qd=qd, tau=tau), 1e4)
    # angles that the fast sine cannot take, beside ones that it can: as the plain C function in the same precision, which rounds angle plus offset alike
    for k, far in ((3, 1e9), (17, -3e6), (40, 123456.75)):
        q[n - 1][k] = array.array(letter, [far])[0]
    close("inverse, far", rows_of(arm_cuda.inverse(make(q, kind_of), a["qd"], a["qdd"], out=room(n, kind_of))), plain_inverse(q, qd, qdd))


def plain_inverse(q, qd, qdd):
    """arm_inverse of a library of arm.c, state by state."""
    function = ctypes.CDLL(os.path.abspath(os.environ["PLAIN"])).arm_inverse
    vector = arm_cuda.REAL*n
    states = []
    for i in range(COUNT):
        tau = vector()
        function(*(vector(*(rows[k][i] for k in range(n))) for rows in (q, qd, qdd)), tau)
        states.append(list(tau))
    return [[state[k] for state in states] for k in range(n)]


def mistakes():
    q, qd, qdd, tau = (Fake(draw(n, 1)) for _ in range(4))
    inverse = arm_cuda.inverse
    refused(TypeError, "neither __dlpack__", inverse, [1.0], qd, qdd, out=tau)
    refused(TypeError, "give the results as out=", inverse, q, qd, qdd)
    refused(ValueError, "qd must have the shape", inverse, q, Fake(draw(n + 1, 1)), qdd, out=tau)
    refused(ValueError, "tau must have the shape", inverse, q, qd, qdd, out=Fake(draw(n - 1, 1)))
    refused(TypeError, "q must be of " + real, inverse, Fake(draw(n, 1), typestr="<i%d" % size), qd, qdd, out=tau)
    refused(ValueError, "qdd must be contiguous", inverse, q, qd, Fake(draw(n, 1), strides=(size, size*n)), out=tau)
    refused(ValueError, "q has a mask", inverse, Fake(draw(n, 1), mask=q), qd, qdd, out=tau)
    refused(ValueError, "tau is read-only", inverse, q, qd, qdd, out=Fake(draw(n, 1), data=(tau.pointer, True)))
    refused(ValueError, "tau overlaps", inverse, q, qd, qdd, out=q)
    refused(ValueError, "q is not on a GPU", inverse, Fake(draw(n, 1), True, kind=1), qd, qdd, out=tau)
    refused(ValueError, "in use on another stream", inverse, Fake(draw(n, 1), stream=77), qd, qdd, out=tau)
    refused(ValueError, "out: 3 results", arm_cuda.linearize_inverse, q, qd, qdd, out=[tau])
    refused(RuntimeError, "CUDA: ", inverse, Fake(draw(n, 1), data=(0, False)), qd, qdd, out=tau)
    # a stream by number or by an object, and what DLPack is told of it
    packed = Fake(draw(n, 1), True)
    inverse(packed, qd, qdd, out=tau, stream=5)
    inverse(packed, qd, qdd, out=tau, stream=type("Stream", (), {"cuda_stream": 6})())
    inverse(packed, qd, qdd, out=tau)
    assert packed.streams == [5, 6, 1], packed.streams


def on_streams(kind_of):
    """Work on a stream of one's own, after work on that stream, without waiting."""
    rows = [draw(n, 1) for _ in range(3)]
    if kind_of == "torch":
        import torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            a = [make(x, kind_of) + 0 for x in rows]
            tau = arm_cuda.inverse(*a)*1
        stream.synchronize()
    else:
        import cupy
        with cupy.cuda.Stream() as stream:
            a = [make(x, kind_of) + 0 for x in rows]
            tau = arm_cuda.inverse(*a)*1
        stream.synchronize()
    close(kind_of + ", own stream", tau.tolist(), truth("inverse", q=rows[0], qd=rows[1], qdd=rows[2]))


arm_cuda.load(library)
if kind == "fake":
    numbers("plain")
    numbers("packed")
    mistakes()
else:
    numbers(kind)
    on_streams(kind)
print("arrays: right")
