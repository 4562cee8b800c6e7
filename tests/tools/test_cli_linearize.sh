# psdm linearize: points, equilibria, forms, sampling, LQR, files, refusals; psdm eval linearize_inverse and linearize_forward.
. "$SOURCE/tests/tools/cli.sh"
# an arm whose masses lie between its joints: hanging is stable, upright is not
cat > arm.yaml <<'YAML'
name: arm
gravity: [0, -9.81, 0]
convention: dh
joints:
  - {name: shoulder, a: 1.2}
  - {name: elbow, a: 1.1}
links:
  - {mass: 1, com: [-0.6, 0, 0], inertia: {xx: 0.01, yy: 0.12, zz: 0.12}}
  - {mass: 2, com: [-0.55, 0, 0], inertia: {xx: 0.01, yy: 0.2, zz: 0.2}}
YAML
printf 'q1,q2\n-1.5707963267948966,0\n' > down.csv
printf 'q1,q2\n1.5707963267948966,0\n' > up.csv

run linearize --help
expect_code 0 "linearize --help"
expect_in out "--equilibrium"
expect_in out "example"

run linearize arm.yaml --at down.csv
expect_code 0 "hanging"
expect_in out "arm, line 2"
expect_in out "stable, undamped"
expect_in out "0 growing, 0 drifting, 4 undamped, 0 damped modes"
expect_in out "controllable: the inputs reach all 4 states"
run linearize arm.yaml --at up.csv --lqr
expect_code 0 "upright"
expect_in out "unstable: a small deviation grows, by a factor of e in"
expect_in out "with du = -K dx"
expect_in out "residual of the Riccati equation"
input=up.csv run linearize arm.yaml --at - --form second-order
expect_code 0 "standard input, second order"
expect_in out "  C2             0           0"

# JSON: the two forms say the same; sampled eigenvalues are exponentials; the closed loop is stable
run linearize arm.yaml --at up.csv --form second-order --json
expect_code 0 "second order as JSON"
cp out second.json
run linearize arm.yaml --at up.csv --lqr --Q 100,1 --R 0.01 --json
expect_code 0 "state space as JSON"
cp out state.json
run linearize arm.yaml --at up.csv --dt 0.01 --lqr --Q 100,100,1,1 --R 0.01,0.01 --json
expect_code 0 "sampled as JSON"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "linearize --json"
import json, math, cmath
second, state, sampled = (json.load(open(f))["points"][0] for f in ("second.json", "state.json", "out"))
M, G, A, B = second["M"], second["G"], state["A"], state["B"]
assert second["D"] == G and second["C2"] == [[0, 0], [0, 0]]
for i in range(2):
    for j in range(2):
        assert abs(sum(M[i][k] * A[2 + k][j] for k in range(2)) + G[i][j]) < 1e-12
        assert abs(sum(M[i][k] * B[2 + k][j] for k in range(2)) - (i == j)) < 1e-13
assert A[0] == [0, 0, 1, 0] and A[1] == [0, 0, 0, 1] and len(sampled["Ad"]) == 4 and len(sampled["Bd"][0]) == 2
s = sorted((e["re"], e["im"]) for e in state["eigenvalues"])
z = sorted((cmath.log(complex(e["re"], e["im"])) / 0.01 for e in sampled["eigenvalues"]), key=lambda c: (c.real, c.imag))
assert all(abs(complex(*a) - b) < 1e-9 for a, b in zip(s, z))
assert state["stability"] == sampled["stability"] == "unstable" and state["controllable"] and sampled["reachable"] == 4
assert state["lqr"]["outcome"] == "ok" and state["lqr"]["residual"] < 1e-13
assert all(e["re"] < 0 for e in state["lqr"]["closed_loop"])
assert all(math.hypot(e["re"], e["im"]) < 1 for e in sampled["lqr"]["closed_loop"])
assert len(state["K"]) == 2 and len(state["K"][0]) == 4
PY

