#!/bin/bash
# MemorySanitizer over what stays inside the library: numbers, tables, robot files in YAML, the recursions, derivation, models, expressions.
# libyaml is not instrumented; what it hands over is marked as written at that one border (src/base/border.h). Left to valgrind (deep_valgrind.sh) is what goes
# through libxml2, LAPACK, matio, HDF5 or SUNDIALS, and test_doc, whose odd texts make libyaml compare strings of its own that the sanitizer has not seen written.
set -eu
command -v clang > /dev/null || { echo "skipped: clang is not installed"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$here/../.." && pwd)
export SOURCE
cd "$SOURCE"
build=$SOURCE/build/msan
jobs=${JOBS:-$(nproc)}
tests="test_number test_csv test_output test_matrix test_robot_read test_robot_bad test_clone test_rigid_bounds test_rigid_twin test_rigid_random test_rigid_closed
  test_rigid_loops test_axes test_sine test_momentum test_collision test_check test_expr_graph corpus_csv corpus_model"
cmake --preset msan > build/msan.log 2>&1
# shellcheck disable=SC2086
cmake --build "$build" -j "$jobs" --target $tests >> build/msan.log 2>&1 || { tail -n 40 build/msan.log; exit 2; }

export OPENBLAS_NUM_THREADS=1 PSDM=$build/psdm BUILD=$build MSAN_OPTIONS=halt_on_error=1:exitcode=66
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0
for test in $tests; do
  case $test in corpus_*) inputs=$SOURCE/tests/fuzz/corpus/${test#corpus_} ;; *) inputs= ;; esac
  # shellcheck disable=SC2086
  if "$build/tests/$test" $inputs > "$out" 2>&1; then
    echo "clean: $test"
  else
    failed=1
    grep -E -A25 'WARNING: MemorySanitizer|FAILED|error' "$out" | head -n 50
    echo "FAILED: $test"
  fi
done
exit $failed
