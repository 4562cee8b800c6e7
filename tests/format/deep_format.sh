# Every C and C++ file obeys .clang-format, with lines of at most 120 columns.
set -u
: "${SOURCE:?the source tree}"
cd "$SOURCE" || exit 1
command -v clang-format > /dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
files=$(git ls-files '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' 2> /dev/null)
[ -n "$files" ] || { echo "skipped: not a git checkout"; exit 77; }
if ! clang-format --dry-run -Werror $files; then
  echo "make format rewrites these files"
  exit 1
fi
if awk 'length > 120 { print FILENAME ":" FNR ": " length " columns"; long = 1 } END { exit !long }' $files; then exit 1; fi