# u of q, and a q of u
printf 'q1,q2\n0.3,0.4\n' > at.csv
run eval arm.yaml gravity --in at.csv
{ echo tau1,tau2; tail -n 1 out; } > hold.csv
run linearize arm.yaml --at at.csv --equilibrium --out held.csv
expect_code 0 "torques of a point"
checks=$((checks + 1))
[ "$(tail -n 1 held.csv | cut -d, -f7-8)" = "$(tail -n 1 hold.csv)" ] || wrong "the torques that hold a point are gravity's"
run linearize arm.yaml --at hold.csv --equilibrium --json
expect_code 0 "a point for torques"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "equilibrium"
import json
p = json.load(open("out"))["points"][0]
assert p["equilibrium"]["found"] and p["equilibrium"]["residual"] < 1e-12 and p["equilibrium"]["rank"] == 2
PY
printf 'q1,q2,tau1,tau2\n0.35,0.35,%s\n' "$(tail -n 1 hold.csv)" > near.csv
run linearize arm.yaml --at near.csv --equilibrium --out near_out.csv
checks=$((checks + 1))
tail -n 1 near_out.csv | awk -F, '{ exit !(($1 - 0.3)^2 + ($2 - 0.4)^2 < 1e-24) }' || wrong "from nearby it comes back to where it was"
printf 'tau1,tau2\n500,0\n' > heavy.csv
run linearize arm.yaml --at heavy.csv --equilibrium
expect_code 1 "no equilibrium"
expect_in err "psdm: warning: heavy.csv:2: no q was found that these torques hold"
expect_in out "no equilibrium was found from 50 starts"
run linearize arm.yaml --at heavy.csv --equilibrium --json
expect_code 1 "no equilibrium, JSON"
expect_in out '"found": false'

# one motor of two is enough upright; without gravity it is not
run linearize arm.yaml --at up.csv --inputs 1 --lqr
expect_code 0 "one motor"
run linearize arm.yaml --at up.csv --inputs 2 --gravity 0,0,0 --lqr
expect_code 1 "no gravity, one motor"
expect_in out "not controllable: the inputs reach 2 of 4 states"
expect_in out "no LQR gains: a mode that is not stable is out of the inputs' reach"

# a trajectory: CSV, JSON and .mat
printf 't,q1,q2,qd1,qd2,qdd1,qdd2\n0,0.1,0.2,1,-1,2,3\n0.1,0.2,0.1,1.2,-0.7,2,3\n0.2,0.3,0,1.4,-0.4,2,3\n' > motion.csv
run linearize arm.yaml --at motion.csv
expect_code 0 "a motion"
expect_in out "t = 0.2 s"
expect_in out "the robot moves"
run linearize arm.yaml --at motion.csv --out motion_out.csv
expect_code 0 "a motion to CSV"
checks=$((checks + 1))
[ ! -s out ] || wrong "words beside a file of numbers"
checks=$((checks + 1))
[ "$(head -n 1 motion_out.csv)" = "t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2,A1_1,A1_2,A1_3,A1_4,A2_1,A2_2,A2_3,A2_4,A3_1,A3_2,A3_3,A3_4,A4_1,A4_2,A4_3,A4_4,B1_1,B1_2,B2_1,B2_2,B3_1,B3_2,B4_1,B4_2" ] || wrong "names of the columns"
checks=$((checks + 1))
[ "$(wc -l < motion_out.csv)" = 4 ] || wrong "one row per point"
run linearize arm.yaml --at motion.csv --out motion.json --form second-order
expect_code 0 "a motion to JSON"
run linearize arm.yaml --at motion.csv --out motion.mat --lqr
expect_code 0 "a motion to .mat"
checks=$((checks + 1))
[ "$(head -c 10 motion.mat)" = "MATLAB 5.0" ] || wrong "motion.mat is a MATLAB file"
# and says whose it is
run inspect arm.yaml --json
python3 - <<'PY' || wrong "motion.mat has the robot's fingerprint"
import json, struct, zlib
data, at, found = open("motion.mat", "rb").read(), 128, {}
while at < len(data):
    kind, size = struct.unpack_from("<II", data, at)
    body = zlib.decompress(data[at + 8:at + 8 + size]) if kind == 15 else data[at:at + 8 + size]
    for name in (b"kinematics", b"robot"):
        if name in body: found[name] = body
    at += 8 + size
assert json.load(open("out"))["fingerprint"].encode() in found[b"kinematics"].replace(b"\0", b""), found
PY
# the torques of the motion give the same model as its accelerations
{ echo t,q1,q2,qd1,qd2,tau1,tau2; tail -n 3 motion_out.csv | cut -d, -f1-5,8-9; } > forces.csv
run linearize arm.yaml --at forces.csv --out forces_out.csv
checks=$((checks + 1))
paste -d, motion_out.csv forces_out.csv | tail -n 3 | awk -F, '{ for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d * d > 1e-24) exit 1 } }' || wrong "by torques as by accelerations"

