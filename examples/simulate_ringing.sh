#!/bin/sh
# A flexible joint rings: its spring is wound up and released, and the oscillation is compared with the linear model. usage: examples/simulate_ringing.sh [PSDM] [FOLDER]
set -eu
psdm=${1:-psdm}
out=${2:-$(mktemp -d)}
robot=$(dirname "$0")/flexible_joint.yaml
mkdir -p "$out"

# the motor is 0.01 rad ahead of the link, both at rest
printf 'q1,qd1,theta1,thetad1\n0,0,0.01,0\n' > "$out/wound.csv"
"$psdm" simulate "$robot" --elastic --initial "$out/wound.csv" --time 1 --output 0.0005 --out "$out/ringing.csv"

# linear model: x = q - theta has x'' + 2 d x' + w^2 x = 0 with w^2 = K (1/I + 1/B), 2 d = D (1/I + 1/B); I is the mass matrix without the rotor
stiffness=$(sed -n 's/.*stiffness: \([0-9.]*\).*/\1/p' "$robot") damping=$(sed -n 's/.* damping: \([0-9.]*\).*/\1/p' "$robot")
rotor=$(sed -n 's/.*drive_inertia: \([0-9.]*\).*/\1/p' "$robot")
mass=$(printf 'q1\n0\n' | "$psdm" eval "$robot" mass | tail -n 1)
awk -F, -v K="$stiffness" -v D="$damping" -v B="$rotor" -v M="$mass" '
  NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
  { x = $column["q1"] - $column["theta1"]; t = $column["t"] }
  NR > 2 && x * before < 0 { last = t - (t - at) * x / (x - before); if (!crossings++) first = last }
  { before = x; at = t }
  NR == 2 { x0 = x }
  END {
    w = sqrt(K * (1 / (M - B) + 1 / B)); d = D * (1 / (M - B) + 1 / B) / 2; wd = sqrt(w * w - d * d); pi = atan2(0, -1)
    heard = pi * (crossings - 1) / (last - first)
    expected = x0 * exp(-d * t) * (cos(wd * t) + d / wd * sin(wd * t))
    printf "\nringing   simulated %.4f rad/s, linear model %.4f rad/s (%d half waves)\n", heard, wd, crossings - 1
    printf "deflection after %g s   simulated %.3e rad, linear model %.3e rad\n", t, x, expected
    bad = (heard / wd - 1)^2 > 1e-8 || (x - expected)^2 > (1e-6 * x0)^2
    exit bad
  }' "$out/ringing.csv" || { echo "the simulation does not ring as its linear model does"; exit 1; }
if command -v gnuplot > /dev/null; then
  gnuplot -e "set terminal svg size 800,400; set output '$out/ringing.svg'; set datafile separator ','; set xlabel 't / s'; set ylabel 'rad'; plot '$out/ringing.csv' using 't':(column('theta1') - column('q1')) title 'theta - q' with lines" 2> /dev/null && echo "picture: $out/ringing.svg" || true
fi
