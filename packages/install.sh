#!/bin/sh
# Installs what is missing of the Debian packages in the named lists: packages/install.sh core [all]
set -eu
here=$(dirname "$0")
missing=
for list in "$@"; do
  for package in $(sed 's/#.*//' "$here/$list.txt"); do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
  done
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
  echo "These packages (Debian's names) must be there, and this is no Debian system:$missing" >&2
  exit 0
fi
if [ "$(id -u)" = 0 ]; then sudo=; elif command -v sudo >/dev/null 2>&1; then sudo=sudo; else
  echo "Packages are missing and this user may not install them. Run as root:" >&2
  echo "    apt-get update && apt-get install -y --no-install-recommends$missing" >&2
  exit 2
fi
echo "Installing:$missing" >&2
if ! { $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null; }; then
  echo "Installing failed. Run this by hand, then again:" >&2
  echo "    apt-get update && apt-get install -y --no-install-recommends$missing" >&2
  exit 2
fi