# psdm eval: three matrices side by side
printf 'q1,q2,qd1,qd2,qdd1,qdd2\n0.1,0.2,1,-1,2,3\n' > motion1.csv
run eval arm.yaml linearize_inverse --in motion1.csv
expect_code 0 "eval linearize_inverse"
checks=$((checks + 1))
[ "$(head -n 1 out)" = "dtau_dq1_1,dtau_dq1_2,dtau_dq2_1,dtau_dq2_2,dtau_dqd1_1,dtau_dqd1_2,dtau_dqd2_1,dtau_dqd2_2,M1_1,M1_2,M2_1,M2_2" ] || wrong "names of linearize_inverse"
{ echo q1,q2,qd1,qd2,tau1,tau2; sed -n 2p motion_out.csv | cut -d, -f2-5,8-9; } > force1.csv
run eval arm.yaml linearize_forward --in force1.csv
expect_code 0 "eval linearize_forward"
checks=$((checks + 1))
[ "$(head -n 1 out)" = "dqdd_dq1_1,dqdd_dq1_2,dqdd_dq2_1,dqdd_dq2_2,dqdd_dqd1_1,dqdd_dqd1_2,dqdd_dqd2_1,dqdd_dqd2_2,Minv1_1,Minv1_2,Minv2_1,Minv2_2" ] || wrong "names of linearize_forward"
expect_numbers $(sed -n 2p motion_out.csv | awk -F, '{ print $18, $19, $22, $23, $20, $21, $24, $25, $30, $31, $32, $33 }')
run eval arm.yaml linearize_inverse --in motion1.csv --via expanded
expect_code 2 "no expanded linearization"

# friction: viscous damping in C2 and A, dry friction in the torques alone
sed 's/a: 1.2}/a: 1.2, friction: {viscous: 0.5, coulomb: 2}}/; s/a: 1.1}/a: 1.1, friction: {viscous: 0.25}}/' arm.yaml > rough.yaml
run linearize rough.yaml --at down.csv --friction
expect_code 0 "friction"
expect_in out "stable: every small deviation dies out"
run linearize rough.yaml --at down.csv --friction --form second-order
expect_in out "  C2           0.5           0"
run linearize rough.yaml --at motion.csv --friction --out rough.csv
{ echo t,q1,q2,qd1,qd2,tau1,tau2; tail -n 3 rough.csv | cut -d, -f1-5,8-9; } > rough_forces.csv
run linearize rough.yaml --at rough_forces.csv --friction --out rough_again.csv
checks=$((checks + 1))
paste -d, rough.csv rough_again.csv | tail -n 3 | awk -F, '{ for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d * d > 1e-22) exit 1 } }' || wrong "friction: by torques as by accelerations"
{ echo q1,q2,qd1,qd2,tau1,tau2; sed -n 2p rough.csv | cut -d, -f2-5,8-9; } > rough1.csv
run eval rough.yaml linearize_forward --in rough1.csv --friction
expect_numbers $(sed -n 2p rough.csv | awk -F, '{ print $18, $19, $22, $23, $20, $21, $24, $25, $30, $31, $32, $33 }')

# closed loops: dtau/dq by central differences of the torques, and the state-space model has the same numbers
printf 'q1,q2,qd1,qd2,qdd1,qdd2\n1.5,1.3,0.4,-0.3,1,2\n' > bar.csv
{ head -1 bar.csv; for d in -1e-5 1e-5; do echo "$(awk -v d=$d 'BEGIN { printf "%.17g", 1.5 + d }'),1.3,0.4,-0.3,1,2"; done; } > bar_near.csv
run eval "$robots/five_bar.yaml" linearize_inverse --in bar.csv
expect_code 0 "closed loops"
cp out bar_linear.csv
run eval "$robots/five_bar.yaml" inverse --in bar_near.csv
checks=$((checks + 1))
paste -sd, out | awk -F, -v want="$(sed -n 2p bar_linear.csv)" '{ split(want, w, ","); a = ($5 - $3) / 2e-5 - w[1]; b = ($6 - $4) / 2e-5 - w[3];
  exit !(a * a < 1e-14 && b * b < 1e-14) }' || wrong "closed loops: dtau/dq1 is not the torques' slope"
