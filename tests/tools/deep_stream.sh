# Ten million states in constant memory: the whole process under 64 MB of address space.
. "$SOURCE/tests/tools/cli.sh"
(
  ulimit -v 65536
  { echo q1,q2; yes 0.1234567890123456,-0.2345678901234567 | head -n 10000000; } | "$PSDM" eval "$robots/parallelogram.yaml" gravity 2> err
) | { read -r _; uniq -c; } > out
read -r count row < out
code=0
[ "$count" = 10000000 ] || wrong "$count rows, expected 10000000"
expect_code 0 stream
finish
