#!/bin/bash
# The Python package: built from its source distribution, installed, compared with the command and with Pinocchio, its documents and notebooks run, its types checked.
# tests/python/deep_python.sh [pytest options]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/environment.sh"
PSDM_CACHE=${PSDM_CACHE:-$source/build/release/cache}
PSDM_TOOL=${PSDM:-}
export PSDM_CACHE PSDM_TOOL
unset PSDM # the test uses the package's own command
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$venv/bin/python" -B -m pytest -q -p no:cacheprovider --rootdir "$source/python" "$@" "$source/python/tests"
"$venv/bin/python" -B -m pytest -q -p no:cacheprovider --doctest-modules --pyargs psdm
(cd "$source/python" && "$venv/bin/python" -m mypy --strict --cache-dir "$scratch/mypy" src/psdm)
# the figure itself belongs to bench/python/run.sh: here it must only be computed, and right
"$venv/bin/python" -B "$source/python/bench/inverse.py" 1e5 3
