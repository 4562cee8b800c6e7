/* monte_errors.cu: errors of reduced models on a GPU, or in loops on the processor: monte_errors.c writes what stands
 * before it. */

struct tables {
  unsigned long long state;
  double gravity, qd, qdd;
  const double *low, *high;
  const unsigned char *slides;
  const int *first;
  int functions, forward;
  const unsigned char *digit;
  const int *from, *rate_a, *rate_b, *start, *joint;
  const double *value;
};

FN void draw(const tables &t, unsigned long long i, double *q, double *qd, double *qdd) {
  const unsigned long long block = mix(t.state + i / LANES + step);
  for (int j = 0; j < N; j++) {
    const unsigned long long at = block + step * ((i % LANES) * 3 * N + 3 * j + 1);
    q[j] = uniform(at, t.low[j], t.high[j]);
    qd[j] = uniform(at + step, -t.qd, t.qd);
    qdd[j] = uniform(at + 2 * step, -t.qdd, t.qdd);
  }
}

/* digits of all joints, then function by function: products of digits up to the first joint that differs stay */
FN void evaluate(const tables &t, const double *q, const double *qd, const double *qdd, double *tau, double *M) {
  double value[DIGITS], level[N + 1];
  for (int j = 0; j < N; j++) {
    double *v = value + t.first[j];
    const double one = t.slides[j] ? q[j] : sin(q[j]), two = t.slides[j] ? q[j] * q[j] : cos(q[j]);
    for (int d = 0; d < t.first[j + 1] - t.first[j]; d++) v[d] = d == 0 ? 1 : d == 1 ? one : two * v[d - 2];
  }
  level[0] = 1;
  for (int k = 0; k < t.functions; k++) {
    for (int j = t.from[k]; j < N; j++) {
      const int d = t.digit[k * N + j];
      level[j + 1] = d ? level[j] * value[t.first[j] + d] : level[j];
    }
    const int a = t.rate_a[k], b = t.rate_b[k];
    const double y = level[N] * (a < 0 ? t.gravity : b < 0 ? qdd[a] : qd[a] * qd[b]);
    for (int e = t.start[k]; e < t.start[k + 1]; e++) {
      tau[t.joint[e]] += t.value[e] * y;
      if (t.forward && a >= 0 && b < 0) M[t.joint[e] * N + a] += t.value[e] * level[N];
    }
  }
}

/* x = M^-1 x by Cholesky; false when M is not positive definite */
FN bool solve(double *M, double *x) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = M[i * N + j];
      for (int k = 0; k < j; k++) sum -= M[i * N + k] * M[j * N + k];
      if (i == j && !(sum > 0)) return false;
      M[i * N + j] = i == j ? sqrt(sum) : sum / M[j * N + j];
    }
    for (int k = 0; k < i; k++) x[i] -= M[i * N + k] * x[k];
    x[i] /= M[i * N + i];
  }
  for (int i = N - 1; i >= 0; i--) {
    for (int k = i + 1; k < N; k++) x[i] -= M[k * N + i] * x[k];
    x[i] /= M[i * N + i];
  }
  return true;
}

FN double norm(const double *x) {
  double sum = 0;
  for (int j = 0; j < N; j++) sum += x[j] * x[j];
  return sqrt(sum);
}

/* |tau - reduced tau| / |tau|, or |M^-1 (tau - reduced tau)| / |qdd| */
FN unsigned bin_of(const tables &t, unsigned long long i) {
  double q[N], qd[N], qdd[N], tau[N], r[N] = {0}, M[N * N];
  draw(t, i, q, qd, qdd);
  psdm_monte_inverse_device(q, qd, qdd, tau);
  for (int k = 0; t.forward && k < N * N; k++) M[k] = 0;
  evaluate(t, q, qd, qdd, r, M);
  for (int j = 0; j < N; j++) r[j] = tau[j] - r[j];
  const double size = norm(r);
  if (size == 0) return bin(0);
  if (!t.forward) return bin(size / norm(tau));
  return solve(M, r) ? bin(norm(r) / norm(qdd)) : BINS - 1;
}

static tables here; /* on a GPU its pointers are the device's */

#if defined(__CUDACC__)
static unsigned *counts;

static __global__ void count(const tables t, unsigned long long first, unsigned long long some, unsigned *counts) {
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < some;
       i += gridDim.x * (unsigned long long)blockDim.x)
    atomicAdd(&counts[bin_of(t, first + i)], 1u);
}

extern "C" int psdm_monte_load(const tables *given) {
  const size_t functions = given->functions, entries = given->start[functions];
  psdm_monte_close();
  here = *given;
  int code = 0;
  send(here.low, N, &code), send(here.high, N, &code), send(here.slides, N, &code), send(here.first, N + 1, &code),
      send(here.digit, functions * N, &code);
  send(here.from, functions, &code), send(here.rate_a, functions, &code), send(here.rate_b, functions, &code),
      send(here.start, functions + 1, &code);
  send(here.joint, entries, &code), send(here.value, entries, &code);
  counts = (unsigned *)room(BINS * sizeof(unsigned), &code);
  return code;
}

extern "C" int psdm_monte_run(unsigned long long first, unsigned long long some) {
  const unsigned long long blocks = (some + 127) / 128;
  if (!some) return 0;
  count<<<(unsigned)(blocks < 65536 ? blocks : 65536), 128>>>(here, first, some, counts);
  int code = cudaGetLastError();
  return code ? code : (int)cudaDeviceSynchronize();
}

extern "C" int psdm_monte_take(unsigned *to) {
  return cudaMemcpy(to, counts, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost);
}

#else
static unsigned counts[BINS];

extern "C" int psdm_monte_load(const tables *given) {
  here = *given;
  memset(counts, 0, sizeof counts);
  return 0;
}

extern "C" int psdm_monte_run(unsigned long long first, unsigned long long some) {
  for (unsigned long long i = 0; i < some; i++) counts[bin_of(here, first + i)]++;
  return 0;
}

extern "C" int psdm_monte_take(unsigned *to) {
  memcpy(to, counts, sizeof counts);
  return 0;
}
#endif
