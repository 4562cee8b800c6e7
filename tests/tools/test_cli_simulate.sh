# psdm simulate: free motion of every shipped robot, integrators, friction, springs, loads, controllers, references, logs, --inverse, interrupts, refusals.
. "$SOURCE/tests/tools/cli.sh"
# an arm with everything: limits, friction, gears, torque constants, springs
cat > arm.yaml <<'YAML'
name: arm
gravity: [0, -9.81, 0]
convention: dh
joints:
  - {name: shoulder, a: 1.2, gear: 100, torque_constant: 2, drive_inertia: 0.5, stiffness: 5000, damping: 2,
     limits: {lower: -1, upper: 2, effort: 60}, friction: {coulomb: 2, static: 3, stribeck: 0.05, viscous: 0.5, sigma0: 1e4, sigma1: 20}}
  - {name: elbow, a: 1.1, gear: -50, torque_constant: -4, drive_inertia: 0.2, stiffness: 3000,
     friction: {coulomb: 1, viscous: 0.25, sigma0: 1e4}}
links:
  - {mass: 1, com: [-0.6, 0, 0], inertia: {xx: 0.01, yy: 0.12, zz: 0.12}}
  - {mass: 2, com: [-0.55, 0, 0], inertia: {xx: 0.01, yy: 0.2, zz: 0.2}}
YAML
# the same arm without friction and with a tool
sed 's/, friction: {[^}]*}//; s/^     friction: {[^}]*}}/    }/; s/^links:/tool: {mass: 2, com: [0, 0, 0]}\nlinks:/' arm.yaml > tool.yaml

# errors that the energy audit allows: 1e4 steps of adams at 1e-13, 1e2 of bdf at 1e-9; without SUNDIALS, steps of 1 ms of order four and one
if "$PSDM" simulate arm.yaml --time 0.1 --integrator adams > /dev/null 2>&1; then variable=1 smooth=1e-9 stiff=1e-7; else variable= smooth=1e-5 stiff=1e-2; fi

# ---- words ----
run simulate --help
expect_code 0 "simulate --help"
expect_in out "examples:"
for word in --time --initial --control --friction --integrator --inverse computed-torque lugre euler nonic; do expect_in out "$word"; done
run simulate "$robots/two_link.yaml" --time 1
expect_code 0 "a summary"
expect_in out "two_link: 1 s simulated in"
expect_in out "energy, J"
expect_in out "unaccounted: at most"

# ---- free motion: 60 s from rest keep their energy to 1e-9 of the peak kinetic energy; a planar arm stays in its plane ----
for robot in "$robots"/*.yaml; do
  [ "$variable" ] || continue
  falling=
  case $robot in *denso*) continue ;; */pantograph.yaml | */planar_3rrr.yaml) falling="--gravity 0,-9.81,0" ;; esac
  run simulate "$robot" --time 60 --json $falling
  expect_code 0 "60 s of $(basename "$robot")"
  ask out 'j["energy_drift"] <= 1e-9 and j["energy"]["peak_kinetic"] > 0.05 and j["end"] == "time" and near(j["final_state"]["t"], 60, 1e-9) and len(j["final_state"]["q"]) == j["n"]'
done
run simulate "$robots/denso_vs6556g.yaml" --time 1 --out denso.csv
expect_code 3 "no inertias"
expect_in err "link 'link1' has no mass, centre of mass and inertia"
expect_absent denso.csv

# the names of the contract; rows at 0, every output and the end; the file says what the JSON says
run simulate arm.yaml --time 1.005 --out free.csv --json
expect_code 0 "CSV and JSON"
mv out free.json
for key in robot n settings end final_state energy_drift energy_balance energy events integrator native steps evaluations wall_seconds speed; do expect_in free.json "\"$key\":"; done
checks=$((checks + 1))
[ "$(head -n 1 free.csv)" = "t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2,T,U,supplied,dissipated,external" ] || wrong "columns of free motion"
rows free.csv 'len(r) == 102 and near(r[1]["t"], 0.01, 1e-15) and near(r[-1]["t"], 1.005, 1e-15) and r[0]["q1"] == r[0]["qd2"] == 0 and all(near(x["T"] + x["U"], r[0]["U"], 1e-9) for x in r)'
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "the last row is the final state"
import csv, json
last, final = list(csv.DictReader(open("free.csv")))[-1], json.load(open("free.json"))["final_state"]
assert [float(last[k + str(i + 1)]) for k in ("q", "qd", "qdd", "tau") for i in range(2)] == [final[k][i] for k in ("q", "qd", "qdd", "tau") for i in range(2)]
PY
# accelerations are those of psdm eval
{ echo q1,q2,qd1,qd2,tau1,tau2; tail -n 1 free.csv | cut -d, -f2-5,8-9; } > state.csv
run eval arm.yaml forward --in state.csv
checks=$((checks + 1))
paste -d, out free.csv > /dev/null
[ "$(tail -n 1 out | awk -F, -v row="$(tail -n 1 free.csv)" '{ split(row, f, ","); print (($1 - f[6])^2 + ($2 - f[7])^2 < 1e-20) }')" = 1 ] || wrong "qdd is eval's"
run simulate arm.yaml --time 0.1 --out -
expect_code 0 "CSV to standard output"
checks=$((checks + 1))
[ "$(wc -l < out)" = 12 ] || wrong "only the CSV is on standard output"

