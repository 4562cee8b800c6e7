#!/usr/bin/env bash
# Simulated seconds per wall second of libpsdm, Pinocchio and MuJoCo: bench/simulate/run.sh [--quick] [--json FILE] [ROBOT.yaml ...]
#
# KR6 (or the robots named) in free motion with Runge and Kutta's formula and semi-implicit Euler at 1 ms, on one core, in turns. Pinocchio is
# compiled by g++ and clang++, -O3, with and without -march=native (--quick: g++ and clang++ with it), and the fastest counts. The table goes to
# stdout and build/bench/simulate.txt; --json: for psdm report, too.
# Exit 0: all agreed and were timed, 1: one ends at another state, 2: something did not build, 77: a peer could not be installed (the rest is timed).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../common/setup.sh"

repeats=50 robots=() json= quick=0 pinocchio_options=(-O3 "-O3 -march=native")
while [ $# -gt 0 ]; do
  case $1 in
    --quick) repeats=10 quick=1 pinocchio_options=("-O3 -march=native") ;;
    --json) json=$(realpath "${2:?--json needs a file}"); shift ;;
    -*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
    *) robots+=("$1") ;;
  esac
  shift
done
[ ${#robots[@]} -gt 0 ] || robots=("$root/robots/kuka_kr6.yaml")
missing=0 peers=()

skip() {
  echo "simulate: SKIPPED $1: could not be installed, see build/bench/$2.log" >&2
  missing=1
}

build_pinocchio() {
  install_pinocchio || return 1
  local pinocchio_source=$here/simulator_pinocchio.cpp pinocchio_face=$here/simulator.h pinocchio_object=simulator name
  compile_pinocchios "${pinocchio_options[@]}"
  for name in "${pinocchios[@]}"; do
    quietly "simulator_link_$name" "${name%-native}" -shared "$build/simulator_$name.o" -o "$build/simulator_$name.so"
    peers+=("$build/simulator_$name.so")
  done
}

build_mujoco() {
  install "mujoco==$mujoco" || return 1
  quietly simulator_mujoco cc -O3 -shared -fPIC -fvisibility=hidden -Wall -Wextra "${includes[@]}" -isystem "$packages/mujoco/include" "$here/simulator_mujoco.c" \
    "$packages/mujoco/libmujoco.so.$mujoco" -Wl,-rpath,"$packages/mujoco" -o "$build/simulator_mujoco.so"
  peers+=("$build/simulator_mujoco.so")
}

build_library
quietly simulate cc -std=c11 -O2 -Wall -Wextra "${includes[@]}" "$here/simulate.c" "$build/harness.o" "${libraries[@]}" -o "$build/simulate"
build_pinocchio || skip Pinocchio pin
build_mujoco || skip MuJoCo mujoco

core=$(taskset -cp $$ | sed 's/.*[ ,-]//') # the last one that we may use
run_all() {
  local robot status=0
  for robot in "${robots[@]}"; do
    OPENBLAS_NUM_THREADS=1 taskset -c "$core" "$build/simulate" --repeats "$repeats" "$robot" "${peers[@]}" || status=$?
  done
  return $status
}
run_all | tee "$build/simulate.txt" || exit $?
[ -z "$json" ] || python3 "$here/result.py" "$build/simulate.txt" "$json" $quick
exit $((missing * 77))
