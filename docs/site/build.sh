#!/usr/bin/env bash
# The documents as a site of plain HTML: no script, no network, equations as they stand. usage: docs/site/build.sh [FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-build/site}
command -v pandoc > /dev/null || { echo "pandoc is missing: apt-get install pandoc" >&2; exit 2; }
mkdir -p "$out"
name_of() { case $1 in ../README.md) echo index ;; *) basename "$1" .md | tr '[:upper:]' '[:lower:]' ;; esac; }

# every document is in the menu
for file in "$here"/../*.md; do
  grep -q "^$(basename "$file") |" "$here/pages.txt" || { echo "docs/site/pages.txt: $(basename "$file") is missing" >&2; exit 1; }
done

# menu PAGE: the list, with the page itself marked
menu() {
  local open=
  while IFS= read -r line; do
    case $line in
      '##'*) [ -z "$open" ] || echo '</ul>'; echo "<h2>${line#\#\# }</h2><ul>"; open=1 ;;
      '#'* | '') ;;
      *) local page; page=$(name_of "${line%% |*}")
         echo "<li><a href=\"$page.html\"$([ "$page" = "$1" ] && echo ' aria-current="page"')>${line##*| }</a></li>" ;;
    esac
  done < "$here/pages.txt"
  echo '</ul>'
}

grep -v '^#' "$here/pages.txt" | while IFS= read -r line; do
  file=${line%% |*} page=$(name_of "${line%% |*}")
  [ -e "$here/../$file" ] || { echo "docs/site/pages.txt: there is no docs/$file" >&2; exit 1; }
  pandoc -f gfm -t html5 --mathml --lua-filter="$here/links.lua" --template="$here/page.html" --metadata title="${line##*| } · libpsdm" \
    --variable menu="$(menu "$page")" --output "$out/$page.html" "$here/../$file"
done
cp "$here/site.css" "$out/site.css"
mkdir -p "$out/img"
cp "$here"/../img/* "$out/img/"
echo "written: $out/index.html"
