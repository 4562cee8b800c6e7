"""Every command of psdm while calls around it fail, limits are small, streams are closed, signals come.

usage: faults.py PSDM FAULT_LIBRARY SOURCE [--seconds S] [--seed N|random] [--all | --places] [--only WORD,...] [--parts WORD,...]

For each command line of the table and each kind of call (memory, open, write, ...) the k-th call fails, once or for good. Whatever
happens, the command must end in time, without a crash; exit code 0 means that all it wrote is what it writes otherwise; any other code
comes with words on stderr, and then each output file is the one from before or whole. Temporary files never remain. A report may lack
plots: then it says so in their places, stderr warns, and the exit code is 1.

The seed is the same every time, so that what passed keeps passing; FAULTS_SEED=random (or a number) takes another.
"""
import argparse
import ctypes
import glob
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

SEED = 20
PATIENCE = 120  # seconds after which a run counts as hung; none takes more than a few, on a busy machine ten times as long
KINDS = ("memory", "map", "open", "read", "write", "close", "rename", "sync", "start")
ARM = """name: arm
gravity: [0, 0, -9.81]
convention: dh
joints:
  - {name: waist, d: 0.4, alpha: -pi/2, drive_inertia: 0.3, limits: {lower: -2.5, upper: 2, velocity: 1.5, acceleration: 6, effort: 60}, friction: {coulomb: 2, viscous: 1, sigma0: 2000, sigma1: 20}}
  - {name: elbow, a: 0.3, drive_inertia: 0.1, limits: {lower: -1.5, upper: 1.5, velocity: 2, acceleration: 8, effort: 40}, friction: {coulomb: 1, viscous: 0.5, sigma0: 1000, sigma1: 10}}
links:
  - {mass: 4, com: [0, 0.1, 0], inertia: {xx: 0.04, yy: 0.02, zz: 0.04}}
  - {mass: 3, com: [-0.2, 0, 0.02], inertia: {xx: 0.01, yy: 0.05, zz: 0.05}}
"""
STATES = "q1,q2,qd1,qd2,qdd1,qdd2\n0.1,0.2,0.3,0.4,0.5,0.6\n1,-1,0.5,-0.5,0,2\n"
REST = "q1,q2\n0.1,0.2\n1,-1\n"
# a forearm carried by both joints, and tables of the MATLAB toolbox
COUPLED = ARM.replace("links:", "  - {name: hand, a: 0.2, couple: {elbow: -1}}\nlinks:") + "  - {mass: 1, com: [-0.1, 0, 0], inertia: {xx: 0.002, yy: 0.01, zz: 0.01}}\n"
HALF = COUPLED.replace("elbow: -1", "elbow: -0.5")
DH = "0,-1.5707963267948966,0.4,0\n0.3,0,0,0\n"
X = "4,0,0.1,0,0.04,0.02,0.04,0,0,0\n3,-0.2,0,0.02,0.01,0.05,0.05,0,0,0\n"
EXCITE = "--seconds 4 --starts 1 --harmonics 2 --evaluations 60"
# name: command line, files that it writes, whether its output is always the same
TABLE = [
    ("version", "--version", "", True),
    ("help", "eval --help", "", True),
    ("help-all", "--help", "", True),
    ("eval", "eval arm.yaml inverse --in states.csv --out o.csv", "o.csv", True),
    ("eval-stdout", "eval arm.urdf mass --in states.csv --ignore-extra", "", True),
    ("eval-expanded", "eval arm.yaml regressor --via expanded --in states.csv --out o.csv", "o.csv", True),
    ("eval-json", "eval arm.yaml linearize_inverse --friction --in states.csv --json", "", True),
    ("eval-pose", "eval arm.urdf pose --in states.csv --ignore-extra --out o.csv", "o.csv", True),
    ("derive-json", "derive arm.yaml --export o.json", "o.json", False),
    ("derive-mat", "derive arm.yaml --export o.mat", "o.mat", False),
    ("derive-dense", "derive arm.yaml --method dense --json", "", False),
    ("derive-assume", "derive arm.yaml --assume Ixy2=0,Ixz2=0 --basis echelon --export o.json", "o.json", False),
    ("derive-coupled", "derive coupled.yaml --json", "", False),
    ("params", "params arm.yaml --symbolic", "", False),
    ("params-sampled", "params arm.yaml --model d0 --solver svd --minimal-norm --json", "", False),
    ("params-coupled", "params half.yaml --json", "", False),
    ("params-latex", "params arm.yaml --latex", "", False),
    ("codegen", "codegen arm.yaml --functions inverse,forward --out o", "o/", False),
    ("codegen-more", "codegen arm.yaml --functions inverse --target simd --theta argument --effort 0 --wrap casadi,fmu --out o --json", "o/", False),
    ("reduce", "reduce arm.yaml --samples 1000 --out o --json", "o/", False),
    ("linearize", "linearize arm.yaml --at states.csv --ignore-extra --json", "", True),
    ("linearize-mat", "linearize arm.yaml --at states.csv --ignore-extra --lqr --dt 0.01 --out o.mat", "o.mat", False),
    ("linearize-rest", "linearize arm.yaml --at rest.csv --equilibrium --form second-order --out o.csv", "o.csv", False),
    ("analyze", "analyze arm.yaml --points 200 --json", "", False),
    ("analyze-path", "analyze arm.yaml --points 200 --samples 100 --path way.csv --ignore-extra --out o.csv --plots p", "o.csv p/", False),
    ("simulate", "simulate arm.yaml --time 0.2 --no-code --out o.csv --json", "o.csv", False),
    ("simulate-log", "simulate arm.yaml --time 0.5 --no-code --friction coulomb --control pd --reference fourier --log o.csv", "o.csv", False),
    ("simulate-code", "simulate arm.yaml --time 0.1 --out o.csv", "o.csv", False),
    ("simulate-stiff", "simulate arm.yaml --time 0.2 --no-code --friction lugre --integrator bdf --control lqr --out o.csv", "o.csv", False),
    ("simulate-adaptive", "simulate arm.yaml --time 0.2 --no-code --integrator rk4 --control adaptive --model-error 0.2 --reference sines --json", "", False),
    ("simulate-inverse", "simulate arm.yaml --inverse --reference way.csv --ignore-extra --friction coulomb --out o.csv", "o.csv", False),
    ("excite", "excite arm.yaml " + EXCITE + " --out o.csv", "o.csv", False),
    ("excite-gravity", "excite arm.yaml --for gravity --out o.csv", "o.csv", False),
    ("excite-friction", "excite arm.yaml --for friction --levels 3 --out o.csv", "o.csv", False),
    ("excite-motor", "excite arm.yaml --for motor --out o.csv --json", "o.csv", False),
    ("calibrate", "calibrate bare.yaml --log log.csv --holdout 0.3 --out o.yaml --predict p.csv --json", "o.yaml p.csv", False),
    ("calibrate-steps", "calibrate bare.yaml --log gravity:gravity.csv --out o.yaml", "o.yaml", False),
    ("calibrate-all-steps", "calibrate bare.yaml --log gravity:gravity.csv friction:friction.csv inertia:log.csv --accept useless --out o.yaml --predict p.csv", "o.yaml p.csv", False),
    ("calibrate-files", "calibrate bare.yaml --log log.csv --plain-friction --cutoff 10 --lambda 0.01 --urdf o.urdf --out o.yaml", "o.urdf o.yaml", False),
    ("calibrate-robust", "calibrate bare.yaml --log log.csv --estimator robust --plain-friction --cutoff 10 --out o.yaml", "o.yaml", False),
    ("calibrate-tls", "calibrate bare.yaml --log log.csv --estimator tls --plain-friction --cutoff 10 --accept useless --out o.yaml", "o.yaml", False),
    ("calibrate-didim", "calibrate bare.yaml --log log.csv --estimator didim --plain-friction --cutoff 10 --out o.yaml", "o.yaml", False),
    ("calibrate-iv", "calibrate bare.yaml --log log.csv --estimator iv --plain-friction --cutoff 10 --out o.yaml", "o.yaml", False),
    ("calibrate-energy", "calibrate bare.yaml --log log.csv --estimator energy --plain-friction --cutoff 10 --compare params.yaml --out o.yaml", "o.yaml", False),
    ("calibrate-long", "calibrate bare.yaml --log log.csv log.csv.gz --estimator wls --plain-friction --cutoff 10 --cache 300 --checkpoint o --out o.yaml", "o.yaml o/", False),
    ("calibrate-hdf5", "calibrate bare.yaml --log log.h5 --estimator ols --plain-friction --cutoff 10 --out o.yaml", "o.yaml", False),
    ("calibrate-mat", "calibrate bare.yaml --log log.mat --estimator ols --out o.yaml", "o.yaml", False),
    ("calibrate-gzip", "calibrate bare.yaml --log log.csv.gz --estimator wls --plain-friction --out o.yaml", "o.yaml", False),
    ("payload", "payload bare.yaml --params params.yaml --log log.csv --out o.yaml", "o.yaml", False),
    ("plan-scale", "plan arm.yaml scale --trajectory way.csv --effort 100 --out o.csv", "o.csv", False),
    ("plan-path", "plan arm.yaml time --trajectory way.csv --effort 100 --points 201 --out o.csv", "o.csv", False),
    ("plan-time", "plan arm.yaml time --from 0,0 --to 0.5,0.5 --effort 100 --nodes 10 --out o.csv", "o.csv", False),
    ("plan-energy", "plan arm.yaml energy --from 0,0 --to 0.5,0.5 --effort 100 --nodes 6 --duration 1.5 --json", "", False),
    ("bench", "bench arm.yaml --functions gravity --method recursive --repeat 1", "", False),
    ("report", "report derive.json simulate.json motion.csv calibrate.json --out o.html", "o.html", False),
    ("report-robot", "report arm.yaml simulate.json --out o.html", "o.html", False),
    ("inspect", "inspect arm.yaml", "", True),
    ("inspect-urdf", "inspect arm.urdf --json", "", True),
    ("convert-urdf", "convert arm.yaml --to urdf --lossy --out o.urdf", "o.urdf", False),
    ("convert-yaml", "convert arm.urdf --to yaml --out o.yaml", "o.yaml", False),
    ("convert-tables", "convert dh.csv --x x.csv --gravity 0,0,-9.81 --out o.yaml", "o.yaml", False),
    ("doctor", "doctor", "", False),
    ("completion", "completion bash", "", True),
    ("completion-zsh", "completion zsh", "", True),
    ("reference", "reference man o", "o/", False),
    ("reference-markdown", "reference markdown", "", True),
]
# their files may hold another complete answer: made without the compiler, or the best of a search so far
OTHERS = ("simulate-code", "excite")
# complete after each step: calibrate by steps writes its file then
STAGES = {"calibrate-all-steps": ("calibrate bare.yaml --log gravity:gravity.csv --accept useless --out o.yaml",
                                  "calibrate bare.yaml --log gravity:gravity.csv friction:friction.csv --accept useless --out o.yaml")}
