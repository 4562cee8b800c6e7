# psdm report on the tool's own results: every section is there, its plots are drawn, and the numbers on the page are those of the results.
. "$SOURCE/tests/tools/cli.sh"
command -v gnuplot > /dev/null || { echo "SKIPPED: gnuplot is not installed, so no plot can be drawn"; exit 77; }
export LC_ALL=C

# ---- an arm with a sliding joint whose truth is known, and its results ----
cat > arm.yaml <<'YAML'
name: lifter
gravity: [0, 0, -9.81]
convention: modified-dh
joints:
  - {name: column, type: prismatic, drive_inertia: 2, limits: {lower: 0, upper: 1, velocity: 1, acceleration: 4, effort: 400}, friction: {coulomb: 8, viscous: 20}}
  - {name: shoulder, alpha: pi/2, drive_inertia: 0.5, limits: {lower: -1.5, upper: 1.5, velocity: 2, acceleration: 8, effort: 150}, friction: {coulomb: 4, viscous: 5}}
  - {name: "<b>elbow", a: 0.5, drive_inertia: 0.2, limits: {lower: -2, upper: 2, velocity: 2.5, acceleration: 12, effort: 80}, friction: {coulomb: 2, viscous: 2}}
links:
  - {mass: 10, com: [0, 0.02, -0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.08}}
  - {mass: 8, com: [0.22, 0.01, 0.05], inertia: {xx: 0.05, yy: 0.25, zz: 0.24}}
  - {mass: 5, com: [0.18, -0.01, 0.02], inertia: {xx: 0.02, yy: 0.1, zz: 0.1}}
YAML
sed '/^links:/,$d; s/drive_inertia: [0-9.]*/drive_inertia: unknown/; s/, friction: {[^}]*}//' arm.yaml > known.yaml
(cat arm.yaml; echo 'tool: {mass: 2, com: [0.2, 0, 0.05], inertia: {xx: 0.004, yy: 0.005, zz: 0.003}}') > carries.yaml
make_json() { # FILE WORDS...
  file=$1
  shift
  run "$@" --json
  [ "$code" -le 1 ] || wrong "exit $code: $*"
  cp out "$file"
}
move="--time 8 --friction coulomb --control computed-torque --compensate --reference fourier --amplitude 0.2,1,1 --period 8 --initial reference --rate 500 --log-rate 100 --log-noise 0.05"
make_json simulate.json simulate arm.yaml $move --out motion.csv --log log.csv
run simulate carries.yaml $move --seed 2 --log with.csv
make_json calibrate.json calibrate known.yaml --log log.csv --holdout 0.3 --covariance --out params.yaml --predict rows.csv --max-rel 1e-9
make_json payload.json payload known.yaml --params params.yaml --log with.csv --predict load.csv
make_json excite.json excite arm.yaml --seconds 4 --starts 2 --wall 1 --out excited.csv
printf 't,q1,q2,q3\n0,0.1,-1,0\n0.4,0.6,0.5,1\n' > quick.csv
make_json plan.json plan arm.yaml time --trajectory quick.csv --points 200 --out planned.csv
make_json scale.json plan arm.yaml scale --trajectory quick.csv --out slower.csv
make_json analyze.json analyze arm.yaml --points 2000 --samples 2000
printf 'q1,q2,q3\n0.5,-1.5708,0\n' > at.csv
make_json linearize.json linearize arm.yaml --at at.csv --lqr
run report calibrate.json rows.csv payload.json load.csv excite.json excited.csv simulate.json motion.csv plan.json planned.csv scale.json slower.csv analyze.json linearize.json --out page.html
expect_code 0 "a report of everything"

# ---- the page against the results ----
checks=$((checks + 1))
python3 - page.html > asked 2>&1 <<'PY' || wrong "$(cat asked)"
import csv, html, json, math, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
load = lambda name: json.load(open(name))
wrong = []
def expect(truth, words):
    if not truth: wrong.append(words)

# sections with their tables: rows of cells as text
text = lambda markup: html.unescape(re.sub(r"<sup>(.*?)</sup>", r"^\1", re.sub(r"<(?!/?sup)[^>]*>", "", markup))).strip()
sections = {text(re.search(r"<h2[^>]*>(.*?)</h2>", s, re.S).group(1)): s for s in re.findall(r"<section.*?</section>", page, re.S)}
def number(cell):
    cell = cell.replace("\u2212", "-").replace("\u00a0", " ").split(" ±")[0]
    m = re.match(r"(-?[\d.]+)(?: × 10\^(-?\d+))?", cell)
    return float(m.group(1)) * 10 ** int(m.group(2) or 0) if m else math.nan