# integrators agree, each to its promised accuracy
for how in "rk4 --step 0.001" "euler --step 0.0001" "auto --no-code"; do
  run simulate arm.yaml --time 1.005 --integrator $how --json
  expect_code 0 "--integrator $how"
  cp out other.json
  case $how in rk4*) e=1e-8 ;; euler*) e=5e-3 ;; *) e=1e-8 ;; esac
  ask other.json "all(near(a, b, $e) for a, b in zip(j['final_state']['q'], json.load(open('free.json'))['final_state']['q']))"
done
ask other.json 'j["native"] is False'

# ---- starts ----
printf 'q1,q2,qd1,qd2\n0.3,-0.2,1,0\n' > start.csv
run simulate arm.yaml --time 1 --initial start.csv --out whole.csv
expect_code 0 "--initial"
rows whole.csv 'r[0]["q1"] == 0.3 and r[0]["q2"] == -0.2 and r[0]["qd1"] == 1'
# a run is continued from its last row
run simulate arm.yaml --time 0.5 --initial start.csv --out first.csv
{ head -n 1 first.csv; tail -n 1 first.csv; } > middle.csv
run simulate arm.yaml --time 0.5 --initial middle.csv --ignore-extra --out second.csv
expect_code 0 "going on"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "a run in two parts"
import csv
a, b = (list(csv.DictReader(open(f)))[-1] for f in ("whole.csv", "second.csv"))
assert all(abs(float(a[k]) - float(b[k])) < 1e-8 for k in ("t", "q1", "q2", "qd1", "qd2"))
PY

# ---- friction, limits ----
for kind in viscous coulomb stribeck power lugre; do
  run simulate arm.yaml --time 1 --friction $kind --out rough.csv --json
  expect_code 0 "--friction $kind"
  [ $kind = lugre ] && e=$stiff || e=$smooth
  ask out "j['energy_balance'] < $e and j['energy']['dissipated'] > 0"
  expect_in rough.csv "friction1,friction2"
done
expect_in rough.csv "z1,z2"
expect_in rough.csv "Ub"
run simulate arm.yaml --time 1 --friction lugre --integrator euler --step 0.0005
expect_code 0 "lugre by euler"
run simulate tool.yaml --time 0.1 --friction coulomb
expect_code 0 "friction of a robot without any"
expect_err "psdm: warning: --friction coulomb: no joint of this robot has friction"
# an arm held by its dry friction stays there
printf 'q1,q2\n-1.57,0\n' > hang.csv
run simulate arm.yaml --time 1 --friction coulomb --initial hang.csv --json
ask out 'j["final_state"]["q"] == [-1.57, 0] and j["final_state"]["qd"] == [0, 0]'
run simulate arm.yaml --time 3 --limits end --json
expect_code 0 "--limits end"
ask out 'j["end"] == "limit" and near(j["final_state"]["q"][0], -1, 1e-6) and "shoulder" in j["end_text"]'
run simulate arm.yaml --time 3 --limits stop --out stop.csv --json
expect_code 0 "--limits stop"
ask out 'j["end"] == "time" and j["events"]["limits"] > 0'
rows stop.csv 'min(x["q1"] for x in r) > -1 - 1e-6'
run simulate arm.yaml --time 3 --limits bounce --restitution 0.3 --out bounce.csv
rows bounce.csv 'min(x["q1"] for x in r) > -1 - 1e-6'

# ---- springs ----
printf 'q1,q2,theta1,theta2\n0,0,0.01,0\n' > wound.csv
run simulate arm.yaml --time 0.5 --elastic --initial wound.csv --out spring.csv --json
expect_code 0 "--elastic"
ask out "j['energy_balance'] < $smooth"
checks=$((checks + 1))
[ "$(head -n 1 spring.csv)" = "t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2,theta1,theta2,thetad1,thetad2,T,U,Ue,supplied,dissipated,external" ] || wrong "columns with springs"
rows spring.csv 'r[0]["theta1"] == 0.01 and r[0]["thetad1"] == 0'
run simulate arm.yaml --time 4 --elastic --control elastic-pd --to 0.5,0.3 --json
expect_code 0 "elastic-pd"
ask out 'all(abs(e) < 1e-3 for e in j["tracking"]["final"])'

