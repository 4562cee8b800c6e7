#!/usr/bin/env bash
# Times libpsdm's generated code beside other libraries: bench/peers/run.sh [--quick] [--json FILE] [ROBOT.yaml ...]
#
# All robots of robots/ (--quick: KR6 and LBR7, fewer repeats), one state at a time, sine and cosine included, on one core, in turns:
# the generated code, libpsdm's recursions, Pinocchio, Pinocchio's generated code (through CasADi), MuJoCo, KDL, a textbook's
# Newton-Euler and Atkeson's regressor recursion. For code compiled here the faster of gcc and clang counts. A peer whose result differs by more
# than 1e-9 is not timed. The table goes to stdout, build/bench/peers.md and build/bench/peers.json (--json: a copy), for psdm report.
# Exit 0: all agreed and were timed, 1: a peer differs, 2: something did not build, 77: a peer could not be installed (the rest is timed).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../common/setup.sh"
psdm=${PSDM:-$root/build/psdm}
flags="-O3 -march=native -ffp-contract=fast"

repeats=25 robots=() quick=0 json=
while [ $# -gt 0 ]; do
  case $1 in
    --quick) repeats=10 quick=1 robots=("$root/robots/kuka_kr6.yaml" "$root/robots/kuka_lbr7.yaml") ;;
    --json) json=$(realpath "${2:?--json needs a file}"); shift ;;
    -*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
    *) robots+=("$1") ;;
  esac
  shift
