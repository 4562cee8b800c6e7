/* survey.cu: part of a program for a GPU, or for loops on the processor: survey_cuda.c writes what stands before it. */

struct tables {
  unsigned long long state;
  const double *low, *high;
  double limit[ENDS];
};

struct answers {
  unsigned *count;
  unsigned long long *beyond;
  double *value;
  unsigned *at;
};

/* small matrices in registers, large ones in memory */
#if defined(__CUDACC__) && PSDM_MONTE_N <= 8
#define UNROLL _Pragma("unroll")
#define ROLL _Pragma("unroll 1")
#else
#define UNROLL
#define ROLL
#endif

/* pieces of a stick, and directions in the plane: uniform on the sphere */
FN void on_sphere(unsigned long long at, double *x) {
  enum { PAIRS = (N + 1) / 2 };
  double cut[PAIRS + 1], sum = 0;
  cut[0] = 0;
  UNROLL for (int k = 1; k < PAIRS; k++) {
    cut[k] = uniform(at += step, 0, 1);
    UNROLL for (int m = k; m > 1; m--) {
      const double low = fmin(cut[m - 1], cut[m]), high = fmax(cut[m - 1], cut[m]);
      cut[m - 1] = low, cut[m] = high;
    }
  }
  cut[PAIRS] = 1;
  UNROLL for (int k = 0; k < PAIRS; k++) {
    double u, v, square;
    do {
      u = uniform(at += step, -1, 1);
      v = uniform(at += step, -1, 1);
      square = add(times(u, u), times(v, v));
    } while (!(square < 1) || square == 0);
    const double stretch = sqrt((cut[k + 1] - cut[k]) / square);
    x[2 * k] = times(u, stretch);
    if (2 * k + 1 < N) x[2 * k + 1] = times(v, stretch);
  }
  UNROLL for (int j = 0; j < N; j++) sum = add(sum, times(x[j], x[j]));
  const double size = sqrt(sum);
  UNROLL for (int j = 0; j < N; j++) x[j] = sum > 0 ? x[j] / size : j == 0;
}

FN void draw(const tables &t, unsigned long long i, double *q, double *qd) {
  unsigned long long at = mix(t.state + i + step);
  UNROLL for (int j = 0; j < N; j++) q[j] = uniform(at += step, t.low[j], t.high[j]);
  on_sphere(at, qd);
}

enum { PACKED = N * (N + 1) / 2 };
FN constexpr int at(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

/* results that a function has and that are kept: the lower triangle, all, none */
struct triangle {
  double *to;
  PSDM_MONTE_INLINE void set(int k, double x) const {
    if (k % N <= k / N) to[at(k / N, k % N)] = x;
  }
};
struct whole {
  double *to;
  PSDM_MONTE_INLINE void set(int k, double x) const { to[k] = x; }
};
struct nothing {
  PSDM_MONTE_INLINE void set(int, double) const {}
};

FN double root_below_one(double x) { /* 1/sqrt */
#if defined(__CUDA_ARCH__)
  return rsqrt(x);
#else
  return 1 / sqrt(x);
#endif
}

/* A(p, p + 1) = 0 by a rotation; the two change places */
FN void rotate(double *A, int p) {
  const double x = A[at(p + 1, p)], d = A[at(p + 1, p + 1)] - A[at(p, p)];
  const double t = x * x > 0 ? (d < 0 ? -2 * x : 2 * x) / (fabs(d) + sqrt(d * d + 4 * (x * x))) : 0,
               c = root_below_one(t * t + 1), s = t * c;
  const double low = A[at(p, p)] - t * x;
  A[at(p, p)] = A[at(p + 1, p + 1)] + t * x, A[at(p + 1, p + 1)] = low, A[at(p + 1, p)] = 0;
  UNROLL for (int k = 0; k < N; k++) {
    if (k == p || k == p + 1) continue;
    const double a = A[at(k, p)], b = A[at(k, p + 1)];
    A[at(k, p)] = s * a + c * b, A[at(k, p + 1)] = c * a - s * b;
  }
}

/* Jacobi's method, neighbours only: N rounds of even and odd pairs that change places let every pair meet once (Luk
 * and Park 1989), with N - 1 rotations in the code. Sweeps until what is off the diagonal is rounding; A, packed, is
 * spoilt. */
FN void extreme_eigenvalues(double *A, double *least, double *largest) {
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = 0, on = 0;
    UNROLL for (int i = 0; i < N; i++) {
      UNROLL for (int j = 0; j < i; j++) off += A[at(i, j)] * A[at(i, j)];
      on += A[at(i, i)] * A[at(i, i)];
    }
    if (off <= 1e-33 * on) break;
    ROLL for (int round = 0; round < N; round += 2) {
      UNROLL for (int p = 0; p + 1 < N; p += 2) rotate(A, p);
      UNROLL for (int p = 1; p + 1 < N; p += 2) rotate(A, p);
    }
  }
  *least = *largest = A[0];
  UNROLL for (int i = 1; i < N; i++) *least = fmin(*least, A[at(i, i)]), *largest = fmax(*largest, A[at(i, i)]);
}

