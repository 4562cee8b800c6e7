#!/bin/sh
# A tour: from a robot file to checked machine code of its dynamics, then motion, a model from a log, and a report. usage: examples/demo.sh [PSDM]
set -eu
psdm=${1:-psdm}
cd "$(dirname "$0")/.."
robot=robots/kuka_kr6.yaml
out=build/demo
mkdir -p "$out"
step() { printf '\n%s\n  $ %s\n' "$1" "$2"; sh -c "$2" 2>&1; }

cat > "$out/states.csv" <<'CSV'
q1,q2,q3,q4,q5,q6,qd1,qd2,qd3,qd4,qd5,qd6,qdd1,qdd2,qdd3,qdd4,qdd5,qdd6
0.1,-1.2,1.4,0.3,0.7,-0.4,0.5,-0.3,0.8,0.2,-0.6,1.1,1.5,-0.7,0.4,2.1,-1.3,0.9
0.2,-1.1,1.3,0.4,0.6,-0.2,0.6,-0.2,0.7,0.3,-0.5,1.2,1.4,-0.6,0.5,2.0,-1.2,1.0
CSV

step "1. What is this robot?" "$psdm inspect $robot"
step "2. Torques of a motion, tau = M(q) qdd + c(q, qd) + g(q)" \
     "$psdm eval $robot inverse --in $out/states.csv --out $out/torques.csv 2>/dev/null && cat $out/torques.csv"
step "3. The same dynamics in closed, regressor form: tau = Y(q, qd, qdd) theta" \
     "$psdm derive $robot --export $out/kr6.json 2>/dev/null"
step "4. Its base parameters: formulas and values (the first ten)" \
     "$psdm params $robot 2>/dev/null | head -13"
step "5. Its functions as C, with as few operations as a search finds" \
     "$psdm codegen $robot --out $out/kr6 --prefix kr6 --target simd 2>/dev/null"
step "6. Compiled, and compared with the recursions, which share no code with the generator" \
     "make -s -C $out/kr6 check"
step "7. Timed, and compared with the library's recursions" \
     "$psdm bench $robot --functions inverse,forward,mass,regressor --method auto --repeat 20 2>/dev/null"
step "8. Simulation: ten seconds of free motion, and where the energy went" \
     "$psdm simulate $robot --time 10 --out $out/motion.csv 2>/dev/null"
step "9. From a log to a model: an arm is simulated with friction, encoders and noise, then calibrated from its kinematics alone" \
     "sh examples/calibrate.sh $psdm $out/calibrate"
step "10. An error in a file is reported with its place" \
     "sed 's/alpha: -pi\/2/alpa: -pi\/2/' $robot | $psdm inspect - ; test \$? = 3"

# the same results as JSON, for the report
results=$out/results
rm -rf "$results" && mkdir "$results"
printf '\n11. All results on one page: they are written as JSON ...\n'
$psdm bench $robot --functions inverse,forward,mass,regressor --method auto --repeat 10 --json > "$results/bench.json" 2>/dev/null
$psdm reduce $robot --profile slow --error 0.01 --confidence 0.95 --json > "$results/reduce.json" 2>/dev/null
$psdm simulate $robot --time 10 --out $out/motion.csv --json > "$results/simulate.json" 2>/dev/null
$psdm calibrate $out/calibrate/kinematics.yaml --log $out/calibrate/log.csv --holdout 0.3 --json > "$results/calibrate.json" 2>/dev/null
step "    ... and shown in a report" \
     "$psdm report $robot $results/reduce.json $results/bench.json $results/simulate.json $out/motion.csv $out/calibrate/kinematics.yaml $results/calibrate.json $out/calibrate/rows.csv $out/calibrate/params.yaml --out $out/report.html"

printf '\nWritten: %s/torques.csv, %s/kr6.json, %s/motion.csv, the code in %s/kr6, a calibration in %s/calibrate\n' "$out" "$out" "$out" "$out" "$out"
printf 'The report is a single file; open it in any browser:\n  file://%s/%s/report.html\n' "$(pwd)" "$out"
