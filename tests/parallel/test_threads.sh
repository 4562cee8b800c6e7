#!/bin/bash
# OMP_NUM_THREADS changes no byte, nor do threads of BLAS, which read it too: calibrate (rows in memory, and rows that are read; by steps), payload, eval, excite, reduce.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
robot=$SOURCE/robots/two_link.yaml
wrong() {
  echo "WRONG: $*"
  exit 1
}
"$PSDM" excite "$robot" --seconds 10 --starts 2 --evaluations 40 --periods 4 --out motion.csv > words 2>&1
"$PSDM" simulate "$robot" --inverse --reference motion.csv --ignore-extra --log log.csv --log-rate 1000 > words 2>&1
awk -F, -v OFS=, 'NR == 1 { print "q1,q2,qd1,qd2,qdd1,qdd2"; next } NR < 9000 { print $2, $3, $3, $2, $4, $5 }' log.csv > states.csv
# six joints, for which BLAS would use threads
cp "$SOURCE/tests/support/arm.yaml" .
sed '/^links:/,$d; s/, friction: {[^}]*}//; s/drive_inertia: [0-9.]*/drive_inertia: unknown/' arm.yaml > known.yaml
(cat arm.yaml; echo 'tool: {mass: 2, com: [0.02, -0.03, 0.06], inertia: {xx: 0.004, yy: 0.005, zz: 0.003}}') > carries.yaml
"$PSDM" excite arm.yaml --for gravity --seconds 20 --speed 0.3 --out slow_motion.csv > words 2>&1
"$PSDM" excite arm.yaml --seconds 5 --starts 1 --evaluations 30 --periods 3 --out fast_motion.csv > words 2>&1
record() { "$PSDM" simulate "$1" --inverse --reference "$2" --ignore-extra --log "$3" --log-rate 500 --log-noise 2e-4 > words 2>&1; }
record arm.yaml slow_motion.csv slow.csv
record arm.yaml fast_motion.csv empty.csv
record carries.yaml fast_motion.csv loaded.csv
"$PSDM" calibrate known.yaml --log empty.csv --plain-friction --kinematics q --cutoff 20 --delay 0 --covariance --out params.yaml --quiet 2> words
unset OPENBLAS_NUM_THREADS
for threads in 1 2 4; do
  export OMP_NUM_THREADS=$threads
  "$PSDM" calibrate "$robot" --log log.csv --holdout 0.3 --kinematics q --delay 0 --out "memory$threads" --quiet 2> words
  "$PSDM" calibrate "$robot" --log log.csv log.csv log.csv log.csv --estimator wls --kinematics q --cutoff 20 --delay 0 --plain-friction --rest none --cache 65536 \
    --out "read$threads" --quiet 2> words
  "$PSDM" calibrate "$robot" --log log.csv log.csv --estimator robust --kinematics q --cutoff 20 --delay 0 --plain-friction --cache 65536 --out "robust$threads" --quiet 2> words
  "$PSDM" calibrate "$robot" --log log.csv --decimate 20 --estimator wls --kinematics q --cutoff 20 --delay 0 --plain-friction --out "sieve$threads" --quiet 2> words
  "$PSDM" calibrate "$robot" --log log.csv --estimator wls --kinematics q --cutoff 20 --delay 0 --plain-friction --predict "rows_of_predict$threads" --quiet 2> words
  "$PSDM" calibrate known.yaml --route steps --log gravity:slow.csv --out "steps$threads" --quiet 2> words
  "$PSDM" payload known.yaml --params params.yaml --log loaded.csv --empty empty.csv --out "payload$threads" --quiet 2> words
  for function in inverse regressor linearize-inverse pose; do
    "$PSDM" eval "$robot" $function --ignore-extra --in states.csv --out "$function$threads" 2> words
  done
  "$PSDM" excite "$robot" --seconds 5 --starts 4 --evaluations 40 --out "excite$threads" > words 2>&1
  "$PSDM" reduce "$robot" --profile slow --error 0.05 --samples 20000 --json > "reduce$threads" 2> words
done
checks=0
for first in *1; do
  [ -s "$first" ] || wrong "$first is empty"
  for threads in 2 4; do
    cmp "$first" "${first%1}$threads" || wrong "${first%1} with $threads threads"
    checks=$((checks + 1))
  done
done
[ "$checks" = 26 ] || wrong "$checks comparisons"
# a state that cannot be read is reported with its line, and the same earlier states are written, whatever the number of threads
(head -n 5000 states.csv; echo "1,2,x,4,5,6") > bad.csv
for threads in 1 4; do
  code=0
  OMP_NUM_THREADS=$threads "$PSDM" eval "$robot" inverse --in bad.csv --out - > "rows$threads" 2> words || code=$?
  [ "$code" = 3 ] && grep -q 'bad.csv:5001' words || wrong "exit $code: $(cat words)"
  [ "$(wc -l < "rows$threads")" -gt 1000 ] || wrong "$(wc -l < "rows$threads") rows before the bad one"
done
cmp rows1 rows4
echo "1, 2 and 4 threads: $checks files, the same bytes"
