# The test programs and the tool under valgrind: no error, no leak.
set -eu
command -v valgrind > /dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
grind="valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible"
for program in test_eval test_rigid_closed test_alloc_failure test_robot_read test_csv test_output; do
  echo "$program"
  $grind "$BUILD/tests/$program" > /dev/null
done
for robot in "$SOURCE"/robots/*.yaml; do
  $grind "$PSDM" inspect "$robot" > /dev/null 2>&1
done
printf 'q1,q2\n0,0\n1,2\n' | $grind "$PSDM" eval "$SOURCE/robots/parallelogram.yaml" mass > /dev/null
echo "clean"
