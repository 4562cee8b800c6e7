#!/bin/bash
# MemorySanitizer over code that stays inside the library: numbers, tables, robot files in YAML, the recursions, derivation, models, expressions.
# libyaml is not instrumented; its output is marked as written at that one border (src/base/border_priv.h). Left to valgrind (deep_valgrind.sh) is what goes
# through libxml2, LAPACK, matio, HDF5, SUNDIALS or threads, and test_doc, whose odd texts make libyaml compare its own strings, whose writing the sanitizer has not seen.
set -eu
tests="test_number test_csv test_output test_matrix test_robot_read test_robot_bad test_clone test_rigid_bounds test_rigid_twin test_rigid_random test_rigid_closed
  test_rigid_loops test_axes test_sine test_momentum test_collision test_check test_expr_graph test_edges test_sha256 test_ranges test_expr_gradient test_expr_random
  test_rigid_far test_linearize test_linearize_sensitivity test_friction test_model_nodes test_derive_edges test_derive_estimate test_columns test_filter test_tally test_verdict_exact
  test_parameters_nodes test_codegen_counts test_emit test_codegen_graph corpus_csv corpus_model"
# shellcheck disable=SC2086,SC1091
. "$(dirname "$0")/build.sh" msan $tests

export MSAN_OPTIONS=halt_on_error=1:exitcode=66
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0
for test in $tests; do
  case $test in corpus_*) inputs=$SOURCE/tests/fuzz/corpus/${test#corpus_} ;; *) inputs= ;; esac
  # shellcheck disable=SC2086
  if "$BUILD/tests/$test" $inputs > "$out" 2>&1; then
    echo "clean: $test"
  else
    failed=1
    grep -E -A25 'WARNING: MemorySanitizer|FAILED|error' "$out" | head -n 50
    echo "FAILED: $test"
  fi
done
exit $failed