# ---- loads and wrenches: like held from the start; at rest a wrench against gravity's torque ----
printf 't,m,rx,ry,rz\n0,2,0,0,0\n' > load.csv
run simulate arm.yaml --time 0.5 --payload load.csv --out load_out.csv --json
expect_code 0 "--payload"
cp out load.json
run simulate tool.yaml --time 0.5 --json
ask out "all(near(a, b, 1e-9) for a, b in zip(j['final_state']['q'], json.load(open('load.json'))['final_state']['q']))"
expect_in load_out.csv "external,payload"
printf 't,m,rx,ry,rz,Ixx,Iyy,Izz\n0.123,2,0,0,0.1,0.01,0.01,0.01\n0.345,0,0,0,0,0,0,0\n' > come.csv
run simulate arm.yaml --time 0.5 --payload come.csv --json
expect_code 0 "a load that comes and goes"
ask out "j['energy_balance'] < $smooth and j['energy']['payload'] != 0"
printf 't,fx,fy,fz\n0,0,0,0\n1,0,20,0\n' > push.csv
run simulate arm.yaml --time 0.5 --wrench push.csv --wrench-link link1 --json
expect_code 0 "--wrench"
ask out "j['energy_balance'] < $smooth and j['energy']['external'] != 0"

# ---- controllers ----
for control in pd pd-gravity feedforward computed-torque adaptive lqr; do
  run simulate arm.yaml --time 2.5 --control $control --reference quintic --to 0.5,-0.3 --duration 1 --json
  expect_code 0 "--control $control"
  case $control in pd) e=0.2 ;; *) e=1e-3 ;; esac
  ask out "all(abs(x) < $e for x in j['tracking']['final']) and j['energy_balance'] < $smooth and j['control'] == '$control'"
done
run simulate arm.yaml --time 1 --control computed-torque --reference quintic --to 0.5,-0.3 --json
ask out 'all(x < 1e-9 for x in j["tracking"]["peak"])'
run simulate arm.yaml --time 1 --control computed-torque --reference quintic --to 0.5,-0.3 --model-error 0.2 --json
ask out 'max(j["tracking"]["peak"]) > 1e-3'
cp out wrong1.json
run simulate arm.yaml --time 1 --control computed-torque --reference quintic --to 0.5,-0.3 --model-error 0.2 --json
ask out 'j["final_state"] == json.load(open("wrong1.json"))["final_state"]'
run simulate arm.yaml --time 1 --control computed-torque --reference quintic --to 0.5,-0.3 --model tool.yaml --kp 100 --kd 20,20 --json
ask out 'max(j["tracking"]["peak"]) > 1e-3'
run simulate arm.yaml --time 3 --control adaptive --reference sines --amplitude 0.3,0.2 --frequency 1 --model-error 0.2 --lambda 5 --gamma 2 --out adapt.csv --json
expect_code 0 "adaptive"
ask out 'len(j["final_state"]["control"]) > 3'
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "estimates stand in the CSV under their names"
import csv, json
last, states = list(csv.DictReader(open("adapt.csv")))[-1], json.load(open("out"))["final_state"]["control"]
assert states and all(float(last[k]) == v for k, v in states.items())
PY
run simulate arm.yaml --time 1 --control pd-gravity --rate 500 --quantum 1e-3 --noise 0.01 --saturate --to 0.3,0.3 --out sampled.csv --output 0.001
expect_code 0 "sampled"
rows sampled.csv 'max(abs(x["tau1"]) for x in r) == 60 and all(r[i]["tau1"] == r[i + 1]["tau1"] for i in range(0, 1000, 2)) and len({x["tau1"] for x in r}) > 100'
printf 't,tau1,tau2\n0,1,0\n1,3,1\n' > torque.csv
run simulate arm.yaml --time 1 --torque torque.csv --out torque_out.csv
expect_code 0 "--torque"
rows torque_out.csv 'near(r[50]["tau1"], 2, 1e-12) and near(r[50]["tau2"], 0.5, 1e-12)'
run simulate arm.yaml --time 1 --control torque --torque torque.csv --held --out torque_out.csv
rows torque_out.csv 'r[50]["tau1"] == 1 and r[50]["tau2"] == 0'

