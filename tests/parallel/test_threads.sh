#!/bin/bash
# OMP_NUM_THREADS changes no byte, nor do threads of BLAS, which look at it too: calibrate (rows in memory, and rows that are read), eval, excite, reduce.
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
unset OPENBLAS_NUM_THREADS
for threads in 1 2 4; do
  export OMP_NUM_THREADS=$threads
  "$PSDM" calibrate "$robot" --log log.csv --holdout 0.3 --kinematics q --delay 0 --out "memory$threads" --quiet 2> words
  "$PSDM" calibrate "$robot" --log log.csv log.csv log.csv log.csv --estimator wls --kinematics q --cutoff 20 --delay 0 --plain-friction --rest none --cache 65536 \
    --out "read$threads" --quiet 2> words
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
[ "$checks" = 16 ] || wrong "$checks comparisons"
# a state that cannot be read is named by its line, and as much of what came before it is written, whatever the number of threads
(head -n 5000 states.csv; echo "1,2,x,4,5,6") > bad.csv
for threads in 1 4; do
  code=0
  OMP_NUM_THREADS=$threads "$PSDM" eval "$robot" inverse --in bad.csv --out - > "rows$threads" 2> words || code=$?
  [ "$code" = 3 ] && grep -q 'bad.csv:5001' words || wrong "exit $code: $(cat words)"
  [ "$(wc -l < "rows$threads")" -gt 1000 ] || wrong "$(wc -l < "rows$threads") rows before the bad one"
done
cmp rows1 rows4
echo "1, 2 and 4 threads: $checks files, the same bytes"
