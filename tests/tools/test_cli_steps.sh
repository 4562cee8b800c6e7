# psdm calibrate --route steps: a simulated arm from its experiments to a parameter file, step by step and all at once, resumed, interrupted, refused.
. "$SOURCE/tests/tools/cli.sh"
subject=calibrate

# ---- words ----
two=$robots/two_link.yaml
run calibrate --help
for word in --route --weight "motor: gravity: friction: inertia:" "psdm excite --for STEP"; do expect_in out "$word"; done
every="motor:, gravity:, friction: or inertia:"
refuse 2 "--log 'a.csv': --route steps needs a step before every log's name: $every" "$two" --log a.csv --route steps
refuse 2 "--log 'b.csv': --route steps needs a step before every log's name: $every" "$two" --log motor:a.csv b.csv
refuse 2 "--log 'gravty:b.csv': did you mean 'gravity:'?" "$two" --log motor:a.csv gravty:b.csv
refuse 2 "--log: empty file name" "$two" --log motor:
refuse 2 "--route 'step': did you mean 'steps'?" "$two" --log motor:a.csv --route step
for weight in b.csv a.csv= =2 a.csv=x a.csv=0 a.csv=-1 a.csv=1,2 a.csv=1,2,3 a.csv=1,2,3,4,5; do refuse 2 "--weight '$weight': FILE=KG or FILE=KG,X,Y,Z was expected" "$two" --log motor:a.csv --weight $weight; done
refuse 2 "--weight 'b.csv=1': no motor log has this name; write it as after motor:" "$two" --log motor:a.csv --weight b.csv=1
refuse 2 "--weight 'b.csv=1': only motor logs have a weight" "$two" --log motor:a.csv gravity:b.csv --weight b.csv=1
refuse 2 "--weight 'a.csv=2': duplicate weight for this log" "$two" --log motor:a.csv --weight a.csv=1 a.csv=2
refuse 2 "--holdout 'blocks:0.5/4': a share from 0 to 0.95 was expected; steps choose their blocks" "$two" --log motor:a.csv --holdout blocks:0.5/4
refuse 2 "--cutoff '4,4': one frequency or 4, one for each step, were expected" "$two" --log motor:a.csv --cutoff 4,4
refuse 2 "--cutoff '4,4,4,4,4': one frequency or 4, one for each step, were expected" "$two" --log motor:a.csv --cutoff 4,4,4,4,4
refuse 2 "--cutoff 'x': a number above 0, or 'none', was expected" "$two" --log motor:a.csv --cutoff 4,x,4,4
refuse 2 "only one of --json, --out and --predict can use standard output" "$two" --log motor:a.csv --json --out -
others=("--estimator wls" "--kinematics q" "--delay 0.1" "--lambda 2" "--prior kinematics" --plain-friction "--friction-columns 4" --springs "--decimate 5" "--rest 0.1" "--urdf a.urdf" "--compare a.yaml" --covariance)
for other in "${others[@]}"; do refuse 2 "${other%% *} cannot be used with --route steps: " "$two" --log motor:a.csv $other; done
refuse 2 "a.csv" "$two" --log motor:a.csv
printf 't,q1,q2\n0,1,2\n' > short.csv
refuse 3 "short.csv" "$two" --log gravity:short.csv
refuse 2 "none.yaml: cannot be opened" "$two" --log gravity:short.csv --params none.yaml

# ---- an arm whose truth is known, and its experiments ----
cat > arm.yaml <<'YAML'
name: arm
gravity: [0, 0, -9.81]
convention: modified-dh
joints:
  - {name: shoulder, alpha: pi/2, drive_inertia: 0.5, torque_constant: 36, limits: {lower: -1.5, upper: 1.5, velocity: 2, acceleration: 8, effort: 150},
     friction: {coulomb: 6, static: 8, stribeck: 0.03, viscous: 9, exponent: 0.7, sigma0: 20000, sigma1: 40}}
  - {name: elbow, a: 0.5, drive_inertia: 0.2, torque_constant: 24, limits: {lower: -2, upper: 2, velocity: 2.5, acceleration: 12, effort: 80},
     friction: {coulomb: 3, static: 3.6, stribeck: 0.04, viscous: 4, exponent: 0.8, sigma0: 9000, sigma1: 15}}
links:
  - {mass: 8, com: [0.22, 0.01, 0.05], inertia: {xx: 0.05, yy: 0.25, zz: 0.24}}
  - {mass: 5, com: [0.18, -0.01, 0.02], inertia: {xx: 0.02, yy: 0.1, zz: 0.1}}
