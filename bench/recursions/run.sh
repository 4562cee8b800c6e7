#!/usr/bin/env bash
# Times the recursions of libpsdm beside Pinocchio's: bench/recursions/run.sh [--native] [--json FOLDER] [ROBOT.yaml|chainN ...]
#
# libpsdm is the ordinary release build. Pinocchio comes from PyPI into build/venv-bench and is compiled here, by g++ -O3
# and by clang++ -O3; --native adds -march=native to both once more. One table for each of them, and one file in FOLDER.
# Exit 0: all agreed and were timed, 1: the libraries differ or a robot cannot be read, 2: something did not build, 77: no
# Pinocchio (libpsdm is then timed alone).
set -euo pipefail

pinocchio="pin==4.1.0 cmeel-eigen==3.4.1"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/bench
venv=$root/build/venv-bench

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

# says a failed step's words, and stops
quietly() {
  local log=$build/$1.log
  shift
  "$@" > "$log" 2>&1 || { cat "$log" >&2; exit 2; }
}

build_library() {
  mkdir -p "$build"
  quietly configure cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DPSDM_TESTS=OFF
  quietly library cmake --build "$build" --target psdm_static -j "$(nproc)"
  includes=(-I"$root/include" -I"$root/src" -I"$here")
  # shellcheck disable=SC2046 # several words are meant
  libraries=("$build/libpsdm.a" $(pkg-config --libs $(sed -n 's/^Requires.private: *//p' "$build/psdm.pc" | tr ',' ' ')) -lm)
  quietly main cc -std=c11 -O2 -Wall -Wextra "${includes[@]}" -c "$here/recursions.c" -o "$build/recursions.o"
  quietly none cc -std=c11 -O2 -Wall -Wextra "${includes[@]}" -c "$here/peer_none.c" -o "$build/peer_none.o"
}

install_pinocchio() {
  local log=$build/pinocchio.log
  [ -x "$venv/bin/pip" ] || python3 -m venv "$venv" > "$log" 2>&1 || return 1
  # shellcheck disable=SC2086 # several words are meant
  "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 20 $pinocchio >> "$log" 2>&1 || return 1
  prefix=$("$venv/bin/python" -c 'import cmeel, os; print(os.path.join(os.path.dirname(os.path.dirname(cmeel.__file__)), "cmeel.prefix"))')
  [ -f "$prefix/include/pinocchio/config.hpp" ] && [ -d "$prefix/include/eigen3" ]
}

# compile_peer NAME COMPILER FLAGS: the templates are compiled here; nothing of Pinocchio's own binary is used
compile_peer() {
  local name=$1 compiler=$2 flags=$3 object=$build/peer_$1.o
  if [ ! "$object" -nt "$here/peer_pinocchio.cpp" ] || [ ! "$object" -nt "$here/peer.h" ] || [ ! "$object" -nt "$root/src/robot/robot_priv.h" ]; then
    # the macros are those that Pinocchio's CMake target asks for
    # shellcheck disable=SC2086 # flags are several words
    quietly "peer_$name" "$compiler" -std=c++17 $flags -DNDEBUG "-DPEER_FLAGS=\"$flags\"" "${includes[@]}" \
      -isystem "$prefix/include" -isystem "$prefix/include/eigen3" -DBOOST_MPL_LIMIT_LIST_SIZE=30 \
      -DBOOST_MPL_LIMIT_VECTOR_SIZE=30 -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS -DBOOST_FUSION_INVOKE_MAX_ARITY=12 \
      -c "$here/peer_pinocchio.cpp" -o "$object"
  fi
  quietly "link_$name" "$compiler" "$build/recursions.o" "$object" "${libraries[@]}" -o "$build/recursions_$name"
}

# run_peer NAME
run_peer() {
  "$build/recursions_$1" ${json:+--json "$json/$1.json"} "${robots[@]}"
}

build_library
if ! install_pinocchio; then
  quietly link_none cc "$build/recursions.o" "$build/peer_none.o" "${libraries[@]}" -o "$build/recursions_none"
  run_peer none
  echo "skipped: Pinocchio could not be installed (see build/bench/pinocchio.log)"
  exit 77
fi

# a compiler that is not there is left out
compilers=()
for compiler in g++ clang++; do
  if command -v "$compiler" > /dev/null; then compilers+=("$compiler"); else echo "no $compiler here: its table is left out" >&2; fi
done

echo "compiling Pinocchio: a minute or two for each compiler, once" >&2
peers=()
for flags in "-O3" ${native:+"-O3 -march=native"}; do
  jobs=()
  for compiler in "${compilers[@]}"; do
    name=$compiler$([ "$flags" = -O3 ] || echo -native)
    peers+=("$name")
    compile_peer "$name" "$compiler" "$flags" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job" || exit 2; done
done

for name in "${peers[@]}"; do
  run_peer "$name"
  echo
done
