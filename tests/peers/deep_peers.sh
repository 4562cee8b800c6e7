# Pinocchio, MuJoCo and KDL as judges: what `make test-peers` runs.
set -eu
cd "$SOURCE"
exec bash tests/peers/run.sh