done
[ ${#robots[@]} -gt 0 ] || robots=("$root"/robots/*.yaml)

out=$build/peers
mkdir -p "$out"
rm -f "$out"/*.json "$out"/*.note "$out"/*/*.so
missing=0 common_peers=()

# skip PEER REASON: also noted in the table
skip() {
  echo "peers: SKIPPED $1: $2" >&2
  echo "$1 skipped: $2" >> "$out/run.note"
}

# plugin FILE COMPILER "FLAGS" ARGUMENTS...: a peer as a shared object
plugin() {
  local file=$1 compiler=$2 words=$3
  shift 3
  # shellcheck disable=SC2086 # flags are several words
  quietly "plugin_$(basename "$file" .so)" "$compiler" $words "-DPEER_FLAGS=\"$words\"" -D_GNU_SOURCE -shared -fPIC -fvisibility=hidden -w "${includes[@]}" -I"$here" "$@" -o "$file"
}

# ---- peers for every robot ----

build_compiled() {
  plugin "$out/psdm.so" cc "-O3" "$here/peer_psdm.c" "${libraries[@]}"
  common_peers+=("recursions=$out/psdm.so") # the reference: first
  local compiler
  for compiler in "${compilers[@]}"; do
    plugin "$out/textbook_$compiler.so" "$compiler" "-std=c11 $flags" "$here"/{peer_textbook,textbook}.c -lm
    plugin "$out/atkeson_$compiler.so" "$compiler" "-std=c11 $flags" -DATKESON "$here"/{peer_textbook,textbook,atkeson}.c -lm
    common_peers+=("textbook=$out/textbook_$compiler.so" "atkeson=$out/atkeson_$compiler.so")
  done
}

build_pinocchio() {
  install_pinocchio || return 1
  compile_pinocchios -O3 "-O3 -march=native"
  local name
  for name in "${pinocchios[@]}"; do
    quietly "link_$name" "${name%-native}" -shared "$build/peer_$name.o" -o "$out/pinocchio_$name.so"
    common_peers+=("pinocchio=$out/pinocchio_$name.so")
  done
}

build_mujoco() {
  install "mujoco==$mujoco" || return 1
  plugin "$out/mujoco.so" cc "-O3" -I"$packages/mujoco/include" "$here/peer_mujoco.c" "$packages/mujoco/libmujoco.so.$mujoco" -Wl,-rpath,"$packages/mujoco"
  common_peers+=("mujoco=$out/mujoco.so")
}

build_kdl() {
  pkg-config --exists orocos-kdl || return 1
  # shellcheck disable=SC2046 # several words are meant
  plugin "$out/kdl.so" g++ "-O3 -march=native" "$here/peer_kdl.cpp" $(pkg-config --cflags --libs orocos-kdl eigen3)
  common_peers+=("kdl=$out/kdl.so")
}

# ---- peers generated for one robot ----

# build_generated FILE FOLDER: psdm codegen by default, with libm's sine, and SIMD
build_generated() {
  local scalar=inverse,mass,forward,regressor,linearize_inverse,linearize_forward,inverse_mass
  generate "$1" "$2" generated c $scalar --target c
  generate "$1" "$2" libm libm $scalar --target c --sincos libm
  generate "$1" "$2" generated simd inverse,linearize_inverse,linearize_forward --target simd
}

# generate FILE FOLDER LABEL NAME FUNCTIONS OPTIONS...
generate() {
  local file=$1 folder=$2 label=$3 name=$4 functions=$5 compiler
  shift 5
  if ! "$psdm" codegen "$file" --out "$folder/$name" --prefix r --functions "$functions" "$@" > "$folder/$name.log" 2>&1; then
    skip "psdm codegen $* of $(basename "$file")" "$(grep error "$folder/$name.log" | head -n 1)"
    missing=1
    return
  fi
  for compiler in "${compilers[@]}"; do
    plugin "$folder/${name}_$compiler.so" "$compiler" "$flags" "-DTARGET_$name" -I"$folder/$name" "$here/peer_generated.c" "$folder/$name/r.c" -lm
    peers+=("$label=$folder/${name}_$compiler.so")
  done
}

# build_casadi FILE FOLDER: scalar, and with vectors of eight
build_casadi() {
  local compiler options=("-DPINOCCHIO=\"$pinocchio\"" "-DCASADI=\"$casadi\"")
  quietly trace "$build/trace_casadi" "$1" "$2/casadi.c"
  # all arguments are given: remove the tests for NULL
  sed -i -E 's/arg\[([0-9])\]\? (arg\[[0-9]\]\[[0-9]+\]) : 0/\2/; s/if \(res\[0\]!=0\) //' "$2/casadi.c"
  sed -E '/_default_in\(/,/^}/d; s/=(-?[0-9][0-9.e+-]*);/=EIGHT(\1);/; 1i #include "vector8.h"' "$2/casadi.c" > "$2/casadi8.c"
  grep -q 'int forward(' "$2/casadi.c" || options+=(-DCOUPLED)
  for compiler in "${compilers[@]}"; do
    plugin "$2/casadi_$compiler.so" "$compiler" "$flags" "${options[@]}" "$here/peer_casadi.c" "$2/casadi.c" -lm
    plugin "$2/casadi8_$compiler.so" "$compiler" "$flags" "${options[@]}" -DBATCH "$here/peer_casadi.c" "$2/casadi8.c" -lmvec -lm
    peers+=("casadi=$2/casadi_$compiler.so" "casadi=$2/casadi8_$compiler.so")
  done
}

# ---- all of it ----

compilers=()
for compiler in gcc clang; do if command -v "$compiler" > /dev/null; then compilers+=("$compiler"); else skip "$compiler" "not installed"; fi; done
build_library
quietly peers cc -std=c11 -O2 -Wall -Wextra "${includes[@]}" -rdynamic "$here/peers.c" "$build/harness.o" "${libraries[@]}" -o "$build/peers_main"
build_compiled
tracer=
build_pinocchio || { skip Pinocchio "could not be installed, see build/bench/pin.log"; missing=1; }
build_tracer && tracer=yes || { skip "Pinocchio's generated code" "CasADi or Pinocchio could not be installed, see build/bench/casadi.log"; missing=1; }
build_mujoco || { skip MuJoCo "could not be installed, see build/bench/mujoco.log"; missing=1; }
build_kdl || { skip KDL "liborocos-kdl-dev is not installed"; missing=1; }

core=$(taskset -cp $$ | sed 's/.*[ ,-]//') # the last one that we may use
status=0
for robot in "${robots[@]}"; do
  name=$(basename "$robot" .yaml)
  if grep -q '^loops:' "$robot"; then skip "$name.yaml" "closed loops are not linear in the joints; no peer here supports them"; continue; fi
  folder=$out/$name
  mkdir -p "$folder"
  if [ "$name" = denso_vs6556g ]; then
    # its file has no inertias: ours, such that the file's assumptions hold
    sed 's/drive_inertia: unknown/drive_inertia: 0.3/' "$robot" | cat - "$here/denso_links.yaml" > "$folder/$name.yaml"
    robot=$folder/$name.yaml
  fi
  echo "peers: $name" >&2
  peers=("${common_peers[@]}")
  build_generated "$robot" "$folder"
  [ -z "$tracer" ] || build_casadi "$robot" "$folder"
  taskset -c "$core" "$build/peers_main" --repeats "$repeats" --json "$out/$name.json" "$robot" "${peers[@]}" || status=$?
  [ $status -lt 2 ] || exit $status
done

python3 "$here/table.py" "$out" "$build/peers" "$flags" "$core" "$repeats" $quick
[ -z "$json" ] || [ "$json" -ef "$build/peers.json" ] || cp "$build/peers.json" "$json"
[ $status -eq 0 ] || exit $status
[ $missing -eq 0 ] || exit 77
