# The rules of the rooms (rooms.py) hold for this tree and the objects built from it, and the drawing in docs is up to date.
set -u
: "${SOURCE:?the source tree}" "${BUILD:?the build folder}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$SOURCE/tests/rooms/rooms.py" "$SOURCE" "$BUILD/CMakeFiles/psdm_objects.dir/src" --svg "$work/rooms.svg" || exit 1
cmp -s "$work/rooms.svg" "$SOURCE/docs/img/rooms.svg" && exit 0
echo "docs/img/rooms.svg is out of date; draw it again:"
echo "  python3 tests/rooms/rooms.py . build/release/CMakeFiles/psdm_objects.dir/src --svg docs/img/rooms.svg"
exit 1
