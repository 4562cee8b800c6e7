/* cuda_python.c: PREFIX_cuda.py, which hands arrays of torch, cupy or anything alike to the kernels, without copies. */
#include "emit/cuda.h"

/* ---- fixed text ---- */

static const char imports[] = "import ctypes\n"
                              "import os\n"
                              "import sys\n\n";

static const char views[] =
    "class View:\n"
    "    \"\"\"Where an array on a GPU is, and its shape; keeps what it was made of alive.\"\"\"\n\n"
    "    __slots__ = (\"pointer\", \"shape\", \"real\", \"device\", \"stream\", \"writable\", \"owner\")\n\n"
    "    def __init__(self, pointer, shape, real, device, stream, writable, owner):\n"
    "        self.pointer, self.shape, self.real, self.device = pointer, shape, real, device\n"
    "        self.stream, self.writable, self.owner = stream, writable, owner\n\n\n"
    "def _compact(name, shape, strides, size):\n"
    "    \"\"\"Rows one behind the other; strides in units of size, None: compact.\"\"\"\n"
    "    if strides is None:\n"
    "        return\n"
    "    expected = size\n"
    "    for length, stride in zip(reversed(shape), reversed(strides)):\n"
    "        if length != 1 and stride != expected:\n"
    "            raise ValueError(\"%s must be contiguous in C order\" % name)\n"
    "        expected *= length\n\n\n"
    "def _from_interface(name, array, interface):\n"
    "    shape = tuple(interface[\"shape\"])\n"
    "    real = {\"<f4\": \"float\", \"<f8\": \"double\"}.get(interface[\"typestr\"], interface[\"typestr\"])\n"
    "    _compact(name, shape, interface.get(\"strides\"), int(interface[\"typestr\"][2:]))\n"
    "    if interface.get(\"mask\") is not None:\n"
    "        raise ValueError(\"%s has a mask\" % name)\n"
    "    pointer, readonly = interface[\"data\"]\n"
    "    return View(int(pointer or 0), shape, real, None, interface.get(\"stream\"), not readonly, array)\n\n\n";

static const char dlpack[] =
    "class _Tensor(ctypes.Structure):\n"
    "    _fields_ = [(\"data\", ctypes.c_void_p), (\"device_type\", ctypes.c_int32), (\"device_id\", ctypes.c_int32), "
    "(\"ndim\", ctypes.c_int32),\n"
    "                (\"code\", ctypes.c_uint8), (\"bits\", ctypes.c_uint8), (\"lanes\", ctypes.c_uint16), (\"shape\", "
    "ctypes.POINTER(ctypes.c_int64)),\n"
    "                (\"strides\", ctypes.POINTER(ctypes.c_int64)), (\"byte_offset\", ctypes.c_uint64)]\n\n\n"
    "_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer\n"
    "_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]\n\n\n"
    "def _from_dlpack(name, array, stream):\n"
    "    kind, device = array.__dlpack_device__()\n"
    "    if kind not in (2, 13):  # CUDA, managed by CUDA\n"
    "        raise ValueError(\"%s is not on a GPU\" % name)\n"
    "    # not taken over: the capsule gives its tensor back by itself, and we hold the capsule and the array\n"
    "    capsule = array.__dlpack__(stream=stream or 1)\n"
    "    tensor = ctypes.cast(_capsule_pointer(capsule, b\"dltensor\"), ctypes.POINTER(_Tensor)).contents\n"
    "    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))\n"
    "    strides = tuple(tensor.strides[k] for k in range(tensor.ndim)) if tensor.strides else None\n"
    "    _compact(name, shape, strides, 1)\n"
    "    real = {(2, 32, 1): \"float\", (2, 64, 1): \"double\"}.get((tensor.code, tensor.bits, tensor.lanes), "
    "\"something else\")\n"
    "    return View((tensor.data or 0) + tensor.byte_offset, shape, real, int(device), None, True, (array, "
    "capsule))\n\n\n"
    "def view(array, name=\"the array\", stream=None):\n"
    "    \"\"\"A View of anything with __dlpack__ (torch, cupy, jax) or __cuda_array_interface__ (torch, cupy, "
    "numba).\"\"\"\n"
    "    if hasattr(array, \"__dlpack__\") and hasattr(array, \"__dlpack_device__\"):\n"
    "        if getattr(array, \"requires_grad\", False):\n"
    "            array = array.detach()\n"
    "        return _from_dlpack(name, array, stream)\n"
    "    interface = getattr(array, \"__cuda_array_interface__\", None)\n"
    "    if interface is None:\n"
    "        raise TypeError(\"%s has neither __dlpack__ nor __cuda_array_interface__\" % name)\n"
    "    return _from_interface(name, array, interface)\n\n\n";

