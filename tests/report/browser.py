"""A report in headless Chromium, used like a reader would: usage: browser.py REPORT.html MOTION.csv FOLDER [CHROMIUM]

Speaks the DevTools protocol through two pipes. Fails with a list of everything that is wrong; writes light.png, dark.png, phone.png and report.pdf to FOLDER.
MOTION.csv: rows that one zoomable plot of the report shows (t, q1), against which the zoomed picture is measured."""
import base64, csv, json, os, re, select, subprocess, sys, tempfile, time

PATIENCE = 60  # s for one answer


class Browser:
    def __init__(self, program, folder):
        to_child, from_us = os.pipe()
        from_child, to_us = os.pipe()

        def fds():
            # 3 and 4 may be among the pipes themselves: out of the way first
            a, b = os.dup2(to_child, 30), os.dup2(to_us, 31)
            os.dup2(a, 3), os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--user-data-dir=" + folder, "--remote-debugging-pipe", "about:blank"],
            close_fds=False, preexec_fn=fds, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child), os.close(to_us)
        self.write, self.read = from_us, from_child
        self.number, self.buffer, self.events, self.session = 0, b"", [], None

    def receive(self):
        deadline = time.time() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(0, deadline - time.time()))
            piece = os.read(self.read, 1 << 20) if ready else b""
            if not piece:
                sys.exit("browser: Chromium does not answer")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit("browser: %s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.receive())

    def open(self, path):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.send(domain + ".enable")
        self.screen(1280, 1500, "light")
        self.events.clear()
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("Page.loadEventFired")

    def run(self, script):
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            sys.exit("browser: the test's own script: %s" % answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def screen(self, width, height, theme, phone=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.send("Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": theme}])
        self.run("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def shot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait(20)


# the faults of the current page: a list of messages
LOOK = r"""(() => {
  const wrong = [], seen = (e) => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0; };
  const luminance = (c) => { const f = c.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const colour = (text) => { const n = text.match(/[\d.]+/g).map(Number); return text.startsWith("color(srgb") ? n.slice(0, 3).map((v) => 255 * v) : n; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = colour(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const name = (f) => f.querySelector("figcaption").textContent;
  let plots = 0, texts = 0;
  for (const f of document.querySelectorAll("figure")) {
    const shown = [...f.querySelectorAll("svg")].filter(seen);
    if (!f.querySelector("figcaption") || !name(f).trim()) { wrong.push("a figure without a title"); continue; }
    if (shown.length !== 1) { wrong.push(name(f) + ": " + shown.length + " pictures are seen"); continue; }
    const svg = shown[0], frame = svg.getBoundingClientRect();
    if (frame.width < 200 || frame.height < 100) wrong.push(name(f) + ": " + frame.width + " x " + frame.height);
    if (svg.getAttribute("role") !== "img" || !svg.querySelector("title").textContent.trim()) wrong.push(name(f) + ": nothing for a screen reader");
    if (svg.classList.contains("plot")) {
      plots++;
      for (const axis of ["x", "y"]) {
        const label = svg.querySelector(".label." + axis), ticks = svg.querySelectorAll(".tick." + axis);
        if (!label || !label.textContent.trim()) wrong.push(name(f) + ": no label on " + axis);
        if (ticks.length < (svg.querySelector(".bars") ? 1 : 2)) wrong.push(name(f) + ": " + ticks.length + " numbers on " + axis);
      }
      if (!svg.querySelector(".series path[d^=M]")) wrong.push(name(f) + ": nothing is drawn");
      for (const s of svg.querySelectorAll(".series path")) {
        const c = getComputedStyle(s), paint = c.stroke !== "none" ? c.stroke : c.fill;
        if (!/^(rgb|color)/.test(paint)) wrong.push(name(f) + ": a series without colour");
        else if (contrast(colour(paint), behind(svg)) < 3) wrong.push(name(f) + ": a series is hardly seen, " + paint);
      }
    }
    const words = [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
    words.forEach(([t, a], i) => {
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1) wrong.push(name(f) + ": '" + t + "' is cut off");
      for (const [u, b] of words.slice(i + 1))
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) wrong.push(name(f) + ": '" + t + "' lies over '" + u + "'");
    });
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || /^(SCRIPT|STYLE|title)$/.test(e.tagName) || !seen(e)) continue;
    texts++;
    const style = getComputedStyle(e), paint = e instanceof SVGElement ? style.fill : style.color, ratio = contrast(colour(paint), behind(e));
    if (ratio < 4.5) wrong.push("contrast " + ratio.toFixed(2) + ": '" + walk.currentNode.textContent.trim().slice(0, 40) + "'");
    const size = parseFloat(style.fontSize) * (e.ownerSVGElement ? e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width : 1);
    if (size < 8.5) wrong.push("letters of " + size.toFixed(1) + " px: '" + walk.currentNode.textContent.trim().slice(0, 40) + "'");
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id), twice = ids.filter((id, i) => ids.indexOf(id) !== i);
  if (twice.length) wrong.push("ids that are not unique: " + twice.slice(0, 5));
  for (const a of document.querySelectorAll("a[href^='#']")) if (!document.getElementById(a.getAttribute("href").slice(1))) wrong.push("a link to nowhere: " + a.getAttribute("href"));
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page is " + document.documentElement.scrollWidth + " wide on a screen of " + innerWidth);
  return { wrong: [...new Set(wrong)], plots, texts };
})()"""

# the visible picture of the first zoomable plot whose title fits: its place, numbers at the axes, first series
PLOT = r"""((title) => {
  const f = [...document.querySelectorAll("figure.zoom")].find((e) => e.querySelector("figcaption").textContent.includes(title));
  if (!f) return null;
  const svg = [...f.querySelectorAll("svg.plot")].find((e) => e.getBoundingClientRect().width > 0);
  svg.scrollIntoView({ block: "center", behavior: "instant" });
  const r = svg.getBoundingClientRect(), ticks = (axis) => [...svg.querySelectorAll(".tick." + axis)].map((t) => [t.textContent, Number(t.getAttribute(axis))]);
  const line = svg.querySelector(".series.line path, .series.steps path");
  return { left: r.left, top: r.top, width: r.width, height: r.height, box: svg.dataset.box.split(" ").map(Number), view: svg.viewBox.baseVal.width, x: ticks("x"), y: ticks("y"),
    grid: [...svg.querySelectorAll(".grid")].map((g) => g.getAttribute("d")), path: line ? line.getAttribute("d") : "", readout: (f.querySelector(".readout") || {}).textContent };
})(%s)"""


def number(text):
    return float(text.replace("\u2212", "-"))


def measure(plot, rows):
    """largest distance, in the picture's pixels, of the drawn line from the rows: both axes are read from the picture's own numbers"""
    (x0, px0), (x1, px1) = [(number(t), p) for t, p in (plot["x"][0], plot["x"][-1])]
    (y0, py0), (y1, py1) = [(number(t), p) for t, p in (plot["y"][0], plot["y"][-1])]
    points = [tuple(map(float, p.split())) for p in re.findall(r"[ML]([-\d.]+ [-\d.]+)", plot["path"])]
    times, values = [r[0] for r in rows], [r[1] for r in rows]
    worst, k = 0.0, 0
    for px, py in points:
        t = x0 + (px - px0) / (px1 - px0) * (x1 - x0)
        while k + 2 < len(times) and times[k + 1] <= t:
            k += 1
        # a line has no thickness, a pixel has: the nearest point within one pixel of time
        near = []
        for shift in (-1, -0.5, 0, 0.5, 1):
            u = t + shift * (x1 - x0) / (px1 - px0)
            i = max(0, min(len(times) - 2, next((j for j in range(max(0, k - 3), min(len(times) - 1, k + 4)) if times[j] <= u <= times[j + 1]), k)))
            near.append(values[i] + (u - times[i]) / (times[i + 1] - times[i]) * (values[i + 1] - values[i]))
        # text of a number stands 4 below its line
        want_low, want_high = [py0 - 4 + (v - y0) / (y1 - y0) * (py1 - py0) for v in (max(near), min(near))]
        worst = max(worst, want_low - py, py - want_high)
    return worst, len(points)


def zooms(browser, title, rows, wrong):
    plot = lambda: browser.run(PLOT % json.dumps(title))
    home = plot()
    if not home:
        wrong.append("no zoomable plot '%s'" % title)
        return
    x, y = home["left"] + home["width"] / 2, home["top"] + home["height"] / 2
    mouse = lambda kind, px, py, **more: browser.send("Input.dispatchMouseEvent", type=kind, x=px, y=py, **more)
    key = lambda text: [browser.send("Input.dispatchKeyEvent", type=kind, key=text, text=text if len(text) == 1 else "") for kind in ("keyDown", "keyUp")]

    def expect(changed, what):
        now = plot()
        if (now["x"] != home["x"]) != changed:
            wrong.append("%s: the numbers on the axis %s" % (what, "stay" if changed else "are not those of before"))
        return now

    # without a choice the wheel scrolls the page
    mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
    home = plot()
    x, y = home["left"] + home["width"] / 2, home["top"] + home["height"] / 2
    for _ in range(6):
        mouse("mouseWheel", x, y, deltaX=0, deltaY=-120, modifiers=2)
    near = expect(True, "wheel")
    if near["grid"] == home["grid"]:
        wrong.append("wheel: the grid does not follow")
    distance, points = measure(near, rows)
    if points < 20 or distance > 1:
        wrong.append("wheel: the line is %.2f pixels from its data (%d points)" % (distance, points))
    browser.run("document.activeElement.blur()")
    mouse("mousePressed", x, y, button="left", clickCount=1), mouse("mouseReleased", x, y, button="left", clickCount=1)
    key("0")
    back = expect(False, "key 0")
    if back["path"] != home["path"]:
        wrong.append("key 0: the picture is not that of before")
    for text in ("+", "ArrowRight", "ArrowLeft"):
        key(text)
        expect(True, "key " + text)
    key("-")
    key("0")
    expect(False, "keys - and 0")
    # a part chosen by dragging
    mouse("mousePressed", x - 60, y, button="left", clickCount=1)
    for step in range(1, 7):
        mouse("mouseMoved", x - 60 + 20 * step, y, button="left", buttons=1)
    mouse("mouseReleased", x + 60, y, button="left", clickCount=1)
    part = expect(True, "drag")
    if not part["readout"] or len(part["readout"].split("\u00b7")) < 2:
        wrong.append("no readout under the pointer: %r" % part["readout"])
    key("Escape")
    expect(False, "Escape")
    # two fingers
    touch = lambda kind, points: browser.send("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": px, "y": y, "id": i} for i, px in enumerate(points)])
    browser.send("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    touch("touchStart", [x - 20]), touch("touchStart", [x - 20, x + 20])
    for step in range(1, 6):
        touch("touchMove", [x - 20 - 12 * step, x + 20 + 12 * step])
    touch("touchEnd", [])
    browser.send("Emulation.setTouchEmulationEnabled", enabled=False)
    expect(True, "pinch")
    browser.run("document.querySelectorAll('.tools button').forEach((b) => b.textContent === 'Reset' && b.click())")
    expect(False, "Reset")


def toggles(browser, wrong):
    colour = lambda: browser.run("getComputedStyle(document.body).backgroundColor")
    before = colour()
    browser.run("document.getElementById('theme').click()")
    if colour() == before:
        wrong.append("the button for colours changes nothing")
    browser.run("document.getElementById('theme').click(); delete document.documentElement.dataset.theme; localStorage.clear()")
    if colour() != before:
        wrong.append("the button for colours does not switch back")


def main():
    page, rows, folder = sys.argv[1], sys.argv[2], sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    with open(rows) as file:
        table = [(float(r["t"]), float(r["q1"])) for r in csv.DictReader(file)]
    wrong = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = Browser(sys.argv[4] if len(sys.argv) > 4 else "chromium", home)
        try:
            browser.open(page)
            counts = set()
            for width, height, theme, name in ((1280, 1500, "light", "light"), (1280, 1500, "dark", "dark"), (820, 1100, "light", None), (360, 740, "light", "phone"), (360, 740, "dark", None)):
                browser.screen(width, height, theme, phone=width < 400)
                browser.run("scrollTo(0, 0)")
                found = browser.run(LOOK)
                counts.add(found["plots"])
                wrong += ["%s, %d wide: %s" % (theme, width, w) for w in found["wrong"]]
                if name:
                    browser.shot(os.path.join(folder, name + ".png"))
            browser.screen(1280, 1000, "light")
            toggles(browser, wrong)
            zooms(browser, os.environ.get("ZOOM_TITLE", "q1"), table, wrong)
            # on paper: light, and without controls
            browser.send("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
            for what in ("nav", "#theme", ".tools"):
                if browser.run("[...document.querySelectorAll(%s)].some((e) => e.getBoundingClientRect().height > 0)" % json.dumps(what)):
                    wrong.append("'%s' is on paper" % what)
            if browser.run("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)":
                wrong.append("paper is not white")
            browser.send("Emulation.setEmulatedMedia", media="", features=[])
            pdf = base64.b64decode(browser.send("Page.printToPDF", preferCSSPageSize=True)["data"])
            with open(os.path.join(folder, "report.pdf"), "wb") as file:
                file.write(pdf)
            pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
            if pages < 2:
                wrong.append("%d pages on paper" % pages)
            browser.run("new Promise((r) => setTimeout(r, 50))")
            for event in browser.events:
                method, params = event.get("method"), event.get("params", {})
                if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file://" + os.path.abspath(page), "data:")):
                    wrong.append("the page asks for " + params["request"]["url"])
                if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                    wrong.append("console: " + json.dumps(params)[:300])
            print("browser: %s plots, %d pages on paper" % (sorted(counts), pages))
        finally:
            browser.close()
    for w in wrong:
        print("wrong: " + w)
    sys.exit(1 if wrong else 0)


main()