# files that a failed run leaves for the next one: calibrate --checkpoint
KEPT = re.compile(r"-[0-9]{6}\.part$")
# known exceptions: how they show, and the reason; counted separately
KNOWN = {("calibrate-hdf5", "memory"): ("dies of signal 11", "HDF5 1.10 crashes if some allocations at its start fail; memory for all of them is reserved before")}
# made once, for the commands above to read
INPUTS = [
    "convert arm.yaml --to urdf --lossy --out arm.urdf",
    "simulate arm.yaml --time 6 --friction coulomb --control computed-torque --compensate --reference fourier --amplitude 0.8 --period 3 --initial reference --rate 1000 --log log.csv --log-rate 100 --log-noise 0.01 --no-code",
    "simulate arm.yaml --time 0.2 --no-code --out motion.csv --json > simulate.json",
    "derive arm.yaml --json > derive.json",
    "calibrate bare.yaml --log log.csv --holdout 0.3 --out params.yaml --covariance --json > calibrate.json",
    "plan arm.yaml time --from 0,0 --to 0.5,0.5 --effort 100 --nodes 10 --out way.csv",
    "excite arm.yaml --for gravity --out slow.csv",
    "simulate arm.yaml --inverse --reference slow.csv --ignore-extra --friction coulomb --log gravity.csv --log-rate 100 --log-noise 0.01",
    "excite arm.yaml --for friction --levels 3 --out sines.csv",
    "simulate arm.yaml --inverse --reference sines.csv --ignore-extra --friction coulomb --log friction.csv --log-rate 200 --log-noise 0.01",
]