static const char streams[] =
    "def _stream(given, arrays):\n"
    "    \"\"\"A stream's number: as given, else the current one of the library that the arrays are from, else the "
    "default one.\"\"\"\n"
    "    if given is not None:\n"
    "        for name in (\"cuda_stream\", \"ptr\"):  # torch, cupy\n"
    "            if hasattr(given, name):\n"
    "                return int(getattr(given, name))\n"
    "        return int(given.__cuda_stream__()[1]) if hasattr(given, \"__cuda_stream__\") else int(given)\n"
    "    for array in arrays:\n"
    "        library = type(array).__module__.split(\".\")[0]\n"
    "        if library == \"torch\":\n"
    "            return sys.modules[\"torch\"].cuda.current_stream(array.device).cuda_stream\n"
    "        if library == \"cupy\":\n"
    "            return sys.modules[\"cupy\"].cuda.get_current_stream().ptr\n"
    "    return 0\n\n\n"
    "def _empty(like, shape):\n"
    "    library = type(like).__module__.split(\".\")[0]\n"
    "    if library == \"torch\":\n"
    "        return like.new_empty(shape)\n"
    "    if library == \"cupy\":\n"
    "        with like.device:\n"
    "            return sys.modules[\"cupy\"].empty(shape, like.dtype)\n"
    "    raise TypeError(\"only torch and cupy arrays are made here: give the results as out=\")\n\n\n"
    "def _shared(name, values, length):\n"
    "    numbers = [float(x) for x in values]\n"
    "    if len(numbers) != length:\n"
    "        raise ValueError(\"%s has %d numbers, not %d\" % (name, len(numbers), length))\n"
    "    return (REAL * length)(*numbers)\n\n\n";

static const char load[] =
    "def load(path=None):\n"
    "    \"\"\"Loads the library: path, else $%s_LIBRARY, else lib%s_cuda.so beside this file. Done by itself at the "
    "first call.\"\"\"\n"
    "    global _library\n"
    "    here = os.path.dirname(os.path.abspath(__file__))\n"
    "    _library = ctypes.CDLL(path or os.environ.get(\"%s_LIBRARY\") or os.path.join(here, \"lib%s_cuda.so\"))\n";

static const char checks[] =
    "def _check(name, v, count, length, device):\n"
    "    if v.real != NAMES[REAL]:\n"
    "        raise TypeError(\"%s must be of %s, not %s\" % (name, NAMES[REAL], v.real))\n"
    "    if v.shape != (length, count):\n"
    "        raise ValueError(\"%s must have the shape (%d, %d), not %s\" % (name, length, count, v.shape))\n"
    "    if v.device is not None and device is not None and v.device != device:\n"
    "        raise ValueError(\"%s is on another GPU\" % name)\n\n\n"
    "def _overlap(a, b):\n"
    "    size = ctypes.sizeof(REAL)\n"
    "    return a.pointer < b.pointer + size*b.shape[0]*b.shape[1] and b.pointer < a.pointer + "
    "size*a.shape[0]*a.shape[1]\n\n\n";

static const char call[] =
    "def _call(function, shared, inputs, results, out, stream):\n"
    "    \"\"\"inputs: (name, length, array), results: (name, length). Queues the work and returns the results.\"\"\"\n"
    "    if _library is None:\n"
    "        load()\n"
    "    number = _stream(stream, [array for _, _, array in inputs])\n"
    "    views = [view(array, name, number) for name, _, array in inputs]\n"
    "    count = views[0].shape[-1] if views[0].shape else 0\n"
    "    if out is None:\n"
    "        out = [_empty(inputs[0][2], (length, count)) for _, length in results]\n"
    "    elif len(results) == 1 and not isinstance(out, (list, tuple)):\n"
    "        out = [out]\n"
    "    if len(out) != len(results):\n"
    "        raise ValueError(\"out: %d results, not %d\" % (len(results), len(out)))\n"
    "    given = [view(array, name, number) for (name, _), array in zip(results, out)]\n"
    "    device = next((v.device for v in views + given if v.device is not None), None)\n"
    "    for (name, length, _), v in zip(inputs, views):\n"
    "        _check(name, v, count, length, device)\n"
    "    for k, ((name, length), v) in enumerate(zip(results, given)):\n"
    "        _check(name, v, count, length, device)\n"
    "        if not v.writable:\n"
    "            raise ValueError(\"%s is read-only\" % name)\n"
    "        if any(_overlap(v, other) for other in views + given[:k]):\n"
    "            raise ValueError(\"%s overlaps another array\" % name)\n"
    "    foreign = [v for v in views + given if v.stream not in (None, number)]\n"
    "    if foreign and not (number in (0, 1) and all(v.stream in (0, 1) for v in foreign)):\n"
    "        raise ValueError(\"an array is still in use on another stream: give that stream, or wait for it\")\n"
    "    before = _device() if device is not None else None\n"
    "    if before not in (None, device):\n"
    "        _use(device)\n"
    "    try:\n"
    "        pointers = [ctypes.c_void_p(v.pointer) for v in views + given]\n"
    "        code = function(ctypes.c_size_t(count), *shared, *pointers, ctypes.c_void_p(number))\n"
    "    finally:\n"
    "        if before not in (None, device):\n"
    "            _use(before)\n"
    "    if code:\n"
    "        raise RuntimeError(\"CUDA: \" + _text(code))\n"
    "    return out[0] if len(results) == 1 else tuple(out)\n\n\n";

