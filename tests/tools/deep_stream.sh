# Ten million states in constant memory: the process's peak stays under 64 MB.
. "$SOURCE/tests/tools/cli.sh"
mkfifo states
{ echo q1,q2; yes 0.1234567890123456,-0.2345678901234567 | head -n 10000000; } > states &
"$PSDM" eval "$robots/parallelogram.yaml" gravity --in states 2> err > >(uniq -c > out) & pid=$!
peak=0
while kill -0 $pid 2> /dev/null; do
  now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status 2> /dev/null)
  [ -n "$now" ] && peak=$now
  sleep 0.2
done
wait $pid
code=$?
sleep 0.5
expect_code 0 stream
read -r count row <<< "$(tail -n 1 out)"
[ "$count" = 10000000 ] || wrong "$count rows, expected 10000000"
[ "$peak" -gt 0 ] && [ "$peak" -lt 65536 ] || wrong "the process held $peak kB"
echo "peak $peak kB"
finish
