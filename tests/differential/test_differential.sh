# The same random robots every time, through every pair of routes that is fast.
set -eu
case ${SANITIZE:-} in *address*) count=200 models=60 ;; *) count=1200 models=300 ;; esac
"$BUILD/tests/differential" --seed 20260101 --count "$count" --routes -compiled,-simulate-code,-code-searched,-auto
# always: models and code of ordinary robots
"$BUILD/tests/differential" --seed 20260102 --count "$models" --kinds plain,general,tree --routes derive,echelon,saved,params,code,code-theta
# and one through a compiler and a simulator
"$BUILD/tests/differential" --robot 0x5eed --kinds plain --routes compiled,simulate-code,auto --quiet