def tables(section):
    return [[[text(c) for c in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)] for row in re.findall(r"<tr>(.*?)</tr>", t, re.S)] for t in re.findall(r"<table>.*?</table>", section, re.S)]
def table(section, *header):
    found = [t for t in tables(section) if t and t[0][: len(header)] == list(header)]
    expect(found, f"no table {header}")
    return found[0][1:] if found else []
def near(cell, value, digits):
    return abs(number(cell) - value) <= 0.5001 * 10 ** (math.floor(math.log10(abs(value) or 1)) - digits + 1) * 1.0001
def fact(section, label):
    found = {text(l): text(v) for l, v in re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", section, re.S)}
    expect(any(label in key for key in found), f"no fact {label}: {list(found)}")
    return next((v for k, v in found.items() if label in k), "")
def plots(section):
    return {text(f): s for s in re.findall(r"<figure.*?</figure>", section, re.S) for f in re.findall(r"<figcaption>(.*?)</figcaption>", s, re.S)}

wanted = ["Calibration of lifter", "Load of lifter", "Exciting motion of lifter", "Simulation of lifter", "Planned motion of lifter: plan.json", "Planned motion of lifter: scale.json", "Structure of lifter", "Linear models of lifter"]
for title in wanted: expect(title in sections, f"no section {title}")
names = ["column", "shoulder", "<b>elbow"]
expect("<b>elbow" not in page and "&lt;b&gt;elbow" in page, "a name became markup")
for title, section in sections.items():
    for name, figure in plots(section).items():
        expect(figure.count("<svg") >= 1 and "<path" in figure, f"{title}: {name} is not drawn")
        expect(len(re.findall(r"<title", figure)) >= 1, f"{title}: {name} has no title")

# calibration
c, s = load("calibrate.json"), sections["Calibration of lifter"]
expect(near(fact(s, "held-out"), 100 * c["heldout"]["global_rel"], 3), "held-out error")
expect(near(fact(s, "training"), 100 * c["train"]["global_rel"], 3), "training error")
rows = table(s, "joint", "unit", "RMSE, training")
expect([r[0] for r in rows] == names and [r[1] for r in rows] == ["N", "Nm", "Nm"], f"joints and units {rows}")
for r, a, b in zip(rows, c["train"]["joints"], c["heldout"]["joints"]):
    expect(near(r[2], a["rmse"], 3) and near(r[4], a["r2"], 4) and near(r[5], b["rmse"], 3) and near(r[3], 100 * a["rel"], 3), f"errors of {r}")
terms = table(s, "joint", "column", "gain", "sd")
flat = [k for f in c["friction"] for k in f["columns"]]
expect(len(terms) == len(flat) and all(r[1] == k["text"] and near(r[2], k["gain"], 4) and near(r[3], k["sd"], 2) for r, k in zip(terms, flat)), "friction columns")
expect(all(abs(f["covariance"][i][i] - k["sd"] ** 2) <= 1e-12 * k["sd"] ** 2 for f in c["friction"] for i, k in enumerate(f["columns"])), "covariance of friction")
kinds = ["measured and predicted {t}", "friction at steady speed", "spectrum of the residuals", "residuals against velocity", "residuals against predicted {t}"]
for name, t in zip(names, ["force", "torque", "torque"]):
    for kind in kinds: expect(f"{name}: {kind.format(t=t)}" in plots(s), f"no plot {name}: {kind}")
expect(any(p.startswith("shoulder: residuals, sd") for p in plots(s)), "no histogram")
expect("force (N)" in plots(s)["column: measured and predicted force"] and "velocity (m/s)" in plots(s)["column: friction at steady speed"], "units of the joint that slides")
expect("not met" in s and "data-" in plots(s)["shoulder: measured and predicted torque"], "verdict, zoom")
# residuals' mean and spread from the rows themselves
table_rows = [{k: float(v) for k, v in r.items() if v} for r in csv.DictReader(open("rows.csv"))]
for r in table(s, "joint", "rows", "mean", "sd"):
    i, held = names.index(r[0]) + 1, r[1].replace("\u00a0", " ") == "held out"
    e = [x[f"tau{i}"] - x[f"predicted{i}"] for x in table_rows if (x["heldout"] > 0) == held]
    mean = sum(e) / len(e)
    sd = math.sqrt(sum((x - mean) ** 2 for x in e) / (len(e) - 1))
    inside = sum(abs(x - mean) <= 2 * sd for x in e) / len(e)
    expect(near(r[2], mean, 3) and near(r[3], sd, 3) and abs(number(r[5]) - 100 * inside) < 0.06, f"residuals of {r}: {mean} {sd} {inside}")

# load
p, s = load("payload.json"), sections["Load of lifter"]
expect(near(fact(s, "mass"), p["load"]["mass"], 4) and near(fact(s, "error with it"), 100 * p["after"]["global_rel"], 3), "load")
expect("shoulder: torque with the load" in plots(s), "no plot of the load")
# excitation
e, s = load("excite.json"), sections["Exciting motion of lifter"]
expect(near(fact(s, "condition number"), e["condition"], 4) and near(fact(s, "log det"), e["logdet"], 4), "figures of merit")
for r, j in zip(table(s, "joint", "lowest", "highest"), e["joints"]):
    expect(near(r[1], j["lower"], 4) and near(r[3], j["velocity"], 4) and near(r[4], j["limits"]["velocity"], 4) and near(r[7], j["effort"], 4), f"limits of {r}")
for name, t in zip(names, ["force", "torque", "torque"]):
    for kind in ["position", "velocity", "acceleration", t]: expect(f"{name}: {kind}" in plots(s) and "limit" in plots(s)[f"{name}: {kind}"], f"no plot {name}: {kind}")
# simulation
m, s = load("simulate.json"), sections["Simulation of lifter"]
for r, x in zip(table(s, "joint", "rms", "rms, last quarter"), m["tracking"]["rms"]): expect(near(r[1], x, 3), f"tracking {r}")
for r, x in zip(table(s, "joint", "position", "velocity"), m["final_state"]["tau"]): expect(abs(number(r[4]) - x) <= 1e-4 * abs(x), f"final state {r}")
for name in ["Position", "Velocity", "Acceleration", "Energy in the robot", "Energy in and out since the start", "Reference less position", "Friction"]: expect(name in plots(s), f"no plot {name}")
# plans
for file in ["plan", "scale"]:
    p, s = load(file + ".json"), sections[f"Planned motion of lifter: {file}.json"]
    expect(near(fact(s, "duration"), p["seconds"], 5) and near(fact(s, "most of any limit"), 100 * p["limit_used"], 3), f"{file}: figures")
    for r, v in zip(table(s, "joint", "peak velocity"), p["peak_velocity"]): expect(near(r[1], v, 4), f"{file}: peaks {r}")
    expect("How much of each limit is used" in plots(s) and "The nearest limit at each time" in plots(s), f"{file}: plots")
s = sections["Planned motion of lifter: plan.json"]
expect("Speed along the path" in plots(s), "no speed along the path")
# structure and modes
a, s = load("analyze.json"), sections["Structure of lifter"]
for r, key in zip(table(s, "", "bound", "found"), ["mass_least", "mass_small", "mass", "coriolis", "gravity"]):
    expect(near(r[1], a["bounds"][key]["bound"], 5), f"bound {r}")
for r, key in zip(table(s, "", "least", "half"), ["mass", "mass_least", "coriolis", "gravity"]):
    expect(near(r[2], a["bounds"][key]["samples"]["half"], 5) and near(r[5], a["bounds"][key]["samples"]["largest"], 5), f"samples {r}")
cells = table(s, "", "1", "2")
for i in range(3):
    for k in range(3):
        entry, shown = a["M"][i][k], cells[i][k + 1]
        expect(shown == "0" if entry["zero"] else re.findall(r"q(\d)", shown) == [str(d) for d in entry["depends"]], f"M {i} {k}: {shown}")
l, s = load("linearize.json"), sections["Linear models of lifter"]
shown = table(s, "loop", "eigenvalue")
modes = [x for x in l["points"][0]["eigenvalues"] if x["im"] >= 0] + [x for x in l["points"][0]["lqr"]["closed_loop"] if x["im"] >= 0]
expect(len(shown) == len(modes) and all(near(r[1], x["re"], 5) for r, x in zip(shown, modes)), "modes")
expect("Eigenvalues" in plots(s), "no plot of eigenvalues")
print("\n".join(wrong[:12]))
sys.exit(bool(wrong))
PY

# ---- step by step: motors and friction of one drive ----
cat > drive.yaml <<'YAML'
name: pendulum
gravity: [0, 0, -9.81]
convention: modified-dh
joints:
  - {name: shoulder, alpha: pi/2, drive_inertia: 0.5, torque_constant: 36, limits: {lower: -1.5, upper: 1.5, velocity: 2, acceleration: 8, effort: 150}, friction: {coulomb: 6, static: 8, stribeck: 0.03, viscous: 9, exponent: 0.7, sigma0: 20000, sigma1: 40}}
links:
  - {mass: 8, com: [0.22, 0.01, 0.05], inertia: {xx: 0.05, yy: 0.25, zz: 0.24}}
YAML
sed '/^links:/,$d; s/, friction: {[^}]*}//; s/drive_inertia: [0-9.]*/drive_inertia: unknown/; s/, torque_constant: [0-9]*//' drive.yaml > unknown.yaml
printf 't,m,rx,ry,rz\n0,3,0.4,0,0.05\n' > mass.csv
record() { run simulate drive.yaml --inverse --friction lugre --reference "$1.csv" --ignore-extra --log "$2.csv" --log-rate 200 --log-noise 2e-4 --current "${@:3}"; }
run excite unknown.yaml --for motor --mass 3 --com 0.4,0,0.05 --speed 0.3 --out motor.csv
run excite unknown.yaml --for gravity --seconds 15 --speed 0.3 --out gravity.csv
run excite unknown.yaml --for friction --levels 3 --out friction.csv
record motor empty
record motor loaded --payload mass.csv --seed 2
record gravity slow --seed 3
record friction sines --seed 4
make_json steps.json calibrate unknown.yaml --log motor:empty.csv motor:loaded.csv gravity:slow.csv friction:sines.csv --weight loaded.csv=3,0.4,0,0.05 --out steps.yaml --predict steps.csv
run report steps.json steps.csv --out steps.html
expect_code 0 "a report of steps"
checks=$((checks + 1))
python3 - > asked 2>&1 <<'PY' || wrong "$(cat asked)"
import html, json, re
page, j = open("steps.html", encoding="utf-8").read(), json.load(open("steps.json"))
cells = [html.unescape(re.sub(r"<[^>]*>", "", c)) for c in re.findall(r"<td[^>]*>(.*?)</td>", page)]
motor, friction = j["steps"]["motor"]["joints"][0], j["friction"][0]
assert f"{motor['constant']:#.5g}" in cells, (motor, cells)
shown = [c for c in cells if re.match(r"-?[\d.]+\(\d+\)$", c)]
values = [float(c.split("(")[0]) for c in shown]
for key in ("coulomb", "viscous", "exponent"):
    assert any(abs(v - friction[key]) <= 1.01 * friction["sd"][key] for v in values), (key, friction, shown)
assert all(abs(friction["covariance"][k][k] - friction["sd"][key] ** 2) <= 1e-9 * friction["sd"][key] ** 2 for k, key in enumerate(["coulomb", "static", "stribeck", "viscous", "exponent"])), "covariance"
for title in ("shoulder: the known mass", "shoulder: measured and predicted torque", "shoulder: friction at steady speed"): assert f"<figcaption>{title}</figcaption>" in page, title
PY

# ---- limits that a simulation exceeds are drawn and reported; one far mode does not hide the others ----
make_json fall.json simulate arm.yaml --time 2 --out fall.csv
python3 - <<'PY'
import json
linear = json.load(open("linearize.json"))
linear["points"][0]["lqr"]["closed_loop"].append({"re": -2e5, "im": 0, "frequency": 2e5, "damping": 1})
json.dump(linear, open("far.json", "w"))
PY
run report fall.json fall.csv far.json --out fall.html
expect_code 0 "a fall"
expect_in fall.html "Beyond the robot's limits: column: position"
expect_in fall.html '<li class="level'
expect_in fall.html "<figcaption>Eigenvalues, the slow ones</figcaption>"
run report simulate.json motion.csv linearize.json --out kept.html
expect_code 0 "a motion within its range"
grep -q "the slow ones" kept.html && wrong "modes of one size are drawn twice"
checks=$((checks + 1))

# ---- parameter files and rows alone ----
run report params.yaml --out alone.html
expect_code 0 "a parameter file alone"
expect_in alone.html "friction at steady speed"
run report rows.csv motion.csv --out alone.html
expect_code 0 "rows alone"
expect_in alone.html "Predicted torque: rows.csv"
expect_in alone.html "Motion: motion.csv"
finish
