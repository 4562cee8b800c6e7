# The site is built, every link in it works, headings that links name exist, and nothing is fetched from other hosts.
set -u
: "${SOURCE:?the source tree}"
command -v pandoc > /dev/null || { echo "SKIPPED: pandoc is not installed (packages/all.txt): the site was not built"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash "$SOURCE/docs/site/build.sh" "$work/site" || exit 1
python3 - "$work/site" <<'PY'
import html.parser, os, sys

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.loads, self.ids, self.title, self.words, self.scripts = [], [], set(), "", 0, 0
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if "id" in a: self.ids.add(a["id"])
        if tag == "a" and "href" in a: self.links.append(a["href"])
        if tag in ("img", "iframe", "source") and "src" in a: self.loads.append(a["src"])
        if tag == "link" and "href" in a: self.loads.append(a["href"])
        self.scripts += tag == "script"
    def handle_data(self, data): self.words += len(data.split())

folder = sys.argv[1]
pages = {}
for name in sorted(os.listdir(folder)):
    if name.endswith(".html"):
        pages[name] = Page()
        pages[name].feed(open(os.path.join(folder, name), encoding="utf-8").read())
wrong = 0
def fail(text):
    global wrong
    wrong += 1
    print("WRONG:", text)
links = 0
for name, page in pages.items():
    if page.scripts: fail(f"{name}: has a script")
    if page.words < 150: fail(f"{name}: too little text")
    for load in page.loads:
        if "://" in load or not os.path.exists(os.path.join(folder, load)): fail(f"{name}: loads {load}, which is missing")
    for link in page.links:
        if "://" in link: continue
        links += 1
        target, _, fragment = link.partition("#")
        target = target or name
        if target in pages:
            if fragment and fragment not in pages[target].ids: fail(f"{name}: {link}: no such heading")
        elif not os.path.exists(os.path.join(folder, target)): fail(f"{name}: {link}: no such page")
print(f"{len(pages)} pages, {links} links, {wrong} wrong")
sys.exit(wrong > 0 or len(pages) < 20 or links < 500)
PY
