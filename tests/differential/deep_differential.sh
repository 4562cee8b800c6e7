# Random robots through every pair of routes. The same ones every time, so that a failure means a change; DIFFERENTIAL_SEED=$(date +%s) and make fuzz draw others.
set -eu
"$BUILD/tests/differential" --seed "${DIFFERENTIAL_SEED:-20260101}" --count "${DIFFERENTIAL_COUNT:-5000}" --out "$BUILD/differential"
