"""result.py: shared by the benchmarks' JSON results, for psdm report (docs/bench.md): place and time, curves and bars, and published figures.

A curve or bar consists of numbers and texts alone; the report draws every result whose "command" begins with "bench/"."""
import datetime
import json
import os
import pathlib
import platform
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Lloyd, Irani, Ahmadi (2021), Table 2 (operations: multiplications + additions, as they stand and after optimization) and the footnote of Figure 4
PAPER = "Lloyd, Irani, Ahmadi 2021"
PUBLISHED = {
    "two_link": {"n": 2, "derivation": 0.011, "inverse_ns": 149, "forward_ns": 166, "plain": 40 + 24, "optimised": 23 + 12},
    "fanuc_sr6ia": {"n": 4, "derivation": 0.050, "inverse_ns": 315, "forward_ns": 370, "plain": 435 + 300, "optimised": 126 + 84},
    "kuka_kr6": {"n": 6, "derivation": 5.3, "inverse_ns": 2110, "forward_ns": 2270, "plain": 65745 + 36720, "optimised": 6043 + 4142},
    "kuka_lbr7": {"n": 7, "derivation": 88, "inverse_ns": 6490, "forward_ns": 7280, "plain": 270954 + 149352, "optimised": 18387 + 13981},
}


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines() if pathlib.Path("/proc/cpuinfo").exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def version():
    return re.search(r"project\(.*?VERSION\s+([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.S).group(1)


def curve(name, x, y, published=False):
    return {"name": name, "x": list(x), "y": list(y), **({"published": True} if published else {})}


def curves(title, x, y, series, logarithmic="y", figure=None):
    """Several curves in one plot: `logarithmic` names the logarithmic axes."""
    return {"title": title, "x": x, "y": y, "x_log": "x" in logarithmic, "y_log": "y" in logarithmic, "figure": figure, "series": [s for s in series if s["x"]]}


def bars(title, unit, of, series, figure=None, x="robot"):
    """Groups of bars, one for each name in of (each an x); less is better, and the others are compared with the first series. series: {name: [value or None]}."""
    return {"title": title, "unit": unit, "x": x, "of": list(of), "figure": figure,
            "series": [{"name": name, "values": list(values), **({"published": True} if "published" in name else {})} for name, values in series.items()]}


def write(path, command, how, charts, quick=False, **more):
    """Completely or not at all; charts: results of curves() and bars()."""
    result = {"command": command, "psdm": version(), "processor": processor(), "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "how": how, "quick": quick,
              "curves": [c for c in charts if "unit" not in c], "bars": [c for c in charts if "unit" in c], **more}
    temporary = pathlib.Path(f"{path}.{os.getpid()}")
    temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
    temporary.replace(path)
