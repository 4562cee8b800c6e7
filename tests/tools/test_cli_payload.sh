# psdm payload: simulated logs with a known load, files that other commands take, generated code with theta as an argument, refusals.
. "$SOURCE/tests/tools/cli.sh"
subject=payload
export OPENBLAS_NUM_THREADS=1

# ---- words ----
run payload --help
expect_code 0 "payload --help"
for word in examples: --log --empty --load --link --out --predict --plain --drift --cutoff --json --quiet --columns --degrees --offset --sign --rate --ignore-extra --params; do expect_in out "$word"; done
two=$robots/two_link.yaml
refuse 2 "missing ROBOT"
refuse 2 "missing --params FILE" "$two" --log a.csv
refuse 2 "missing --log FILE" "$two" --params p.yaml
refuse 2 "--load gives a known load" "$two" --params p.yaml --load 1,0,0,0 --log a.csv
refuse 2 "--log: empty file name" "$two" --params p.yaml --log ""
refuse 2 "--empty: empty file name" "$two" --params p.yaml --log a.csv --empty ""
refuse 2 "--cutoff '0': a number above 0, or 'none', was expected" "$two" --params p.yaml --log a.csv --cutoff 0
refuse 2 "--rate must not be negative" "$two" --params p.yaml --log a.csv --rate -1
refuse 2 "--load '1,2': mass and centre, four numbers, or with the inertia ten, were expected" "$two" --params p.yaml --load 1,2
refuse 2 "--load '1,0,0,x'" "$two" --params p.yaml --load 1,0,0,x
refuse 2 "the mass must be above 0" "$two" --params p.yaml --load 0,0,0,0
refuse 2 "only one of --json, --out and --predict can use standard output" "$two" --params p.yaml --log a.csv --json --out -
refuse 2 "p.yaml: cannot be opened" "$two" --params p.yaml --log a.csv

# ---- an arm that is calibrated empty, from one log ----
cp "$SOURCE/tests/support/arm.yaml" .
sed '/^links:/,$d; s/drive_inertia: [0-9.]*/drive_inertia: unknown/; s/, friction: {[^}]*}//' arm.yaml > kinematics.yaml
{ cat arm.yaml; echo 'tool: {mass: 2, com: [0.02, -0.03, 0.06], inertia: {xx: 0.004, yy: 0.005, zz: 0.003, xy: 0.0005, xz: 0, yz: 0}}'; } > loaded.yaml
simulate() { # ROBOT LOG SEED
  run simulate "$1" --time 8 --friction coulomb --control computed-torque --compensate --reference fourier --amplitude 1.2 --period 8 --initial reference --rate 1000 --seed "$3" --log "$2" --log-rate 200 --log-noise 0.003
  expect_code 0 "simulate $1"
}
simulate arm.yaml empty.csv 3
simulate loaded.yaml with.csv 3
run calibrate kinematics.yaml --log empty.csv --cutoff 30 --delay 0 --lambda 1 --plain-friction --covariance --out params.yaml --quiet
expect_code 0 "calibrate"

refuse 2 "--link 'A7': did you mean" kinematics.yaml --params params.yaml --log with.csv --link A7
refuse 2 "--link 'hand': the robot has no such link" kinematics.yaml --params params.yaml --log with.csv --link hand
refuse 2 "--sign '1': 6 numbers were expected, one per joint" kinematics.yaml --params params.yaml --log with.csv --sign 1
refuse 2 "--sign: 2 is neither 1 nor -1" kinematics.yaml --params params.yaml --log with.csv --sign 1,1,1,1,1,2
refuse 2 "--offset '0,0,0,0,0,x'" kinematics.yaml --params params.yaml --log with.csv --offset 0,0,0,0,0,x
refuse 2 "none.csv: cannot be opened" kinematics.yaml --params params.yaml --log none.csv
refuse 3 "were found for" "$two" --params params.yaml --log with.csv
expect_absent loaded_params.yaml

