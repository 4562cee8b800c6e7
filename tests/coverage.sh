#!/bin/sh
# Line and branch coverage of the library by room, from a build with coverage that has run its tests: tests/coverage.sh BUILD
# Every branch counts, those that only a failing allocation takes included. The branches that no test takes are listed in
# BUILD/left.txt, with the source line of each; inline functions of a header count once, wherever they are used.
set -eu
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$build" # file names may be relative to it
find "$build" -name '*.gcno' -path '*psdm_objects*' -exec gcov -b -t {} + 2>/dev/null | awk -v root="$root/src/" -v left="$work/left" '
  # "   count:  line:source", then "branch  k taken 50% (fallthrough)" or "branch  k never executed" for it
  /^ *[^:]*: *0:Source:/ { file = $0; sub(/^[^:]*: *0:Source:/, "", file);
    if (index(file, root) == 1) file = substr(file, length(root) + 1)
    sub(/^(\.\.\/)+src\//, "", file)
    ours = file !~ /^[.\/]/
    next
  }
  !ours { next }
  /^branch / {
    if (!((file, line, $2) in seen)) { seen[file, line, $2] = 1; order[++ids] = file SUBSEP line SUBSEP $2 }
    if ($3 == "taken" && $4 + 0 > 0) taken[file, line, $2] = 1
    if ($3 == "taken") reached[file, line] = 1
    next
  }
  /^ *[^:]*: *[0-9]+:/ {
    split($0, part, ":"); line = part[2] + 0
    if (line == 0) next
    count = part[1]; gsub(/[ *]/, "", count)
    text = $0; sub(/^[^:]*:[^:]*:/, "", text); sub(/^ +/, "", text); source[file, line] = text
    if (count == "-") next
    if (!((file, line) in known)) { known[file, line] = 1; split(file, part, "/"); lines[part[1]]++ }
    if (count !~ /^[#=]/ && !((file, line) in ran)) { ran[file, line] = 1; split(file, part, "/"); hit[part[1]]++ }
  }
  END {
    for (k = 1; k <= ids; k++) {
      split(order[k], at, SUBSEP); split(at[1], part, "/")
      branches[part[1]]++
      if (order[k] in taken) { went[part[1]]++; continue }
      printf "src/%s:%d: branch %d %s: %s\n", at[1], at[2], at[3], (at[1], at[2]) in reached ? "not taken" : "not reached", source[at[1], at[2]] > left
    }
    for (r in lines) {
      printf "%-10s %6d lines %6.1f %%  %6d branches %6.1f %%  %5d left\n", r, lines[r], 100 * hit[r] / lines[r], branches[r], 100 * went[r] / (branches[r] ? branches[r] : 1), branches[r] - went[r]
      all += lines[r]; run += hit[r]; forks += branches[r]; gone += went[r]
    }
    if (!all) { print "no coverage found"; exit 1 }
    printf "%-10s %6d lines %6.1f %%  %6d branches %6.1f %%  %5d left\n", "all", all, 100 * run / all, forks, 100 * gone / forks, forks - gone
  }' | sort
[ ! -e "$work/left" ] || sort -t: -k1,1 -k2,2n "$work/left" > "$build/left.txt"
# what they are about, by the words of their lines
awk '
  /not reached/ { kind["on lines that no test reaches"]++; next }
  /MEMORY|no_memory|alloc|NEW\(/ { kind["memory that runs out"]++; next }
  /!status|if \(status\)|\(status = / { kind["a failure that is handed on"]++; next }
  /psdmp_base_fail|refuse\(|PSDM_E_/ { kind["refusals"]++; next }
  /for \(|while \(/ { kind["loops that never, or always, end early"]++; next }
  /isnan|isfinite|> 0|< 0|>= 0|<= 0/ { kind["numbers at their edge"]++; next }
  { kind["other conditions"]++ }
  END { for (k in kind) printf "%6d left: %s\n", kind[k], k }' "$build/left.txt" 2>/dev/null | sort -rn
