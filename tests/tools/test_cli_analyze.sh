# psdm analyze: patterns, conditions, bounds, limits, paths, plots, refusals.
. "$SOURCE/tests/tools/cli.sh"
cat > arm.yaml <<'YAML'
name: arm
gravity: [0, 0, -9.81]
convention: dh
joints:
  - {name: waist, d: 0.5, alpha: pi/2}
  - {name: shoulder, a: 0.4}
  - {name: elbow, a: 0.3}
links:
  - {mass: 5, com: [0, -0.2, 0], inertia: {xx: 0.1, yy: 0.05, zz: 0.1}}
  - {mass: 4, com: [-0.2, 0, 0], inertia: {xx: 0.01, yy: 0.08, zz: 0.08}}
  - {name: hand, mass: 2, com: [-0.1, 0, 0], inertia: {xx: 0.005, yy: 0.03, zz: 0.03}}
YAML

run analyze --help
expect_code 0 "analyze --help"
expect_in out "--limits"

# De Luca's 3R pattern
run analyze arm.yaml
expect_code 0 "an arm"
expect_in out "arm: 3 joints, with this robot's masses"
expect_in out "  m11(q2,q3)  0        0"
expect_in out "  0           m22(q3)  m23(q3)"
expect_in out "  0           m23(q3)  m33"
expect_in out "g = 0  g2(q2,q3)  g3(q2,q3)"
expect_in out "M is neither constant nor diagonal"
expect_in out "M is diagonal if"
expect_in out "across the angle q2 + q3 with k a b = 3.924 Nm balances g3 and its part of g2"
expect_in out "||M|| at most"
expect_in out "k0..k7 ="
run analyze arm.yaml --any --no-bounds
expect_code 0 "any masses"
expect_in out "for any masses"
expect_in out "m13(q2,q3)"
checks=$((checks + 1))
grep -q "k0..k7" out && wrong "bounds although --no-bounds"
run analyze "$robots/parallelogram.yaml" --no-bounds
expect_in out "  mx3 - 1.66666666667 mx4 = 0 (m12; now -0.378)"
expect_in out "g = g1(q1)  g2(q2)"

# JSON agrees, and the bounds hold for the values found
run analyze arm.yaml --json
expect_code 0 "JSON"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "analyze --json"
import json
a = json.load(open("out"))
assert a["name"] == "arm" and a["n"] == 3 and a["masses"] == "own"
assert a["M"][0][1] == {"zero": True, "depends": []} and a["M"][1][2] == {"zero": False, "depends": [3]}
assert a["M"][0][0]["depends"] == [2, 3] and a["g"][0]["zero"] and [1, 1, 2] in a["c"] and [1, 2, 3] not in a["c"]
assert not (a["constant_mass"] or a["diagonal_mass"] or a["linear"])
assert len(a["conditions"]["springs"]) == 2
b = a["bounds"]
for key in ("mass", "coriolis", "gravity"):
    assert b[key]["found"] <= b[key]["bound"] <= 1.2 * b[key]["found"], key
for key in ("mass_small", "mass_least"):
    assert 0 < b[key]["bound"] <= b[key]["found"] <= 1.2 * b[key]["bound"], key
assert b["k"][1] == b["mass"]["bound"] and b["k"][2] == 0 and b["k"][0] == b["mass_small"]["bound"]
assert abs(sum(x * x for x in b["coriolis"]["qd"]) - 1) < 1e-9
# folded out, gravity of both links: 9.81 (1.6 + 0.4, 0.4)
assert abs(b["gravity"]["found"] - 9.81 * (2.0 ** 2 + 0.4 ** 2) ** 0.5) < 1e-6
PY
run analyze arm.yaml --limits shoulder=0:0.5,3=1:1.2 --json
expect_code 0 "limits"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "analyze --limits"
import json
b = json.load(open("out"))["bounds"]
for key in ("mass", "gravity", "coriolis"):
    assert 0 <= b[key]["q"][1] <= 0.5 and 1 <= b[key]["q"][2] <= 1.2, key
