# Bounds against a million random states per robot, with all their positions. PSDM_SEED=N takes others.
set -u
: "${BUILD:?the build folder}"
PSDM_STATES=1000000 "$BUILD/tests/test_bounds"
