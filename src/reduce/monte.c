/* monte.c: what the texts of all programs begin with. */
#include "reduce/monte.h"

/* CUDA's words, or none */
static const char words[] = "#if defined(__CUDACC__)\n"
                            "#include <cuda_runtime.h>\n"
                            "#define FN static __host__ __device__\n"
                            "#else\n"
                            "#include <stdlib.h>\n"
                            "#define FN static\n"
                            "#endif\n\n";

/* splitmix64 (Steele, Lea, Flood 2014) counts: number m of a stream is found without those before it */
static const char drawing[] = "static const unsigned long long step = 0x9E3779B97F4A7C15ull;\n\n"
                              "FN unsigned long long mix(unsigned long long z) {\n"
                              "  z = (z ^ z >> 30)*0xBF58476D1CE4E5B9ull;\n"
                              "  z = (z ^ z >> 27)*0x94D049BB133111EBull;\n"
                              "  return z ^ z >> 31;\n"
                              "}\n\n"
                              "/* not fused: the processor's numbers, bit by bit */\n"
                              "FN double add(double x, double y) {\n"
                              "#if defined(__CUDA_ARCH__)\n"
                              "  return __dadd_rn(x, y);\n"
                              "#else\n"
                              "  return x + y;\n"
                              "#endif\n"
                              "}\n\n"
                              "FN double times(double x, double y) {\n"
                              "#if defined(__CUDA_ARCH__)\n"
                              "  return __dmul_rn(x, y);\n"
                              "#else\n"
                              "  return x*y;\n"
                              "#endif\n"
                              "}\n\n"
                              "FN double uniform(unsigned long long z, double low, double high) {\n"
                              "  const double u = (double)(mix(z) >> 11)*0x1p-53;\n"
                              "  return add(low, times(high - low, u));\n"
                              "}\n\n"
                              "FN unsigned bin(double x) {\n"
                              "  unsigned long long u;\n"
                              "  memcpy(&u, &x, sizeof u);\n"
                              "  const long long at = (long long)((u & 0x7FFFFFFFFFFFFFFFull) >> (52 - BIN_BITS)) - "
                              "((1023ll - 80) << BIN_BITS);\n"
                              "  return at < 0 ? 0 : at >= BINS ? BINS - 1 : (unsigned)at;\n"
                              "}\n\n";

/* memory of the device, and what it says; N and the program's own before */
static const char on_device[] =
    "#if defined(__CUDACC__)\n"
    "static void *kept[32];\n"
    "static int keeping;\n\n"
    "static void *room(size_t bytes, int *code) { /* zeroed; NULL after a failure */\n"
    "  void *to = NULL;\n"
    "  if (!*code) *code = cudaMalloc(&to, bytes + 1);\n"
    "  if (*code) return NULL;\n"
    "  kept[keeping++] = to;\n"
    "  *code = cudaMemset(to, 0, bytes + 1);\n"
    "  return to;\n"
    "}\n\n"
    "template <class T> static void send(const T *&at, size_t length, int *code) {\n"
    "  void *to = room(length*sizeof(T), code);\n"
    "  if (!*code) *code = cudaMemcpy(to, at, length*sizeof(T), cudaMemcpyHostToDevice);\n"
    "  at = (const T *)to;\n"
    "}\n\n"
    "extern \"C\" void psdm_monte_close(void) {\n"
    "  while (keeping) cudaFree(kept[--keeping]);\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_devices(void) {\n"
    "  int some = 0;\n"
    "  return cudaGetDeviceCount(&some) ? 0 : some;\n"
    "}\n\n"
    "extern \"C\" const char *psdm_monte_text(int code) { return cudaGetErrorString((cudaError_t)code); }\n"
    "#else\n"
    "extern \"C\" void psdm_monte_close(void) {}\n"
    "extern \"C\" int psdm_monte_devices(void) { return 1; }\n"
    "extern \"C\" const char *psdm_monte_text(int) { return \"no error\"; }\n"
    "#endif\n\n";

void psdmp_reduce_emit_monte(psdmp_emit_writer *e, const char *key) {
  psdm_output_print(e->out, "#include \"psdm_monte.cuh\"\n\nextern \"C\" const char psdm_monte_key[] = \"%s\";\n\n",
                    key);
  psdm_output_text(e->out, words);
  psdm_output_print(e->out, "enum { N = PSDM_MONTE_N, BIN_BITS = %d, BINS = 96 << BIN_BITS };\n\n",
                    PSDMP_REDUCE_BIN_BITS);
  psdm_output_text(e->out, drawing);
  psdm_output_text(e->out, on_device);
}