# ---- the load, and what is made of it ----
run payload kinematics.yaml --params params.yaml --log with.csv --empty empty.csv --out loaded_params.yaml --predict rows.csv --json
expect_code 0 "payload --json"
keeps_schema payload out
cp out found.json
ask found.json 'near(j["load"]["mass"], 2, 0.02) and all(near(a, b, 0.002) for a, b in zip(j["load"]["com"], (0.02, -0.03, 0.06)))'
ask found.json 'near(j["load"]["inertia"]["xx"], 0.004, 5 * j["load"]["inertia_sd"]["xx"]) and j["load"]["mass_sd"] < 0.01'
ask found.json 'j["before"]["global_rel"] > 0.1 and j["after"]["global_rel"] < 0.03 and len(j["after"]["joints"]) == 6 and j["rows"] > 500 and not j["stopped"] and j["link"] == "link6"'
ask found.json 'max(j["prior_share"].values()) < 0.5 and len(j["covariance"]) == 10 and near(j["covariance"][0][0] ** 0.5, j["load"]["mass_sd"], 1e-12) and near(j["pi"]["m"], j["load"]["mass"], 0)'
# theta + L pi
ask found.json 'all(near(t["empty"] + sum(l * p for l, p in zip(t["L"], j["pi"].values())), t["loaded"], 1e-12) for t in j["theta"]) and any(t["loaded"] != t["empty"] for t in j["theta"])'
python3 - <<'PY' || wrong "rows.csv"
import csv, json
rows = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(open("rows.csv"))]
j = json.load(open("found.json"))
error = lambda name: sum((r[f"tau{i}"] - r[f"{name}{i}"]) ** 2 for r in rows for i in range(1, 7) if r["loaded"]) / sum(r[f"tau{i}"] ** 2 for r in rows for i in range(1, 7) if r["loaded"])
assert 0 < sum(r["loaded"] for r in rows) < len(rows) and rows[0]["loaded"] == 1 and rows[-1]["loaded"] == 0
# rows at rest are in the file, and not in the figures
assert abs(error("empty") ** 0.5 - j["before"]["global_rel"]) < 0.02 and abs(error("with") ** 0.5 - j["after"]["global_rel"]) < 0.02
PY
run payload kinematics.yaml --params params.yaml --log with.csv
expect_code 0 "payload, words"
for word in "arm: load on link 'link6', from" "mass" "centre x" "Izz" "rows in motion" "A6"; do expect_in out "$word"; done
run payload kinematics.yaml --params params.yaml --log with.csv --link A6 --drift --plain --cutoff 20 --quiet
expect_code 0 "payload --quiet"
[ ! -s out ] || wrong "--quiet speaks"
checks=$((checks + 1))

# several logs, in degrees and turned round, say the same as one
python3 - <<'PY'
import csv, math
rows = list(csv.reader(open("with.csv")))
q = [i for i, name in enumerate(rows[0]) if name.startswith("q")]
tau = [i for i, name in enumerate(rows[0]) if name.startswith("tau")]
half = len(rows) // 2
for name, part in (("first.csv", rows[1:half]), ("second.csv", rows[half:])):
    with open(name, "w") as f:
        f.write(",".join(rows[0]) + "\n")
        for r in part:
            f.write(",".join("%.17g" % (math.degrees(-float(x) + 0.5) if i == q[1] else math.degrees(float(x)) if i in q else -float(x) if i == tau[1] else float(x)) for i, x in enumerate(r)) + "\n")
PY
head -1 with.csv | grep -q qd1 && wrong "the log has velocities, which this test does not turn round"
run payload kinematics.yaml --params params.yaml --log first.csv second.csv --degrees --sign 1,-1,1,1,1,1 --offset 0,0.5,0,0,0,0 --json
expect_code 0 "two logs in degrees"
ask out 'near(j["load"]["mass"], 2, 0.02) and all(near(a, b, 0.002) for a, b in zip(j["load"]["com"], (0.02, -0.03, 0.06)))'

# a known load: the same file as the found one, but for its doubt
load=$(python3 -c 'import json; j = json.load(open("found.json"))["load"]; print(",".join("%.17g" % x for x in [j["mass"], *j["com"], *j["inertia"].values()]))')
run payload kinematics.yaml --params params.yaml --load "$load" --out given.yaml
expect_code 0 "payload --load"
expect_in out "arm: load on link 'link6', as given"
printf 'q1,q2,q3,q4,q5,q6,qd1,qd2,qd3,qd4,qd5,qd6,qdd1,qdd2,qdd3,qdd4,qdd5,qdd6\n0.3,-0.7,0.5,1,-0.4,2,1,-1,0.5,2,-2,1,3,-2,4,5,-1,6\n' > state.csv
run eval kinematics.yaml inverse --params loaded_params.yaml --in state.csv
expect_code 0 "eval of the loaded robot"
tail -n 1 out > tau_loaded
run eval kinematics.yaml inverse --params given.yaml --in state.csv
expect_numbers $(tr , ' ' < tau_loaded)
# and nearly what the loaded robot itself takes
run eval loaded.yaml inverse --in state.csv
tail -n 1 out | tr , '\n' | paste -d' ' - <(tr , '\n' < tau_loaded) | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 0.3) exit 1 }' || wrong "the loaded robot's torques"
checks=$((checks + 1))

