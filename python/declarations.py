"""Writes the C source of psdm._psdm: cffi's wrappers of all that psdm/psdm.h and rows.h declare.

usage: declarations.py COMPILER OUT.c FOLDER...

The declarations are the headers themselves, after the preprocessor: there is no second copy that could differ.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile

import cffi

SOURCE = '#include "rows.h"\n'
# built into cffi
KNOWN = ("stddef.h", "stdbool.h", "stdint.h")


def preprocessed(compiler: str, folders: list[str]) -> str:
    """The headers as plain C: without __GNUC__ they have no attributes."""
    with tempfile.TemporaryDirectory() as empty:
        for name in KNOWN:
            pathlib.Path(empty, name).write_text("")
        command = [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", f"-I{empty}", *(f"-I{folder}" for folder in folders), "-"]
        return subprocess.run(command, input=SOURCE, text=True, check=True, stdout=subprocess.PIPE).stdout


def main() -> None:
    compiler, out, *folders = sys.argv[1:]
    builder = cffi.FFI()
    # inline functions of headers are declared without their bodies
    builder.cdef(re.sub(r"\bstatic inline ([^{};]*)\{[^{}]*\}", r"\1;", preprocessed(compiler, folders)))
    builder.set_source("psdm._psdm", SOURCE)
    builder.emit_c_code(out)


if __name__ == "__main__":
    main()
