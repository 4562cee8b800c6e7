# options.sh: [--quick] [--json FILE] of a benchmark, as quick (0 or 1) and json; sourced. Anything else: the usage in the second line of the script.
quick=0 json=
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --json) json=$(realpath "${2:?--json needs a file}"); shift ;;
    *) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done
