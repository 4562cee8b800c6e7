/* survey.c: the survey on the CPU, over threads and ranks. */
#include "analyze/survey_priv.h"

#include <math.h>
#include <stdatomic.h>

#include "linalg/linalg.h"
#ifdef _OPENMP
#include <omp.h>
#endif

/* samples of a unit of work; the request to other ranks */
enum { UNIT = 4 * PSDMP_ANALYZE_SURVEY_GROUP, SURVEY = 0 };

/* ---- drawing ---- */

/* streams 0 to 2 of a seed belong to reduce */
uint64_t psdmp_analyze_survey_state(uint64_t seed) {
  uint64_t state = seed * 4 + 3;
  return psdmp_base_random_bits(&state);
}

/* a point of the unit disc (Marsaglia 1972): its direction is uniform */
static double on_disc(uint64_t *state, double *u, double *v) {
  double square;
  do {
    *u = psdmp_base_random(state, -1, 1);
    *v = psdmp_base_random(state, -1, 1);
    square = *u * *u + *v * *v;
  } while (!(square < 1) || square == 0);
  return square;
}

/* Uniform on the sphere without logarithms: of a uniform unit vector with an even number of coordinates, taken in
 * pairs, the pairs' squared lengths are distributed like the pieces of a stick broken at uniform points, and their
 * directions are uniform. An extra coordinate is left out, and the rest scaled to length 1. */
static void on_sphere(uint64_t *state, int n, double *x) {
  double cut[PSDM_MAX_JOINTS / 2 + 2], sum = 0, u, v;
  int pairs = (n + 1) / 2;
  cut[0] = 0;
  for (int k = 1; k < pairs; k++) {
    cut[k] = psdmp_base_random(state, 0, 1);
    for (int m = k; m > 1; m--) {
      double low = fmin(cut[m - 1], cut[m]), high = fmax(cut[m - 1], cut[m]);
      cut[m - 1] = low, cut[m] = high;
    }
  }
  cut[pairs] = 1;
  for (int k = 0; k < pairs; k++) {
    double square = on_disc(state, &u, &v), stretch = sqrt((cut[k + 1] - cut[k]) / square);
    x[2 * k] = u * stretch;
    if (2 * k + 1 < n) x[2 * k + 1] = v * stretch;
  }
  for (int j = 0; j < n; j++) sum += x[j] * x[j];
  double size = sqrt(sum);
  for (int j = 0; j < n; j++) x[j] = sum > 0 ? x[j] / size : j == 0;
}

void psdmp_analyze_survey_draw(uint64_t state, int n, const psdmp_analyze_range *range, long number, double *q,
                               double *qd) {
  uint64_t own = state + (uint64_t)number;
  own = psdmp_base_random_bits(&own);
  for (int j = 0; j < n; j++) q[j] = psdmp_base_random(&own, range[j].lower, range[j].upper);
  on_sphere(&own, n, qd);
}

static void look_at(psdmp_analyze_norms *norms, const double *q, const double *qd, double x[PSDMP_ANALYZE_QUANTITIES]) {
  int n = norms->n;
  psdmp_analyze_norms_mass(norms, q);
  const double *eigen = psdmp_analyze_norms_eigen(norms, norms->M);
  x[PSDMP_ANALYZE_OF_LEAST] = eigen[0];
  x[PSDMP_ANALYZE_OF_MASS] = fmax(eigen[n - 1], -eigen[0]);
  x[PSDMP_ANALYZE_OF_CORIOLIS] = psdmp_analyze_norms_coriolis_at(norms, q, qd);
  x[PSDMP_ANALYZE_OF_GRAVITY] = psdmp_analyze_norms_gravity(norms, q);
}

/* ---- counting ---- */

psdmp_analyze_survey *psdmp_analyze_survey_new(const psdm_allocator *allocator) {
  psdmp_analyze_survey *s = psdmp_base_alloc(allocator, sizeof *s);
  if (!s) return NULL;
  s->count = psdmp_base_alloc(allocator, sizeof *s->count * PSDMP_ANALYZE_SURVEY_ROWS * PSDMP_REDUCE_BINS);
  if (s->count) return s;
  psdmp_base_free(allocator, s);
  return NULL;
}

void psdmp_analyze_survey_free(psdmp_analyze_survey *s, const psdm_allocator *allocator) {
  if (!s) return;
  psdmp_base_free(allocator, s->count);
  psdmp_base_free(allocator, s);
}

