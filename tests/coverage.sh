#!/bin/sh
# Line coverage of the library by room, from a build with coverage that has run its tests: tests/coverage.sh BUILD
set -eu
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
find "$build" -name '*.gcda' -path '*psdm_objects*' -exec gcov -n {} + 2>/dev/null | awk -v root="$root/src/" '
  /^File / { file = $2; gsub("\047", "", file); next }
  /^Lines executed:/ && index(file, root) == 1 {
    split(substr(file, length(root) + 1), part, "/")
    split($0, number, /[:% ]+/)
    lines[part[1]] += number[5]; hit[part[1]] += number[3] * number[5] / 100; file = ""
  }
  END {
    for (room in lines) { printf "%-10s %6d lines %6.1f %%\n", room, lines[room], 100 * hit[room] / lines[room]; all += lines[room]; run += hit[room] }
    if (!all) { print "no coverage found"; exit 1 }
    printf "%-10s %6d lines %6.1f %%\n", "all", all, 100 * run / all
  }' | sort
