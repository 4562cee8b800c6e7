#!/usr/bin/env bash
# Counts the operations of the six linearization algorithms: the library's own sources, compiled as C++ with a counting number type.
set -euo pipefail
CXX=${CXX:-g++}
"$CXX" --version 2>/dev/null | grep -qiE 'g\+\+|gcc' || { echo "skipped: no g++"; exit 77; }
here=$SOURCE/tests/rigid/counts
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# -fpermissive: void * becomes any pointer, as in C
flags=(-std=gnu++17 -O1 -w -fpermissive -include "$here/counted.hpp" -I"$SOURCE/src" -I"$SOURCE/include" -I"$BUILD/include")
objects=()
for name in rigid/{work,inverse,forward,mass,linearize_{work,along,inverse,forward,dense}}.c linalg/small.c robot/reduced.c; do
  "$CXX" "${flags[@]}" -x c++ -c "$SOURCE/src/$name" -o "$work/${name##*/}.o"
  objects+=("$work/${name##*/}.o")
done
"$CXX" "${flags[@]}" -c "$here/counts.cpp" -o "$work/counts.o"
"$CXX" "$work/counts.o" "${objects[@]}" -o "$work/counts"
"$work/counts"
