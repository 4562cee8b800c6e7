# A build with every optional part switched off: it compiles without warnings, its tests pass or are skipped by name, the tool names what is missing, and calibration works.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong() {
  echo "WRONG: $*"
  exit 1
}
quietly() {
  "$@" > "$work/log" 2>&1 || { cat "$work/log"; wrong "$*"; }
}
parts=$(sed -n '/REQUIRED/!s/^psdm_part(\([A-Z0-9]*\) .*/\1/p' "$SOURCE/cmake/parts.cmake")
# the programs of make test, without slow ones that do not depend on the optional parts
slow=" test_calibrate_decimate test_calibrate_odd test_calibrate_shortage test_calibrate_spread test_calibrate_stream test_codegen_counts test_codegen_graph
  test_codegen_natural test_codegen_options test_codegen_shortage test_codegen_trouble test_compile test_compile_lengths test_compile_rows test_dense test_emit test_estimate_memory
  test_estimate_spread test_expanded test_experiment_obstacles test_expr_random test_log_watch test_loop test_lugre_fit test_lugre_fit_noise test_misaligned test_params
  test_payload_identify test_ranks_memory test_reduce test_singular test_spoiled test_steps_doubt test_steps_shortage test_survey test_urdf_limits "
slow=$(echo $slow)
programs=
for source in "$SOURCE"/tests/*/test_*.c; do
  name=$(basename "$source" .c)
  case " $slow " in *" $name "*) ;; *) programs="$programs $name" ;; esac
done
quietly cmake -S "$SOURCE" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 -DPSDM_WERROR=ON $(printf -- '-DPSDM_WITH_%s=OFF ' $parts)
grep -c "psdm without" "$work/log" | grep -qx "$(echo $parts | wc -w)" || wrong "the configuration does not name exactly $parts"
quietly cmake --build "$work/build" -j 2
(cd "$work/build" && ctest -j 2 -R "^($(echo $programs | tr ' ' '|'))\$" --output-on-failure) > "$work/log" || { cat "$work/log"; wrong "tests fail"; }
grep -q "tests passed, 0 tests failed" "$work/log" || wrong "no tests ran"
for name in test_own test_riccati test_log_formats test_optimal test_steps_chain; do
  grep -qE "$name .*\*\*\*Skipped" "$work/log" || wrong "$name is not skipped by name"
done
# the tool names what is missing
tool=$work/build/psdm
"$tool" doctor > "$work/doctor" || wrong "the doctor fails without optional parts"
for name in matio LAPACK SUNDIALS zlib HDF5 SQLite lz4 zstd cminpack NLopt OpenMP "IPOPT plug-in" "MPI plug-in"; do
  grep -qE "^  - +$name " "$work/doctor" || wrong "the doctor does not list $name: $(cat "$work/doctor")"
done
says() {
  local text=$1 code=0
  shift
  "$tool" "$@" > "$work/out" 2> "$work/err" || code=$?
  [ "$code" != 0 ] || wrong "psdm $* succeeds"
  grep -q "$text" "$work/err" || wrong "psdm $* does not print '$text': $(cat "$work/err")"
}
robot=$SOURCE/robots/two_link.yaml
says "need NLopt, which this build lacks: install libnlopt-dev" excite "$robot" --out "$work/e.csv"
says "needs SUNDIALS, which this build lacks" simulate "$robot" --time 1 --integrator bdf
printf "MATLAB 5.0 MAT-file, %0200d" 0 > "$work/log.mat"
says "MATLAB files need matio, which this build lacks" calibrate "$robot" --log "$work/log.mat"
"$tool" simulate "$robot" --integrator rk4 --time 10 --control computed-torque --reference fourier --log "$work/log.csv" > /dev/null 2>&1 || wrong "simulate"
"$tool" calibrate "$robot" --log "$work/log.csv" --out "$work/params.yaml" > "$work/out" 2>&1 || { cat "$work/out"; wrong "calibrate"; }
echo "$(echo $programs | wc -w) tests pass or are skipped by name without $(echo $parts)"