FN double gravity_norm(const double *q) {
  double g[N], sum = 0;
  psdm_monte_gravity_state(q, whole{g});
  UNROLL for (int j = 0; j < N; j++) sum += g[j] * g[j];
  return sqrt(sum);
}

FN double mass_norm(const double *q, double *least) {
  double M[PACKED], largest;
  psdm_monte_mass_state(q, triangle{M});
  extreme_eigenvalues(M, least, &largest);
  return fmax(largest, -*least);
}

/* what the linearization has beside d tau/d qd is not used, and so not computed */
FN double coriolis_norm(const double *q, const double *qd) {
  double qdd[N] = {0}, S[N * N], A[PACKED], least, largest;
  psdm_monte_linearize_inverse_state(q, qd, qdd, nothing{}, whole{S}, nothing{});
  UNROLL for (int i = 0; i < N; i++) UNROLL for (int j = 0; j <= i; j++) {
    double sum = 0;
    UNROLL for (int k = 0; k < N; k++) sum += S[k * N + i] * S[k * N + j];
    A[at(i, j)] = sum;
  }
  extreme_eigenvalues(A, &least, &largest);
  return sqrt(fmax(largest, 0.0)) / 2;
}

FN void look(const tables &t, unsigned long long i, double *x) {
  double q[N], qd[N];
  draw(t, i, q, qd);
  x[0] = mass_norm(q, &x[1]);
  x[2] = coriolis_norm(q, qd);
  x[3] = gravity_norm(q);
}

FN unsigned place(int quantity, double x) {
  return (quantity == LEAST && x < 0 ? QUANTITIES : quantity) * BINS + bin(fabs(x) / UNIT);
}

/* ends with even numbers are the least */
FN bool better(int end, double x, unsigned k, double y, unsigned m) { return x == y ? k < m : end % 2 ? x > y : x < y; }

FN bool outside(const tables &t, int end, double x) { return end % 2 ? x > t.limit[end] : x < t.limit[end]; }

static tables here;               /* on a GPU its pointers are the device's */
static unsigned long long groups; /* of the last run */

#if defined(__CUDACC__)
static answers there;

