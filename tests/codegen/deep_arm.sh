# The code of the KR6 in float on Cortex-M4F and Cortex-M7, under qemu: the self-test, the numbers beside the host's, stack and instructions.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}" "${CC:=cc}"
for tool in arm-none-eabi-gcc qemu-system-arm; do
  command -v $tool > /dev/null || { echo "SKIPPED: $tool is not installed (packages/all.txt): nothing was run on ARM"; exit 77; }
done
echo 'int main(void) { return 0; }' | arm-none-eabi-gcc --specs=rdimon.specs -mcpu=cortex-m4 -mthumb -x c - -c -o /dev/null 2> /dev/null \
  || { echo "SKIPPED: libnewlib-arm-none-eabi is not installed (packages/all.txt): nothing was run on ARM"; exit 77; }
here=$SOURCE/tests/codegen
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
fail() { echo "WRONG: $1"; wrong=1; }

strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wdouble-promotion -Werror"
# no contraction: then every operation rounds as on the host
plain="-O2 -fno-math-errno -ffp-contract=off"
fused="-O2 -fno-math-errno -ffp-contract=fast"

# run_on MACHINE PROGRAM: under qemu, for a minute at most
run_on() { timeout 60 qemu-system-arm -M "$1" -nographic -monitor none -serial none -semihosting-config enable=on,target=native -kernel "$2" < /dev/null; }

# results as bit patterns, one a line: the self-test's states through every function
write_dump() { # FOLDER
  {
    grep -v '^int main' "$1/arm_selftest.c" | sed '/^static int test_/,$d; s/#define TOLERANCE.*//; /^static double difference/,/^}/d; /^static double largest/,/^}/d; /^static int report/,/^}/d'
    echo '#include <string.h>'
    echo 'static void show(const char *name, const float *x, int count) {'
    echo '  for (int i = 0; i < count; i++) { unsigned u; memcpy(&u, x + i, sizeof u); printf("%s %d %08x\n", name, i, u); }'
    echo '}'
    echo 'int main(void) {'
    echo '  for (int i = 0; i < STATES; i++) {'
    # the calls of the self-test, as they stand there
    awk '/^static int test_/ { name = $3; sub(/\(.*/, "", name) } /float got\[/ { match($0, /got\[[0-9]+\]/); size = substr($0, RSTART + 4, RLENGTH - 5) }
         /^    arm_.*got\);$/ { sub(/^ +/, ""); printf "    { float got[%s]; %s show(\"%s\", got, %s); }\n", size, $0, name, size }' "$1/arm_selftest.c"
    echo '  }'
    echo '  return 0;'
    echo '}'
  } > "$1/dump.c"
}

# two dumps: how many results differ, how far at most
compare() { # WHAT HOST ARM
  python3 - "$@" <<'PY' || wrong=1
import struct, sys
what, host, arm = sys.argv[1], *[[line.split() for line in open(f)] for f in sys.argv[2:]]
assert len(host) == len(arm) > 100 and all(a[:2] == b[:2] for a, b in zip(host, arm)), "%s: %d and %d results" % (what, len(host), len(arm))
value = lambda row: struct.unpack("f", struct.pack("I", int(row[2], 16)))[0]
largest, away = {}, {}
for a, b in zip(host, arm):
    largest[a[0]] = max(largest.get(a[0], 0), abs(value(a)))
    away[a[0]] = max(away.get(a[0], 0), abs(value(a) - value(b)))
relative = max(away[name] / largest[name] for name in away)
differ = sum(a[2] != b[2] for a, b in zip(host, arm))
print("%s: %s" % (what, "all %d results bit for bit the host's" % len(host) if not differ else
      "%d of %d results differ from the host's, by %.1e (%.0f units in the last place) of the largest number of their function" % (differ, len(host), relative, relative * 2**24)))
assert relative < 1e-5
PY
}

for theta in baked argument; do
  folder=$work/$theta
  "$PSDM" codegen "$SOURCE/robots/kuka_kr6.yaml" --out "$folder" --prefix arm --real float --theta $theta > "$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
  write_dump "$folder"
  # the host without vectors: the code that a microcontroller gets
  (cd "$folder" && $CC -std=c99 $plain -DARM_VECTORS=0 -Wno-unused -o host dump.c arm.c -lm && ./host > host.txt) || { fail "the host's numbers"; continue; }
  for board in "mps2-an386 cortex-m4 fpv4-sp-d16" "mps2-an500 cortex-m7 fpv5-d16"; do
    read -r machine cpu fpu <<< "$board"
    flags="-mcpu=$cpu -mthumb -mfloat-abi=hard -mfpu=$fpu"
    link="--specs=rdimon.specs -nostartfiles -T $here/arm/mps2.ld $here/arm/startup.c"
    for how in "$plain" "$fused"; do
      (cd "$folder" && arm-none-eabi-gcc $strict $flags $how -c arm.c -o arm.o &&
        arm-none-eabi-gcc -std=c99 $flags $how -Wno-unused arm.o arm_selftest.c $link -o selftest.elf -lm &&
        arm-none-eabi-gcc -std=c99 $flags $how -Wno-unused arm.o dump.c $link -o dump.elf -lm) > "$folder/log" 2>&1 || { cat "$folder/log"; fail "$cpu does not compile"; continue; }
      arm-none-eabi-nm "$folder/arm.o" | grep -E '__aeabi_(d|f2d|l2d|ui2d|i2d)' && fail "$cpu: doubles in float code"
      run_on "$machine" "$folder/selftest.elf" > "$folder/log" 2>&1
      code=$?
      [ $code = 0 ] && [ "$(grep -c ' error ' "$folder/log")" = 9 ] && ! grep -q WRONG "$folder/log" || { cat "$folder/log"; fail "self-test on $cpu, theta $theta, $how: exit $code"; }
      run_on "$machine" "$folder/dump.elf" > "$folder/arm.txt" 2>&1 || fail "dump on $cpu"
      compare "$cpu, theta $theta, ${how##*-ffp-}" "$folder/host.txt" "$folder/arm.txt"
    done
    echo "$cpu, theta $theta, instructions and stack:"
    make -s -C "$folder" size CC=arm-none-eabi-gcc OBJDUMP=arm-none-eabi-objdump CFLAGS="-std=c99 $fused $flags" > "$folder/size" 2>&1 || { cat "$folder/size"; fail "make size"; }
    sed 's/^/  /' "$folder/size"
    grep -qE '^arm_inverse +[1-9][0-9]* +[0-9]+' "$folder/size" || fail "make size says nothing of inverse"
  done
done
exit $wrong
