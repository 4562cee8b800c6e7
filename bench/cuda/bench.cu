/* bench.cu: generated kernels against the bandwidth of a device copy measured in the same run, and against the plain C
 * functions.
 *
 *   bench [--states COUNT] [FUNCTION ...]   times at 2^24 to 2^26 states, whatever fits, or at COUNT
 *   bench --check [FUNCTION ...]            numbers only, at a few hundred states: for compute-sanitizer
 *
 * Compiled once for each robot and precision, with arm.h (prefix arm) and costs.h (operations of each function) on the
 * path. A line for each function: states per second, bytes moved (each number once) per second and their share of the
 * copy's, operations per second (those of the plain C function, without sines) and their share of the peak of fused
 * operations here, and the worst error of a state's results beside the processor's, relative to the largest. Exit 1
 * when an error is beyond what rounding explains. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#include "arm.h"
#include "costs.h"

typedef COST_REAL real;

#define TRY(call)                                                                            \
  do {                                                                                       \
    cudaError_t error_ = (cudaError_t)(call);                                                \
    if (error_) {                                                                            \
      fprintf(stderr, "bench: %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      exit(error_ == cudaErrorNoDevice || error_ == cudaErrorInsufficientDriver ? 77 : 2);   \
    }                                                                                        \
  } while (0)

/* ---- functions behind one type each ---- */

enum { N = ARM_N, NN = ARM_N * ARM_N, NL = ARM_N * ARM_L };

struct function {
  const char *name;
  int inputs, output[3];             /* blocks of N, numbers of each result */
  bool tau;                          /* the third block is of torques */
  double operations, sincos, spread; /* spread: of errors, beyond a few hundred roundings */
  int (*gpu)(size_t, real *const *, real *const *);
  void (*cpu)(const real *const *, real *const *);
};

#define GPU(name, ...)                                        \
  [](size_t count, real *const *a, real *const *r) {          \
    (void)a;                                                  \
    return arm_##name##_batch_cuda(count, __VA_ARGS__, NULL); \
  }
#define CPU(name, ...) [](const real *const *a, real *const *r) { arm_##name(__VA_ARGS__); }
#define BOTH(name, ...) GPU(name, __VA_ARGS__), CPU(name, __VA_ARGS__)

static const function functions[] = {
#if defined(COST_inverse)
    {"inverse", 3, {N}, false, COST_inverse, 1, BOTH(inverse, a[0], a[1], a[2], r[0])},
#endif
#if defined(COST_gravity)
    {"gravity", 1, {N}, false, COST_gravity, 1, BOTH(gravity, a[0], r[0])},
#endif
#if defined(COST_bias)
    {"bias", 2, {N}, false, COST_bias, 1, BOTH(bias, a[0], a[1], r[0])},
#endif
#if defined(COST_mass)
    {"mass", 1, {NN}, false, COST_mass, 1, BOTH(mass, a[0], r[0])},
#endif
#if defined(COST_inverse_mass)
    {"inverse_mass", 1, {NN}, false, COST_inverse_mass, 1e5, BOTH(inverse_mass, a[0], r[0])},
#endif
#if defined(COST_forward)
    {"forward", 3, {N}, true, COST_forward, 1e5, BOTH(forward, a[0], a[1], a[2], r[0])},
#endif
#if defined(COST_regressor)
    {"regressor", 3, {NL}, false, COST_regressor, 1, BOTH(regressor, a[0], a[1], a[2], r[0])},
#endif
#if defined(COST_linearize_inverse)
    {"linearize_inverse",
     3,
     {NN, NN, NN},
     false,
     COST_linearize_inverse,
     1,
     BOTH(linearize_inverse, a[0], a[1], a[2], r[0], r[1], r[2])},
#endif
#if defined(COST_linearize_forward)
    {"linearize_forward",
     3,
     {NN, NN, NN},
     true,
     COST_linearize_forward,
     1e5,
     BOTH(linearize_forward, a[0], a[1], a[2], r[0], r[1], r[2])},
#endif
};

static int outputs(const function &f) { return f.output[0] + f.output[1] + f.output[2]; }

/* ---- states ---- */

