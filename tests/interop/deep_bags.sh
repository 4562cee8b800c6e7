# Logs that rosbags and mcap write, in both storages, every compression and both byte orders, calibrate to the same bits as the CSV of the same numbers.
. "$SOURCE/tests/interop/environment.sh"
"$PSDM" doctor 2> /dev/null | grep -q SQLite || { echo "bags: SKIPPED, psdm was built without SQLite (libsqlite3-dev)" >&2; exit 77; }
environment bags numpy rosbags mcap
exec "$python" -B "$interop/bags_peer.py"
