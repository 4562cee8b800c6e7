#!/usr/bin/env bash
# How long a derivation takes: bench/derive/run.sh [--quick] [--json FILE]
#
# Prints the table of docs/theory.md (warm, best of 20; a fresh process; the dense twin in the same run), then cost against n for the first links
# of KR6 and LBR7 beside the paper's figures and a SymPy Lagrangian, as build/bench-derive/cost.svg when gnuplot is there. SymPy comes from PyPI
# into build/venv-derive; without it that line is omitted, with a message. --quick: the paper's robots alone, no twin, no SymPy. --json: for psdm report.
# PSDM, BUILD and BENCH_OUT (the command, the folder of libpsdm.a, where files go) default to those of build/.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/bench/common/options.sh"
out=${BENCH_OUT:-$root/build/bench-derive}
library=${BUILD:-$root/build/release}
mkdir -p "$out"
cd "$root"
[ -n "${PSDM:-}" ] || [ -x build/psdm ] || make build
psdm=${PSDM:-$root/build/psdm}
# shellcheck disable=SC2046 # several words are meant
libraries="$library/libpsdm.a $(pkg-config --libs $(sed -n 's/^Requires.private: *//p' "$library/psdm.pc" | tr ',' ' ')) $(sed -n 's/^Libs.private://p' "$library/psdm.pc")"
# shellcheck disable=SC2086 # several words are meant
cc -std=c11 -O2 -Wall -Wextra -Iinclude -I"$library/include" "$here/derive.c" $libraries -o "$out/derive"
python3 "$here/robots.py" "$out"
for robot in kuka_kr6 kuka_lbr7; do
  for i in 1 2 3 4 5 6 7; do
    "$psdm" convert "robots/$robot.yaml" --tip "link$i" --out "$out/${robot}_$i.yaml" 2> /dev/null || true
  done
done

more=("$out"/general6.yaml "$out"/general7.yaml "$out"/aligned{8,9,10}.yaml)
[ $quick = 0 ] || more=()
echo "== warm, best of 20"
"$out/derive" robots/two_link.yaml robots/fanuc_sr6ia.yaml robots/kuka_kr6.yaml robots/kuka_lbr7.yaml "${more[@]}" | tee "$out/warm.txt"
fresh_and_dense() {
  echo "== first derivation of a process, best of 5"
  for file in robots/kuka_kr6.yaml robots/kuka_lbr7.yaml "$out/aligned10.yaml"; do
    for _ in 1 2 3 4 5; do "$out/derive" --fresh "$file"; done | sort -t' ' -k3,3g -k1,1 | awk '{ for (i = 1; i <= NF; i++) if ($i == "fresh") print $(i + 1), $0 }' | sort -g | head -1 | cut -d' ' -f2-
  done
  echo "== the dense twin on KR6, same run"
  dense=$("$psdm" derive robots/kuka_kr6.yaml --method dense --json 2> /dev/null | sed -n 's/.*"seconds": \([^,]*\),*/\1/p')
  exact=$("$out/derive" robots/kuka_kr6.yaml | awk 'END { print $5 }')
  awk -v d="$dense" -v e="$exact" 'BEGIN { printf "dense %.3f s, exact %.3f ms: %.0f times\n", d, e, 1000 * d / e }'
  echo "$dense" > "$out/dense.txt"
}
rm -f "$out/dense.txt"
[ $quick = 1 ] || fresh_and_dense

echo "== cost against n (ms): first links of KR6 and LBR7; the paper: 5.3 s for KR6, 88 s for LBR7 (Lloyd, Irani, Ahmadi 2021, Table 2)"
for robot in kuka_kr6 kuka_lbr7; do
  "$out/derive" "$out/${robot}_"[1-7].yaml | awk 'NR > 1 { print NR - 1, $5 }' > "$out/$robot.txt"
  echo "$robot: $(awk '{ printf "%s:%s ", $1, $2 }' "$out/$robot.txt")"
done
venv=$root/build/venv-derive
: > "$out/sympy.txt"
if [ $quick = 1 ]; then
  echo "SymPy: omitted (--quick)"
elif { [ -x "$venv/bin/pip" ] || python3 -m venv "$venv"; } > "$out/venv.log" 2>&1 && "$venv/bin/pip" install -q --retries 1 --timeout 20 sympy==1.13.3 >> "$out/venv.log" 2>&1; then
  "$venv/bin/python" "$here/symbolic.py" 4 "${SYMBOLIC_SECONDS:-120}" | awk '{ print $1, 1000 * $2 }' > "$out/sympy.txt"
  echo "SymPy Lagrangian of KR6: $(awk '{ printf "%s:%s ", $1, $2 }' "$out/sympy.txt")"
else
  echo "skipped: SymPy could not be installed; the symbolic line is missing"
fi
[ -z "$json" ] || python3 "$here/result.py" "$out" "$json" $quick
if command -v gnuplot > /dev/null; then
  printf '6 5300\n' > "$out/paper.txt"; printf '7 88000\n' >> "$out/paper.txt"
  [ -s "$out/sympy.txt" ] || printf '1 NaN\n' > "$out/sympy.txt"
  gnuplot -e "set terminal svg size 720,420 font 'sans,13' background '#ffffff'; set output '$out/cost.svg'; set logscale y; set grid;
    set xlabel 'joints n'; set ylabel 'derivation, ms'; set key at graph 0.97,0.66; set xrange [0.8:7.2]; set yrange [1e-3:1e6]; set format y '10^{%T}';
    plot '$out/sympy.txt' w lp pt 5 lc 'black' t 'SymPy, Lagrange (KR6)', '$out/paper.txt' w p pt 9 ps 1.4 lc 'red' t 'PSDM toolbox, published',
         '$out/kuka_kr6.txt' w lp pt 7 lc '#1f5fa8' t 'libpsdm, KR6', '$out/kuka_lbr7.txt' w lp pt 6 lc '#5aa02c' t 'libpsdm, LBR7'"
  echo "plot: build/bench-derive/cost.svg"
fi
