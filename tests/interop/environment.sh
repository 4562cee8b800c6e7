# environment.sh: sourced by the deep scripts here. Sets $python to an interpreter with the packages of requirements.txt; the script needs MODULES...
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
export PSDM SOURCE
interop=$SOURCE/tests/interop
venv=${INTEROP_VENV:-$SOURCE/build/venv-interop}
python=$venv/bin/python

# environment WHAT MODULES...: made once, and again when the list of versions changes; 77 when the modules are unavailable
environment() {
  local what=$1
  shift
  if ! cmp -s "$interop/requirements.txt" "$venv/requirements.txt"; then
    echo "$what: installing $(grep -v '^#' "$interop/requirements.txt" | tr '\n' ' ')into $venv" >&2
    /usr/bin/python3 -m venv "$venv" || { echo "$what: SKIPPED, python3-venv is missing" >&2; exit 77; }
    if "$python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 -r "$interop/requirements.txt"; then
      cp "$interop/requirements.txt" "$venv/requirements.txt"
    else
      echo "$what: COULD NOT INSTALL all of requirements.txt" >&2
    fi
  fi
  for module in "$@"; do
    "$python" -c "import $module" 2> /dev/null || { echo "$what: SKIPPED, the Python module $module could not be installed" >&2; exit 77; }
  done
}
