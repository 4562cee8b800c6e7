/* monte.c: what the texts of all programs begin with. */
#include "reduce/monte.h"

extern const char psdmp_reduce_monte_begin[]; /* monte.cu */

void psdmp_reduce_emit_monte(psdmp_emit_writer *e, const char *key) {
  psdm_output_print(e->out, "#include \"psdm_monte.cuh\"\n\nextern \"C\" const char psdm_monte_key[] = \"%s\";\n\n",
                    key);
  psdm_output_print(e->out, "enum { N = PSDM_MONTE_N, BIN_BITS = %d, BINS = 96 << BIN_BITS };\n\n",
                    PSDMP_REDUCE_BIN_BITS);
  psdm_output_text(e->out, psdmp_reduce_monte_begin);
}