static bool better(int end, const psdmp_analyze_extreme *a, const psdmp_analyze_extreme *b) {
  if (a->value == b->value) return a->number < b->number;
  return end ? a->value > b->value : a->value < b->value;
}

/* inserts into the list of the best, which holds `kept` */
static void insert(int end, psdmp_analyze_extreme *list, int kept, psdmp_analyze_extreme x) {
  for (int k = 0; k < kept; k++)
    if (better(end, &x, &list[k])) {
      psdmp_analyze_extreme other = list[k];
      list[k] = x;
      x = other;
    }
  if (kept < PSDMP_ANALYZE_SURVEY_KEPT) list[kept] = x;
}

void psdmp_analyze_survey_keep(psdmp_analyze_survey *s, psdmp_analyze_quantity quantity, int end,
                               psdmp_analyze_extreme x) {
  insert(end, s->end[quantity][end], s->kept, x);
}

static void count(psdmp_analyze_survey *s, const psdmp_analyze_survey_aim *aim, const double *x) {
  for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++) {
    int row = k == PSDMP_ANALYZE_OF_LEAST && x[k] < 0 ? PSDMP_ANALYZE_QUANTITIES : k;
    s->count[(size_t)row * PSDMP_REDUCE_BINS +
             psdmp_reduce_bin(fabs(x[k]) / PSDMP_ANALYZE_SURVEY_UNIT, PSDMP_REDUCE_BIN_BITS)]++;
    s->beyond[k][0] += x[k] < aim->limit[k][0];
    s->beyond[k][1] += x[k] > aim->limit[k][1];
  }
}

static void merge(psdmp_analyze_survey *a, const psdmp_analyze_survey *b) {
  for (size_t k = 0; k < (size_t)PSDMP_ANALYZE_SURVEY_ROWS * PSDMP_REDUCE_BINS; k++) a->count[k] += b->count[k];
  a->samples += b->samples;
  for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++)
    for (int end = 0; end < 2; end++) {
      a->beyond[k][end] += b->beyond[k][end];
      for (int m = 0; m < b->kept; m++)
        insert(end, a->end[k][end], a->kept + m < PSDMP_ANALYZE_SURVEY_KEPT ? a->kept + m : PSDMP_ANALYZE_SURVEY_KEPT,
               b->end[k][end][m]);
    }
  a->kept = a->kept + b->kept < PSDMP_ANALYZE_SURVEY_KEPT ? a->kept + b->kept : PSDMP_ANALYZE_SURVEY_KEPT;
}

/* ---- units ---- */

typedef struct survey_run {
  const psdmp_analyze_survey_aim *aim;
  uint64_t state;
  long units, own; /* of all ranks, of this one */
  atomic_long done;
  atomic_bool stopped;
} survey_run;

typedef struct space {
  survey_run *run;
  psdmp_base_arena arena;
  psdmp_analyze_norms norms;
  double *q, *qd; /* (n) */
} space;

static void space_free(void *user, void *memory) {
  space *x = memory;
  psdmp_base_arena_free(&x->arena);
  psdmp_base_free(((survey_run *)user)->aim->allocator, x);
}

static void *space_new(void *user) {
  survey_run *run = user;
  space *x = psdmp_base_alloc(run->aim->allocator, sizeof *x);
  if (!x) return NULL;
  size_t row = sizeof(double) * (size_t)psdm_robot_n(run->aim->robot);
  x->run = run;
  x->arena.allocator = run->aim->allocator;
  x->q = psdmp_base_arena_alloc(&x->arena, row), x->qd = psdmp_base_arena_alloc(&x->arena, row);
  if (x->q && x->qd && psdmp_analyze_norms_make(&x->arena, run->aim->robot, &x->norms)) return x;
  space_free(user, x);
  return NULL;
}

