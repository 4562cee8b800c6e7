#!/usr/bin/env bash
# Evaluation time and operations of inverse dynamics against n: bench/scaling/run.sh [--quick] [--json FILE]
#
# The first n links of LBR7 and KR6 (--quick: of LBR7), and the paper's four robots: generated code by recursion and as a nested closed form, the
# library's recursion, both from psdm bench, and a textbook's Newton-Euler, beside the published times (Lloyd, Irani, Ahmadi 2021, Figures 5
# and 6, Table 2). Operations also of the plain closed form, every function and every sum on its own. Half a minute.
# PSDM is build/psdm unless it is set. Exit 0: timed, 1: generated code differs from the recursions, 2: something is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/bench/common/options.sh"
[ -n "${PSDM:-}" ] || [ -x "$root/build/psdm" ] || make -C "$root" build
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$root/bench/common/setup.sh"
build_library
peers=$root/bench/peers
quietly peers cc -std=c11 -O2 "${includes[@]}" -rdynamic "$peers/peers.c" "$build/harness.o" "${libraries[@]}" -o "$folder/peers"
peer="cc -O3 -std=c11 -D_GNU_SOURCE -DPEER_FLAGS=\"-O3\" -shared -fPIC -fvisibility=hidden -w"
# shellcheck disable=SC2086 # several words are meant
{
  quietly psdm_peer $peer "${includes[@]}" -I"$peers" "$peers/peer_psdm.c" "${libraries[@]}" -o "$folder/psdm.so"
  quietly textbook $peer "${includes[@]}" -I"$peers" "$peers"/{peer_textbook,textbook}.c -lm -o "$folder/textbook.so"
}
python3 "$here/scaling.py" "${PSDM:-$root/build/psdm}" "$root/robots" "$folder" $quick "$json"