static __global__ void __launch_bounds__(THREADS)
    survey(const tables t, unsigned long long first, unsigned long long some, const answers a) {
  __shared__ double value[ENDS][THREADS];
  __shared__ unsigned at[ENDS][THREADS];
  const unsigned me = threadIdx.x;
  const unsigned long long group = blockIdx.x;
  for (int e = 0; e < ENDS; e++) value[e][me] = e % 2 ? -INFINITY : INFINITY, at[e][me] = 0;
  for (unsigned k = me; k < GROUP && group * GROUP + k < some; k += THREADS) {
    double x[QUANTITIES];
    look(t, first + group * GROUP + k, x);
    UNROLL for (int c = 0; c < QUANTITIES; c++) atomicAdd(&a.count[place(c, x[c])], 1u);
    UNROLL for (int e = 0; e < ENDS; e++) {
      if (outside(t, e, x[e / 2])) atomicAdd(&a.beyond[e], 1ull);
      if (better(e, x[e / 2], k, value[e][me], at[e][me])) value[e][me] = x[e / 2], at[e][me] = k;
    }
  }
  for (unsigned half = THREADS / 2; half; half /= 2) {
    __syncthreads();
    for (int e = 0; me < half && e < ENDS; e++)
      if (better(e, value[e][me + half], at[e][me + half], value[e][me], at[e][me]))
        value[e][me] = value[e][me + half], at[e][me] = at[e][me + half];
  }
  __syncthreads();
  if (me < ENDS) a.value[group * ENDS + me] = value[me][0], a.at[group * ENDS + me] = at[me][0];
}

extern "C" int psdm_monte_load(const tables *given) {
  int code = 0;
  psdm_monte_close();
  here = *given;
  send(here.low, N, &code), send(here.high, N, &code);
  there.count = (unsigned *)room(ROWS * (size_t)BINS * sizeof(unsigned), &code);
  there.beyond = (unsigned long long *)room(ENDS * sizeof(unsigned long long), &code);
  there.value = (double *)room(GROUPS * (size_t)ENDS * sizeof(double), &code);
  there.at = (unsigned *)room(GROUPS * (size_t)ENDS * sizeof(unsigned), &code);
  return code;
}

extern "C" int psdm_monte_run(unsigned long long first, unsigned long long some) {
  groups = (some + GROUP - 1) / GROUP;
  if (!some) return 0;
  survey<<<(unsigned)groups, THREADS>>>(here, first, some, there);
  int code = cudaGetLastError();
  return code ? code : (int)cudaDeviceSynchronize();
}

extern "C" int psdm_monte_take(answers *to) {
  int code = cudaMemcpy(to->count, there.count, ROWS * (size_t)BINS * sizeof(unsigned), cudaMemcpyDeviceToHost);
  if (!code) code = cudaMemcpy(to->beyond, there.beyond, ENDS * sizeof(unsigned long long), cudaMemcpyDeviceToHost);
  if (!code) code = cudaMemcpy(to->value, there.value, groups * ENDS * sizeof(double), cudaMemcpyDeviceToHost);
  return code ? code : (int)cudaMemcpy(to->at, there.at, groups * ENDS * sizeof(unsigned), cudaMemcpyDeviceToHost);
}

#else
static unsigned count[ROWS * BINS], where[GROUPS * ENDS];
static unsigned long long beyond[ENDS];
static double value[GROUPS * ENDS];

extern "C" int psdm_monte_load(const tables *given) {
  here = *given;
  memset(count, 0, sizeof count);
  memset(beyond, 0, sizeof beyond);
  return 0;
}

extern "C" int psdm_monte_run(unsigned long long first, unsigned long long some) {
  groups = (some + GROUP - 1) / GROUP;
  for (unsigned long long i = 0; i < some; i++) {
    const unsigned k = (unsigned)(i % GROUP);
    double x[QUANTITIES], *v = value + i / GROUP * ENDS;
    unsigned *w = where + i / GROUP * ENDS;
    look(here, first + i, x);
    for (int c = 0; c < QUANTITIES; c++) count[place(c, x[c])]++;
    for (int e = 0; e < ENDS; e++) {
      beyond[e] += outside(here, e, x[e / 2]);
      if (k == 0 || better(e, x[e / 2], k, v[e], w[e])) v[e] = x[e / 2], w[e] = k;
    }
  }
  return 0;
}

extern "C" int psdm_monte_take(answers *to) {
  memcpy(to->count, count, sizeof count);
  memcpy(to->beyond, beyond, sizeof beyond);
  memcpy(to->value, value, groups * ENDS * sizeof *value);
  memcpy(to->at, where, groups * ENDS * sizeof *where);
  return 0;
}
#endif
