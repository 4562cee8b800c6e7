#!/bin/sh
# run.sh [SECONDS]: fuzzes each target for SECONDS (60 by default); any crash, leak, hang or undefined step fails.
# FUZZ_SEED=N draws the same inputs again. Findings are written to build/fuzz/found; copy one to tests/fuzz/corpus/ once it is understood.
set -eu
seconds=${1:-60}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/fuzz
jobs=$(nproc 2>/dev/null || echo 2)

cd "$root"
cmake --preset fuzz
cmake --build "$build" --target fuzzers --parallel "$jobs"

# seeds: the handwritten corpus, and every shipped robot
mkdir -p "$build/seeds/yaml" "$build/seeds/urdf" "$build/found"
cp robots/*.yaml "$build/seeds/yaml/"
cp tests/robots/urdf/*.urdf "$build/seeds/urdf/"

# fuzz TARGET MAX_LEN SEEDS...: new inputs go to grown/, the seeds stay unchanged
fuzz() {
  name=$1 max_len=$2
  shift 2
  mkdir -p "$build/grown/$name"
  LSAN_OPTIONS=suppressions=$here/leaks.txt:print_suppressions=0 \
  "$build/tests/fuzz/fuzz_$name" ${FUZZ_SEED:+-seed="$FUZZ_SEED"} -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len="$max_len" \
    -dict="$here/$name.dict" -artifact_prefix="$build/found/$name-" -print_final_stats=1 -verbosity=1 \
    "$build/grown/$name" "$here/corpus/$name" "$@" 2>"$build/$name.log" || {
    tail -n 60 "$build/$name.log" >&2
    echo "fuzz_$name failed; its input is in $build/found" >&2
    exit 1
  }
  grep -E 'stat::(number_of_executed_units|new_units_added|peak_rss_mb)' "$build/$name.log" | sed "s/^/fuzz_$name /"
}
fuzz yaml 16384 "$build/seeds/yaml"
fuzz urdf 16384 "$build/seeds/urdf"
fuzz csv 4096
fuzz log 8192
fuzz bag 8192
fuzz report 8192
fuzz parameters 8192
fuzz model 8192
# matio allocates what a header claims before it reads, and sometimes fills gigabytes of it; there is no way to check before
(export ASAN_OPTIONS=allocator_may_return_null=1; fuzz mat 8192 -rss_limit_mb=6144 -malloc_limit_mb=1000000 -timeout=60)
fuzz hdf5 16384
