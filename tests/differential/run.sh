#!/bin/sh
# run.sh [SECONDS]: random robots through every pair of routes for SECONDS (60 by default), on all processors; the seed is printed, DIFFERENTIAL_SEED
# gives another. The smallest failing robots are written to build/differential.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
nice "$root/build/release/tests/differential" --seed "${DIFFERENTIAL_SEED:-$(date +%s)}" --seconds "${1:-60}" --jobs "$(nproc 2>/dev/null || echo 2)" --out "$root/build/differential"
