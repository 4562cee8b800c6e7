#!/bin/bash
# ThreadSanitizer over everything that has threads: shared objects, batches, and the commands with threads: excite, calibrate in memory and from
# files, its estimators and predictions, payload, eval, steps. clang and LLVM's OpenMP with Archer, which tells the sanitizer the order from OpenMP's
# barriers and locks; gcc's libgomp would
# give false alarms. Libraries that are not instrumented (OpenBLAS, NLopt) are ignored.
set -eu
archer=$(find /usr/lib/llvm-*/lib -name libarcher.so 2> /dev/null | sort | tail -n 1)
[ -n "$archer" ] || { echo "skipped: libarcher.so is not installed (apt-get install libomp-dev)"; exit 77; }
tests="test_shared test_batch" # not those with ranks by fork(): neither the sanitizer nor OpenMP survives a fork with threads
# shellcheck disable=SC2086,SC1091
. "$(dirname "$0")/build.sh" tsan psdm_tool $tests

export OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=4
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:exitcode=66
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
run() {
  if "$@" > "$work/out" 2>&1; then
    echo "clean: $(basename "$1") $2"
  else
    failed=1
    grep -E -A30 'WARNING: ThreadSanitizer|FAILED|error' "$work/out" | head -n 60
    echo "FAILED: $*"
  fi
}
for test in $tests; do run "$BUILD/tests/$test" ""; done
cd "$work"
robot=$SOURCE/robots/two_link.yaml
run "$PSDM" excite "$robot" --seconds 10 --starts 4 --evaluations 30 --periods 4 --threads 4 --out motion.csv
run "$PSDM" simulate "$robot" --inverse --reference motion.csv --ignore-extra --log log.csv --log-rate 1000
awk -F, -v OFS=, 'NR == 1 { print "q1,q2,qd1,qd2,qdd1,qdd2"; next } NR < 9000 { print $2, $3, $3, $2, $4, $5 }' log.csv > states.csv
run "$PSDM" calibrate "$robot" --log log.csv --holdout 0.3 --kinematics q --delay 0 --out memory.yaml
run "$PSDM" calibrate "$robot" --log log.csv log.csv log.csv log.csv --estimator wls --kinematics q --cutoff 20 --delay 0 --plain-friction --rest none --cache 65536 --out read.yaml
run "$PSDM" calibrate "$robot" --log log.csv --decimate 20 --estimator wls --kinematics q --cutoff 20 --delay 0 --plain-friction --predict rows.csv
run "$PSDM" calibrate "$robot" --log log.csv log.csv --estimator robust --kinematics q --cutoff 20 --delay 0 --plain-friction --cache 65536 --out robust.yaml
run "$PSDM" payload "$robot" --params read.yaml --log log.csv --out payload.yaml
run "$PSDM" eval "$robot" inverse --ignore-extra --in states.csv --out inverse.csv
run "$PSDM" eval "$robot" regressor --ignore-extra --in states.csv --out regressor.csv
exit $failed
