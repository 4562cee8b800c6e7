# psdm excite: motions for each experiment, their limits, figures, files that survive an interrupt, refusals.
. "$SOURCE/tests/tools/cli.sh"
# an arm with limits of its own, friction, a floor and a capsule at its tip
cat > arm.yaml <<'YAML'
name: arm
gravity: [0, 0, -9.81]
convention: dh
joints:
  - {name: waist, d: 0.4, alpha: -pi/2, drive_inertia: 0.3, limits: {lower: -2.5, upper: 2, velocity: 1.5, acceleration: 6, effort: 60}, friction: {coulomb: 2, viscous: 1}}
  - {name: shoulder, a: 0.4, drive_inertia: 0.3, limits: {lower: -2, upper: 0.5, velocity: 1.5, acceleration: 6, effort: 60}, friction: {coulomb: 2, viscous: 1}}
  - {name: elbow, a: 0.3, drive_inertia: 0.1, limits: {lower: -1.5, upper: 1.5, velocity: 2, acceleration: 8, effort: 20}, friction: {coulomb: 1, viscous: 0.5}}
links:
  - {mass: 4, com: [0, 0.1, 0], inertia: {xx: 0.04, yy: 0.02, zz: 0.04}}
  - {mass: 3, com: [-0.2, 0, 0.02], inertia: {xx: 0.01, yy: 0.05, zz: 0.05}}
  - {mass: 2, com: [-0.1, 0.01, 0], inertia: {xx: 0.005, yy: 0.02, zz: 0.02}}
collision:
  floor: {normal: [0, 0, 1], height: 0}
  capsules:
    - {link: base, from: [0, 0, 0], to: [0, 0, 0.3], radius: 0.06}
    - {link: elbow, from: [0, 0, 0], to: [-0.3, 0, 0], radius: 0.04}
YAML
sed '/^links:/,/^collision:/d; s/^  floor.*//; s/^  capsules.*//; s/^    - {link.*//; s/drive_inertia: [0-9.]*/drive_inertia: unknown/' arm.yaml > unknown.yaml
# within FILE SECONDS: along the file as the simulator interpolates it, with SECONDS between points, no limit of arm.yaml is exceeded
within() {
  run simulate arm.yaml --inverse --reference "$1" --ignore-extra --friction coulomb --output "$2" --out fine.csv
  expect_code 0 "fine rows of $1"
  rows fine.csv 'all(l <= x[f"q{i}"] <= u and abs(x[f"qd{i}"]) <= v and abs(x[f"qdd{i}"]) <= a and abs(x[f"tau{i}"]) <= e for x in r for i, l, u, v, a, e in ((1, -2.5, 2, 1.5, 6, 60), (2, -2, 0.5, 1.5, 6, 60), (3, -1.5, 1.5, 2, 8, 20)))'
}

# ---- words ----
run excite --help
expect_code 0 "excite --help"
for word in examples: --for --seconds --out --shape --goal --harmonics --band --starts --wall --seed --margin --clearance --lower --effort --mass --com --levels --periods inertia gravity friction motor; do
  expect_in out "$word"
done

