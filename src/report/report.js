"use strict";
/* theme: what the reader prefers, until the button says otherwise */
(() => {
  const root = document.documentElement, button = document.getElementById("theme"), dark = matchMedia("(prefers-color-scheme: dark)");
  const is_dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => { button.textContent = is_dark() ? "Light" : "Dark"; button.setAttribute("aria-label", "Switch to " + (is_dark() ? "light" : "dark") + " colours"); };
  const keep = (value) => { try { localStorage.setItem("psdm-theme", value); } catch (e) { /* a page from disk may not remember */ } };
  try { const kept = localStorage.getItem("psdm-theme"); if (kept === "dark" || kept === "light") root.dataset.theme = kept; } catch (e) { /* the same */ }
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = is_dark() ? "light" : "dark"; keep(root.dataset.theme); name(); });
  dark.addEventListener("change", name);
  name();
  /* contents start folded on a phone; paper shows what is folded */
  if (matchMedia("(max-width: 1099px)").matches) document.querySelector("nav details").open = false;
  addEventListener("beforeprint", () => document.querySelectorAll("main details").forEach((d) => { d.open = true; }));
})();

/* zoom: the picture is drawn again from the numbers that came with it, in the same axes */
(() => {
  const SVG = "http://www.w3.org/2000/svg", CLOSEST = 1e-4; /* smallest part of the whole that is shown */
  let clips = 0;

  const make = (parent, name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    parent.appendChild(element);
    return element;
  };
  const numbers = (text) => text.split(" ").map(Number);
  const short = (value, digits) => Number(value.toPrecision(digits)).toString().replace("-", "\u2212");

  const floats = (text) => {
    if (text === undefined) return null;
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Float32Array(bytes.buffer);
  };

  /* series of a figure, decoded when they are first needed */
  const decode = (figure) => {
    const data = figure.querySelector(".data"), origin = Number(data.dataset.origin), list = [];
    for (const item of data.children) {
      const d = item.dataset;
      let x = d.same !== undefined ? list[Number(d.same)].x : floats(d.x);
      if (x && d.same === undefined) x = Float64Array.from(x, (value) => value + origin);
      list.push({ kind: d.kind, x, y: floats(d.y), low: floats(d.low), high: floats(d.high) });
    }
    return { list, box: Number(data.dataset.box) };
  };

  /* an axis: data to picture and back */
  const axis = (from, to, start, end, log) => {
    const f = log ? Math.log10 : (v) => v, a = f(from), b = f(to);
    return {
      from, to, log,
      at: (value) => start + ((f(value) - a) / (b - a)) * (end - start),
      value: (place) => { const v = a + ((place - start) / (end - start)) * (b - a); return log ? 10 ** v : v; },
    };
  };

  const ticks = (a, most) => {
    const list = [], decades = a.log ? Math.log10(a.to / a.from) : 0;
    if (decades >= 1) {
      const step = Math.max(1, Math.ceil(decades / most)), up = ["\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074", "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"];
      for (let e = Math.ceil(Math.log10(a.from) - 1e-9); e <= Math.log10(a.to) + 1e-9; e += step)
        list.push([10 ** e, Math.abs(e) < 4 ? short(10 ** e, 1) : "10" + (e < 0 ? "\u207b" : "") + [...String(Math.abs(e))].map((c) => up[c]).join("")]);
      return list;
    }
    const raw = (a.to - a.from) / most, power = 10 ** Math.floor(Math.log10(raw)), lead = raw / power;
    const step = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10), digits = Math.max(1, Math.ceil(Math.log10(Math.max(Math.abs(a.from), Math.abs(a.to)) / step) + 1));
    for (let k = Math.ceil(a.from / step - 1e-6); k * step <= a.to + 1e-6 * step; k++) list.push([k * step, k === 0 ? "0" : short(k * step, Math.min(digits, 15))]);
    return list;
  };

  /* first index whose x is not below value; x grows */
  const first_from = (x, value) => {
    let low = 0, high = x.length;
    while (low < high) { const middle = (low + high) >> 1; if (x[middle] < value) low = middle + 1; else high = middle; }
    return low;
  };

  /* indices to draw: what is seen and its neighbours; of many per pixel only the ends, the lowest and the highest */
  const seen = (s, ax, pixels) => {
    const low = s.low || s.y, high = s.high || s.y, from = Math.max(0, first_from(s.x, ax.from) - 1), to = Math.min(s.x.length, first_from(s.x, ax.to) + 1), keep = [];
    const bucket = Math.max(1, Math.floor((to - from) / (2 * pixels)));
    for (let i = from; i < to; i += bucket) {
      const end = Math.min(to, i + bucket);
      let down = i, up = i, gap = -1;
      for (let k = i; k < end; k++) {
        if (Number.isNaN(low[k])) gap = k;
        if (low[k] < low[down] || Number.isNaN(low[down])) down = k;
        if (high[k] > high[up] || Number.isNaN(high[up])) up = k;
      }
      keep.push(...[...new Set(gap < 0 ? [i, down, up, end - 1] : [i, down, up, gap, end - 1])].sort((a, b) => a - b));
    }
    return keep;
  };

  const path_of = (s, ax, ay, pixels, box) => {
    const point = (x, y) => ax.at(x).toFixed(1) + " " + ay.at(y).toFixed(1);
    if (s.kind === "level") return [["", "M" + ax.at(ax.from) + " " + ay.at(s.y[0]) + "H" + ax.at(ax.to)]];
    const index = seen(s, ax, pixels);
    let text = "", open = false;
    if (s.kind === "band") {
      const runs = [[]];
      for (const i of index) { if (Number.isNaN(s.low[i])) runs.push([]); else runs[runs.length - 1].push(i); }
      for (const run of runs) {
        if (run.length < 2) continue;
        text += "M" + run.map((i) => point(s.x[i], s.high[i])).join("L") + "L" + run.reverse().map((i) => point(s.x[i], s.low[i])).join("L") + "Z";
      }
      return [["area", text]];
    }
    if (s.kind === "bars") {
      const zero = ay.log ? ay.from : 0;
      for (const i of index) if (!Number.isNaN(s.y[i])) text += "M" + point(s.x[i] - box / 2, zero) + "V" + ay.at(s.y[i]) + "H" + ax.at(s.x[i] + box / 2) + "V" + ay.at(zero) + "Z";
      return [["area", text]];
    }
    if (s.kind === "dots" || s.kind === "errors") {
      let bars = "";
      for (const i of index) {
        if (Number.isNaN(s.y[i])) continue;
        text += "M" + point(s.x[i], s.y[i]) + "h0";
        if (s.kind === "errors" && !Number.isNaN(s.low[i])) bars += "M" + point(s.x[i], s.low[i]) + "V" + ay.at(s.high[i]);
      }
      return bars ? [["", bars], ["dot", text]] : [["dot", text]];
    }
    for (const i of index) {
      if (Number.isNaN(s.y[i])) { open = false; continue; }
      text += open && s.kind === "steps" ? "H" + ax.at(s.x[i]).toFixed(1) + "V" + ay.at(s.y[i]).toFixed(1) : (open ? "L" : "M") + point(s.x[i], s.y[i]);
      open = true;
    }
    return [["", text]];
  };

  /* lowest and highest value between two x, with room */
  const fit_y = (data, from, to, log) => {
    let low = Infinity, high = -Infinity;
    for (const s of data.list) {
      if (!s.x) continue;
      for (let i = first_from(s.x, from), end = first_from(s.x, to); i < end; i++) {
        const l = s.low ? s.low[i] : s.y[i], h = s.high ? s.high[i] : s.y[i];
        if (l < low) low = l;
        if (h > high) high = h;
      }
    }
    if (!(high > low)) return null;
    const room = 0.06 * (high - low);
    return log ? [low, high] : [low - room, high + room];
  };

  const begin = (figure) => {
    const pictures = [...figure.querySelectorAll("svg.plot")], home = numbers(pictures[0].dataset.range), log = numbers(pictures[0].dataset.log).map(Boolean);
    const state = { view: home.slice(), data: null, own: false };
    const data = () => state.data || (state.data = decode(figure));

    const tools = document.createElement("div"), readout = document.createElement("p");
    tools.className = "tools";
    readout.className = "readout";
    for (const [text, words, action] of [["+", "zoom in", () => zoom(0.5, 0.5)], ["\u2212", "zoom out", () => zoom(2, 0.5)], ["Reset", "show all", () => reset()]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.setAttribute("aria-label", words + ": " + figure.querySelector("figcaption").textContent);
      button.addEventListener("click", action);
      tools.appendChild(button);
    }
    const hint = document.createElement("span");
    hint.className = "hint";
    hint.textContent = "drag, pinch, Ctrl + wheel, or keys + \u2212 \u2190 \u2192 0";
    tools.appendChild(hint);
    figure.append(readout, tools);

    const redraw = () => { for (const p of pictures) draw(p); };

    const set = (from, to, low, high) => {
      const f = log[0] ? Math.log10 : (v) => v, g = log[0] ? (v) => 10 ** v : (v) => v, a = f(home[0]), b = f(home[1]), least = CLOSEST * (b - a);
      let x0 = f(from), x1 = f(to);
      if (!(x1 - x0 >= least)) { const m = (x0 + x1) / 2; x0 = m - least / 2; x1 = m + least / 2; }
      const size = Math.min(x1 - x0, b - a);
      x0 = Math.min(Math.max(x0, a), b - size);
      x1 = x0 + size;
      const whole = size > (1 - 1e-9) * (b - a);
      const fitted = low !== undefined ? [low, high] : whole ? [home[2], home[3]] : fit_y(data(), g(x0), g(x1), log[1]) || [home[2], home[3]];
      state.view = [g(x0), g(x1), fitted[0], fitted[1]];
      state.own = true;
      redraw();
    };
    const zoom = (factor, share) => {
      const f = log[0] ? Math.log10 : (v) => v, g = log[0] ? (v) => 10 ** v : (v) => v, a = f(state.view[0]), b = f(state.view[1]), fixed = a + share * (b - a);
      set(g(fixed - factor * (fixed - a)), g(fixed + factor * (b - fixed)));
    };
    const pan = (share) => {
      const f = log[0] ? Math.log10 : (v) => v, g = log[0] ? (v) => 10 ** v : (v) => v, a = f(state.view[0]), b = f(state.view[1]), d = share * (b - a);
      set(g(a + d), g(b + d));
    };
    const reset = () => { state.view = home.slice(); state.own = false; for (const p of pictures) restore(p); };

    const parts = new Map();
    const part = (svg) => {
      if (parts.has(svg)) return parts.get(svg);
      const group = svg.querySelector(".ticks"), x = group.querySelector(".tick.x"), y = group.querySelector(".tick.y"), box = numbers(svg.dataset.box), id = "clip" + ++clips;
      const clip = make(make(svg, "defs", {}), "clipPath", { id });
      make(clip, "rect", { x: box[0], y: box[2], width: box[1] - box[0], height: box[3] - box[2] });
      const p = { svg, group, box, id, ticks: [...group.childNodes], series: [...svg.querySelectorAll(".series")].map((g) => ({ g, nodes: [...g.childNodes] })),
        tick_y: x && x.getAttribute("y") ? Number(x.getAttribute("y")) : box[3] + 22, tick_x: y && y.getAttribute("x") ? Number(y.getAttribute("x")) : box[0] - 8 };
      parts.set(svg, p);
      return p;
    };
    const restore = (svg) => {
      const p = part(svg);
      p.group.replaceChildren(...p.ticks);
      for (const s of p.series) { s.g.replaceChildren(...s.nodes); s.g.removeAttribute("clip-path"); }
    };
    const axes = (p) => [axis(state.view[0], state.view[1], p.box[0], p.box[1], log[0]), axis(state.view[2], state.view[3], p.box[3], p.box[2], log[1])];

    const draw = (svg) => {
      if (!state.own) return;
      const p = part(svg), [ax, ay] = axes(p), width = p.box[1] - p.box[0], height = p.box[3] - p.box[2];
      p.group.replaceChildren();
      for (const [value, text] of ticks(ax, Math.max(3, Math.floor(width / 88)))) {
        make(p.group, "path", { class: "grid", d: "M" + ax.at(value).toFixed(1) + " " + p.box[2] + "V" + p.box[3] });
        make(p.group, "text", { class: "tick x", "text-anchor": "middle", x: ax.at(value).toFixed(1), y: p.tick_y }, text);
      }
      for (const [value, text] of ticks(ay, Math.max(3, Math.floor(height / 48)))) {
        make(p.group, "path", { class: "grid", d: "M" + p.box[0] + " " + ay.at(value).toFixed(1) + "H" + p.box[1] });
        make(p.group, "text", { class: "tick y", "text-anchor": "end", x: p.tick_x, y: (ay.at(value) + 4).toFixed(1) }, text);
      }
      for (const s of p.series) {
        s.g.setAttribute("clip-path", "url(#" + p.id + ")");
        s.g.replaceChildren();
        for (const [kind, d] of path_of(data().list[Number(s.g.dataset.i)], ax, ay, width, data().box)) make(s.g, "path", kind ? { class: kind, d } : { d });
      }
    };

    /* what stands under the pointer */
    const names = [...figure.querySelectorAll(".legend li")].map((li) => li.textContent), x_name = figure.querySelector(".label.x").textContent;
    const tell = (p, x) => {
      const words = [x_name + " " + short(x, 5)];
      let named = 0;
      for (const s of data().list) {
        const name = named < names.length ? names[named++] : "value";
        if (!s.x || !s.y || s.kind === "level") continue;
        let i = first_from(s.x, x);
        if (i > 0 && (i === s.x.length || x - s.x[i - 1] < s.x[i] - x)) i--;
        if (!Number.isNaN(s.y[i])) words.push(name + " " + short(s.y[i], 4));
      }
      readout.textContent = words.join("  \u00b7  ");
    };

    const fingers = new Map();
    let drag = null, spread = null;
    const place = (svg, event) => {
      const p = part(svg), frame = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / frame.width;
      return { p, x: Math.min(Math.max((event.clientX - frame.left) * scale, p.box[0]), p.box[1]), y: Math.min(Math.max((event.clientY - frame.top) * scale, p.box[2]), p.box[3]) };
    };
    const share_of = (at) => (at.x - at.p.box[0]) / (at.p.box[1] - at.p.box[0]);

    for (const svg of pictures) {
      svg.tabIndex = 0;
      svg.addEventListener("wheel", (event) => {
        /* the page still scrolls over plots that nobody has chosen */
        if (!event.ctrlKey && !event.metaKey && document.activeElement !== svg) return;
        event.preventDefault();
        zoom(event.deltaY > 0 ? 1.25 : 0.8, share_of(place(svg, event)));
      }, { passive: false });
      svg.addEventListener("keydown", (event) => {
        const act = { "+": () => zoom(0.5, 0.5), "=": () => zoom(0.5, 0.5), "-": () => zoom(2, 0.5), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), ArrowUp: () => zoom(0.5, 0.5), ArrowDown: () => zoom(2, 0.5), 0: reset, Escape: reset }[event.key];
        if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        act();
      });
      svg.addEventListener("dblclick", reset);
      svg.addEventListener("pointerdown", (event) => {
        const at = place(svg, event);
        fingers.set(event.pointerId, at);
        if (fingers.size === 2) { const [a, b] = [...fingers.values()]; spread = { size: Math.max(10, Math.abs(a.x - b.x)), view: state.view.slice() }; drag = null; return; }
        if (event.button !== 0) return;
        svg.setPointerCapture(event.pointerId);
        drag = { x: at.x, y: at.y, touch: event.pointerType === "touch", rect: event.pointerType === "touch" ? null : make(svg, "rect", { class: "select" }) };
      });
      svg.addEventListener("pointermove", (event) => {
        const at = place(svg, event);
        tell(at.p, axes(at.p)[0].value(at.x));
        if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
        if (spread && fingers.size === 2) {
          const [a, b] = [...fingers.values()], factor = spread.size / Math.max(10, Math.abs(a.x - b.x));
          state.view = spread.view.slice();
          zoom(factor, (share_of(a) + share_of(b)) / 2);
        } else if (drag && drag.touch && state.own) {
          pan((drag.x - at.x) / (at.p.box[1] - at.p.box[0]));
          drag.x = at.x;
        } else if (drag && drag.rect) {
          const flat = Math.abs(at.y - drag.y) < 24, top = flat ? at.p.box[2] : Math.min(at.y, drag.y), bottom = flat ? at.p.box[3] : Math.max(at.y, drag.y);
          for (const [key, value] of [["x", Math.min(at.x, drag.x)], ["width", Math.abs(at.x - drag.x)], ["y", top], ["height", bottom - top]]) drag.rect.setAttribute(key, value);
        }
      });
      const finish = (event) => {
        fingers.delete(event.pointerId);
        if (fingers.size < 2) spread = null;
        if (!drag) return;
        const at = place(svg, event), begun = drag;
        drag = null;
        if (!begun.rect) return;
        begun.rect.remove();
        if (event.type !== "pointerup" || Math.abs(at.x - begun.x) < 6) return;
        const [ax, ay] = axes(at.p), x = [begun.x, at.x].sort((a, b) => a - b).map(ax.value), y = [begun.y, at.y].sort((a, b) => b - a).map(ay.value);
        if (Math.abs(at.y - begun.y) < 24) set(x[0], x[1]); else set(x[0], x[1], y[0], y[1]);
      };
      svg.addEventListener("pointerup", finish);
      svg.addEventListener("pointercancel", finish);
      svg.addEventListener("pointerleave", () => { readout.textContent = ""; });
    }
  };
  document.querySelectorAll("figure.zoom").forEach(begin);
})();