class Case:
    """a row of the table, and the results of hall.refer: code, out, err, outputs"""

    def __init__(self, row):
        self.name, line, files, self.steady = row
        self.words, self.files = line.split(), files.split()


def contents(folder):
    """the names and bytes of all files below a folder"""
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            found[os.path.relpath(path, folder)] = open(path, "rb").read()
    return found


def masked(bytes_):
    return re.sub(rb"[-+0-9.eE]+", b"#", bytes_)


def lacks_plots(page, whole, words):
    """a report that is complete except for plots, and says so: in the place of each plot, at its head, and on stderr"""
    figures = re.compile(rb"<figure.*?</figure>", re.S)
    missing = [b"This plot could not be drawn." in f for f in figures.findall(page)]
    notice = rb"plots are (?:missing|omitted)"
    plain = lambda text: masked(re.sub(rb'<p class="note">[^<]*' + notice + rb"[^<]*</p>\n", b"", figures.sub(b"<figure/>", text)))
    return (any(missing) and re.search(notice, words.encode()) and re.search(notice, page) and len(missing) == len(figures.findall(whole)) and plain(page) == plain(whole)
            and all(gone or masked(a) == masked(b) for gone, a, b in zip(missing, figures.findall(page), figures.findall(whole))))


def shape(text):
    """the constant part of a text with times and counts: its keys if it is JSON, otherwise only its existence"""
    try:
        keys = lambda v: {k: keys(w) for k, w in sorted(v.items())} if isinstance(v, dict) else None
        return json.dumps(keys(json.loads(text)))
    except ValueError:
        return bool(text.strip())


