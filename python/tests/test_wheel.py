"""The contents and needs of the wheel: nothing under a licence that would bind its users."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import zipfile

import psdm
import pytest

# permissive all of them: SQLite is in the public domain, the libraries of lz4 and zstd are BSD (lz4's programs and zstd's other choice are GPL); libgomp is GPL with the exception for
# programs that a GCC has compiled
ALLOWED = {"libc", "libm", "libdl", "libpthread", "libgcc_s", "ld-linux-x86-64", "libgomp", "libyaml-0", "libxml2", "libmatio", "libopenblas", "liblapacke", "liblapack",
           "libblas", "libz", "libhdf5_serial", "libhdf5", "libcminpack", "libsundials_cvode", "libsundials_nvecserial", "libsundials_sunmatrixdense",
           "libsundials_sunlinsoldense", "libsqlite3", "liblz4", "libzstd"}
# of indirect dependencies (HDF5 links libcurl), these must not be there either
NEVER = re.compile(r"nlopt|ipopt|mumps|libgsl|fftw|slicot|qrupdate|readline")


def binaries() -> list[pathlib.Path]:
    folder = pathlib.Path(psdm.__file__).parent
    return [*folder.glob("*.so"), folder / "bin" / "psdm"]


@pytest.mark.parametrize("path", binaries(), ids=lambda path: path.name)
def test_needed(path):
    said = subprocess.run(["readelf", "-d", str(path)], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
    assert needed and {name.split(".so")[0] for name in needed} <= ALLOWED, needed
    # the loader's own answer: everything that would be mapped
    loaded = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=True).stdout
    assert not NEVER.search(loaded), loaded
    assert "not found" not in loaded


def test_contents():
    wheel = os.environ.get("PSDM_WHEEL")
    if not wheel:
        pytest.skip("PSDM_WHEEL does not name the wheel")
    names = zipfile.ZipFile(wheel).namelist()
    kinds = {pathlib.PurePath(name).suffix for name in names if "dist-info" not in name}
    assert kinds <= {".py", ".pyi", ".typed", ".so", ".yaml", ".urdf", ""}, kinds
    assert [name for name in names if name.endswith(".so") or "/bin/" in name] == ["psdm/_psdm.abi3.so", "psdm/bin/psdm"]
    assert not [name for name in names if NEVER.search(name.lower())]
    assert "psdm/py.typed" in names and any("LICENSE" in name for name in names)


def test_version_is_one(source):
    import importlib.metadata

    told = re.search(r"project\(psdm VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text())
    assert told and psdm.__version__ == told.group(1) == importlib.metadata.version("psdm")


def test_console_script():
    said = subprocess.run([str(pathlib.Path(os.sys.executable).parent / "psdm"), "--version"], capture_output=True, text=True, check=True).stdout
    assert psdm.__version__ in said
