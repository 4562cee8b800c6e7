# Every command in README and docs runs: the lines of each ```sh block, block by block, in one scratch folder per file.
# `make` and `git` lines are CI's own first steps and are only checked to name a target that exists.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$PSDM" "$work/bin/psdm"
export PATH="$work/bin:$PATH"
blocks=0 failures=0
# the commands' own tests run under sanitizers too, which are three times slower: there the first two pages are enough
set -- "$SOURCE"/README.md "$SOURCE"/docs/tutorial-robot.md
[ -n "${SANITIZE:-}" ] || set -- "$SOURCE"/README.md "$SOURCE"/docs/*.md
for file in "$@"; do
  folder=$work/$(basename "$file" .md)
  mkdir "$folder"
  ln -s "$SOURCE/robots" "$folder/robots"
  awk -v dir="$folder" '/^```sh$/ { n++; on = 1; next } /^```/ { on = 0 } on { print > (dir "/block" sprintf("%03d", n) ".sh") }' "$file"
  for block in "$folder"/block*.sh; do
    [ -e "$block" ] || continue
    blocks=$((blocks + 1))
    grep -E '^(make|git|cd) ' "$block" | sed -n 's/^make \([a-z-]*\).*/\1/p' | while read -r target; do
      grep -qE "^$target:" "$SOURCE/Makefile" || { echo "$file: make $target does not exist"; exit 1; }
    done || failures=$((failures + 1))
    grep -vE '^(make|git|cd) ' "$block" > "$block.run"
    if ! (cd "$folder" && bash -euo pipefail "$block.run") > "$folder/log" 2>&1; then
      failures=$((failures + 1))
      echo "FAILED in $(basename "$file"):"
      cat "$block.run" "$folder/log"
    fi
  done
done
echo "$blocks blocks, $failures failed"
[ "$blocks" -gt 0 ] && [ "$failures" = 0 ]
