#!/bin/bash
# Inverse dynamics of a million KR6 states from Python, in one call, beside the C batch: bench/python/run.sh [STATES] [REPEATS] [MOST]
# With MOST, exits 1 when rows take more than MOST times the C batch's time.
set -eu
. "$(cd "$(dirname "$0")/../../tests/python" && pwd)/environment.sh"
"$venv/bin/python" -B "$source/python/bench/inverse.py" "${1:-1e6}" "${2:-25}" ${3:+"$3"}
