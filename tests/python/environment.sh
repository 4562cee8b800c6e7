# Sourced by scripts that need the Python package: makes the environment in build/venv-python, builds the package from its source distribution and installs it.
# Sets venv and PSDM_WHEEL. Ends the script with 77 and a message if PyPI does not answer.
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv=${PYTHON_VENV:-$source/build/venv-python}
wheels=$venv/wheels

skip() {
  echo "python: SKIPPED, $*" >&2
  exit 77
}

# once, and again when the list of versions changes
if ! cmp -s "$source/python/requirements-test.txt" "$venv/requirements-test.txt"; then
  echo "python: installing numpy, pytest, Pinocchio and others into $venv" >&2
  /usr/bin/python3 -m venv "$venv" || skip "python3-venv is missing"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 -r "$source/python/requirements-test.txt" || skip "PyPI does not answer"
  cp "$source/python/requirements-test.txt" "$venv/requirements-test.txt"
fi

# the package's sources; nothing is rebuilt while they stay the same
sources=$(cd "$source" && find CMakeLists.txt cmake include src tools robots python -type f ! -path '*/__pycache__/*' ! -path 'python/tests/*' -print0 | sort -z | xargs -0 sha256sum | sha256sum)
if [ "$sources" != "$(cat "$venv/sources" 2> /dev/null)" ]; then
  echo "python: building the package from its source distribution" >&2
  rm -rf "$wheels"
  mkdir -p "$wheels"
  (cd "$source/python" && PATH="$venv/bin:$PATH" "$venv/bin/python" -c "import sys; sys.path.insert(0, '.'); import backend; print(backend.build_sdist('$wheels'))") > "$wheels/log" 2>&1 &&
    PATH="$venv/bin:$PATH" "$venv/bin/python" -m pip wheel -v --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$wheels" "$wheels"/psdm-*.tar.gz >> "$wheels/log" 2>&1 &&
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheels"/psdm-*.whl >> "$wheels/log" 2>&1 ||
    { tail -40 "$wheels/log" >&2; echo "FAIL: the package does not build; $wheels/log has it all" >&2; exit 1; }
  printf '%s\n' "$sources" > "$venv/sources"
fi
PSDM_WHEEL=$(echo "$wheels"/psdm-*.whl)
export PSDM_WHEEL
