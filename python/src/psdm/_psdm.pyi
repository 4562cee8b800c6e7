"""cffi's module: everything that psdm/psdm.h declares, as lib.psdm_...; made when the package is built."""

from typing import Any

ffi: Any
lib: Any