# ---- references ----
run simulate arm.yaml --time 2 --control computed-torque --reference fourier --amplitude 0.3 --period 2 --seed 5 --json
ask out 'all(x < 1e-9 for x in j["tracking"]["peak"])'
run simulate arm.yaml --inverse --time 2 --reference fourier --amplitude 0.3,0.1 --period 2 --to 0.1,0.2 --seed 5 --output 0.001 --out fourier.csv
expect_code 0 "a random motion"
rows fourier.csv 'near(max(abs(x["q1"] - 0.1) for x in r), 0.3, 1e-3) and near(max(abs(x["q2"] - 0.2) for x in r), 0.1, 1e-3) and all(abs(r[0][k]) < 1e-12 for k in ("qd1", "qd2")) and all(abs(r[0][k]) < 1e-9 for k in ("qdd1", "qdd2"))'
run simulate arm.yaml --time 1 --initial reference --control computed-torque --reference sines --amplitude 0.2 --frequency 0.5,1 --to 0.3,-0.3 --json
ask out 'all(x < 1e-9 for x in j["tracking"]["peak"])'
run simulate arm.yaml --time 1 --initial reference --control computed-torque --reference fourier.csv --ignore-extra --json
expect_code 0 "a reference from a file"
ask out 'all(x < 1e-4 for x in j["tracking"]["peak"])'

# ---- along a motion: psdm eval's torques; motors, currents, springs ----
run simulate arm.yaml --inverse --reference quintic --to 0.5,-0.3 --time 1 --out along.csv
expect_code 0 "--inverse"
expect_in out "peak |tau|"
cut -d, -f2-7 along.csv > motion.csv
run eval arm.yaml inverse --in motion.csv
checks=$((checks + 1))
cut -d, -f8-9 along.csv | paste -d, - out | awk -F, 'NR > 1 && (($1 - $3)^2 + ($2 - $4)^2 > 1e-18) { exit 1 }' || wrong "torques along a motion are eval's"
run simulate arm.yaml --inverse --reference quintic --to 0.5,-0.3 --time 1 --motor --current --friction coulomb --out along.csv --json
expect_code 0 "--motor --current"
rows along.csv 'all(near(x["qm1"], 100 * x["q1"], 1e-9) and near(x["qm2"], -50 * x["q2"], 1e-9) and near(x["taum2"], x["tau2"] / -50, 1e-9) and near(x["i1"], x["tau1"] / 2, 1e-9) for x in r)'
ask out 'j["rows"] == 101 and len(j["peak_torque"]) == 2 and j["rms_torque"][0] <= j["peak_torque"][0]'
run simulate arm.yaml --inverse --reference nonic --to 0.5,-0.3 --time 1 --elastic --out spring_along.csv
expect_code 0 "--inverse --elastic"
expect_in spring_along.csv "theta1,theta2,thetad1,thetad2,thetadd1,thetadd2"

# ---- synthetic logs: the contract's columns; torques that match the positions; the same seed, the same log ----
run simulate arm.yaml --time 2 --control computed-torque --reference fourier --amplitude 0.3 --period 2 --log log.csv --log-rate 500 --out coarse.csv --output 0.01
expect_code 0 "--log"
checks=$((checks + 1))
[ "$(head -n 1 log.csv)" = "t,q1,q2,tau1,tau2" ] && [ "$(wc -l < log.csv)" = 1002 ] && [ "$(wc -l < coarse.csv)" = 202 ] || wrong "rows of log and out"
cut -d, -f1-3 log.csv > positions.csv
run simulate arm.yaml --inverse --reference positions.csv --output 0.002 --out again.csv
expect_code 0 "a log is a motion"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "torques of the log are those of its motion"
import csv
log, again = (list(csv.DictReader(open(f))) for f in ("log.csv", "again.csv"))
assert len(log) == len(again) == 1001
worst = max(abs(float(a[k]) - float(b[k])) for a, b in list(zip(log, again))[20:-20] for k in ("tau1", "tau2"))
most = max(abs(float(a["tau1"])) for a in log)
assert worst < 1e-5 * most, worst
PY
noisy="--time 1 --control pd-gravity --to 0.2,0.1 --rate 1000 --quantum 0.001 --log-noise 0.01 --log-rate 1000 --output 0.001"
run simulate arm.yaml $noisy --log noisy.csv --out true.csv
run simulate arm.yaml $noisy --log noisy2.csv
checks=$((checks + 1))
cmp -s noisy.csv noisy2.csv || wrong "the same seed gives the same log"
run simulate arm.yaml $noisy --log noisy2.csv --seed 2
checks=$((checks + 1))
cmp -s noisy.csv noisy2.csv && wrong "another seed gives another log"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "quantisation and noise of the log"
import csv
log, true = (list(csv.DictReader(open(f))) for f in ("noisy.csv", "true.csv"))
assert len(log) == len(true) == 1001
for a, b in zip(log, true):
    for k in ("q1", "q2"):
        assert abs(float(a[k]) - float(b[k])) <= 0.0005 + 1e-12 and abs(float(a[k]) / 0.001 - round(float(a[k]) / 0.001)) < 1e-9