class Hall:
    """the folder where all commands run, and the failures there"""

    def __init__(self, options):
        self.options = options
        self.psdm = os.path.abspath(options.psdm)
        self.library = os.path.abspath(options.library)
        self.folder = tempfile.mkdtemp(prefix="faults-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)  # no waiting for a disk there
        self.cache = os.path.join(self.folder, "cache")
        self.work = os.path.join(self.folder, "work")
        os.mkdir(self.work)
        self.environment = {**os.environ, "PSDM_CACHE": self.cache, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "2", "LC_ALL": "C"}
        self.counts = {}
        self.bad = []
        self.known = 0
        self.odd = {}
        self.make_inputs()
        self.inputs = set(os.listdir(self.work))

    def make_inputs(self):
        for name, text in (("arm.yaml", ARM), ("states.csv", STATES), ("rest.csv", REST), ("coupled.yaml", COUPLED), ("half.yaml", HALF), ("dh.csv", DH), ("x.csv", X),
                           ("bare.yaml", re.sub(r"drive_inertia: [0-9.]*", "drive_inertia: unknown", re.sub(r", friction: {[^}]*}", "", ARM[:ARM.index("links:")])))):
            open(os.path.join(self.work, name), "w").write(text)
        for line in INPUTS:
            done = subprocess.run(f'"{self.psdm}" {line}', shell=True, cwd=self.work, env=self.environment, capture_output=True)
            if done.returncode not in (0, 1) and "plan" not in line:
                sys.exit(f"faults: psdm {line}: exit {done.returncode}: {done.stderr.decode()}")
        self.make_matrix()

    def make_matrix(self):
        """the log as gzip and as a .mat of version 5: a header, then for each variable flags, dimensions, name, numbers by columns"""
        log = open(os.path.join(self.work, "log.csv"), "rb").read()
        with gzip.open(os.path.join(self.work, "log.csv.gz"), "wb") as out:
            out.write(log)
        lines = log.decode().split("\n")
        rows = [[float(x) for x in line.split(",")] for line in lines[1:] if line]
        groups = {}
        for at, name in enumerate(lines[0].split(",")):
            groups.setdefault(name.rstrip("0123456789"), []).append(at)
        self.make_hdf5(groups, rows)
        part = lambda kind, data: struct.pack("<2i", kind, len(data)) + data + bytes(-len(data) % 8)
        with open(os.path.join(self.work, "log.mat"), "wb") as out:
            out.write(b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<h", 0x100) + b"IM")
            for name, columns in groups.items():
                numbers = [row[at] for at in columns for row in rows]
                out.write(part(14, part(6, struct.pack("<2i", 6, 0)) + part(5, struct.pack("<2i", len(rows), len(columns))) + part(1, name.encode())
                               + part(9, struct.pack(f"<{len(numbers)}d", *numbers))))

    def make_hdf5(self, groups, rows):
        """the log as HDF5, a data set for each channel, by the library that the tool reads it with"""
        found = glob.glob("/usr/lib/*/libhdf5_serial.so*") + glob.glob("/usr/lib/*/libhdf5.so*")
        if not found:
            return
        library = ctypes.CDLL(found[0])
        library.H5open()
        number = lambda name: ctypes.c_int64.in_dll(library, name)
        for name in ("H5Fcreate", "H5Screate_simple", "H5Dcreate2"):
            getattr(library, name).restype = ctypes.c_int64
        of = ctypes.c_int64
        file = of(library.H5Fcreate(os.path.join(self.work, "log.h5").encode(), 2, of(0), of(0)))
        for name, columns in groups.items():
            shape = (len(rows), len(columns)) if len(columns) > 1 or name != "t" else (len(rows),)
            space = of(library.H5Screate_simple(len(shape), (ctypes.c_uint64 * len(shape))(*shape), None))
            data = of(library.H5Dcreate2(file, name.encode(), number("H5T_IEEE_F64LE_g"), space, of(0), of(0), of(0)))
            values = [row[at] for row in rows for at in columns]
            library.H5Dwrite(data, number("H5T_NATIVE_DOUBLE_g"), of(0), of(0), of(0), (ctypes.c_double * len(values))(*values))
            library.H5Dclose(data), library.H5Sclose(space)
        library.H5Fclose(file)

    def clean(self, case):
        for name in set(os.listdir(self.work)) - self.inputs:
            path = os.path.join(self.work, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        for name in case.files:
            if not name.endswith("/"):
                open(os.path.join(self.work, name), "w").write("previous\n")

    def text(self, name):
        try:
            return open(os.path.join(self.work, name), errors="replace").read()
        except OSError:
            return ""

    def leavings(self, case):
        """the files in the folder after a run: outputs, and leftovers"""
        outputs, strange = {}, []
        for name in sorted(set(os.listdir(self.work)) - self.inputs - {"out", "err"}):
            path = os.path.join(self.work, name)
            if os.path.isdir(path):
                if name + "/" in case.files:
                    outputs.update({f"{name}/{k}": v for k, v in contents(path).items() if not KEPT.search(k)})
                else:
                    strange.append(name)
            elif name in case.files:
                outputs[name] = open(path, "rb").read()
            else:
                strange.append(name)
        strange += [name for name in outputs if ".part-" in name]
        return outputs, strange

    def refer(self, case):
        """the undisturbed run"""
        self.clean(case)
        with open(os.path.join(self.work, "out"), "wb") as out, open(os.path.join(self.work, "err"), "wb") as err:
            code = subprocess.run([self.psdm, *case.words], cwd=self.work, env=self.environment, stdout=out, stderr=err, stdin=subprocess.DEVNULL, timeout=PATIENCE).returncode
        case.code, case.out, case.err = code, self.text("out"), self.text("err")
        case.outputs, strange = self.leavings(case)
        if code or strange:
            sys.exit(f"faults: psdm {' '.join(case.words)}: exit {code}, {strange}: {case.err}")

    def refer_stages(self, case):
        """the output file after each step as the last one"""
        case.stages = []
        for line in STAGES.get(case.name, ()):
            self.clean(case)
            subprocess.run([self.psdm, *line.split()], cwd=self.work, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
            case.stages += [bytes_ for bytes_ in self.leavings(case)[0].values()]

    def judge(self, case, status, streams=True, stopped=False, killed=False):
        """None, or the fault of a run. streams: stdout and stderr were open; stopped: a signal asked it to end, so that less may
        be written than otherwise; killed: it could not clean up"""
        if status is None:
            return "hangs"
        if status < 0 and not (stopped and -status in (signal.SIGTERM, signal.SIGINT)) and not killed:
            return f"dies of signal {-status}"
        outputs, strange = self.leavings(case)
        if strange and not killed:
            return f"leaves {strange}"
        for name, bytes_ in outputs.items():
            before = not name.count("/") and bytes_ == b"previous\n"
            if before and status == case.code and not stopped:
                return f"exit {status}, but {name} is the one from before"
            if not before and bytes_ != case.outputs.get(name) and not self.volatile(case, name, bytes_) and not stopped and not killed:
                if name.endswith(".html") and status == 1 and lacks_plots(bytes_, case.outputs[name], self.text("err") if streams else "plots are missing"):
                    continue
                if status and any(masked(bytes_) == masked(stage) for stage in case.stages):
                    continue
                return f"{name} is neither the one from before nor whole ({len(bytes_)} bytes, exit {status})"
        if status in (0, case.code) and not stopped and not killed:
            if set(outputs) != set(case.outputs):
                return f"exit {status}, but {sorted(set(case.outputs) ^ set(outputs))} are not there"
            if streams and (self.text("out") != case.out if case.steady else shape(self.text("out")) != shape(case.out)):
                return f"exit {status}, but stdout is not what it should be"
        elif streams and not killed and not self.text("err").strip():
            return f"exit {status} without a word"
        return None

    def volatile(self, case, name, bytes_):
        """a file with times in it, or with another answer, is compared by its shape; the head of a .mat has the time of day"""
        want = case.outputs.get(name)
        return want is not None and (name.endswith(".mat") and bytes_[124:] == want[124:] or (not case.same or case.name in OTHERS) and masked(bytes_) == masked(want))

    def tell(self, case, what, wrong, again):
        key = (case.name, what)
        done, bad = self.counts.get(key, (0, 0))
        self.counts[key] = (done + 1, bad + bool(wrong))
        if wrong and wrong == KNOWN.get(key, ("",))[0]:
            self.known += 1
        elif wrong:
            self.bad.append((case.name, what, wrong, again))
            print(f"WRONG: {case.name}, {what}: {wrong}\n  {again}\n  stderr: {self.text('err')[-300:].strip()}", flush=True)


class Server:
    """main again and again, in forks of a process that is loaded once"""

    def __init__(self, hall, case):
        self.ask, theirs = os.pipe(), os.pipe()
        self.case, self.hall = case, hall
        keep = (self.ask[0], theirs[1])

        def place():
            a, b = os.dup(keep[0]), os.dup(keep[1])
            while a < 10:
                a = os.dup(a)
            while b < 10:
                b = os.dup(b)
            os.dup2(a, 3)
            os.dup2(b, 4)
            os.closerange(5, 256)

        self.process = subprocess.Popen([hall.psdm, *case.words], cwd=hall.work, stdin=subprocess.DEVNULL, preexec_fn=place, close_fds=False,
                                        env={**hall.environment, "LD_PRELOAD": hall.library, "FAULT_SERVER": "1"})
        os.close(self.ask[0])
        os.close(theirs[1])
        self.to, self.back = os.fdopen(self.ask[1], "w"), os.fdopen(theirs[0])

    def run(self, kind, k, manner, seconds):
        self.hall.clean(self.case)
        print(kind, k, manner, seconds, file=self.to, flush=True)
        status, calls, *self.places = (int(x) for x in self.back.readline().split())
        code = None if status == -1 else -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return code, calls

    def end(self):
        self.to.close()
        self.process.wait()
        self.back.close()


def failing_calls(hall, case, kinds, share, deadline, places):
    """the k-th call fails: every k, or one for each stack of callers, or some of them, until the time is over"""
    server = Server(hall, case)
    try:
        code, _ = server.run("none", 0, "once", PATIENCE)
        if code != case.code:
            hall.tell(case, "none", f"exit {code} without any failure", "")
            return
        plans = []
        for kind in kinds:
            _, calls = server.run(kind, 0, "places" if places else "once", PATIENCE)
            every = server.places if places else list(range(1, calls + 1))
            for manner in ("once",) if places else ("once", "on"):
                ks = every
                if share is not None and len(ks) > share:
                    ks = sorted(case.random.sample(ks, share))
                plans += [(kind, k, manner) for k in ks]
        if share is not None:
            case.random.shuffle(plans)
        for kind, k, manner in plans:
            if time.time() > deadline:
                break
            code, calls = server.run(kind, k, manner, PATIENCE)
            if calls < k:
                continue  # a run with threads may have fewer
            again = f"FAULT={kind}:{k}:{manner} LD_PRELOAD={os.path.basename(hall.library)} psdm {' '.join(case.words)}"
            wrong = hall.judge(case, code)
            hall.tell(case, kind, wrong, again)
            if not wrong and kind == "memory" and code not in (0, case.code) and not re.search("memory", hall.text("err")):
                hall.odd.setdefault((case.name, hall.text("err").strip()[-160:]), again)
    finally:
        server.end()


def plain(hall, case, what, again, prepare=None, environment=None, out=None, err=None, **judge):
    """one separate run, with unusual limits or streams"""
    hall.clean(case)
    streams = [out, err]
    for at, name in ((0, "out"), (1, "err")):
        if streams[at] is None:
            streams[at] = open(os.path.join(hall.work, name), "wb")
    variables = {key: value for key, value in {**hall.environment, **(environment or {})}.items() if value is not None}
    try:
        status = subprocess.run([hall.psdm, *case.words], cwd=hall.work, env=variables, stdin=subprocess.DEVNULL,
                                stdout=streams[0], stderr=streams[1], preexec_fn=prepare, timeout=PATIENCE).returncode
    except subprocess.TimeoutExpired:
        status = None
    for stream in streams:
        stream.close()
    wrong = hall.judge(case, status, **judge)
    hall.tell(case, what, wrong, again)
    return status


def limits(hall, case):
    k = resource.RLIM_INFINITY
    for word, which, sizes in (("-s", resource.RLIMIT_STACK, (64,)), ("-n", resource.RLIMIT_NOFILE, (4, 5, 6, 8, 12)),
                               ("-f", resource.RLIMIT_FSIZE, (0, 1)), ("-v", resource.RLIMIT_AS, hall.spaces)):
        for size in sizes:
            bytes_ = size * (1 if word == "-n" else 1024)
            change = {"OPENBLAS_NUM_THREADS": None, "OMP_NUM_THREADS": None} if word == "-v" else {}
            plain(hall, case, f"ulimit {word}", f"ulimit {word} {size}; psdm {' '.join(case.words)}",
                  prepare=lambda: resource.setrlimit(which, (bytes_, bytes_ if which != resource.RLIMIT_STACK else k)), environment=change, streams=word != "-f")


def closed(hall, case):
    """closed standard streams, in every combination, and a full disk behind stdout"""
    for mask in range(1, 8):
        def shut():
            for fd in range(3):
                if mask >> fd & 1:
                    os.close(fd)
        plain(hall, case, "closed streams", f"psdm {' '.join(case.words)} " + " ".join(f"{fd}>&-" for fd in range(3) if mask >> fd & 1), prepare=shut, streams=False)
    full = open("/dev/full", "wb", buffering=0)
    status = plain(hall, case, "full stdout", f"psdm {' '.join(case.words)} > /dev/full", out=full, streams=False)
    if case.out and status == 0:
        hall.tell(case, "full stdout", "exit 0", "")


def comma(hall, case):
    """a host whose decimal point is a comma"""
    if not hall.locale:
        return
    plain(hall, case, "comma locale", f"FAULT_LOCALE=de_DE.UTF-8 psdm {' '.join(case.words)}",
          environment={"LD_PRELOAD": hall.library, "FAULT_LOCALE": "de_DE.UTF-8", "LOCPATH": hall.locale, "LC_ALL": None})


def killed(hall, case, times):
    """signals at random moments; the clock runs from the start to a little beyond the usual end"""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        for _ in range(times):
            hall.clean(case)
            after = case.random.uniform(0, case.seconds * 1.1)
            with open(os.path.join(hall.work, "out"), "wb") as out, open(os.path.join(hall.work, "err"), "wb") as err:
                process = subprocess.Popen([hall.psdm, *case.words], cwd=hall.work, env=hall.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
                time.sleep(after)
                process.send_signal(number)
                try:
                    status = process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    status = None
            hall.tell(case, f"signal {int(number)}", hall.judge(case, status, streams=False, stopped=number != signal.SIGKILL, killed=number == signal.SIGKILL),
                      f"signal {int(number)} after {after:.3f} s of psdm {' '.join(case.words)}")


def one_of_each(draw):
    """one command line of each command, for a sample"""
    lines = {}
    for row in TABLE:
        lines.setdefault(row[1].split()[0], []).append(row)
    return [draw.choice(rows) for rows in lines.values()]


def comma_locale(folder):
    """a German locale, made here since few machines have it"""
    path = os.path.join(folder, "locale")
    os.mkdir(path)
    try:
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(path, "de_DE.UTF-8")], capture_output=True, check=False)
    except OSError:
        pass
    return path if os.path.exists(os.path.join(path, "de_DE.UTF-8", "LC_NUMERIC")) else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("psdm"), parser.add_argument("library"), parser.add_argument("source")
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--seed", default=os.environ.get("FAULTS_SEED", SEED), help="a number, or random")
    parser.add_argument("--all", action="store_true", help="every k, without a limit of time")
    parser.add_argument("--places", action="store_true", help="every command line, one k for each stack of callers, without a limit of time")
    parser.add_argument("--only", default="", help="names of the table")
    parser.add_argument("--parts", default="calls,limits,closed,comma,killed")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--share", type=int, default=None, help="at most so many k of each kind")
    options = parser.parse_args()
    places, options.all = options.places, options.all or options.places
    seed = int.from_bytes(os.urandom(4), "little") if options.seed == "random" else int(options.seed)
    print(f"seed {seed}")
    hall = Hall(options)
    hall.random = random.Random(seed)
    hall.locale = comma_locale(hall.folder)
    hall.spaces = tuple(range(40000, 400001, 20000)) if options.all else tuple(hall.random.sample(range(40000, 400000), 2)) + (250000,)
    if not hall.locale:
        print("no localedef with de_DE here: the comma locale is skipped")
    parts = options.parts.split(",")
    only = options.only.split(",") if options.only else None
    cases, began = [], time.time()
    try:
        for row in TABLE if options.all or only else one_of_each(hall.random):
            if only and row[0] not in only:
                continue
            case = Case(row)
            case.random = random.Random(f"{seed} {case.name}")  # its own: its runs do not depend on the time others took
            hall.refer_stages(case)
            hall.refer(case)
            first = case.outputs
            start = time.time()
            hall.refer(case)  # now that everything is in the caches
            case.same = case.outputs == first
            case.seconds = time.time() - start
            cases.append(case)
        order = list(cases)
        hall.random.shuffle(order)
        for at, case in enumerate(order):
            left = options.seconds - (time.time() - began)
            deadline = float("inf") if options.all else time.time() + max(0.3, left / (len(order) - at))
            if options.all:
                print(f"{case.name} ...", flush=True)
            few = not options.all and not only
            if "limits" in parts and (not few or at % 4 == 0):
                limits(hall, case)
            if "closed" in parts and (not few or at % 4 == 1):
                closed(hall, case)
            if "comma" in parts and (not few or at % 4 == 2):
                comma(hall, case)
            if "killed" in parts and (not few or at % 4 == 3):
                killed(hall, case, 10 if options.all else 1)
            if "calls" in parts:
                failing_calls(hall, case, options.kinds.split(","), options.share if options.all else 40, deadline, places)
    except KeyboardInterrupt:
        print("interrupted: the runs until then")
    finally:
        shutil.rmtree(hall.folder, ignore_errors=True)
    summary(hall, options)
    sys.exit(bool(hall.bad))


def summary(hall, options):
    if options.all or options.only:
        for (name, what), (done, bad) in sorted(hall.counts.items()):
            print(f"{name:18} {what:16} {done:7} {bad:5}")
        for (name, words), again in sorted(hall.odd.items()):
            print(f"memory failed, but {name} says: {words}\n  {again}")
    done = sum(d for d, _ in hall.counts.values())
    print(f"{done} runs of {len({n for n, _ in hall.counts})} command lines with a failure injected, {len(hall.bad)} wrong, {hall.known} known")


main()
