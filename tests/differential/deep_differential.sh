# Other random robots every time, through every pair of routes; the seed is printed.
set -eu
"$BUILD/tests/differential" --seed "${DIFFERENTIAL_SEED:-$(date +%s)}" --seconds "${DIFFERENTIAL_SECONDS:-20}" --out "$BUILD/differential"
