#!/bin/sh
# A two-link arm is balanced upright by its shoulder motor alone, with LQR gains from the linear model; without them it falls.
# usage: examples/simulate_balance.sh [PSDM] [FOLDER]
set -eu
psdm=${1:-psdm}
out=${2:-$(mktemp -d)}
robot=$(dirname "$0")/../robots/two_link.yaml
mkdir -p "$out"

# upright is q = (pi/2, 0); the arm starts 0.1 rad away from it
up=1.5707963267948966,0
printf 'q1,q2\n1.67,0.05\n' > "$out/beside.csv"
echo "Without a controller it falls:"
"$psdm" simulate "$robot" --time 6 --initial "$out/beside.csv" --out "$out/fall.csv" 2> "$out/words" || { cat "$out/words"; exit 1; }
echo
echo "With LQR gains for the shoulder motor; the elbow is free:"
"$psdm" simulate "$robot" --time 12 --initial "$out/beside.csv" --control lqr --inputs 1 --to $up --out "$out/balance.csv" 2> "$out/words" || { cat "$out/words"; exit 1; }

# how far from upright: at any time without control, at the end with it
away() {
  awk -F, -v all="$2" 'NR > 1 { d = ($2 - 1.5707963267948966)^2 + $3^2; if (!all || d > most) most = d } END { printf "%.3g", sqrt(most) }' "$1"
}
fallen=$(away "$out/fall.csv" 1) held=$(away "$out/balance.csv" 0)
echo
echo "largest distance from upright without control: $fallen rad; with it, after 12 s: $held rad"
awk -v fallen="$fallen" -v held="$held" 'BEGIN { exit !(fallen > 1 && held < 1e-2) }' || { echo "the arm is not balanced"; exit 1; }
if command -v gnuplot > /dev/null; then
  gnuplot -e "set terminal svg size 800,400; set output '$out/balance.svg'; set datafile separator ','; set xlabel 't / s'; set ylabel 'rad'; plot '$out/balance.csv' using 't':'q1' title 'shoulder' with lines, '' using 't':'q2' title 'elbow' with lines" 2> /dev/null && echo "picture: $out/balance.svg" || true
fi
