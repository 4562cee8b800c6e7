#!/bin/bash
# The tests of optimal motions over more seeds: random carts, arms and robots.
set -eu
for seed in 1 2 3; do
  for test in test_optimal_parts test_optimal test_optimal_arm; do
    PSDM_SEED=$seed "$BUILD/tests/$test" || { echo "$test: seed $seed" >&2; exit 1; }
  done
done