for k, sd in (("tau1", 0.6), ("tau2", 0.01)):
    d = [float(a[k]) - float(b[k]) for a, b in zip(log, true)]
    assert abs((sum(x * x for x in d) / len(d)) ** 0.5 / sd - 1) < 0.1 and abs(sum(d) / len(d)) < 5 * sd / len(d) ** 0.5
PY
run simulate arm.yaml --time 0.1 --control pd-gravity --log current.csv --current --motor --elastic --out true.csv
checks=$((checks + 1))
[ "$(head -n 1 current.csv)" = "t,qm1,qm2,i1,i2" ] || wrong "columns of currents on the motors' side"
checks=$((checks + 1))
paste -d, current.csv true.csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { a = $c["qm1"] - 100 * $c["theta1"]; b = $c["i2"] - $c["tau2"] / -4; if (a * a + b * b > 1e-18) exit 1 }' || wrong "motors and currents of the log"
run simulate "$robots/two_link.yaml" --time 0.1 --log none.csv --current
expect_code 3 "no torque constants"
expect_err "psdm: warning: link 'link1': inertia breaks the triangle inequality (principal moments 0, 0, 0.5 kg m^2)
psdm: warning: link 'link2': inertia breaks the triangle inequality (principal moments 0, 0, 0.3 kg m^2)
psdm: error: --current: joint 'shoulder' has no torque_constant"
expect_absent none.csv

