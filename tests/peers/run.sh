#!/bin/sh
# Compares $PSDM (default build/psdm) with Pinocchio, MuJoCo and KDL: tests/peers/run.sh [pytest options]
# A peer that cannot be installed is skipped, and the summary says so. 77: nothing could be tested at all.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
here=$source/tests/peers
venv=${PEERS_VENV:-$source/build/venv-peers}
PSDM=${PSDM:-$source/build/psdm}
export PSDM
[ -x "$PSDM" ] || { echo "peers: $PSDM is missing; run make build" >&2; exit 2; }

# the environment is made once, and again when the list of versions changes
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
  echo "peers: installing Pinocchio, MuJoCo, numpy and pytest into $venv" >&2
  /usr/bin/python3 -m venv --system-site-packages "$venv" || { echo "peers: SKIPPED, python3-venv is missing" >&2; exit 77; }
  get="$venv/bin/python -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20"
  if $get -r "$here/requirements.txt"; then
    cp "$here/requirements.txt" "$venv/requirements.txt"
  else
    # one by one: available ones are used
    for package in $(sed 's/#.*//' "$here/requirements.txt"); do
      $get "$package" || echo "peers: COULD NOT INSTALL $package" >&2
    done
  fi
fi
"$venv/bin/python" -c 'import numpy, pytest' || { echo "peers: SKIPPED, neither pip nor Debian gave numpy and pytest" >&2; exit 77; }
# pytest runs in a scratch folder: MuJoCo writes a log to the current one
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case $PSDM in /*) ;; *) PSDM=$PWD/$PSDM ;; esac
cd "$scratch"
"$venv/bin/python" -B -m pytest -q -p no:cacheprovider --rootdir "$here" "$@" "$here"
