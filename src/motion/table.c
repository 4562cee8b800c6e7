/* table.c: motions through the points of a table, and the quintic spline for positions alone.
 *
 * A piece of degree five between two rows is given by q, qd, qdd at both. With rise = q1 - q0 and h the time between
 * them,
 *
 *   h^3 q'''(0) =   60 rise - 36 h qd0 - 24 h qd1 - 9 h^2 qdd0 + 3 h^2 qdd1
 *   h^3 q'''(h) =   60 rise - 24 h qd0 - 36 h qd1 - 3 h^2 qdd0 + 9 h^2 qdd1
 *   h^4 q''''(0) = -360 rise + 192 h qd0 + 168 h qd1 + 36 h^2 qdd0 - 24 h^2 qdd1
 *   h^4 q''''(h) =  360 rise - 168 h qd0 - 192 h qd1 - 24 h^2 qdd0 + 36 h^2 qdd1
 *
 * and the spline has the qd, qdd at its inner rows for which the third and fourth derivatives of neighbours agree
 * (Ahlberg, Nilson, Walsh, The theory of splines, 1967): a banded system with two unknowns and two equations per inner
 * row. Unknowns and equations are scaled by the time around their row, so that only the ratios of neighbouring
 * intervals matter. */
#include <lapacke.h>
#include <math.h>

#include "linalg/linalg.h"
#include "motion/motion_priv.h"

enum {
  BAND = 3,                    /* diagonals above and below: an equation reaches the two unknowns of both neighbours */
  HEIGHT = 3 * BAND + 1,       /* rows of LAPACK's band storage, room for pivoting included */
  MOST_ROWS = 10 * 1000 * 1000 /* of a spline: its matrix then takes 1.6 GB */
};

static psdm_status fail(psdm_error *error, psdm_status status, const char *text) {
  return psdmp_base_fail(error, status, "", 0, 0, "%s", text);
}

/* ---- the spline ---- */

/* the scale of an inner row's unknowns: qd scale and qdd scale^2 have the units of q */
static double scale_of(const psdm_motion *m, long row) {
  return row > 0 && row < m->rows - 1 ? (m->t[row + 1] - m->t[row - 1]) / 2 : 1;
}

/* adds to equation e (of row, counted from 0 and 1) the factor of unknown u of another row; end rows are at rest and
 * have no unknowns */
static void put(const psdm_motion *m, double *band, long row, int e, long other, int u, double factor) {
  if (other < 1 || other > m->rows - 2) return;
  double scale = scale_of(m, other);
  long line = 2 * (row - 1) + e, column = 2 * (other - 1) + u;
  band[column * HEIGHT + 2 * BAND + line - column] += factor / (u ? scale * scale : scale);
}

/* third and fourth derivatives of the piece before a row minus those of the piece after it, in powers of the row's
 * scale */
static void set_row(const psdm_motion *m, long row, double *band, double *right, long unknowns) {
  double scale = scale_of(m, row), before = m->t[row] - m->t[row - 1], behind = m->t[row + 1] - m->t[row];
  /* factors of h qd and h^2 qdd at the near and the far end of a piece, and of the rise away from the row: equal on
   * both sides but for signs */
  static const double near[2][2] = {{36, 9}, {192, 36}}, far[2][2] = {{24, 3}, {168, 24}}, rise[2] = {60, 360};
  for (int e = 0; e < 2; e++) {
    double left = pow(scale / before, 3 + e), other = pow(scale / behind, 3 + e), sign = e ? 1 : -1;
    put(m, band, row, e, row, 0, -near[e][0] * (left * before + sign * other * behind));
    put(m, band, row, e, row, 1, near[e][1] * (left * before * before - sign * other * behind * behind));
    put(m, band, row, e, row - 1, 0, -far[e][0] * left * before);
    put(m, band, row, e, row - 1, 1, -far[e][1] * left * before * before);
    put(m, band, row, e, row + 1, 0, -sign * far[e][0] * other * behind);
    put(m, band, row, e, row + 1, 1, sign * far[e][1] * other * behind * behind);
    const double *q = m->x[0] + row * m->n;
    for (int i = 0; i < m->n; i++)
      right[i * unknowns + 2 * (row - 1) + e] =
          -rise[e] * (left * (q[i] - q[i - m->n]) + sign * other * (q[i + m->n] - q[i]));
  }
}

/* qd and qdd of the inner rows from the solution; false where it is not finite */
static bool take_solution(psdm_motion *m, const double *solution, long unknowns) {
  bool finite = true;
  for (long row = 1; row < m->rows - 1; row++) {
    double scale = scale_of(m, row);
    for (int i = 0; i < m->n; i++) {
      const double *at = solution + i * unknowns + 2 * (row - 1);
      m->x[1][row * m->n + i] = at[0] / scale;
      m->x[2][row * m->n + i] = at[1] / (scale * scale);
      finite &= isfinite(m->x[1][row * m->n + i]) && isfinite(m->x[2][row * m->n + i]);
    }
  }
  return finite;
}