# ---- logs along a motion: the recorder of a simulation, without one ----
run simulate arm.yaml --inverse --time 2 --reference fourier --amplitude 0.3 --period 2 --seed 5 --output 0.01 --out path.csv
run simulate arm.yaml --inverse --reference path.csv --ignore-extra --friction lugre --out along.csv --output 0.01 --log along_log.csv --log-rate 500 --json
expect_code 0 "--inverse --log"
ask out 'j["rows"] == 1001 and j["log_rows"] == 1001 and near(j["end"], 2, 1e-12)'
checks=$((checks + 1))
[ "$(head -n 1 along_log.csv)" = "t,q1,q2,tau1,tau2" ] && [ "$(wc -l < along_log.csv)" = 1002 ] && [ "$(wc -l < along.csv)" = 202 ] || wrong "rows of an inverse simulation's log and out"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "an inverse simulation's log is every row, its out every fifth"
import csv
log, out, path = (list(csv.DictReader(open(f))) for f in ("along_log.csv", "along.csv", "path.csv"))
assert all(a[k] == b[k] for a, b in zip(log[::5], out) for k in ("t", "q1", "q2", "tau1", "tau2"))
# quintic pieces take the table's values; friction is added to the table's torques. 1e-12: sums of a few numbers below 100
assert all(abs(float(b[k]) - float(p[k])) < 1e-12 for b, p in zip(out, path) for k in ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2"))
assert all(abs(float(b["tau" + i]) - float(b["friction" + i]) - float(p["tau" + i])) < 1e-12 for b, p in zip(out, path) for i in "12")
assert max(abs(float(b["friction1"])) for b in out) > 2
PY
run simulate arm.yaml --inverse --reference path.csv
expect_code 3 "columns of torques are not a motion's"
expect_in err "column 'tau1' is not one of t, q, qd, qdd, each 1 to 2; --ignore-extra skips it"
# noise is drawn as in a simulation: row by row, joint by joint
quiet="--time 0.5 --log-rate 500 --output 0.01"
run simulate arm.yaml $quiet --log clean1.csv
run simulate arm.yaml $quiet --log noisy1.csv --log-noise 0.01 --seed 7
run simulate arm.yaml $quiet --inverse --reference path.csv --ignore-extra --log clean2.csv
run simulate arm.yaml $quiet --inverse --reference path.csv --ignore-extra --log noisy2.csv --log-noise 0.01 --seed 7 --quantum 0.001
expect_code 0 "noise along a motion"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "noise of logs along a motion"
import csv
a, b, c, d = (list(csv.DictReader(open(f))) for f in ("clean1.csv", "noisy1.csv", "clean2.csv", "noisy2.csv"))
assert len(a) == len(b) == len(c) == len(d) == 251
for w, x, y, z in zip(a, b, c, d):
    for k in ("tau1", "tau2"):
        assert abs(float(x[k]) - float(w[k]) - (float(z[k]) - float(y[k]))) < 1e-12
    for k in ("q1", "q2"):
        assert abs(float(z[k]) - float(y[k])) <= 0.0005 + 1e-12 and abs(float(z[k]) / 0.001 - round(float(z[k]) / 0.001)) < 1e-9
assert max(abs(float(x["tau1"]) - float(w["tau1"])) for w, x in zip(a, b)) > 0.6
PY
# loads: like held from the start; and one that comes later
run simulate tool.yaml --inverse --reference path.csv --ignore-extra --log tool_log.csv --log-rate 200
run simulate arm.yaml --inverse --reference path.csv --ignore-extra --payload load.csv --log load_log.csv --log-rate 200 --out load_along.csv --motor --current
expect_code 0 "--inverse --payload"
run simulate arm.yaml --inverse --reference path.csv --ignore-extra --log empty_log.csv --log-rate 200 --motor
sed 's/^0,2/1,2/' load.csv > late.csv
run simulate arm.yaml --inverse --reference path.csv --ignore-extra --payload late.csv --log late_log.csv --log-rate 200
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "a load along a motion"
import csv
tool, load, late, empty, out = (list(csv.DictReader(open(f))) for f in ("tool_log.csv", "load_log.csv", "late_log.csv", "empty_log.csv", "load_along.csv"))
assert len(tool) == len(load) == len(late) == len(empty) == 401
gear, constant, worst = (100, -50), (2, -4), 0
for k, (a, b, c, e) in enumerate(zip(tool, load, late, empty)):
    for i in (0, 1):
        tau, alone = float(a["tau%d" % (i + 1)]), gear[i] * float(e["taum%d" % (i + 1)])
        assert abs(float(b["i%d" % (i + 1)]) * constant[i] - tau) < 1e-11
        assert abs(float(c["tau%d" % (i + 1)]) - (tau if k >= 200 else alone)) < 1e-11
        worst = max(worst, abs(tau - alone))
assert worst > 10
for a, b in zip(out, tool[::2]):
    assert abs(float(a["tau1"]) - float(b["tau1"])) < 1e-11 and abs(float(a["taum2"]) * -50 - float(b["tau2"])) < 1e-11 and abs(float(a["i1"]) * 2 - float(b["tau1"])) < 1e-11
PY
# on a flange that is fixed to the last moving link
sed 's/^links:/  - {name: flange, type: fixed, a: 0.1}\nlinks:/; $a\  - {mass: 0}' arm.yaml > flange.yaml
run simulate flange.yaml --inverse --reference path.csv --ignore-extra --payload load.csv --log flange_log.csv
expect_code 0 "a load on a fixed link"
printf 't,m,rx,ry,rz\n0,2,0.1,0,0\n' > shifted.csv
run simulate arm.yaml --inverse --reference path.csv --ignore-extra --payload shifted.csv --log shifted_log.csv
checks=$((checks + 1))
paste -d, flange_log.csv shifted_log.csv | awk -F, 'NR > 1 { for (i = 1; i <= 5; i++) { d = $i - $(i + 5); bad = bad || d * d > 1e-22 } } END { exit bad || NR != 202 }' || wrong "a load on a fixed link"
# through a transmission the log's currents are those of --out
sed 's/^links:/transmission: [[1, 0], [0.5, 1]]\nlinks:/' arm.yaml > mixed.yaml
run simulate mixed.yaml --inverse --reference path.csv --ignore-extra --current --motor --out mixed.csv --log mixed_log.csv
expect_code 0 "currents through a transmission"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "currents through a transmission"
import csv
log, out = (list(csv.DictReader(open(f))) for f in ("mixed_log.csv", "mixed.csv"))
assert len(log) == len(out) == 201
assert all(abs(float(a[k]) - float(b[k])) < 1e-11 for a, b in zip(log, out) for k in ("qm1", "qm2", "i1", "i2"))
assert max(abs(float(a["i1"]) - float(b["tau1"]) / 2) for a, b in zip(log, out)) > 1
PY
# --time cuts a file; a longer time keeps all of it
run simulate arm.yaml --inverse --reference path.csv --ignore-extra --time 0.25 --out cut.csv --json
ask out 'near(j["end"], 0.25, 1e-12) and j["rows"] == 26'
run simulate arm.yaml --inverse --reference path.csv --ignore-extra --time 99 --out cut.csv --json
ask out 'near(j["end"], 2, 1e-12) and j["rows"] == 201'

# ---- base parameters in place of inertias ----
run params "$robots/two_link.yaml" --json
python3 - <<'PY'
import json, re
p = json.load(open("out"))["base_parameters"]
text = open(__import__("os").environ["SOURCE"] + "/robots/two_link.yaml").read()
open("stated.yaml", "w").write(re.sub(r"links:.*", "", text, flags=re.S) + "theta: {" + ", ".join(f"{b['name']}: {b['value']:.17g}" for b in p) + "}\n")
open("partly.yaml", "w").write(re.sub(r"links:.*", "", text, flags=re.S) + "theta: {" + ", ".join(f"{b['name']}: {b['value']:.17g}" for b in p[1:]) + "}\n")
open("first", "w").write(p[0]["name"])
PY
run simulate "$robots/two_link.yaml" --time 1 --json
cp out known.json
run simulate stated.yaml --time 1 --theta --json
expect_code 0 "--theta"
ask out "all(near(a, b, 1e-9) for a, b in zip(j['final_state']['q'], json.load(open('known.json'))['final_state']['q'])) and j['energy_drift'] < 1e-9"
run simulate "$robots/two_link.yaml" --inverse --reference quintic --to 1,0.5 --time 1 --log known_log.csv
run simulate stated.yaml --theta --inverse --reference quintic --to 1,0.5 --time 1 --log stated_log.csv
expect_code 0 "--theta --inverse --log"
checks=$((checks + 1))
paste -d, known_log.csv stated_log.csv | awk -F, 'NR > 1 { for (i = 1; i <= 5; i++) { d = $i - $(i + 5); bad = bad || d * d > 1e-22 } } END { exit bad || NR != 102 }' || wrong "a log by base parameters alone"
run simulate stated.yaml --time 1
expect_code 3 "theta must be asked for"
expect_in err "; --theta uses the base parameters in the file"
run simulate partly.yaml --time 1 --theta
expect_code 3 "one base parameter is missing"
expect_err "psdm: error: --theta: the robot file does not state base parameter '$(cat first)'"
run simulate arm.yaml --time 1 --theta
expect_code 3 "no theta"
expect_err "psdm: error: --theta: the robot file states no base parameters (theta: {...})"

# ---- early ends keep the rows so far ----
"$PSDM" simulate arm.yaml --time 1e7 --out long.csv --json > out 2> err &
pid=$!
for _ in $(seq 200); do [ -n "$(find . -name '*part-*' -size +0c)" ] && break; sleep 0.1; done # rows are being written
kill -INT $pid
wait $pid
code=$?
expect_code 130 "interrupted"
expect_in err "psdm: warning: interrupted at t = "
ask out 'j["end"] == "stopped"'
rows long.csv 'len(r) > 1 and near(r[-1]["t"], 0.01 * (len(r) - 1), 1e-6)'
checks=$((checks + 1))
ls -A | grep -q 'part-' && wrong "a temporary file is left"
run simulate arm.yaml --time 1e7 --wall 0.2 --out wall.csv --json
expect_code 1 "--wall"
expect_in err "psdm: warning: ran out of wall time at"
ask out 'j["end"] == "timeout"'
rows wall.csv 'len(r) > 1'
run simulate arm.yaml --time 10 --speed-limit 1 --out fast.csv --json
expect_code 1 "diverged"
expect_in err "psdm: warning: the motion diverged at"
ask out 'j["end"] == "diverged"'
rows fast.csv 'len(r) > 1'

# ---- refusals ----
refuse() { # WORDS of the command, then the message
  run simulate arm.yaml $1
  expect_code 2 "simulate $1"
  expect_err "psdm: error: $2 (psdm simulate --help)"
}
refuse "" "missing --time SECONDS"
refuse "--time -1" "--time must be positive"
refuse "--time 1 --integrator rk5" "--integrator 'rk5': did you mean 'rk4'? There are auto, adams, bdf, rk4, euler"
refuse "--time 1 --friction lugree" "--friction 'lugree': did you mean 'lugre'? There are none, viscous, coulomb, stribeck, power, lugre"
refuse "--time 1 --limits bonce" "--limits 'bonce': did you mean 'bounce'? There are ignore, end, stop, bounce"
refuse "--time 1 --control computed" "--control 'computed': one of none, torque, pd, pd-gravity, feedforward, computed-torque, lqr, adaptive, elastic-pd was expected"
refuse "--time 1 --control pd --reference cubics --to 1,1" "--reference 'cubics': did you mean 'cubic'? There are cubic, quintic, septic, nonic, hold, sines, fourier"
refuse "--time 1 --speed-limits 3" "unknown option '--speed-limits'; did you mean '--speed-limit'?"
refuse "--time 1 --gravty 0,0,0" "unknown option '--gravty'; did you mean '--gravity'?"
refuse "--time 1 --kp 3" "--kp needs the controllers with gains by position"
refuse "--time 1 --control pd --Q 3" "--Q needs --control lqr"
refuse "--time 1 --control pd --kp 1,2,3" "--kp '1,2,3': one number or 2 were expected"
refuse "--time 1 --control pd --kp x" "--kp 'x': one number or 2 were expected"
refuse "--time 1 --control lqr --inputs 3" "--inputs '3': ascending numbers of joints, 1 to 2, were expected"
refuse "--time 1 --control torque" "--control torque needs --torque FILE.csv"
refuse "--time 1 --control elastic-pd" "--control elastic-pd needs --elastic"
refuse "--time 1 --control pd --reference quintic" "--reference quintic needs --to Q,..."
refuse "--time 1 --reference sines" "--reference needs --inverse or a --control that follows it"
refuse "--time 1 --to 1,1" "--to needs --inverse or a --control that follows a reference"
refuse "--time 1 --control pd --amplitude 1" "--amplitude needs --reference sines or fourier"
refuse "--time 1 --control pd --initial reference" "--initial reference needs --reference FILE.csv, sines or fourier"
refuse "--time 1 --rate 100" "--rate needs a --control"
refuse "--time 1 --control pd --noise 1" "--noise needs --rate: it is drawn once per sample"
refuse "--time 1 --quantum 1" "--quantum needs --rate or --log"
refuse "--time 1 --wrench-link link1" "--wrench-link needs --wrench"
refuse "--time 1 --wrench push.csv --wrench-link hand" "--wrench-link: the robot has no link or joint 'hand'"
refuse "--time 1 --restitution 0.2" "--restitution needs --limits bounce"
refuse "--time 1 --held" "--held needs --torque or --wrench"
refuse "--time 1 --log-rate 10" "--log-rate and --log-noise need --log"
refuse "--time 1 --motor" "--current and --motor need --log or --inverse"
refuse "--time 1 --log l.csv --log-rate 70" "--output must be a multiple of the log's period, 1 / --log-rate"
refuse "--time 1 --inverse" "--inverse needs a --reference that moves"
refuse "--inverse --reference sines" "missing --time SECONDS"
refuse "--time 1 --inverse --reference sines --control pd" "--control cannot be used with --inverse, which integrates nothing"
refuse "--time 1 --inverse --reference sines --wall 3" "--wall cannot be used with --inverse, which integrates nothing"
refuse "--time 1 --inverse --reference sines --elastic --payload load.csv" "--inverse: --payload and --elastic exclude each other; use a tool: in the robot file"
refuse "--time 1 --out - --json" "only one of --json, --out - and --log - can use standard output"
refuse "--time 1 --out a.csv --log a.csv" "--out and --log name the same file"
refuse "--time 1 --step 0" "--step must be positive"
refuse "--time 1 --wall -1" "--wall must not be negative"
refuse "--time 1 --control pd --reference fourier --harmonics 2" "--harmonics: an integer from 3 to 1000 was expected"
refuse "--time 1 --seed 1.5" "--seed: an integer that is not negative was expected"
run simulate arm.yaml --time 1 --control pd --model "$robots/puma560.yaml"
expect_code 2 "a model of another robot"
expect_in err "psdm: error: --model: it has 6 independent joints, the robot has 2 (psdm simulate --help)"
sed 's/2,0,0,0$/-2,0,0,0/' load.csv > negative.csv
refuse "--time 1 --payload negative.csv" "--payload: the mass in row 1 is negative"
blame() { # WORDS, then the whole message
  run simulate arm.yaml --time 1 $1
  expect_code 3 "simulate $1"
  expect_err "psdm: error: $2"
}
printf 'q1\n0\n' > narrow.csv
blame "--initial narrow.csv" "narrow.csv:1: column 'q2' is missing; q goes from 1 to 2"
printf 'q1,q2,speed\n0,0,1\n' > extra.csv
blame "--initial extra.csv" "extra.csv:1: column 'speed' is not one of t, q, qd, theta, thetad, each 1 to 2; --ignore-extra skips it"
blame "--initial wound.csv" "wound.csv:1: theta and thetad, the motors behind springs, need --elastic"
printf 'q1,q2\n0,0\n1,1\n' > two.csv
blame "--initial two.csv" "two.csv:3: one row was expected, this is the second"
printf 'q1,q2\n' > empty.csv
blame "--initial empty.csv" "empty.csv: one row was expected, there is none"
printf 't,fx,fy\n0,0,0\n' > flat.csv
blame "--wrench flat.csv" "flat.csv:1: column 'fz' is missing"
run simulate arm.yaml --time 1 --initial none.csv
expect_code 2 "no such file"
run simulate arm.yaml --time 1 --out none/motion.csv
expect_code 2 "no such folder"
[ -e /dev/full ] && { run simulate arm.yaml --time 1 --json; "$PSDM" simulate arm.yaml --time 1 --out - > /dev/full 2> err; code=$?; expect_code 2 "a full disk"; }
finish
