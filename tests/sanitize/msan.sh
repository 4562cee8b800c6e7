#!/bin/bash
# MemorySanitizer over what stays inside the library: parsing of robots, CSV and logs, the recursions and their derivatives, derivation, expressions,
# evaluation, friction, filters. libyaml is not instrumented; what it hands over is marked as written at that one border (src/base/border.h).
# Tests that go through libxml2, LAPACK, matio, HDF5 or SUNDIALS are left to valgrind (tests/tools/deep_valgrind.sh).
set -eu
command -v clang > /dev/null || { echo "skipped: clang is not installed"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$here/../.." && pwd)
export SOURCE
cd "$SOURCE"
build=$SOURCE/build/msan
jobs=${JOBS:-$(nproc)}
tests="test_csv test_doc test_number test_sha256 test_output test_robot_read test_robot_bad test_clone test_rigid_bounds test_rigid_twin test_rigid_random test_rigid_closed
  test_rigid_loops test_axes test_sine test_momentum test_collision test_expr_graph test_expr_random test_expr_gradient test_signal test_log corpus_csv corpus_log corpus_yaml
  corpus_parameters corpus_model"
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