# ---- assumptions: fewer columns to tell apart; the file's count where some are given ----
short="--seconds 6 --starts 1 --evaluations 20 --wall 20 --json"
for pair in '60:' '50:--assume Ixz4=0' '32:--no-friction --assume Ixz4=0'; do
  # shellcheck disable=SC2086 # words
  run excite "$robots/denso_vs6556g.yaml" $short ${pair#*:}
  expect_code 0 "excite ${pair#*:}"
  ask out "j['parameters'] == ${pair%%:*} and isinstance(j['condition'], float)"
done
run excite arm.yaml --assume 'Ixx9 = 0'
expect_code 3 "an assumption about nobody"
expect_in err "assumption 'Ixx9 = 0': a relation such as"
run excite arm.yaml --for gravity --assume 'Ixx1 = 0'
expect_code 2 "assumptions of another experiment"
expect_in err "--assume needs --for inertia"

# ---- inertia ----
quick="--seconds 6 --starts 2 --evaluations 200 --wall 20"
run excite arm.yaml $quick --out motion.csv --json
expect_code 0 "an excitation"
cp out motion.json
for key in robot n settings for seconds rows torques friction joints gap worst verified shape goal parameters condition condition_plain logdet random times_better starts evaluations stopped wall_seconds; do
  expect_in motion.json "\"$key\":"
done
ask motion.json 'j["for"] == "inertia" and j["seconds"] == 6 and j["rows"] == 601 and j["torques"] and j["friction"] and not j["interrupted"]'
ask motion.json 'j["worst"] <= 1 and all(j["verified"][k]["worst"] <= 1 and j["verified"][k]["points"] >= 12000 for k in ("motion", "rows", "file")) and j["gap"] >= 0.01 * 0.99'
ask motion.json 'j["times_better"]["best"] > 1 and j["random"]["median"] >= j["random"]["best"] >= j["condition"] and len(j["starts"]) == 2'
ask motion.json 'all(x["limits"]["lower"] <= x["lower"] < x["upper"] <= x["limits"]["upper"] and x["velocity"] <= x["limits"]["velocity"] and x["effort"] <= x["limits"]["effort"] and x["limits"]["effort_from"] == "file" for x in j["joints"])'
checks=$((checks + 1))
[ "$(head -n 1 motion.csv)" = "t,q1,q2,q3,qd1,qd2,qd3,qdd1,qdd2,qdd3,tau1,tau2,tau3" ] || wrong "columns of an excitation"
# periodic, at rest at its ends: rounding of a few harmonics of size 10
rows motion.csv 'len(r) == 601 and near(r[-1]["t"], 6, 1e-12) and all(near(r[0][k], r[-1][k], 1e-9) for k in r[0] if k != "t") and all(abs(r[0][f"{k}{i}"]) < 1e-9 for k in ("qd", "qdd") for i in (1, 2, 3))'
# velocities and accelerations are derivatives: differences of rows 0.02 s apart miss h^2 / 6 of the third one, below 6 * 5^2 (5 harmonics of 6 s) times a size of 8
rows motion.csv 'all(near((r[k + 1][f"{a}{i}"] - r[k - 1][f"{a}{i}"]) / 0.02, r[k][f"{b}{i}"], 1e-4 / 6 * (2 * math.pi * 5 / 6) ** 2 * 8) for k in range(1, 600) for i in (1, 2, 3) for a, b in (("q", "qd"), ("qd", "qdd")))'
within motion.csv 0.0005
cut -d, -f2-10 motion.csv > states.csv
run eval arm.yaml inverse --in states.csv --friction
checks=$((checks + 1))
cut -d, -f11-13 motion.csv | paste -d, - out | awk -F, 'NR > 1 { for (i = 1; i <= 3; i++) { d = $i - $(i + 3); bad = bad || d * d > 1e-20 } } END { exit bad || NR != 602 }' || wrong "predicted torques are eval's"
run excite arm.yaml $quick --threads 1 --out again.csv
expect_code 0 "one thread"
for words in "scaled, as in the fit" "unscaled (eq. 23)" "times better" "smallest gap" "601 rows in again.csv" "--route steps" "waist"; do expect_in out "$words"; done
checks=$((checks + 1))
cmp -s motion.csv again.csv || wrong "the motion depends on threads"
run excite arm.yaml $quick --seed 2 --periods 3 --rate 50 --out other.csv
expect_code 0 "another seed"
rows other.csv 'len(r) == 901 and near(r[-1]["t"], 18, 1e-12) and all(near(r[k][c], r[k + 300][c], 1e-9) for k in range(601) for c in r[0] if c != "t")'
checks=$((checks + 1))
[ "$(cut -d, -f2 other.csv | sed -n 50p)" != "$(cut -d, -f2 motion.csv | sed -n 98p)" ] || wrong "another seed gives the same motion"
within other.csv 0.001
for how in "--shape sines" "--goal condition" "--shape sines --goal condition --no-friction" "--harmonics 4 --band 1"; do
  run excite arm.yaml $quick $how --json
  expect_code 0 "$how"
  ask out 'j["worst"] <= 1 and j["times_better"]["best"] > 0.5'
done
run excite arm.yaml $quick --velocity 0.7 --lower=-1,-1,-1 --upper 0.4 --effort 40,50,15 --margin 0.1 --out slow.csv --json
expect_code 0 "limits of one's own"
ask out 'all(x["velocity"] <= 0.7 * 0.9 * 1.0001 and x["lower"] >= -1 and x["upper"] <= 0.4 and x["limits"]["velocity_from"] == "option" for x in j["joints"]) and [x["limits"]["effort"] for x in j["joints"]] == [40, 50, 15]'
run excite arm.yaml $quick --out -
expect_code 0 "rows to standard output"
checks=$((checks + 1))
cmp -s out motion.csv || wrong "standard output is the file"

# without inertias: no torques, and the text says so
run excite unknown.yaml $quick --out unknown.csv
expect_code 0 "unknown inertias"
expect_in out "no torques: link 'link1' has no mass, centre of mass and inertia"
expect_in out "collisions are not checked"
checks=$((checks + 1))
[ "$(head -n 1 unknown.csv)" = "t,q1,q2,q3,qd1,qd2,qd3,qdd1,qdd2,qdd3" ] || wrong "columns without inertias"
run excite unknown.yaml $quick --effort 10 --json
expect_in err "psdm: warning: --effort: torques are not checked: link 'link1' has no mass, centre of mass and inertia"
ask out 'j["torques"] is False and all(x["effort"] is None for x in j["joints"]) and j["gap"] is None'
run excite "$robots/two_link.yaml" $quick
expect_code 0 "no limits in the file"
expect_in out "* not in the robot file: assumed"

# ---- the other experiments ----
for step in motor gravity friction; do
  [ $step = motor ] && load="--mass 2 --com 0.05,0,0" || load=
  run excite arm.yaml --for $step $load --out $step.csv --json
  expect_code 0 "--for $step"
  cp out $step.json
  ask $step.json "j['for'] == '$step' and j['worst'] <= 1 and j['verified']['file']['worst'] <= 1 and len(j['parts']) > 0 and j['gap'] > 0 and j['rows'] > 100"
  within $step.csv 0.005
  run excite arm.yaml --for $step $load
  expect_code 0 "--for $step, in words"
  expect_in out "--log $step:"
done
# the waist's axis is along gravity: no mass shows there
ask motor.json '[x["blind"] for x in j["joints"]] == [True, False, False] and {p["joint"] for p in j["parts"]} == {"shoulder", "elbow"} and {p["direction"] for p in j["parts"]} == {1, -1}'
ask friction.json '{p["joint"] for p in j["parts"]} == {"waist", "shoulder", "elbow"} and all(p["amplitude"] > 0 and p["frequency"] > 0 for p in j["parts"])'
run excite arm.yaml --for motor
expect_in out "gravity never shows this mass at joint 'waist'"
run excite arm.yaml --for friction --seconds 60 --levels 6 --speed 0.5 --json
expect_code 0 "a short friction experiment"
ask out 'j["seconds"] < 90 and all(x["velocity"] <= 0.5 * x["limits"]["velocity"] * 1.0001 for x in j["joints"])'

# ---- a recorded motion ----
run simulate arm.yaml --inverse --reference motion.csv --ignore-extra --friction coulomb --log log.csv --log-rate 500 --log-noise 0.005
expect_code 0 "a log of the excitation"
checks=$((checks + 1))
[ "$(wc -l < log.csv)" = 3002 ] || wrong "rows of the log"

# ---- early ends keep the result so far ----
begin_long() { # FILE: a search that would take minutes, until it has saved something
  "$PSDM" excite "$robots/kuka_kr6.yaml" --starts 64 --evaluations 100000 --wall 300 --threads 1 --out "$1" > out 2> err &
  pid=$!
  for _ in $(seq 300); do [ -s "$1" ] && break; sleep 0.1; done
}
begin_long stopped.csv
kill -INT $pid
wait $pid
code=$?
expect_code 130 "interrupted"
expect_in err "psdm: warning: interrupted: this is the best so far"
expect_in out "rows in stopped.csv"
rows stopped.csv 'len(r) == 1001 and len(r[0]) == 25'
checks=$((checks + 1))
ls -A | grep -q 'part-' && wrong "a temporary file is left"
begin_long killed.csv
kill -KILL $pid
wait $pid 2> /dev/null
rows killed.csv 'len(r) == 1001 and len(r[0]) == 25'
rm -f ./*part-*

# ---- refusals ----
refuse() { # WORDS of the command, then the message
  run excite arm.yaml $1
  expect_code 2 "excite $1"
  expect_err "psdm: error: $2 (psdm excite --help)"
}
refuse "--for inertias" "--for 'inertias': did you mean 'inertia'? There are inertia, gravity, friction, motor"
refuse "--shape sine" "--shape 'sine': did you mean 'sines'? There are fourier, sines"
refuse "--goal logdeth" "--goal 'logdeth': did you mean 'logdet'? There are condition, logdet"
refuse "--secnds 3" "unknown option '--secnds'; did you mean '--seconds'?"
refuse "--seconds -1" "--seconds: a number from 0 to 100000 was expected"
refuse "--starts 1.5" "--starts: an integer from 0 to 1000 was expected"
refuse "--rate 0" "--rate: a number from 1 to 100000 was expected"
refuse "--margin 1" "--margin: a number from 0 to 0.9 was expected"
refuse "--velocity 1,2" "--velocity '1,2': one number or 3 were expected"
refuse "--velocity 0" "joint 'waist' cannot move: its largest velocity is 0"
refuse "--lower 1 --upper 1" "joint 'waist' cannot move between its lowest position 1 and its highest 1"
refuse "--for motor --harmonics 3" "--harmonics needs --for inertia"
refuse "--for gravity --mass 2" "--mass needs --for motor"
refuse "--speed 0.5" "--speed needs --for motor, gravity or friction"
refuse "--for motor --levels 3" "--levels needs --for friction"
refuse "--for motor --no-friction" "--no-friction needs --for inertia"
refuse "--json --out -" "only one of --json and --out - can use standard output"
for slow in "motor --velocity 1e-6" "motor --acceleration 1e-5" "gravity --seconds 30000"; do
  run excite arm.yaml --for $slow
  expect_code 2 "an experiment of many hours: $slow"
  expect_err "psdm: error: the experiment takes more than six hours; less time, or higher limits of velocity and acceleration, were expected"
done
run excite
expect_code 2 "no robot"
run excite arm.yaml --out nowhere/motion.csv
expect_code 2 "a folder that is not there"
expect_in err "psdm: error: nowhere/motion.csv: cannot be written"
run excite "$robots/palletizer.yaml" --out loop.csv
expect_code 3 "closed loops that do not close everywhere within the limits"
expect_in err "closed loops do not close everywhere within the limits of the joints"
expect_absent loop.csv
run excite "$robots/pantograph.yaml" --seconds 4 --harmonics 3 --starts 1 --evaluations 20 --out loop.csv
expect_code 0 "a pantograph"
run eval "$robots/pantograph.yaml" inverse --in loop.csv --ignore-extra
expect_code 0 "its loop closes all along"
sed 's/{name: left_elbow,/{name: left_elbow, limits: {lower: -2, upper: 2},/' "$robots/pantograph.yaml" > elbow.yaml
run excite elbow.yaml --out elbow.csv
expect_code 3 "limits of a passive joint"
expect_in err "motions do not keep the limits of joint 'left_elbow'"
# ---- parameters that only a misalignment shows ----
sed 's/alpha: pi\/2/alpha: 1.5710/; s/alpha: -pi\/2/alpha: -1.5705/' "$robots/puma560.yaml" > off.yaml
brief="--velocity 2 --acceleration 5 --lower -2 --upper 2 --seconds 6 --starts 1 --evaluations 20 --wall 5"
run excite off.yaml $brief
expect_code 0 "an arm that is not quite aligned"
expect_in err "some parameters are identifiable only because axes are not quite parallel or perpendicular to the one before: 'theta2' (0.0003 rad), "
expect_in err "; --snap-axes 0.0006 aligns them"
run excite off.yaml $brief --snap-axes 1e-3
expect_code 0 "the same arm, aligned"
checks=$((checks + 1)); grep -q "not quite" err && wrong "a warning where axes are aligned"

finish