# ---- generated code with theta as an argument: the update at run time ----
run codegen kinematics.yaml --out code --prefix arm --theta argument --functions inverse
expect_code 0 "codegen"
python3 - <<'PY' || wrong "main.c"
import json, re
j = json.load(open("found.json"))
header = open("code/arm.h").read()
order = [t["name"] for t in j["theta"]]
listed = re.findall(r"theta\[(\d+)\]\s*=?:?\s*(\w+)", header)
assert [name for _, name in sorted(listed, key=lambda x: int(x[0]))] == order, listed
state = [float(x) for x in open("state.csv").read().split("\n")[1].split(",")]
put = lambda name, v: "static const double %s[] = {%s};\n" % (name, ", ".join("%.17g" % x for x in v))
with open("code/main.c", "w") as f:
    f.write('#include <stdio.h>\n#include "arm.h"\n')
    f.write(put("empty", [t["empty"] for t in j["theta"]]) + put("L", [x for t in j["theta"] for x in t["L"]]) + put("pi", j["pi"].values()) + put("state", state))
    f.write("""int main(void) {
  double theta[ARM_L], tau[ARM_N];
  for (int j = 0; j < ARM_L; j++) {
    theta[j] = empty[j];
    for (int k = 0; k < 10; k++) theta[j] += L[10 * j + k] * pi[k];
  }
  arm_inverse(theta, state, state + ARM_N, state + 2 * ARM_N, tau);
  for (int i = 0; i < ARM_N; i++) printf("%s%.17g", i ? "," : "", tau[i]);
  printf("\\n");
  return 0;
}
""")
PY
"${CC:-cc}" -O1 -std=c99 code/main.c code/arm.c -o code/main -lm > out 2> err || wrong "compiled"
code/main > out
expect_numbers $(tr , ' ' < tau_loaded)

# ---- what a motion does not show; interrupts leave nothing behind ----
cat > flat.yaml <<'YAML'
name: flat
gravity: [0, 0, -9.81]
convention: dh
joints: [{name: A, a: 0.5, limits: {effort: 10}}, {name: B, a: 0.4, limits: {effort: 5}}]
links: [{mass: 3, com: [-0.2, 0, 0], inertia: {zz: 0.02}}, {mass: 2, com: [-0.2, 0.01, 0], inertia: {zz: 0.02}}]
YAML
{ cat flat.yaml; echo 'tool: {mass: 1, com: [0.02, 0, 0.05]}'; } > flat_loaded.yaml
for kind in flat flat_loaded; do
  run simulate $kind.yaml --time 6 --control computed-torque --reference fourier --period 6 --initial reference --rate 500 --log $kind.csv --log-rate 200 --log-noise 0.002
  expect_code 0 "simulate $kind"
done
run calibrate flat.yaml --log flat.csv --estimator wls --plain-friction --cutoff 20 --delay 0 --out flat_params.yaml --quiet
expect_code 0 "calibrate flat"
run payload flat.yaml --params flat_params.yaml --log flat_loaded.csv
expect_code 0 "payload of a flat arm"
expect_in out "the motion hardly shows z, inertia xx, xy, xz, yy, yz"
expect_in out "has no covariance"
expect_in out "mostly from the prior"
# logs that do not belong together
run payload flat.yaml --params flat_params.yaml --log flat_loaded.csv --empty flat_loaded.csv
expect_code 2 "one log as both"
expect_err "psdm: error: 'flat_loaded.csv' is given both with and without the load (psdm payload --help)"
run payload flat.yaml --params flat_params.yaml --log flat.csv --empty flat_loaded.csv
expect_code 0 "exchanged logs"
expect_in out "the load does not explain the torques any better: is there a load, or are the logs with and without it swapped?"
awk -F, -v OFS=, 'NR > 1 { for (k = 2; k <= NF; k++) if (tau[k]) $k *= 0.03 } NR == 1 { for (k = 1; k <= NF; k++) tau[k] = $k ~ /^tau/ } { print }' with.csv > unit.csv
run payload kinematics.yaml --params params.yaml --log unit.csv
expect_in out "of the torque is not explained with the load: logs and parameters are of different robots or in different units"
finish
