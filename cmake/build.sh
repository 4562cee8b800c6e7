#!/bin/sh
# Configures and builds one preset quietly: cmake/build.sh PRESET JOBS [cmake options]. Speaks only when something fails.
set -eu
preset=$1 jobs=$2
shift 2
mkdir -p build
log=build/$preset.log
if ! { cmake --preset "$preset" "$@" && cmake --build "build/$preset" -j "$jobs"; } > "$log" 2>&1; then
  cat "$log" >&2
  exit 2
fi
