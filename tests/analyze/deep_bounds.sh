# Bounds against 300,000 random states per robot, with all their positions. PSDM_SEED=N takes others.
set -u
: "${BUILD:?the build folder}"
PSDM_STATES="${PSDM_STATES:-300000}" "$BUILD/tests/test_bounds"
