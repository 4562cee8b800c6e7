# The same few hundred random robots, every time, through every pair of routes that is fast.
set -eu
case ${SANITIZE:-} in *address*) count=250 ;; *) count=1500 ;; esac
"$BUILD/tests/differential" --seed 20260101 --count "$count" --routes -compiled,-simulate-code,-code-searched,-auto
# and one of them through a compiler and a simulator
"$BUILD/tests/differential" --robot 0x5eed --kinds plain --routes compiled,simulate-code,auto --quiet
