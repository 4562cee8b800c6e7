# Every example of examples/simulate_*.sh and examples/calibrate*.sh runs and shows what it claims; each checks itself, and its exit code tells.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 failures=0
for example in "$SOURCE"/examples/simulate_*.sh "$SOURCE"/examples/calibrate*.sh; do
  name=$(basename "$example" .sh)
  count=$((count + 1))
  if ! sh "$example" "$PSDM" "$work/$name" > "$work/log" 2>&1; then
    failures=$((failures + 1))
    echo "FAILED: $name"
    cat "$work/log"
  fi
done
# and they do fail when the tool does
sh "$SOURCE/examples/simulate_balance.sh" false "$work/none" > "$work/log" 2>&1 && { failures=$((failures + 1)); echo "an example passes without a tool"; }
echo "$count examples, $failures failed"
[ "$count" -ge 4 ] && [ "$failures" = 0 ]
