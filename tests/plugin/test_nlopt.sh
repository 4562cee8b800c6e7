#!/bin/bash
# NLopt is opened at run time: the command is not linked with it, and if it is missing the command says what to install.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "FAIL: $*" >&2; exit 1; }

if readelf -d "$PSDM" | grep NEEDED | grep -i nlopt; then fail "the command is linked with NLopt"; fi
"$PSDM" doctor | grep -q "ok *NLopt *[0-9]*\.[0-9]" || fail "doctor does not print NLopt's version"

code=0
PSDM_NLOPT=/nowhere/libnlopt.so "$PSDM" excite "$SOURCE/robots/two_link.yaml" --out e.csv 2> words || code=$?
[ $code = 3 ] || fail "excite without NLopt ends with $code"
grep -q "motions for inertia need NLopt.*install libnlopt0" words || fail "excite does not say what to install: $(cat words)"
[ ! -e e.csv ] || fail "an output file exists"
PSDM_NLOPT=/nowhere/libnlopt.so "$PSDM" doctor > words || fail "doctor fails without NLopt"
grep -A1 "NLopt *not found" words | grep -q "apt-get install libnlopt0" || fail "doctor does not say what to install: $(cat words)"
# other experiments do not need it
PSDM_NLOPT=/nowhere/libnlopt.so "$PSDM" excite "$SOURCE/robots/two_link.yaml" --for gravity --out e.csv > /dev/null 2>&1 || fail "excite --for gravity needs NLopt"
# another library is not accepted as NLopt
code=0
PSDM_NLOPT=libm.so.6 "$PSDM" excite "$SOURCE/robots/two_link.yaml" --out f.csv 2> words || code=$?
[ $code = 3 ] || fail "libm was accepted as NLopt"
