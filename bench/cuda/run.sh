#!/usr/bin/env bash
# Kernels on a GPU beside its copy bandwidth: bench/cuda/run.sh [--generate FOLDER | --generated FOLDER] [--out FOLDER] [FUNCTION ...]
#
# --generate only writes the code (with $PSDM, default build/psdm), for a machine with a GPU and without this library; there --generated uses
# it. Without either option, both steps. For KR6 and LBR7, float and double: the self-tests, every function timed at 2^24 to 2^26 states and
# compared with the processor, and compute-sanitizer over all of them. --out keeps the logs.
# Exit 0: all right; 1: wrong numbers or a sanitizer's error; 2: something did not build; 77: no nvcc, or no GPU (then everything is built).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
PSDM=${PSDM:-$root/build/psdm}
mode=both folder=$root/build/bench-cuda out= functions=()
while [ $# -gt 0 ]; do
  case $1 in
    --generate | --generated) mode=${1#--} folder=${2:?a folder}; shift ;;
    --out) out=${2:?a folder}; shift ;;
    -*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
    *) functions+=("$1") ;;
  esac
  shift
done
list=inverse,gravity,bias,mass,inverse_mass,forward,regressor,linearize_inverse,linearize_forward
cases="kr6-float kr6-double lbr7-float lbr7-double"

generate() { # NAME
  local robot=kuka_${1%-*} real=${1#*-}
  "$PSDM" codegen "$root/robots/$robot.yaml" --out "$folder/$1" --prefix arm --target cuda --real "$real" --functions "$list" --json 2> /dev/null > "$folder/$1.json"
  python3 - "$folder/$1.json" "$real" > "$folder/$1/costs.h" <<'PY'
import json, sys
with open(sys.argv[1]) as file:
    code = json.load(file)
print("/* operations and sines of each function */\n#define COST_REAL %s\n#define COST_ROBOT \"%s\"" % (sys.argv[2], code["name"]))
for name, cost in code["functions"].items():
    print("#define COST_%s %d, %d" % (name, cost["mult"] + cost["add"] + cost["div"] + cost["sqrt"], cost["sincos"]))
PY
}

if [ "$mode" != generated ]; then
  [ -x "$PSDM" ] || { echo "bench/cuda: $PSDM is missing; run make build" >&2; exit 2; }
  mkdir -p "$folder"
  for name in $cases; do generate "$name"; done
  cp "$here/bench.cu" "$folder"
  [ "$mode" = both ] || exit 0
fi

command -v nvcc > /dev/null || { echo "bench/cuda: SKIPPED, no nvcc" >&2; exit 77; }
out=${out:-$folder}
arch=$(nvcc -arch=native --dryrun -c -o /dev/null -x cu /dev/null 2>&1 | grep -c 'Cannot find valid GPU' || true)
[ "$arch" = 0 ] && arch=native || arch=sm_90

compile() { # NAME
  local at=$folder/$1
  make -s -C "$at" ARCH="$arch" arm.o arm_cuda.o arm_selftest CFLAGS="-std=c99 -O2 -march=native -ffp-contract=fast" || return 1
  nvcc -O3 -std=c++17 -arch="$arch" -I"$at" -o "$at/bench" "$here/bench.cu" "$at/arm_cuda.o" "$at/arm.o"
}
jobs=()
for name in $cases; do
  compile "$name" > "$out/$name-build.log" 2>&1 &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || { cat "$out"/*-build.log >&2; exit 2; }; done

code=0
for name in $cases; do
  "$folder/$name/arm_selftest" > "$out/$name-selftest.log" || { [ $? = 77 ] && { echo "bench/cuda: SKIPPED, no GPU; everything is built in $folder" >&2; exit 77; }; cat "$out/$name-selftest.log"; code=1; }
  "$folder/$name/bench" "${functions[@]}" | tee "$out/$name-bench.log" || code=1
  echo
done
sanitizer=$(command -v compute-sanitizer || true)
[ -n "$sanitizer" ] || echo "compute-sanitizer is missing: not run"
for name in $cases; do
  for tool in memcheck initcheck racecheck; do
    [ -n "$sanitizer" ] || continue
    if "$sanitizer" --tool "$tool" --error-exitcode 9 "$folder/$name/bench" --check "${functions[@]}" > "$out/$name-$tool.log" 2>&1; then
      echo "$name $tool: $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$out/$name-$tool.log" | sed 's/^=* *//')"
    else
      code=1
      echo "$name $tool: FAILED"
      tail -30 "$out/$name-$tool.log"
    fi
  done
done
exit $code
