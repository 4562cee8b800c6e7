# The benchmarks build, agree with their peers and run to their end. Times are printed, not asserted.
set -eu
cd "$SOURCE"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
SYMBOLIC_SECONDS=1 bash bench/derive/run.sh --json "$results/derive.json"
bash bench/scaling/run.sh --quick --json "$results/scaling.json"
"$PSDM" report "$results/derive.json" "$results/scaling.json" --out "$results/report.html"
status=0
COMPILERS=g++ bash bench/recursions/run.sh robots/kuka_kr6.yaml chain12 || status=$? # the other compiler takes a minute or two, and is only needed for real figures
exit "$status"
