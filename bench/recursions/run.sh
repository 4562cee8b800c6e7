#!/usr/bin/env bash
# Times the recursions of libpsdm beside Pinocchio's: bench/recursions/run.sh [--native] [--json FOLDER] [ROBOT.yaml|chainN ...]
#
# libpsdm is the ordinary release build. Pinocchio comes from PyPI into build/venv-bench and is compiled here, by g++ -O3
# and by clang++ -O3; --native adds -march=native to both once more. One table for each of them, and one file in FOLDER.
# Exit 0: all agreed and were timed, 1: the libraries differ or a robot cannot be read, 2: something did not build, 77: no
# Pinocchio (libpsdm is then timed alone).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../common/setup.sh"

native= json= robots=()
while [ $# -gt 0 ]; do
  case $1 in
    --native) native=yes ;;
    --json) json=${2:?--json needs a folder}; shift ;;
    -*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
    *) robots+=("$1") ;;
  esac
  shift
done
[ ${#robots[@]} -gt 0 ] || robots=("$root/robots/kuka_kr6.yaml" "$root/robots/kuka_lbr7.yaml" "$root/robots/puma560.yaml" chain12)
[ -z "$json" ] || mkdir -p "$json"

# run_peer NAME LINKER: links peer_NAME.o in, and runs it
run_peer() {
  quietly "link_$1" "$2" "$build/recursions.o" "$build/harness.o" "$build/peer_$1.o" "${libraries[@]}" -o "$build/recursions_$1"
  "$build/recursions_$1" ${json:+--json "$json/$1.json"} "${robots[@]}"
}

build_library
quietly main cc -std=c11 -O2 -Wall -Wextra "${includes[@]}" -c "$here/recursions.c" -o "$build/recursions.o"
if ! install_pinocchio; then
  quietly none cc -std=c11 -O2 -Wall -Wextra "${includes[@]}" -c "$here/peer_none.c" -o "$build/peer_none.o"
  run_peer none cc
  echo "skipped: Pinocchio could not be installed (see build/bench/pin.log)"
  exit 77
fi

compile_pinocchios -O3 ${native:+"-O3 -march=native"}
for name in "${pinocchios[@]}"; do
  run_peer "$name" "${name%-native}"
  echo
done