PY

# samples: the distribution of the values; the same on any number of threads, and on a GPU emulated by loops; the found values are at least as good
run analyze arm.yaml --points 2000 --samples 30000 --json
expect_code 0 "samples"
cp out samples.json
run analyze arm.yaml --points 2000 --json
cp out without.json
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "analyze --samples"
import json
a, b = json.load(open("samples.json"))["bounds"], json.load(open("without.json"))["bounds"]
assert "samples" not in b and "samples" not in b["mass"]
assert a["samples"] == 30000 and a["beyond"] == 0 and a["device"] == "cpu"
for key in ("mass", "mass_small", "mass_least", "coriolis", "gravity"):
    s, up = a[key]["samples"], key in ("mass", "coriolis", "gravity")
    assert 0 <= s["least"] <= s["half"] <= s["at_95"] <= s["at_999"] <= s["largest"] and s["beyond"] == 0, key
    assert a[key]["bound"] == b[key]["bound"], key
    assert a[key]["found"] >= max(b[key]["found"], s["largest"]) if up else a[key]["found"] <= min(b[key]["found"], s["least"]) * (1 + 1e-12), key
# |g| is about 9.81 2 |cos q2|: half of all positions of the shoulder have |cos| below 0.71
assert 0.4 * a["gravity"]["bound"] < a["gravity"]["samples"]["half"] < 0.8 * a["gravity"]["bound"]
PY
sampled() { # NAME WORDS...: the samples' results, without times and device
  local name=$1
  shift
  run analyze arm.yaml --points 2000 --samples 30000 "$@" --json
  expect_code 0 "$name"
  grep -v '"seconds"\|"samples_seconds"\|"device"' out > "$name"
}
OMP_NUM_THREADS=1 sampled one
OMP_NUM_THREADS=3 sampled three
checks=$((checks + 1))
cmp one three || wrong "samples on three threads"
run analyze arm.yaml --points 2000 --samples 1000
expect_in out "1000 samples between the limits, "
expect_in out "||S|| at random unit qd"
expect_in out "no sample exceeds a proved bound"
printf 'convention: dh\ngravity: [0, 0, -9.81]\njoints: [{type: prismatic}, {a: 0.4}]\nlinks: [{mass: 2, com: [0, 0, 0], inertia: {zz: 0.1}}, {mass: 1, com: [0, 0, 0], inertia: {zz: 0.1}}]\n' > slide.yaml
run analyze slide.yaml --points 100 --samples 100
expect_in out "100 samples between the limits, sliding joints without limits at 0, "
if command -v c++ > /dev/null; then
  NVCC=c++ sampled loops --device cuda
  checks=$((checks + 1))
  python3 - 2> err <<'PY' || wrong "samples on another device"
import json
a, b = json.load(open("samples.json"))["bounds"], json.load(open("out"))["bounds"]
assert b["device"] == "cuda"
def same(x, y):
    if isinstance(x, dict):
        for key in x: key in ("seconds", "samples_seconds", "device") or same(x[key], y[key])
    elif isinstance(x, list):
        assert len(x) == len(y)
        for u, v in zip(x, y): same(u, v)
    elif isinstance(x, float):
        assert abs(x - y) <= 1e-9 * max(abs(x), 1), (x, y)
    else:
        assert x == y, (x, y)
same(a, b)
PY
fi
NVCC=/nonexistent/nvcc run analyze arm.yaml --samples 1000 --device cuda
expect_code 2 "no compiler of CUDA's"
expect_in err "a GPU needs CUDA's compiler: '/nonexistent/nvcc' was not found; set NVCC"

# a folder that cannot be made is an error before the bounds, not after
touch file
run analyze arm.yaml --plots file
expect_code 2 "a file in place of the folder for plots"
expect_err "psdm: error: file: is not a directory"

