# A report of everything in headless Chromium: light and dark, wide and on a phone, zoomed, printed. KEEP=1 keeps its pictures in docs/img.
set -eu
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$chromium" ] || { echo "skipped: no Chromium is installed (Debian's chromium): the report was NOT tested in a browser"; exit 77; }
command -v gnuplot > /dev/null || { echo "skipped: gnuplot is not installed (Debian's gnuplot-nox): the report was NOT tested"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
robot=$SOURCE/robots/kuka_kr6.yaml

# an arm with limits and friction, a log of it, and each command's result
cat > arm.yaml <<'YAML'
name: four-axis arm
gravity: [0, 0, -9.81]
convention: modified-dh
joints:
  - {name: base, d: 0.4, gear: 100, drive_inertia: 0.6, friction: {coulomb: 4, viscous: 6}, limits: {lower: -2.9, upper: 2.9, velocity: 2, acceleration: 10, effort: 120}}
  - {name: shoulder, alpha: pi/2, gear: 100, drive_inertia: 0.5, friction: {coulomb: 5, viscous: 4}, limits: {lower: -0.5, upper: 2.6, velocity: 2, acceleration: 10, effort: 180}}
  - {name: elbow, a: 0.5, gear: 80, drive_inertia: 0.2, friction: {coulomb: 2, viscous: 1.5}, limits: {lower: -2.5, upper: 2.5, velocity: 3, acceleration: 20, effort: 70}}
  - {name: wrist, a: 0.4, alpha: pi/2, gear: 50, drive_inertia: 0.05, friction: {coulomb: 1, viscous: 0.4}, limits: {lower: -3.1, upper: 3.1, velocity: 4, acceleration: 30, effort: 12}}
links:
  - {mass: 10, com: [0, 0.02, -0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.08}}
  - {mass: 8, com: [0.22, 0.01, 0.05], inertia: {xx: 0.05, yy: 0.25, zz: 0.24}}
  - {mass: 5, com: [0.18, -0.01, 0.02], inertia: {xx: 0.02, yy: 0.1, zz: 0.1}}
  - {mass: 2, com: [0.01, 0, 0.06], inertia: {xx: 0.01, yy: 0.01, zz: 0.004}}
YAML
"$PSDM" inspect arm.yaml --json --at 0.6,0.9,-1.2,0.4 > inspect.json
"$PSDM" derive arm.yaml --json > derive.json
"$PSDM" params arm.yaml --symbolic --json > params.json
"$PSDM" simulate arm.yaml --time 12 --friction coulomb --control computed-torque --compensate --reference fourier --amplitude 1.2 --period 6 \
  --rate 1000 --quantum 1e-5 --seed 5 --log log.csv --log-rate 200 --log-noise 0.2 --out motion.csv --output 0.005 --json > simulate.json
"$PSDM" calibrate arm.yaml --log log.csv --holdout 0.3 --predict rows.csv --out params.yaml --json > calibrate.json
"$PSDM" analyze arm.yaml --json > analyze.json
"$PSDM" plan arm.yaml energy --from 0 --to 1,0.8,-0.6,0.4 --duration 1.5 --out plan.csv --json > plan.json || rm -f plan.json plan.csv
"$PSDM" excite arm.yaml --seconds 8 --starts 1 --out excite.csv --json > excite.json || rm -f excite.json excite.csv
"$PSDM" bench "$SOURCE/robots/two_link.yaml" --functions inverse,forward --repeat 3 --json > bench.json
"$PSDM" reduce "$SOURCE/robots/two_link.yaml" --profile slow --error 0.01 --confidence 0.95 --json > reduce.json
results="inspect.json derive.json params.json calibrate.json rows.csv params.yaml simulate.json motion.csv analyze.json bench.json reduce.json"
for extra in plan.json plan.csv excite.json excite.csv; do [ -s "$extra" ] && results="$results $extra"; done
# shellcheck disable=SC2086 # words
"$PSDM" report $results --title "Four-axis arm" --out report.html

ZOOM_TITLE=Position python3 "$SOURCE/tests/report/browser.py" report.html motion.csv "$work/pictures" "$chromium"
for picture in light dark phone; do
  bytes=$(wc -c < "$work/pictures/$picture.png")
  [ "$bytes" -gt 10000 ] || { echo "$picture.png has $bytes bytes only"; exit 1; }
  [ "${KEEP:-0}" = 1 ] && cp "$work/pictures/$picture.png" "$SOURCE/docs/img/report-$picture.png"
done

# the test itself can fail: a page with a handler that throws, an address of the network, small grey letters
sed 's|<main>|<main><figure class="zoom"><figcaption>broken</figcaption></figure><p class="grey">hardly read</p><a href="#nowhere">x</a>|; s|</style>|.grey { color: #999; background: #fff; }</style>|' report.html > broken.html
if python3 "$SOURCE/tests/report/browser.py" broken.html motion.csv "$work/broken" "$chromium" > broken.txt; then echo "a broken page passes"; exit 1; fi
for sentence in "console: " "0 pictures are seen" "a link to nowhere"; do
  grep -q "$sentence" broken.txt || { echo "the browser's test does not find: $sentence"; cat broken.txt; exit 1; }
done
