# Random robots with options that cover all pairs, and all shipped robots with all functions: generated, compiled, and run against the
# library's recursions by their own self-tests (1e-13 in double, 1e-5 in float).
#   deep_codegen.sh        200 random robots
#   deep_codegen.sh full   every combination of options, a random robot each: an hour (make deep)
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}" "${BUILD:?the build tree}" "${CC:=cc}"
export PSDM SOURCE CC
here=$SOURCE/tests/codegen

# one ROBOT FOLDER OPTIONS...: leaves FOLDER.ok, FOLDER.refused or FOLDER.wrong
one() {
  local robot=$1 folder=$2 native= goal=check
  shift 2
  case "$*" in *cuda*) goal=check-loops ;; esac # kernels as loops on the processor: no CUDA needed
  case $folder in *[02468]) native="-march=native -ffp-contract=fast" ;; esac
  echo "options: $*" > "$folder.log"
  if ! "$PSDM" codegen "$robot" --out "$folder" --prefix arm --effort 10 "$@" >> "$folder.log" 2>&1; then
    # what has no closed form, or no theta under its assumptions, is told apart from what failed
    if grep -qE 'a closed form (needs|in sines)|under these assumptions base parameters are not standard ones|other base parameters for other gravity' "$folder.log"; then
      mv "$folder.log" "$folder.refused"
      return
    fi
  elif make -s -C "$folder" CC="$CC" CFLAGS="-std=c99 -O1 -pedantic -Wall -Wextra -Werror $native" CXXFLAGS="-std=c++17 -O0 -pedantic -Wall -Wextra -Werror" $goal >> "$folder.log" 2>&1; then
    mv "$folder.log" "$folder.ok"
    rm -rf "$folder"
    return
  fi
  { echo "psdm codegen $robot --prefix arm $*"; grep -v '^ ' "$folder.log"; cat "$robot"; } > "$folder.wrong"
  echo "WRONG: psdm codegen $robot --prefix arm $*"
  grep -E 'WRONG|error|Error' "$folder.log" | head -5
}
if [ "${1:-}" = one ]; then
  shift
  one "$@"
  exit 0
fi

work=$(mktemp -d)
trap '[ -n "${KEEP:-}" ] && echo "kept: $work" || rm -rf "$work"' EXIT
mkdir "$work/robots" "$work/out"
rows=${1:-200}
python3 "$here/covering.py" "$rows" > "$work/rows" || exit 1
count=$(wc -l < "$work/rows")

# support.c also has what loads robots; nobody calls it here, and the linker drops it
$CC -std=gnu11 -O1 -ffunction-sections -Wl,--gc-sections -I"$SOURCE/include" -I"$BUILD/include" -I"$SOURCE/tests/support" -o "$work/random_robots" "$here/random_robots.c" \
  "$SOURCE/tests/support/random_robot.c" "$SOURCE/tests/support/support.c" -lcmocka -lm || exit 1
"$work/random_robots" "$count" "$work/robots" || exit 1

# the jobs: random robots, then the shipped ones
k=0
while read -r options; do
  echo "$work/robots/$k.yaml $work/out/$k $options"
  k=$((k + 1))
done < "$work/rows" > "$work/jobs"
# some of the vectors' once more as kernels
awk '/--target simd/ && ++n % 4 == 0 { sub(/--target simd/, "--target cuda"); $2 = $2 "-cuda"; print }' "$work/jobs" > "$work/kernels"
cat "$work/kernels" >> "$work/jobs"
for robot in "$SOURCE"/robots/*.yaml; do
  name=$(basename "$robot" .yaml) theta=baked
  grep -q "^loops:" "$robot" && continue # test_codegen_loops.sh has them
  [ "$name" = denso_vs6556g ] && theta=argument
  echo "$robot $work/out/$name-1 --theta $theta --functions all"
  echo "$robot $work/out/$name-2 --theta argument --target simd --optimise throughput --friction-columns --drive-columns"
  echo "$robot $work/out/$name-3 --theta $theta --real float --sincos libm --wrench --functions all"
  echo "$robot $work/out/$name-4 --method recursive --theta argument --gravity-argument --payload --sincos caller --functions all"
  echo "$robot $work/out/$name-6 --method recursive --theta $theta --gravity-argument --target simd --functions inverse,gravity,forward,linearize_inverse,linearize_forward"
  echo "$robot $work/out/$name-5 --method expanded --theta $theta --link 1"
done >> "$work/jobs"
xargs -a "$work/jobs" -P "${JOBS:-2}" -d '\n' -n 1 sh -c 'exec bash "$0" one $1' "$0"

ok=$(find "$work/out" -name '*.ok' | wc -l) refused=$(find "$work/out" -name '*.refused' | wc -l) wrong=$(find "$work/out" -name '*.wrong' | wc -l)
all=$(wc -l < "$work/jobs")
find "$work/out" -name '*.wrong' | sort | head -3 | while read -r file; do echo "---- $file"; cat "$file"; done
echo "$all folders: $ok right, $refused refused, $wrong wrong"
find "$work/out" -name '*.ok' -exec cat {} + | awk '
  $1 == "options:" { real = /--real float/ ? "float" : "double" }
  $2 == "error" && $5 > 0 { e = $3/$5; if (e > worst[real]) worst[real] = e }
  END { for (r in worst) printf "  largest error in %s: %.1e\n", r, worst[r] }'
[ "$wrong" = 0 ] && [ $((ok + refused)) = "$all" ] && [ "$ok" -gt $((all * 3 / 4)) ]
