# Made from the tables of settings: docs/reference.md, manual pages, bash's completion.
. "$SOURCE/tests/tools/cli.sh"

# ---- the reference in docs is this program's ----
run reference markdown
expect_code 0 "reference markdown"
checks=$((checks + 1)); diff "$SOURCE/docs/reference.md" out > changed || { head -20 changed; wrong "docs/reference.md is stale: psdm reference markdown > docs/reference.md"; }
commands=$("$PSDM" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
  expect_in out "## psdm $command"
  # it has every option of --help
  for option in $("$PSDM" "$command" --help | sed -n '/^options:/,$s/^  \(--[a-zA-Z-]*\).*/\1/p'); do
    checks=$((checks + 1)); sed -n "/^## psdm $command\$/,/^## /p" out | grep -qE "^\| \`$option[\` ]" || wrong "the reference of $command lacks $option"
  done
done

# ---- the results' keys in docs are this program's ----
run reference results
expect_code 0 "reference results"
checks=$((checks + 1)); diff "$SOURCE/docs/results.md" out > changed || { head -20 changed; wrong "docs/results.md is stale: psdm reference results > docs/results.md"; }

# ---- manual pages: one per command, without lines that troff would misread ----
run reference man pages
expect_code 0 "reference man"
for page in psdm $(printf 'psdm-%s ' $commands); do
  checks=$((checks + 1))
  [ -s "pages/$page.1" ] || { wrong "there is no page $page"; continue; }
  head -n 2 "pages/$page.1" | grep -qi "^.TH \"$page\" 1" || wrong "$page has no title"
  # known requests, and no other line that begins with a dot or a quote
  grep -vE '^\.(TH|SH|TP|PP|RS|RE|nf|fi|br|nh|ad|\\")( |$)' "pages/$page.1" | grep -qE "^[.']" && wrong "$page has a line that is no text"
  grep -E '\\' "pages/$page.1" | sed 's/\\f[BIR]//g; s/\\[e:&-]//g; s/\\([a-z][a-z]//g; s/^\.\\"//' | grep -q '\\' && wrong "$page has an escape that is not known"
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS "\"EXIT STATUS\""; do grep -q "^.SH $section" "pages/$page.1" || wrong "$page lacks $section"; done
done
"$PSDM" reference man again
checks=$((checks + 1)); diff -r pages again > /dev/null || wrong "two runs write different pages"

# ---- bash: the functions themselves, called like by the shell ----
run completion bash
expect_code 0 "completion bash"
cp out psdm.bash
mkdir -p robots/more && : > robots/arm.yaml > robots/arm.urdf > robots/notes.txt > states.csv > "with space.yaml"
cat > complete.bash <<'END'
. ./psdm.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_psdm
printf '%s\n' "${COMPREPLY[@]}" | sort
END
# complete WANTED WORDS...: exactly these, with blanks between them, in sorted order
complete_to() {
  want=$1; shift
  bash complete.bash psdm "$@" > got 2> err
  checks=$((checks + 1)); [ "$(tr '\n' ' ' < got | sed 's/ $//')" = "$want" ] || { cp got out; wrong "psdm $* completes to $(tr '\n' ' ' < got), not: $want"; }
}
completes() { want=$1; shift; bash complete.bash psdm "$@" > got 2> err; checks=$((checks + 1)); grep -qxF -- "$want" got || { cp got out; wrong "psdm $* does not offer $want"; }; }
complete_to "calibrate" cali
complete_to "calibrate codegen completion convert" c
complete_to "derive" help der
complete_to "exact" derive arm.yaml --method ex
complete_to "dense exact" derive arm.yaml --method ""
complete_to "dense exact" derive arm.yaml --method = ""
complete_to "dense" derive arm.yaml --method = d
complete_to "computed-torque" simulate arm.yaml --control comp
complete_to "robots/arm.urdf robots/arm.yaml robots/more/" eval robots/
complete_to "with space.yaml" eval with
complete_to "linearize_forward linearize_inverse linearize_second" eval robots/arm.yaml linear
complete_to "linearize_forward linearize_inverse linearize_second" eval --friction --in states.csv robots/arm.yaml linear
complete_to "states.csv" eval robots/arm.yaml inverse --in sta
complete_to "robots/more/" codegen robots/arm.yaml --out robots/
complete_to "energy scale time" plan robots/arm.yaml ""
complete_to "inverse,mass inverse,mass_rate" codegen robots/arm.yaml --functions inverse,ma
complete_to "bash zsh" completion ""
complete_to "--quiet" bench --qui
complete_to "" derive arm.yaml --assume ""
completes "fast" reduce robots/arm.yaml --profile ""
completes "states.csv" reduce robots/arm.yaml --profile ""
completes "robots/notes.txt" report a.json b.json robots/
for command in $commands; do
  bash complete.bash psdm "$command" -- > got 2> err
  "$PSDM" "$command" --help | sed -n '/^options:/,$s/^  \(-., \)\?\(--[a-zA-Z-]*\).*/\2/p' | sort > want
  checks=$((checks + 1)); cmp -s want got || wrong "bash offers other options of $command than --help"
done
run completion zsh
expect_code 0 "completion zsh"
checks=$((checks + 1)); head -n 1 out | grep -qx "#compdef psdm" || wrong "zsh's first line"
finish