static void add_group(space *x, long first, long last, psdmp_analyze_survey *to) {
  const psdmp_analyze_survey_aim *aim = x->run->aim;
  psdmp_analyze_extreme end[PSDMP_ANALYZE_QUANTITIES][2];
  double value[PSDMP_ANALYZE_QUANTITIES];
  for (long number = first; number < last; number++) {
    psdmp_analyze_survey_draw(x->run->state, x->norms.n, aim->range, number, x->q, x->qd);
    look_at(&x->norms, x->q, x->qd, value);
    count(to, aim, value);
    for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++)
      for (int e = 0; e < 2; e++) {
        const psdmp_analyze_extreme here = {value[k], number};
        if (number == first || better(e, &here, &end[k][e])) end[k][e] = here;
      }
  }
  for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++)
    for (int e = 0; e < 2; e++) psdmp_analyze_survey_keep(to, (psdmp_analyze_quantity)k, e, end[k][e]);
  to->samples += last - first;
  to->kept += to->kept < PSDMP_ANALYZE_SURVEY_KEPT;
}

/* only the calling thread asks whether to continue */
static bool goes_on(survey_run *run) {
  long done = atomic_fetch_add(&run->done, 1);
  if (atomic_load(&run->stopped)) return false;
#ifdef _OPENMP
  if (omp_get_thread_num() != 0) return true;
#endif
  if (!run->aim->progress || run->aim->progress(run->aim->progress_user, "samples", (double)done / (double)run->own))
    return true;
  atomic_store(&run->stopped, true);
  return false;
}

static psdm_status make_unit(void *memory, long unit, void **part, psdm_error *error) {
  space *x = memory;
  const psdmp_analyze_survey_aim *aim = x->run->aim;
  long end = (unit + 1) * UNIT < aim->samples ? (unit + 1) * UNIT : aim->samples;
  if (!goes_on(x->run)) return PSDM_OK; /* the samples so far are the survey */
  psdmp_analyze_survey *to = psdmp_analyze_survey_new(aim->allocator);
  if (!to) return psdmp_base_no_memory("", error);
  for (long first = unit * UNIT; first < end; first += PSDMP_ANALYZE_SURVEY_GROUP)
    add_group(x, first, first + PSDMP_ANALYZE_SURVEY_GROUP < end ? first + PSDMP_ANALYZE_SURVEY_GROUP : end, to);
  *part = to;
  if (!x->norms.status) return PSDM_OK;
  psdmp_analyze_survey_free(to, aim->allocator);
  *part = NULL;
  return psdmp_base_fail(error, x->norms.status, "", 0, 0, "%s", psdm_status_text(x->norms.status));
}

static psdm_status merge_parts(void *user, void *left, void *right) {
  merge(left, right);
  psdmp_analyze_survey_free(right, ((survey_run *)user)->aim->allocator);
  return PSDM_OK;
}

static void part_free(void *user, void *part) { psdmp_analyze_survey_free(part, ((survey_run *)user)->aim->allocator); }

static void put(void *user, const void *part, psdmp_parallel_bytes *to) {
  const psdmp_analyze_survey *s = part;
  (void)user;
  PSDMP_PARALLEL_PUT(to, s->samples);
  PSDMP_PARALLEL_PUT(to, s->beyond);
  PSDMP_PARALLEL_PUT(to, s->kept);
  PSDMP_PARALLEL_PUT(to, s->end);
  psdmp_parallel_bytes_put(to, s->count, sizeof *s->count * PSDMP_ANALYZE_SURVEY_ROWS * PSDMP_REDUCE_BINS);
}

static void *get(void *user, psdmp_parallel_bytes *from) {
  const psdm_allocator *allocator = ((survey_run *)user)->aim->allocator;
  psdmp_analyze_survey *s = psdmp_analyze_survey_new(allocator);
  if (!s) return NULL;
  PSDMP_PARALLEL_GET(from, s->samples);
  PSDMP_PARALLEL_GET(from, s->beyond);
  PSDMP_PARALLEL_GET(from, s->kept);
  PSDMP_PARALLEL_GET(from, s->end);
  psdmp_parallel_bytes_get(from, s->count, sizeof *s->count * PSDMP_ANALYZE_SURVEY_ROWS * PSDMP_REDUCE_BINS);
  if (!from->failed && s->kept >= 0 && s->kept <= PSDMP_ANALYZE_SURVEY_KEPT) return s;
  psdmp_analyze_survey_free(s, allocator);
  return NULL;
}

/* ---- all samples ---- */