run linearize "$robots/five_bar.yaml" --at bar.csv --form second-order --json
python3 - bar_linear.csv out << 'PY' || wrong "closed loops: linearize and eval differ"
import csv, json, sys
row = next(csv.DictReader(open(sys.argv[1])))
point = json.load(open(sys.argv[2]))["points"][0]
for i in (1, 2):
    for j in (1, 2):
        for name, key in (("M", "M"), ("dtau_dq", "D"), ("dtau_dqd", "C2")):
            assert abs(float(row[f"{name}{i}_{j}"]) - point[key][i - 1][j - 1]) < 1e-12, (name, i, j, point)
PY

# what does not go
run linearize arm.yaml
expect_code 2 "no --at"
expect_err "psdm: error: missing --at FILE.csv: the points to linearize at (psdm linearize --help)"
for bad in "--form third-order" "--dt -1" "--dt 0.1 --form second-order" "--Q 1" "--lqr --Q 1,2,3" "--lqr --Q -1" "--lqr --R 0" "--lqr --R 1,2,3" "--lqr --R x" "--inputs 3" "--inputs 2,1" "--inputs 1,1" "--inputs 0" "--inputs ," "--out model.txt"; do
  run linearize arm.yaml --at up.csv $bad
  expect_code 2 "linearize $bad"
done
run linearize arm.yaml --at none.csv
expect_code 2 "no such file"
printf 'q1\n0\n' > narrow.csv
run linearize arm.yaml --at narrow.csv
expect_code 3 "a column is missing"
expect_err "psdm: error: narrow.csv:1: column 'q2' is missing; q goes from 1 to 2"
printf 'q1,q2,speed\n0,0,1\n' > extra.csv
run linearize arm.yaml --at extra.csv
expect_code 3 "a column too many"
expect_in err "extra.csv:1: column 'speed' is not one of t, q, qd, qdd, tau"
run linearize arm.yaml --at extra.csv --ignore-extra
expect_code 0 "--ignore-extra"
run linearize arm.yaml --at hold.csv
expect_code 3 "torques alone"
expect_in err "hold.csv:1: columns q1.. were expected (tau1.. alone need --equilibrium)"
run linearize arm.yaml --at motion.csv --equilibrium
expect_code 3 "a motion is no equilibrium"
printf 'q1,q2,qdd1,qdd2,tau1,tau2\n0,0,0,0,0,0\n' > both.csv
run linearize arm.yaml --at both.csv
expect_code 3 "qdd and tau"
printf 'q1,q2\n0,0\n0,x\n' > broken.csv
run linearize arm.yaml --at broken.csv --out broken_out.csv
expect_code 3 "no number"
expect_in err "broken.csv:3"
expect_absent broken_out.csv
printf 'q1,q2\n' > empty.csv
run linearize arm.yaml --at empty.csv --out empty_out.csv
expect_code 3 "no points"
expect_err "psdm: error: empty.csv: no points"
expect_absent empty_out.csv
run linearize arm.yaml --at up.csv --dt 1e9
expect_code 3 "an overflow"
expect_in err "up.csv:2: the sampled model overflows"
printf 'convention: modified-dh\njoints: [{name: a}, {name: b, a: 0.2}, {name: c, parent: base, a: 1}, {name: d, parent: c, a: 0.2}]\nlinks: [{mass: 1}, {mass: 1}, {mass: 1}, {mass: 1}]\nloops: [{links: [link2, link4], points: [[0.4, 0, 0], [0.4, 0, 0]], joints: [b, d], start: [1, -1], at: {c: pi}}]\n' > short.yaml
printf 'q1,q2\n3.1,0\n' > apart.csv
run linearize short.yaml --at apart.csv
expect_code 3 "a loop that cannot close"
expect_in err "a closed loop cannot be closed at this state"
printf 'convention: dh\njoints:\n  - {a: 0.5}\n' > unknown.yaml
run linearize unknown.yaml --at up.csv
expect_code 3 "unknown inertias"
run linearize arm.yaml --at up.csv --out none/model.mat
expect_code 2 "no such folder"
finish