# a path
printf 't,q1,q2,q3\n0,0,0.2,0.4\n0.5,0.1,0.3,1.5\n1,0.2,0.4,0\n' > path.csv
run analyze arm.yaml --no-bounds --path path.csv --out ellipsoids.csv --plots figures
expect_code 0 "a path"
expect_in out "along the path: 3 positions, hand moves in 3 directions"
expect_in out "largest  manipulability"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "ellipsoids"
import csv, math
rows = list(csv.DictReader(open("ellipsoids.csv")))
assert len(rows) == 3 and list(rows[0])[:10] == ["t", "q1", "q2", "q3", "w1", "w2", "w3", "v1", "v2", "v3"]
for r in rows:
    x = {k: float(v) for k, v in r.items()}
    reach = 0.4 * math.cos(x["q2"]) + 0.3 * math.cos(x["q2"] + x["q3"])
    assert abs(x["w3"] - 0.4 * 0.3 * abs(math.sin(x["q3"])) * abs(reach)) < 1e-12
    assert x["v1"] >= x["v2"] >= x["v3"] >= 0 and abs(x["v1"] * x["v2"] * x["v3"] - x["w3"]) < 1e-12
    assert x["im1"] <= x["im2"] <= x["im3"]
    assert abs(sum(x["a1" + c] ** 2 for c in "xyz") - 1) < 1e-12
assert float(rows[2]["im1"]) == 0
PY
for figure in mass gravity path; do
  checks=$((checks + 1))
  [ -s figures/$figure.gp ] || wrong "figures/$figure.gp"
  checks=$((checks + 1))
  ! command -v gnuplot > /dev/null || grep -q "</svg>" figures/$figure.svg || wrong "figures/$figure.svg"
done
input=path.csv run analyze arm.yaml --no-bounds --path - --link shoulder --out -
expect_code 0 "standard input and output"
checks=$((checks + 1))
[ "$(wc -l < out)" = 4 ] || wrong "a header and three rows"
run analyze "$robots/two_link.yaml" --no-bounds --path path.csv
expect_code 3 "too many columns"
expect_in err "path.csv:1: unknown column 'q3': expected t, q1 to q2; --ignore-extra skips it"
run analyze "$robots/two_link.yaml" --no-bounds --path path.csv --ignore-extra --json
expect_code 0 "--ignore-extra"
expect_in out '"dimensions": 2'

# no masses: structure alone
printf 'convention: dh\njoints:\n  - {a: 0.5}\n  - {a: 0.4}\n' > unknown.yaml
run analyze unknown.yaml
expect_code 0 "unknown masses"
expect_in err "structure for any masses, no bounds"
expect_in out "  m12(q2)  m22"
run analyze unknown.yaml --path path.csv --ignore-extra --out velocity.csv
expect_code 0 "velocities need no masses"
checks=$((checks + 1))
head -n 1 velocity.csv | grep -q "v3z$" || wrong "velocity alone"

# refusals
for bad in "--samples -1" "--samples 2.5" "--samples 5e9" "--samples 1000 --device gpu" "--device cuda" "--samples 1000 --no-bounds" "--points 0" "--points x" "--seed -1" "--out a.csv" "--link hand" "--path path.csv --out - --json" "--limits 4=0:1" "--limits 1=1:0" "--limits 1" "--limits nobody=0:1" "--path path.csv --link nobody"; do
  run analyze arm.yaml $bad
  expect_code 2 "analyze $bad"
done
run analyze "$robots/five_bar.yaml"
expect_code 3 "closed loops"
printf 'q1,q2,q3\n' > empty.csv
run analyze arm.yaml --no-bounds --path empty.csv --out empty_out.csv
expect_code 3 "no positions"
expect_err "psdm: error: empty.csv: no positions"
expect_absent empty_out.csv
run analyze arm.yaml --no-bounds --path none.csv
expect_code 2 "no such file"
finish