static psdmp_parallel_spread spread_of(survey_run *run) {
  const psdmp_analyze_survey_aim *aim = run->aim;
  run->state = psdmp_analyze_survey_state(aim->seed);
  long first, last;
  run->units = (aim->samples + UNIT - 1) / UNIT;
  psdmp_parallel_team_share(aim->ranks, run->units, &first, &last);
  run->own = last - first;
  atomic_init(&run->done, 0);
  atomic_init(&run->stopped, false);
  return (psdmp_parallel_spread){.ranks = aim->ranks,
                                 .threads = aim->threads,
                                 .allocator = aim->allocator,
                                 .units = run->units,
                                 .user = run,
                                 .space_new = space_new,
                                 .space_free = space_free,
                                 .make = make_unit,
                                 .merge = merge_parts,
                                 .part_free = part_free,
                                 .put = put,
                                 .get = get};
}

psdm_status psdmp_analyze_survey_run(const psdmp_analyze_survey_aim *aim, psdmp_analyze_survey **survey,
                                     psdm_error *error) {
  survey_run run = {.aim = aim};
  psdmp_parallel_spread spread = spread_of(&run);
  psdmp_parallel_bytes request = {.allocator = aim->allocator};
  void *part = NULL;
  PSDMP_PARALLEL_PUT(&request, aim->seed);
  PSDMP_PARALLEL_PUT(&request, aim->samples);
  PSDMP_PARALLEL_PUT(&request, aim->limit);
  psdmp_linalg_blas_alone();
  psdm_status status = psdmp_parallel_spread_all(&spread, SURVEY, &request, &part, error);
  psdmp_linalg_blas_back();
  psdmp_parallel_bytes_free(&request);
  *survey = part;
  if (!status && !part && !(*survey = psdmp_analyze_survey_new(aim->allocator)))
    status = psdmp_base_no_memory("", error);
  return status;
}

static psdm_status help(void *user, int work, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                        psdm_error *error) {
  psdmp_analyze_survey_aim aim = *(const psdmp_analyze_survey_aim *)user;
  survey_run run = {.aim = &aim};
  PSDMP_PARALLEL_GET(request, aim.seed);
  PSDMP_PARALLEL_GET(request, aim.samples);
  PSDMP_PARALLEL_GET(request, aim.limit);
  aim.progress = NULL;
  if (work != SURVEY || request->failed)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "rank 0 sent rank %d a request that is not for samples",
                           aim.ranks->rank);
  psdmp_parallel_spread spread = spread_of(&run);
  return psdmp_parallel_spread_serve(&spread, answer, error);
}

psdm_status psdmp_analyze_survey_help(const psdmp_analyze_survey_aim *aim, psdm_error *error) {
  psdmp_analyze_survey_aim own = *aim;
  psdmp_linalg_blas_alone();
  psdm_status status = psdmp_parallel_team_serve(aim->ranks, help, &own, aim->allocator, error);
  psdmp_linalg_blas_back();
  return status;
}

/* ---- quantiles ---- */

/* upper end of a bin; the lowest one holds everything close to zero */
static double edge(uint32_t bin, bool negative) {
  double upper = psdmp_reduce_bin_edge(bin, PSDMP_REDUCE_BIN_BITS) * PSDMP_ANALYZE_SURVEY_UNIT,
         lower = bin ? psdmp_reduce_bin_edge(bin - 1, PSDMP_REDUCE_BIN_BITS) * PSDMP_ANALYZE_SURVEY_UNIT : 0;
  return negative ? -lower : upper;
}

double psdmp_analyze_survey_quantile(const psdmp_analyze_survey *s, psdmp_analyze_quantity quantity, double share) {
  uint64_t wanted = (uint64_t)ceil(share * (double)s->samples), seen = 0;
  const uint32_t *below = s->count + (size_t)PSDMP_ANALYZE_QUANTITIES * PSDMP_REDUCE_BINS,
                 *above = s->count + (size_t)quantity * PSDMP_REDUCE_BINS;
  double least = s->end[quantity][0][0].value, largest = s->end[quantity][1][0].value;
  if (wanted < 1) wanted = 1;
  for (uint32_t bin = PSDMP_REDUCE_BINS; bin-- > 0 && quantity == PSDMP_ANALYZE_OF_LEAST;)
    if ((seen += below[bin]) >= wanted) return fmin(fmax(edge(bin, true), least), largest);
  for (uint32_t bin = 0; bin < PSDMP_REDUCE_BINS; bin++)
    if ((seen += above[bin]) >= wanted) return fmin(fmax(edge(bin, false), least), largest);
  return largest;
}