/* splitmix64 (Steele, Lea, Flood 2014) of the number's place, uniform in [-range, range) */
static __host__ __device__ real draw(unsigned long long at, real range) {
  unsigned long long z = (at + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return range * (real)((double)(z >> 11) * 0x1p-52 - 1);
}

static __global__ void fill(real *to, size_t count, unsigned long long stream, real range) {
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    to[i] = draw(stream << 40 | i, range);
}

static const real ranges[2][3] = {{(real)3.14159265, 2, 10}, {(real)3.14159265, 2, 50}};

/* ---- the ceiling ---- */

static __global__ void copy(const float4 *__restrict__ from, float4 *__restrict__ to, size_t count) {
  const size_t i = (size_t)blockIdx.x * (blockDim.x * 4) + threadIdx.x;
  float4 x[4];
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (i + k * blockDim.x < count) x[k] = __ldcs(from + i + k * blockDim.x);
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (i + k * blockDim.x < count) __stcs(to + i + k * blockDim.x, x[k]);
}

/* best seconds of a few runs */
template <class Work>
static double best(int runs, Work work) {
  cudaEvent_t from, to;
  float least = 1e30f;
  TRY(cudaEventCreate(&from));
  TRY(cudaEventCreate(&to));
  work();
  for (int k = 0; k < runs; k++) {
    float ms;
    TRY(cudaEventRecord(from));
    work();
    TRY(cudaEventRecord(to));
    TRY(cudaEventSynchronize(to));
    TRY(cudaEventElapsedTime(&ms, from, to));
    if (ms < least) least = ms;
  }
  TRY(cudaEventDestroy(from));
  TRY(cudaEventDestroy(to));
  return 1e-3 * least;
}

/* bytes read and written per second, the better of two ways to copy */
static double copy_bandwidth(void) {
  const size_t bytes = (size_t)4 << 30, count = bytes / sizeof(float4);
  float4 *a, *b;
  TRY(cudaMalloc((void **)&a, bytes));
  TRY(cudaMalloc((void **)&b, bytes));
  TRY(cudaMemset(a, 1, bytes));
  double engine = best(8, [&] { TRY(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, 0)); });
  double kernel = best(8, [&] { copy<<<(unsigned)((count + 1023) / 1024), 256>>>(a, b, count); });
  TRY(cudaFree(a));
  TRY(cudaFree(b));
  printf("copy: %.2f TB/s by cudaMemcpy, %.2f TB/s by a kernel\n", 2e-12 * (double)bytes / engine,
         2e-12 * (double)bytes / kernel);
  return 2 * (double)bytes / (engine < kernel ? engine : kernel);
}

/* chains of fused operations, enough of them to fill the pipes */
enum { CHAINS = 8, ROUNDS = 4096 };

static __global__ void chains(real *to, real factor, real step) {
  real x[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; k++) x[k] = (real)(threadIdx.x + k);
  for (int r = 0; r < ROUNDS; r++)
#pragma unroll
    for (int k = 0; k < CHAINS; k++) x[k] = x[k] * factor + step;
#pragma unroll
  for (int k = 1; k < CHAINS; k++) x[0] += x[k];
  if (x[0] == 0) *to = x[0]; /* never, but the compiler cannot know */
}

/* operations per second of fused operations alone, each counted as two */
static double peak_operations(int multiprocessors) {
  real *to;
  const unsigned blocks = (unsigned)multiprocessors * 32, threads = 256;
  TRY(cudaMalloc((void **)&to, sizeof *to));
  double seconds = best(4, [&] { chains<<<blocks, threads>>>(to, (real)0.5, (real)1); });
  TRY(cudaFree(to));
  double rate = 2.0 * CHAINS * ROUNDS * blocks * threads / seconds;
  printf("fused operations: %.1f Tflop/s\n", 1e-12 * rate);
  return rate;
}

/* ---- one function ---- */

struct buffers {
  real *in[3], *out[3];
};

/* One piece of memory for everything that is timed: separate pieces would be placed wherever earlier ones left room,
 * which changes a function's time by a tenth. Checks take separate pieces, so that a sanitizer sees their ends. */
static struct {
  char *at;
  size_t bytes, used;
} memory;

static real *take(size_t numbers) {
  real *p;
  size_t bytes = numbers * sizeof(real), step = (size_t)1 << 21, whole = (bytes + step - 1) / step * step;
  if (memory.at && memory.used + whole <= memory.bytes) {
    p = (real *)(memory.at + memory.used);
    memory.used += whole;
  } else {
    TRY(cudaMalloc((void **)&p, bytes));
  }
  return p;
}

static void take_most(void) {
  size_t total;
  TRY(cudaMemGetInfo(&memory.bytes, &total));
  memory.bytes = memory.bytes / 10 * 9;
  TRY(cudaMalloc((void **)&memory.at, memory.bytes));
}

static void allocate(const function &f, size_t count, buffers *b) {
  memory.used = 0;
  for (int k = 0; k < 3; k++) {
    b->in[k] = b->out[k] = NULL;
    if (k < f.inputs) b->in[k] = take(N * count);
    if (f.output[k]) b->out[k] = take(f.output[k] * count);
    if (k < f.inputs) fill<<<1056, 256>>>(b->in[k], N * count, (unsigned long long)k, ranges[f.tau][k]);
    if (f.output[k]) TRY(cudaMemset(b->out[k], 0xFF, f.output[k] * count * sizeof(real))); /* nan */
  }
  TRY(cudaDeviceSynchronize());
}

static void release(buffers *b) {
  for (int k = 0; k < 3 && !memory.at; k++) {
    TRY(cudaFree(b->in[k]));
    TRY(cudaFree(b->out[k]));
  }
}