tool: {mass: 1, com: [0.35, 0, 0], inertia: {xx: 0.001, yy: 0.002, zz: 0.002}}
YAML
# known beforehand: kinematics and the tool
sed '/^links:/,/^  - {mass: 5/d; /^     friction:/d; s/drive_inertia: [0-9.]*/drive_inertia: unknown/; s/, torque_constant: [0-9]*//; s/},$/}}/' arm.yaml > bare.yaml
run inspect bare.yaml
expect_code 0 "the bare arm"
printf 't,m,rx,ry,rz\n0,3,0.4,0,0.05\n' > load.csv
record() { # LOG MOTION WORDS...
  run simulate arm.yaml --inverse --reference "$2.csv" --ignore-extra --friction lugre --log "$1.csv" --log-rate 200 --log-noise 2e-4 --current "${@:3}"
  expect_code 0 "simulated $1"
}
run excite arm.yaml --for motor --mass 3 --com 0.4,0,0.05 --speed 0.2 --out motor.csv
expect_code 0 "excite --for motor"
run excite arm.yaml --for gravity --seconds 40 --speed 0.2 --out gravity.csv
expect_code 0 "excite --for gravity"
run excite arm.yaml --for friction --levels 6 --out friction.csv
expect_code 0 "excite --for friction"
record empty motor
record loaded motor --payload load.csv --seed 2
record slow gravity --seed 3
record sines friction --seed 4
run simulate arm.yaml --inverse --time 20 --reference fourier --period 10 --amplitude 0.9 --friction lugre --log fast.csv --log-rate 200 --log-noise 2e-4 --current --seed 5
expect_code 0 "simulated fast"
logs=(motor:empty.csv motor:loaded.csv gravity:slow.csv friction:sines.csv inertia:fast.csv)
weight=loaded.csv=3,0.4,0,0.05

# ---- all at once ----
run calibrate bare.yaml --log "${logs[@]}" --weight $weight --out p.yaml --predict rows.csv --codegen code --json
expect_code 0 "all steps"
mv out j.json
keeps_schema calibrate_steps j.json
ask j.json 'j["name"] == "arm" and j["route"] == "steps" and j["currents"] and not j["stopped"] and set(j["steps"]) == {"motor", "gravity", "friction", "inertia"} and all(s["done"] and not s["from_before"] for s in j["steps"].values())'
ask j.json 'all(set(x) >= {"rmse", "rel", "r2"} for part in ("train", "heldout") for x in j[part]["joints"]) and j["heldout"]["global_rel"] > 0 and all(set(x) >= {"name", "value", "sd", "formula", "from", "gravity"} for x in j["parameters"])'
ask j.json 'all(x["r2"] > 0.98 for step in ("motor", "gravity", "friction") for x in j["steps"][step]["joints"]) and all(x["r2"] > 0.95 for x in j["all"])'
ask j.json 'all(x["from"] == "log" and near(x["constant"], true, 5 * x["sd"]) and x["sd"] < 0.01 * true for x, true in zip(j["steps"]["motor"]["joints"], (36, 24)))'
ask j.json 'all(near(x["coulomb"], c, 0.05 * c) and near(x["exponent"], d, 0.05) and x["from"] == "log" and x["speed"] > 1 for x, c, d in zip(j["friction"], (6, 3), (0.7, 0.8)))'
ask j.json 'j["tool"][0] == 1 and j["settings"]["weight"] == ["loaded.csv=3,0.4,0,0.05"] and j["logs"][1] == {"path": "loaded.csv", "step": "motor", "mass": 3, "com": [0.4, 0, 0.05]}'
# the truth includes the tool; the steps' numbers do not
run params arm.yaml --json
cp out truth.json
checks=$((checks + 1))
python3 - <<'PY' || wrong "parameters are not the truth within 5 sd, or the tool is not the difference"
import json
found, truth = json.load(open("j.json"))["parameters"], json.load(open("truth.json"))["base_parameters"]
assert [x["name"] for x in found] == [x["name"] for x in truth] and all(x["formula"] == y["formula"] for x, y in zip(found, truth))
tool = {"m2": 1, "mx2": 0.35, "XX2": 0.001, "YY2": 0.002 + 0.35 ** 2, "ZZ2": 0.002 + 0.35 ** 2}
for x, y in zip(found, truth):
    added = sum(c * tool.get(k, 0) for k, c in x["formula"].items())
    assert abs(x["with_tool"] - x["value"] - added) < 1e-12, (x, added)
    assert abs(x["with_tool"] - y["value"]) <= 5 * x["sd"] + 1e-9 and x["sd"] < 0.2, (x, y["value"])