/* The quintic spline's velocities and accelerations at its rows from its positions; at rest at both ends. */
static psdm_status make_spline(psdm_motion *m, const psdm_allocator *allocator, psdm_error *error) {
  if (m->rows < 3) return PSDM_OK; /* no inner rows between two ends at rest */
  if (m->rows > MOST_ROWS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, "", 0, 0, "%ld rows; a spline takes at most %d", m->rows, MOST_ROWS);
  if (psdmp_linalg_blas_room(error)) return PSDM_E_MEMORY;
  long unknowns = 2 * (m->rows - 2);
  double *band = psdmp_base_alloc(allocator, (size_t)unknowns * HEIGHT * sizeof *band);
  double *right = psdmp_base_alloc(allocator, (size_t)unknowns * (size_t)m->n * sizeof *right);
  lapack_int *pivots = psdmp_base_alloc(allocator, (size_t)unknowns * sizeof *pivots);
  psdm_status status = PSDM_OK;
  if (!band || !right || !pivots) {
    status = fail(error, PSDM_E_MEMORY, "out of memory");
  } else {
    for (long row = 1; row < m->rows - 1; row++) set_row(m, row, band, right, unknowns);
    if (LAPACKE_dgbsv_work(LAPACK_COL_MAJOR, (lapack_int)unknowns, BAND, BAND, m->n, band, HEIGHT, pivots, right,
                           (lapack_int)unknowns) ||
        !take_solution(m, right, unknowns))
      status = fail(error, PSDM_E_ARGUMENT, "no spline fits these points: the times between them differ too much");
  }
  psdmp_base_free(allocator, band);
  psdmp_base_free(allocator, right);
  psdmp_base_free(allocator, pivots);
  return status;
}

/* ---- tables ---- */

long psdmp_motion_row_at(long rows, const double *t, double at) {
  long low = 0, high = rows; /* t[low] <= at < t[high], where those exist */
  while (high - low > 1) {
    long middle = low + (high - low) / 2;
    if (t[middle] <= at) low = middle;
    else high = middle;
  }
  return low;
}

long psdmp_motion_row_unsorted(long rows, const double *t) {
  for (long k = 0; k < rows; k++)
    if (!isfinite(t[k]) || (k && !(t[k] > t[k - 1]))) return k;
  return -1;
}

static psdm_status check_table(int n, long rows, const double *t, const double *const x[3], psdm_error *error) {
  if (n < 1 || rows < 1)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "a table of %ld rows of %d joints; at least one of each was expected", rows, n);
  if (x[2] && !x[1]) return fail(error, PSDM_E_ARGUMENT, "qdd is given without qd");
  long unsorted = psdmp_motion_row_unsorted(rows, t);
  if (unsorted >= 0)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "t of row %ld is not above that of the previous row",
                           unsorted + 1);
  for (int k = 0; k < 3; k++)
    for (long i = 0; x[k] && i < rows * n; i++)
      if (!isfinite(x[k][i]))
        return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "row %ld has a number that is not finite", i / n + 1);
  return PSDM_OK;
}

psdm_status psdm_motion_table(int n, long rows, const double *t, const double *q, const double *qd, const double *qdd,
                              const psdm_allocator *allocator, psdm_motion **out, psdm_error *error) {
  const double *const x[3] = {q, qd, qdd};
  *out = NULL;
  psdm_status status = check_table(n, rows, t, x, error);
  if (status) return status;
  psdm_motion *m = psdmp_motion_new(n, PSDMP_MOTION_PIECES, allocator);
  if (!m) return fail(error, PSDM_E_MEMORY, "out of memory");
  size_t count = (size_t)rows * (size_t)n;
  bool spline = !qd;
  m->rows = rows;
  m->degree = qd && !qdd ? 3 : 5;
  m->t = psdmp_motion_copy(m, t, (size_t)rows);
  bool whole = m->t;
  for (int k = 0; k < 3; k++) {
    if (!x[k] && !spline) continue;
    m->x[k] = x[k] ? psdmp_motion_copy(m, x[k], count) : psdmp_base_arena_alloc(&m->arena, count * sizeof *m->x[k]);
    whole &= m->x[k] != NULL;
  }
  if (whole) {
    m->begin = t[0];
    m->end = t[rows - 1];
    if (spline) status = make_spline(m, allocator, error);
  } else {
    status = fail(error, PSDM_E_MEMORY, "out of memory");
  }
  if (status) psdm_motion_free(m);
  else *out = m;
  return status;
}
