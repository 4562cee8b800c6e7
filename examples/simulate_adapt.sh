#!/bin/sh
# A KUKA KR6 carries 3 kg that its controller does not know: computed torque keeps an error, the adaptive controller learns.
# usage: examples/simulate_adapt.sh [PSDM] [FOLDER]
set -eu
psdm=${1:-psdm}
out=${2:-$(mktemp -d)}
robot=$(dirname "$0")/../robots/kuka_kr6.yaml
mkdir -p "$out"

printf 't,m,rx,ry,rz,Ixx,Iyy,Izz\n0,3,0,0,0.05,0.005,0.005,0.005\n' > "$out/load.csv"
printf 'q1,q2,q3,q4,q5,q6\n0,-1.2,1.4,0,0.6,0\n' > "$out/start.csv"
for control in computed-torque adaptive; do
  echo "$control:"
  "$psdm" simulate "$robot" --time 20 --initial "$out/start.csv" --payload "$out/load.csv" --control "$control" --reference fourier --amplitude 0.4 --period 5 \
    --seed 7 --out "$out/$control.csv" --json > "$out/$control.json" 2> "$out/words" || { cat "$out/words"; exit 1; }
  # rms error of each joint over the last quarter, in mrad
  tr -d '\n' < "$out/$control.json" | sed 's/.*"rms_last_quarter": *\[\([^]]*\)\].*/\1/' | tr -d ' ' > "$out/$control.rms"
  awk -F, '{ printf "  rms error of the last 5 s, mrad:"; for (i = 1; i <= NF; i++) printf " %.4f", 1000 * $i; print "" }' "$out/$control.rms"
done
paste -d, "$out/computed-torque.rms" "$out/adaptive.rms" | awk -F, '
  { for (i = 1; i <= 6; i++) { a += $i^2; b += $(i + 6)^2 } }
  END { printf "adaptation reduces the error by a factor of %.0f\n", sqrt(a / b); exit !(b * 25 < a) }' || { echo "the adaptive controller did not learn"; exit 1; }
if command -v gnuplot > /dev/null; then
  gnuplot -e "set terminal svg size 800,400; set output '$out/adapt.svg'; set datafile separator ','; set xlabel 't / s'; set ylabel 'Nm'; plot '$out/computed-torque.csv' using 't':'tau2' title 'tau2, computed torque' with lines, '$out/adaptive.csv' using 't':'tau2' title 'tau2, adaptive' with lines" 2> /dev/null && echo "picture: $out/adapt.svg" || true
fi
