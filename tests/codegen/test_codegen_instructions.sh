# Counted operations are machine instructions: mulsd, addsd + subsd and divsd in the compiled functions, one for one. The compiler may not
# merge (FMA), pair (vectors) or reassociate; signs are xorpd and count as nothing, here as in the graph; sines come from libm, which is not counted.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
case $(uname -m) in x86_64) ;; *) echo "skipped: instructions are counted on x86-64"; exit 77 ;; esac
command -v objdump > /dev/null || { echo "skipped: objdump is not here"; exit 77; }
command -v gcc > /dev/null || { echo "skipped: gcc is not here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

# from the disassembly: "function mult add div"
count() {
  objdump -d --no-show-raw-insn "$1" | awk '
    function show() { if (name) print name, mult + 0, add + 0, div + 0 }
    /^[0-9a-f]+ <.*>:/ { show(); name = $2; gsub(/[<>:]/, "", name); sub(/^arm_/, "", name); mult = add = div = 0; next }
    $2 ~ /^v?mulsd$/ { mult++ }
    $2 ~ /^v?(add|sub)sd$/ { add++ }
    $2 ~ /^v?divsd$/ { div++ }
    $2 ~ /^v?(mul|add|sub|div)pd$/ { print "packed arithmetic in " name > "/dev/stderr" }
    END { show() }'
}

check() { # ROBOT FUNCTIONS OPTIONS...
  local robot=$1 functions=$2 folder=$work/$1
  shift 2
  "$PSDM" codegen "$SOURCE/robots/$robot.yaml" --out "$folder" --prefix arm --sincos libm --functions "$functions" "$@" > "$folder.out" 2> "$folder.err" \
    || { cat "$folder.err"; wrong=1; return; }
  gcc -O1 -std=c99 -fno-tree-vectorize -fno-tree-slp-vectorize -ffp-contract=off -mno-fma -c "$folder/arm.c" -o "$folder/arm.o" || { wrong=1; return; }
  count "$folder/arm.o" | sort > "$folder/machine"
  awk 'NF == 7 && $3 ~ /^[0-9]+$/ { print $1, $3, $4, $5 }' "$folder.out" | sort > "$folder/counted"
  if diff "$folder/counted" "$folder/machine" > "$folder/diff" && [ -s "$folder/counted" ]; then
    sed "s/^/$robot $* /" "$folder/counted"
  else
    echo "WRONG: $robot $*: counted (<) and in the machine code (>), function mult add div:"
    cat "$folder/diff"
    wrong=1
  fi
}

check kuka_kr6 inverse,mass,forward,regressor --theta baked
check kuka_lbr7 inverse,mass --theta baked
check fanuc_sr6ia inverse,energy,pose,jacobian,bias,gravity --theta argument
check parallelogram inverse,forward --payload
exit $wrong
