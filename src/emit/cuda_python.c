/* cuda_python.c: PREFIX_cuda.py, which hands arrays of torch, cupy or anything alike to the kernels, without copies. */
#include "emit/cuda.h"

/* ---- fixed text ---- */

extern const char psdmp_emit_cuda_arrays[]; /* cuda_arrays.py */

static const char imports[] = "import ctypes\n"
                              "import os\n"
                              "import sys\n\n";

static const char load[] =
    "def load(path=None):\n"
    "    \"\"\"Loads the library: path, else $%s_LIBRARY, else lib%s_cuda.so beside this file. Done by itself at the "
    "first call.\"\"\"\n"
    "    global _library\n"
    "    here = os.path.dirname(os.path.abspath(__file__))\n"
    "    _library = ctypes.CDLL(path or os.environ.get(\"%s_LIBRARY\") or os.path.join(here, \"lib%s_cuda.so\"))\n";

/* ---- the functions ---- */

static void emit_docstring(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  char text[160];
  psdm_output_print(e->out, "    \"\"\"%s, of many states.\n\n", psdmp_emit_summary(p->function, text));
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
  psdm_output_text(e->out, psdmp_emit_cuda_arrays);
  psdm_output_text(e->out, "\n\n");
  for (int k = 0; k < code->programs; k++) emit_python_function(e, &code->program[k]);
  psdm_output_print(e->out, "__all__ = [\"load\", \"view\"");
  for (int k = 0; k < code->programs; k++) psdm_output_print(e->out, ", \"%s\"", code->program[k].name);
  psdm_output_text(e->out, "]\n");
}
