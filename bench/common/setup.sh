# Shared by the benchmarks that time libpsdm beside others; sourced by bench/*/run.sh after `set -euo pipefail`.
common=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$common/../.." && pwd)
build=$root/build/bench
venv=$root/build/venv-bench
mkdir -p "$build"

# versions from PyPI; Eigen belongs to Pinocchio's headers
pinocchio=4.1.0
casadi=3.8.2
mujoco=4.0.0

# prints the output of a failed step, and stops
quietly() {
  local log=$build/$1.log
  shift
  "$@" > "$log" 2>&1 || { cat "$log" >&2; exit 2; }
}

# only_json ARGUMENT...: of a benchmark whose only option is --json FILE: $json is that file, or ""
only_json() {
  json=
  [ $# -gt 0 ] || return 0
  [ $# = 2 ] && [ "$1" = --json ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
  json=$(realpath "$2")
}

# newer FILE SOURCE...: FILE exists and is newer than all of them
newer() {
  local file=$1 source
  shift
  for source; do [ "$file" -nt "$source" ] || return 1; done
}

# libpsdm as it is shipped, and the harness: $includes, $libraries, $build/harness.o
build_library() {
  quietly configure cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DPSDM_TESTS=OFF
  quietly library cmake --build "$build" --target psdm_static -j "$(nproc)"
  includes=(-I"$root/include" -I"$build/include" -I"$root/src" -I"$common")
  # shellcheck disable=SC2046 # several words are meant
  libraries=("$build/libpsdm.a" $(pkg-config --libs $(sed -n 's/^Requires.private: *//p' "$build/psdm.pc" | tr ',' ' ')) $(sed -n 's/^Libs.private://p' "$build/psdm.pc"))
  quietly harness cc -std=c11 -O2 -fPIC -Wall -Wextra "${includes[@]}" -c "$common/harness.c" -o "$build/harness.o"
}

# install PACKAGE==VERSION...: into the virtual environment; its log is named after the first
install() {
  local log=$build/${1%%=*}.log
  [ -x "$venv/bin/pip" ] || python3 -m venv "$venv" > "$log" 2>&1 || return 1
  "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 20 "$@" >> "$log" 2>&1 || return 1
  packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
}

install_pinocchio() {
  install "pin==$pinocchio" cmeel-eigen==3.4.1 || return 1
  prefix=$packages/cmeel.prefix
  # the macros are those that Pinocchio's CMake target asks for
  pinocchio_flags=(-std=c++17 -DNDEBUG -isystem "$prefix/include" -isystem "$prefix/include/eigen3" -DBOOST_MPL_LIMIT_LIST_SIZE=30
    -DBOOST_MPL_LIMIT_VECTOR_SIZE=30 -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS -DBOOST_FUSION_INVOKE_MAX_ARITY=12)
  [ -f "$prefix/include/pinocchio/config.hpp" ] && [ -d "$prefix/include/eigen3" ]
}

# compile_pinocchio NAME COMPILER FLAGS: peer_NAME.o, or ${pinocchio_object}_NAME.o of $pinocchio_source and $pinocchio_face if those are set; the
# templates are compiled here, nothing of Pinocchio's own binary is used
compile_pinocchio() {
  local stem=${pinocchio_object:-peer}_$1 source=${pinocchio_source:-$common/peer_pinocchio.cpp}
  newer "$build/$stem.o" "$source" "${pinocchio_face:-$common/peer.h}" "$common"/{pinocchio_model.hpp,harness.h} "$root/src/robot/robot.h" && return
  # shellcheck disable=SC2086 # flags are several words
  quietly "$stem" "$2" $3 -fPIC -fvisibility=hidden "-DPEER_FLAGS=\"$3\"" "${includes[@]}" "${pinocchio_flags[@]}" -c "$source" -o "$build/$stem.o"
}

# compile_pinocchios FLAGS...: with every compiler that is installed (or that $COMPILERS names) and each set of flags; $pinocchios are their names
compile_pinocchios() {
  local compiler flags name jobs job
  echo "compiling Pinocchio: a minute or two for each compiler, once" >&2
  pinocchios=()
  for flags; do
    jobs=()
    for compiler in ${COMPILERS:-g++ clang++}; do
      command -v "$compiler" > /dev/null || { echo "$compiler is missing: skipped" >&2; continue; }
      name=$compiler$([ "$flags" = -O3 ] || echo -native)
      pinocchios+=("$name")
      compile_pinocchio "$name" "$compiler" "$flags" &
      jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job" || exit 2; done
  done
}

# Pinocchio's algorithms run on CasADi's symbols: $build/trace_casadi ROBOT FILE.c [INVERSE.casadi]; after install_pinocchio and build_library
build_tracer() {
  [ -n "${prefix:-}" ] && install "casadi==$casadi" || return 1
  newer "$build/trace_casadi" "$root/bench/peers/trace_casadi.cpp" "$common"/{pinocchio_model.hpp,harness.h} "$root/src/robot/robot.h" && return
  quietly trace_casadi g++ -O1 "${includes[@]}" "${pinocchio_flags[@]}" -isystem "$packages/casadi/include" "$root/bench/peers/trace_casadi.cpp" "$build/harness.o" \
    "${libraries[@]}" -L"$packages/casadi" -lcasadi -Wl,-rpath,"$packages/casadi" -o "$build/trace_casadi"
}
