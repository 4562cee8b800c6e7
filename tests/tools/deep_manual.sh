# Manual pages under troff with all warnings, man itself, and zsh's completion in a zsh: on the installed files.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
command -v groff > /dev/null && command -v man > /dev/null || { echo "manual: SKIPPED, groff-base or man-db is missing" >&2; exit 77; }
command -v zsh > /dev/null || { echo "manual: SKIPPED, zsh is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failures=0
wrong() { failures=$((failures + 1)); echo "WRONG: $1"; }
cmake --install "$BUILD" --prefix "$work/tree" > /dev/null || exit 1
pages=$work/tree/share/man/man1
[ "$(ls "$pages" | wc -l)" -gt 15 ] || wrong "manual pages are not installed"
for page in "$pages"/*.1; do
  groff -man -ww -b -Tutf8 -z "$page" > said 2>&1
  [ -s said ] && wrong "$(basename "$page"): $(head -n 3 said)"
  LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2> said > /dev/null
  [ -s said ] && wrong "man $(basename "$page"): $(head -n 3 said)"
done
LC_ALL=C.UTF-8 MANWIDTH=80 man -P cat -E UTF-8 -l "$pages/psdm-eval.1" > page 2> said || wrong "man cannot show psdm-eval"
grep -q -- "--wrench LINK:FX,FY,FZ,MX,MY,MZ" page || wrong "psdm-eval lacks --wrench"
grep -q "printf 'q1,q2\\\\n0.1,0.2\\\\n' | psdm eval" page || wrong "an example of psdm-eval is not as it was typed"

# bash finds the installed file; zsh completes in a terminal of its own
[ -s "$work/tree/share/bash-completion/completions/psdm" ] || wrong "bash's completion is not installed"
zsh -n "$work/tree/share/zsh/site-functions/_psdm" || wrong "zsh does not parse _psdm"
mkdir robots && : > robots/arm.yaml > robots/notes.txt
python3=$(command -v /usr/bin/python3 || command -v python3)
timeout 60 "$python3" "$SOURCE/tests/tools/complete_zsh.py" "$work/tree/share/zsh/site-functions" "psdm calib" "psdm derive --method ex" "psdm eval robots/a" "psdm eval robots/arm.yaml energ" \
  "psdm simulate robots/arm.yaml --control comp" "psdm plan robots/arm.yaml sc" "psdm bench robots/arm.yaml --qui" > got 2> said
for want in "psdm calibrate" "psdm derive --method exact" "psdm eval robots/arm.yaml" "psdm eval robots/arm.yaml energy" "psdm simulate robots/arm.yaml --control computed-torque" "psdm plan robots/arm.yaml scale" "psdm bench robots/arm.yaml --quiet"; do
  grep -qF "$want" got || wrong "zsh does not complete to: $want ($(tr '\n' ' ' < got))"
done
echo "$(ls "$pages" | wc -l) manual pages, $failures wrong"
[ "$failures" = 0 ]
