# The benchmarks build, agree with their peers and run to their end. Times are printed, never judged.
set -eu
cd "$SOURCE"
SYMBOLIC_SECONDS=1 bash bench/derive/run.sh
status=0
bash bench/recursions/run.sh || status=$?
exit "$status"