/* ---- the functions ---- */

static void emit_docstring(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  psdm_output_print(e->out, "    \"\"\"%s, of many states.\n\n", psdm_code_function_help(p->function));
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b]) continue;
    bool shared = psdmp_emit_block_shared((psdmp_codegen_block)b);
    psdm_output_print(e->out, shared ? "    %s: %d numbers, one for all states\n" : "    %s: (%d, count)\n",
                      psdmp_emit_block_names[b], p->length[b]);
  }
  for (int r = 0; r < p->results; r++)
    psdm_output_print(e->out, "    result %s: (%d, count)\n", p->result[r].name, p->result[r].count);
  psdm_output_text(e->out, "    \"\"\"\n");
}

static void emit_python_function(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  psdm_output_print(e->out, "def %s(", p->name);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b]) psdm_output_print(e->out, "%s, ", psdmp_emit_block_names[b]);
  psdm_output_text(e->out, "out=None, stream=None):\n");
  emit_docstring(e, p);
  psdmp_emit_say(e, "    return _call(lambda *a: _library.@%s_batch_cuda(*a), [", p->name);
  const char *between = "";
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b] || !psdmp_emit_block_shared((psdmp_codegen_block)b)) continue;
    psdm_output_print(e->out, "%s_shared(\"%s\", %s, %d)", between, psdmp_emit_block_names[b],
                      psdmp_emit_block_names[b], p->length[b]);
    between = ", ";
  }
  psdm_output_text(e->out, "], [");
  between = "";
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b] || psdmp_emit_block_shared((psdmp_codegen_block)b)) continue;
    psdm_output_print(e->out, "%s(\"%s\", %d, %s)", between, psdmp_emit_block_names[b], p->length[b],
                      psdmp_emit_block_names[b]);
    between = ", ";
  }
  psdm_output_text(e->out, "],\n                 [");
  for (int r = 0; r < p->results; r++)
    psdm_output_print(e->out, "%s(\"%s\", %d)", r ? ", " : "", p->result[r].name, p->result[r].count);
  psdm_output_text(e->out, "], out, stream)\n\n\n");
}

void psdmp_emit_cuda_python(psdmp_emit_writer *e) {
  const psdm_code *code = e->code;
  psdm_output_print(e->out,
                    "\"\"\"The functions of %s.h for arrays on a GPU: torch, cupy, or anything with __dlpack__ or "
                    "__cuda_array_interface__.\n\n",
                    e->prefix);
  psdm_output_print(e->out, "    import torch, %s_cuda\n    tau = %s_cuda.%s(", e->prefix, e->prefix,
                    code->program[0].name);
  for (int b = 0, some = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (code->program[0].length[b]) psdm_output_print(e->out, "%s%s", some++ ? ", " : "", psdmp_emit_block_names[b]);
  psdm_output_text(e->out,
                   ")\n\n"
                   "Arrays have the shape (numbers, count): number k of state i at [k, i]. Nothing is copied, nothing "
                   "is waited for: the work is queued on\n"
                   "stream (a number, a torch or cupy stream; None: the current one of the arrays' library). Results "
                   "come as arrays of the same\n"
                   "library, or go where out says. 'make' in this folder builds the library that is loaded.\n\"\"\"\n");
  psdm_output_text(e->out, imports);
  psdm_output_print(e->out,
                    "N = %d\nREAL = ctypes.c_%s\nNAMES = {ctypes.c_float: \"float\", ctypes.c_double: "
                    "\"double\"}\n_library = None\n\n\n",
                    code->robot->n, e->real);
  psdm_output_print(e->out, load, e->upper, e->prefix, e->upper, e->prefix);
  psdmp_emit_say(e, "    _library.@cuda_text.restype = ctypes.c_char_p\n\n\n");
  psdmp_emit_say(e, "def _device():\n    return _library.@cuda_device()\n\n\ndef _use(device):\n    "
                    "_library.@cuda_use(ctypes.c_int(device))\n\n\n"
                    "def _text(code):\n    return _library.@cuda_text(ctypes.c_int(code)).decode()\n\n\n");
  psdm_output_text(e->out, views);
  psdm_output_text(e->out, dlpack);
  psdm_output_text(e->out, streams);
  psdm_output_text(e->out, checks);
  psdm_output_text(e->out, call);
  for (int k = 0; k < code->programs; k++) emit_python_function(e, &code->program[k]);
  psdm_output_print(e->out, "__all__ = [\"load\", \"view\"");
  for (int k = 0; k < code->programs; k++) psdm_output_print(e->out, ", \"%s\"", code->program[k].name);
  psdm_output_text(e->out, "]\n");
}