/* number k of states first... of a block, into rows of one state each */
static std::vector<real> rows(const real *device, int numbers, size_t count, size_t first, size_t some) {
  std::vector<real> column(some), row(numbers * some);
  for (int k = 0; k < numbers; k++) {
    TRY(cudaMemcpy(column.data(), device + k * count + first, some * sizeof(real), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < some; i++) row[i * numbers + k] = column[i];
  }
  return row;
}

/* worst |difference| over a state's results, relative to the largest of them */
static double compare(const function &f, const buffers &b, size_t count, size_t first, size_t some) {
  std::vector<real> in[3], got[3], want(NL + 3 * NN + N);
  double worst = 0;
  for (int k = 0; k < 3; k++) {
    if (k < f.inputs) in[k] = rows(b.in[k], N, count, first, some);
    if (f.output[k]) got[k] = rows(b.out[k], f.output[k], count, first, some);
  }
  for (size_t i = 0; i < some; i++) {
    const real *a[3];
    real *r[3] = {want.data(), want.data() + f.output[0], want.data() + f.output[0] + f.output[1]};
    for (int k = 0; k < 3; k++) a[k] = k < f.inputs ? in[k].data() + i * N : NULL;
    f.cpu(a, r);
    for (int k = 0; k < 3 && f.output[k]; k++) {
      double size = 0, off = 0;
      for (int j = 0; j < f.output[k]; j++) {
        double d = fabs((double)got[k][i * f.output[k] + j] - (double)r[k][j]);
        size = fmax(size, fabs((double)r[k][j]));
        if (!(d <= off)) off = d; /* nan stays */
      }
      off = size > 0 ? off / size : off;
      if (!(off <= worst)) worst = off;
    }
  }
  return worst;
}

/* a few hundred roundings, times the amplification by the inverse of a mass matrix */
static bool good(const function &f, double error) {
  return error <= 300 * f.spread * (sizeof(real) == 4 ? 0x1p-24 : 0x1p-53);
}

static bool check(const function &f) {
  static const size_t counts[] = {1, 2, 3, 4, 127, 128, 129, 516, 1031};
  bool fine = true;
  double worst = 0;
  for (size_t k = 0; k < sizeof counts / sizeof *counts + 4; k++) {
    bool afar = k >= sizeof counts / sizeof *counts; /* with an angle that the fast sine cannot take */
    size_t count = afar ? 516 + (k & 1) : counts[k];
    buffers b;
    allocate(f, count, &b);
    const real big[3] = {(real)2e7, -3e9f, (real)1e5};
    if (afar) TRY(cudaMemcpy(b.in[0] + (N - 1) * count + 130 + k, &big[k % 3], sizeof(real), cudaMemcpyHostToDevice));
    TRY(f.gpu(count, b.in, b.out));
    TRY(cudaDeviceSynchronize());
    double error = compare(f, b, count, 0, count);
    fine = fine && good(f, error);
    if (!(error <= worst)) worst = error;
    release(&b);
  }
  printf("%-18s worst error %.1e%s\n", f.name, worst, fine ? "" : "  WRONG");
  return fine;
}

static bool time_function(const function &f, size_t count, double bandwidth, double peak) {
  int numbers = f.inputs * N + outputs(f);
  while ((double)numbers * (double)count * sizeof(real) > 0.99 * (double)memory.bytes) count /= 2;
  buffers b;
  allocate(f, count, &b);
  double seconds = best(8, [&] { TRY(f.gpu(count, b.in, b.out)); });
  double error = fmax(compare(f, b, count, 0, 4096), compare(f, b, count, count - 4096, 4096));
  bool fine = good(f, error);
  double bytes = (double)numbers * (double)count * sizeof(real), operations = f.operations * (double)count / seconds;
  printf(
      "%-18s 2^%-5.4g %8.3f G/s %6.2f TB/s %5.2f of copy %6.2f Tflop/s %5.2f of peak %6.1f G sincos/s   error %.1e%s\n",
      f.name, log2((double)count), 1e-9 * (double)count / seconds, 1e-12 * bytes / seconds, bytes / seconds / bandwidth,
      1e-12 * operations, operations / peak, 1e-9 * f.sincos * (double)count / seconds, error, fine ? "" : "  WRONG");
  release(&b);
  return fine;
}

int main(int argc, char **argv) {
  bool checking = argc > 1 && strcmp(argv[1], "--check") == 0, counted = argc > 2 && strcmp(argv[1], "--states") == 0,
       fine = true;
  int first = 1 + checking + 2 * counted;
  size_t count = counted ? (size_t)atoll(argv[2]) : (size_t)1 << 26;
  if (count < 8192) {
    fprintf(stderr, "bench: at least 8192 states\n");
    return 2;
  }
  cudaDeviceProp device;
  TRY(cudaGetDeviceProperties(&device, 0));
  printf("%s, %s, n = %d, l = %d, on %s (%d multiprocessors)\n", COST_ROBOT, sizeof(real) == 4 ? "float" : "double", N,
         ARM_L, device.name, device.multiProcessorCount);
  double bandwidth = checking ? 1 : copy_bandwidth(), peak = checking ? 1 : peak_operations(device.multiProcessorCount);
  if (!checking) take_most();
  for (const function &f : functions) {
    bool asked = argc <= first;
    for (int k = first; k < argc; k++) asked = asked || strcmp(argv[k], f.name) == 0;
    if (!asked) continue;
    bool right = checking ? check(f) : time_function(f, count, bandwidth, peak);
    fine = fine && right;
    fflush(stdout);
  }
  return !fine;
}