PY
checks=$((checks + 1))
python3 - <<'PY' || wrong "--predict"
import csv
rows = list(csv.DictReader(open("rows.csv")))
assert list(rows[0]) == ["t", "step", "drive", "heldout", "q", "qd", "measured", "predicted"]
assert {r["step"] for r in rows} == {"motor", "gravity", "friction", "inertia"} and {r["drive"] for r in rows} == {"1", "2"} and {r["heldout"] for r in rows} == {"0", "1"}
for step in ("motor", "gravity", "friction"):
    own = [(float(r["measured"]), float(r["predicted"])) for r in rows if r["step"] == step]
    assert sum((a - b) ** 2 for a, b in own) < 0.02 * sum(a * a for a, b in own), step
PY
checks=$((checks + 1))
make -C code check > made 2>&1 || wrong "generated code: $(tail -n 3 made)"

# ---- other commands take the file: torques along a motion with friction, currents by the constants ----
run simulate bare.yaml --params p.yaml --inverse --time 10 --reference fourier --period 10 --amplitude 0.6 --friction lugre --log again.csv --log-rate 100 --current
expect_code 0 "simulate --params of steps"
run simulate arm.yaml --inverse --time 10 --reference fourier --period 10 --amplitude 0.6 --friction lugre --log true.csv --log-rate 100 --current
checks=$((checks + 1))
python3 - <<'PY' || wrong "currents by the parameter file are not the robot's"
import csv
a, b = (list(csv.DictReader(open(f))) for f in ("again.csv", "true.csv"))
for i in ("i1", "i2"):
    error = sum((float(x[i]) - float(y[i])) ** 2 for x, y in zip(a, b)) / sum(float(y[i]) ** 2 for y in b)
    assert len(a) == len(b) and error < 0.02 ** 2, (i, error ** 0.5)
PY

# ---- a mass at the wrong log, a wrong mass, no clock, no constant: reported ----
run calibrate bare.yaml --log "${logs[@]:0:2}" --weight empty.csv=3,0.4,0,0.05
expect_code 0 "the mass at the log without it"
expect_in out "torque constant of 'shoulder' is negative: its current counts the other way, or --weight names the log without the mass"
run calibrate arm.yaml --log "${logs[@]:0:2}" --weight loaded.csv=6,0.4,0,0.05
expect_code 0 "twice the mass"
expect_in out "in the robot file: is the mass right?"
head -n 2 slow.csv > once.csv
refuse 3 "once.csv: it has no usable times: two or more rows at different times were expected" bare.yaml --log gravity:once.csv
sed 's/drive_inertia: unknown, limits: {lower: -1.5/drive_inertia: unknown, torque_constant: 36, limits: {lower: -1.5/' bare.yaml > one.yaml
run calibrate one.yaml --log inertia:fast.csv
expect_code 0 "one torque constant"
expect_in out "inertia: torque constant of 'elbow' is not known: its rows are omitted"
expect_in out "the whole model does not follow the torque of 'shoulder'"

# ---- words ----
run calibrate bare.yaml --log "${logs[@]:0:3}" --weight $weight --out half.yaml
expect_code 0 "motor and gravity"
for word in "done: motor, gravity" "motors, Nm/A behind the gear (16, 17):" "gravity parameters of the arm without its tool (18):" "accuracy, held-out rows, RMSE in Nm:" "verdict: "; do expect_in out "$word"; done
expect_in half.yaml "steps: [motor, gravity]"
printf 'q1,q2\n0.1,0.2\n' > at.csv
run eval bare.yaml gravity --params half.yaml --in at.csv
expect_code 3 "an arm that is not finished"
expect_in err "the step 'inertia' is missing (psdm calibrate --log inertia:FILE)"
run calibrate bare.yaml --log motor:empty.csv motor:loaded.csv --weight $weight --codegen never --quiet
expect_code 3 "code of an arm that is not finished"
expect_absent never

# ---- one step after the other, in separate runs: the same to rounding ----
run calibrate bare.yaml --log motor:empty.csv motor:loaded.csv --weight $weight --out s.yaml --quiet
expect_code 0 "motor alone"
for log in "${logs[@]:2}"; do
  run calibrate bare.yaml --log "$log" --params s.yaml --out s.yaml --json
  expect_code 0 "$log alone"
done
ask out '[s["from_before"] for s in j["steps"].values()] == [True, True, True, False] and j["steps"]["motor"]["joints"][0]["from"] == "before"'
mv out s.json
checks=$((checks + 1))
python3 - <<'PY' || wrong "step by step is not all at once"
import json
a, b = json.load(open("j.json")), json.load(open("s.json"))
near = lambda x, y: abs(x - y) <= 1e-9 * (abs(x) + 1e-3)
assert all(near(x["value"], y["value"]) and abs(x["sd"] - y["sd"]) <= 1e-6 * x["sd"] for x, y in zip(a["parameters"], b["parameters"]))
assert all(near(x["constant"], y["constant"]) for x, y in zip(a["steps"]["motor"]["joints"], b["steps"]["motor"]["joints"]))
assert all(near(x[k], y[k]) for x, y in zip(a["friction"], b["friction"]) for k in ("coulomb", "viscous", "sigma0"))
PY

