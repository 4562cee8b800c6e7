/* monte.cu: what all programs for a GPU begin with; monte.c writes what stands before it. */

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define FN static __host__ __device__
#else
#include <stdlib.h>
#define FN static
#endif

static const unsigned long long step = 0x9E3779B97F4A7C15ull;

FN unsigned long long mix(unsigned long long z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

/* not fused: the processor's numbers, bit by bit */
FN double add(double x, double y) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(x, y);
#else
  return x + y;
#endif
}

FN double times(double x, double y) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(x, y);
#else
  return x * y;
#endif
}

FN double uniform(unsigned long long z, double low, double high) {
  const double u = (double)(mix(z) >> 11) * 0x1p-53;
  return add(low, times(high - low, u));
}

FN unsigned bin(double x) {
  unsigned long long u;
  memcpy(&u, &x, sizeof u);
  const long long at = (long long)((u & 0x7FFFFFFFFFFFFFFFull) >> (52 - BIN_BITS)) - ((1023ll - 80) << BIN_BITS);
  return at < 0 ? 0 : at >= BINS ? BINS - 1 : (unsigned)at;
}

#if defined(__CUDACC__)
static void *kept[32];
static int keeping;

static void *room(size_t bytes, int *code) { /* zeroed; NULL after a failure */
  void *to = NULL;
  if (!*code) *code = cudaMalloc(&to, bytes + 1);
  if (*code) return NULL;
  kept[keeping++] = to;
  *code = cudaMemset(to, 0, bytes + 1);
  return to;
}

template <class T>
static void send(const T *&at, size_t length, int *code) {
  void *to = room(length * sizeof(T), code);
  if (!*code) *code = cudaMemcpy(to, at, length * sizeof(T), cudaMemcpyHostToDevice);
  at = (const T *)to;
}

extern "C" void psdm_monte_close(void) {
  while (keeping) cudaFree(kept[--keeping]);
}

extern "C" int psdm_monte_devices(void) {
  int some = 0;
  return cudaGetDeviceCount(&some) ? 0 : some;
}

extern "C" const char *psdm_monte_text(int code) { return cudaGetErrorString((cudaError_t)code); }
#else
extern "C" void psdm_monte_close(void) {}
extern "C" int psdm_monte_devices(void) { return 1; }
extern "C" const char *psdm_monte_text(int) { return "no error"; }
#endif
