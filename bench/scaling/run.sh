#!/usr/bin/env bash
# Evaluation time and operations of inverse dynamics against n: bench/scaling/run.sh [--quick] [--json FILE]
#
# The first n links of LBR7 and KR6 (--quick: of LBR7), and the paper's four robots: generated code by recursion and as a nested closed form, the
# library's recursion and a textbook's Newton-Euler, all from psdm bench, beside the published times (Lloyd, Irani, Ahmadi 2021, Figures 5
# and 6, Table 2). Operations also of the closed form as it stands, every function and every sum on its own. Half a minute.
# PSDM is build/psdm unless it is set. Exit 0: timed, 1: generated code differs from the recursions, 2: something is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/bench/common/options.sh"
[ -n "${PSDM:-}" ] || [ -x "$root/build/psdm" ] || make -C "$root" build
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$here/scaling.py" "${PSDM:-$root/build/psdm}" "$root/robots" "$folder" $quick "$json"
