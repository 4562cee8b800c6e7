#!/usr/bin/env bash
# Times the six linearization algorithms of libpsdm on chains of up to 1000 joints: bench/linearize/run.sh [--json FILE]
#
# libpsdm is the ordinary release build. --json: for psdm report, too. Exit 0: timed, 1: an algorithm failed, 2: something did not build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../common/setup.sh"
only_json "$@"

build_library
quietly linearize cc -std=c11 -O2 -Wall -Wextra "${includes[@]}" "$here/linearize.c" "$build/harness.o" "${libraries[@]}" -o "$build/linearize"
OPENBLAS_NUM_THREADS=1 "$build/linearize" | tee "$build/linearize.txt"
[ -z "$json" ] || python3 "$here/result.py" "$build/linearize.txt" "$json"