# ---- thresholds, outputs, interrupts ----
run calibrate bare.yaml --log gravity:slow.csv --params s.yaml --max-rel 1e-9 --max-rmse 100 --quiet
expect_code 1 "a threshold that is not met"
expect_in err "(the last step, held out) is above 1e-09"
run calibrate bare.yaml --log gravity:slow.csv --params s.yaml --max-rel 0.5 --holdout 0
expect_code 0 "thresholds that are met, nothing held out"
expect_in out "(the last step, training); all thresholds are met"
expect_in out "fitted rows where none were held out"
run calibrate bare.yaml --log gravity:slow.csv --params s.yaml --out -
expect_code 0 "--out -"
expect_in out "route: steps"
run calibrate bare.yaml --log gravity:slow.csv --params s.yaml --out nowhere/p.yaml
expect_code 2 "--out cannot be written"
run calibrate bare.yaml --log "${logs[@]:0:2}" gravity:short.csv --weight $weight --out kept.yaml
expect_code 3 "a log that a later step cannot use"
expect_in err "the finished steps are in 'kept.yaml'"
expect_in kept.yaml "steps: [motor]"
"$PSDM" calibrate bare.yaml --log "${logs[@]}" --weight $weight --out cut.yaml --quiet > out 2> err &
pid=$!
while kill -0 $pid 2> /dev/null && [ ! -s cut.yaml ]; do sleep 0.02; done
kill -INT $pid 2> /dev/null
wait $pid
code=$?
if grep -q interrupted err; then
  expect_code 130 "interrupted"
  expect_in err "interrupted: finished steps are kept; --params continues from them"
  expect_in cut.yaml "steps: [motor"
else
  expect_code 0 "too fast to be interrupted"
fi
run calibrate bare.yaml --log "${logs[@]:2}" --params cut.yaml --out cut.yaml --quiet
expect_code 0 "resumed"
expect_in cut.yaml "steps: [motor, gravity, friction, inertia]"

# ---- compared with a log of another kind: one shot and steps ----
sed 's/, drive_inertia: unknown/, drive_inertia: unknown, torque_constant: 36/' bare.yaml | sed '/elbow/s/36/24/' > known.yaml
run calibrate known.yaml --log fast.csv --holdout 0.3 --compare p.yaml --json
expect_code 0 "--compare with a file of steps"
ask out 'j["compare"]["global_rel_compared"] < 0.1'

# the mass is where simulate --payload puts it, on the tip of the longest moving chain, not on the last link of the file
cat > lamp.yaml <<'YAML'
name: lamp
gravity: [0, 0, -9.81]
convention: modified-dh
joints:
  - {name: A, alpha: pi/2, limits: {lower: -1, upper: 1, velocity: 1, acceleration: 5, effort: 100}, torque_constant: 1}
  - {name: B, a: 0.5, limits: {lower: -1, upper: 1, velocity: 1, acceleration: 5, effort: 100}, torque_constant: 1}
  - {name: lamp, type: fixed, parent: A, a: 0.1}
links:
  - {mass: 3, com: [0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {mass: 2, com: [0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {mass: 1, com: [0, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
YAML
run excite lamp.yaml --for motor --mass 3 --com 0.3,0,0 --out motor.csv
expect_code 0 "a motion with a mass on the tip"
expect_in err "link 'link2', the tip of the longest moving chain"
printf 't,m,rx,ry,rz\n0,3,0.3,0,0\n' > load.csv
run simulate lamp.yaml --inverse --reference motor.csv --ignore-extra --log empty.csv --log-rate 100
run simulate lamp.yaml --inverse --reference motor.csv --ignore-extra --payload load.csv --log loaded.csv --log-rate 100
sed -i '1s/tau/i/g' empty.csv loaded.csv
run calibrate lamp.yaml --route steps --log motor:empty.csv motor:loaded.csv --weight loaded.csv=3,0.3,0,0 --json
expect_code 0 "torque constants"
expect_in err "link 'link2', the tip of the longest moving chain"
checks=$((checks + 1))
python3 -c 'import json; j = json.load(open("out")); k = [m["constant"] for m in j["steps"]["motor"]["joints"]]; assert all(abs(x - 1) < 1e-4 for x in k), k' || wrong "constants of one"

finish
