/* ellipsoid.c: velocity, acceleration and apparent mass of a link in each direction. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "psdm/analyze.h"

size_t psdm_ellipsoids_scratch(const psdm_robot *robot) {
  size_t n = (size_t)psdm_robot_n(robot);
  return 6 * n + n * n + 3 * n + n;
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void rotate(int n, double *a, double *b, double c, double s) {
  for (int i = 0; i < n; i++) {
    double x = a[i], y = b[i];
    a[i] = c * x + s * y;
    b[i] = c * y - s * x;
  }
}

/* makes rows a and b orthogonal; true if they already were */
static bool turn_rows(int n, double *A, double *U, int a, int b) {
  double *x = A + (long)a * n, *y = A + (long)b * n, xx = dot(n, x, x), yy = dot(n, y, y), xy = dot(n, x, y);
  if (fabs(xy) <= 1e-16 * sqrt(xx * yy) || xy == 0) return true;
  double zeta = (xx - yy) / (2 * xy), t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta)),
         c = 1 / sqrt(1 + t * t);
  rotate(n, x, y, c, c * t);
  rotate(3, U + 3 * a, U + 3 * b, c, c * t);
  return false;
}

/* A (3 x n) = U^T diag(axis) V by rotations of its rows (Hestenes 1958): small axes are as accurate as large ones; A is
 * overwritten */
static void axes_of(int n, double *A, psdm_ellipsoid *e) {
  double *U = e->direction;
  for (int i = 0; i < 9; i++) U[i] = i % 4 == 0;
  for (int sweep = 0; sweep < 40; sweep++) {
    bool done = turn_rows(n, A, U, 0, 1);
    done = turn_rows(n, A, U, 0, 2) && done;
    done = turn_rows(n, A, U, 1, 2) && done;
    if (done) break;
  }
  for (int i = 0; i < 3; i++) e->axis[i] = sqrt(dot(n, A + (long)i * n, A + (long)i * n));
}

static void exchange(psdm_ellipsoid *e, int a, int b) {
  double row[3], axis = e->axis[a];
  memcpy(row, e->direction + 3 * a, sizeof row);
  memcpy(e->direction + 3 * a, e->direction + 3 * b, sizeof row);
  memcpy(e->direction + 3 * b, row, sizeof row);
  e->axis[a] = e->axis[b];
  e->axis[b] = axis;
}

static void sort_falling(psdm_ellipsoid *e) {
  if (e->axis[0] < e->axis[1]) exchange(e, 0, 1);
  if (e->axis[1] < e->axis[2]) exchange(e, 1, 2);
  if (e->axis[0] < e->axis[1]) exchange(e, 0, 1);
}

/* y = L^-1 x, or L^-T L^-1 x, for each row */
static void solve_rows(int n, const double *L, bool whole, double *A) {
  for (int r = 0; r < 3; r++) {
    double *x = A + (long)r * n;
    if (whole) {
      psdmp_linalg_cholesky_solve(n, L, x);
      continue;
    }
    for (int i = 0; i < n; i++) x[i] = (x[i] - dot(i, L + (long)i * n, x)) / L[(long)i * n + i];
  }
}

/* a direction with a shorter axis cannot move at all */
static const double stuck = 1e-12;

psdm_status psdm_ellipsoids_at(const psdm_robot *robot, psdm_work *work, const double *q, int joint, double *scratch,
                               psdm_ellipsoid *velocity, psdm_ellipsoid *acceleration, psdm_ellipsoid *inertia,
                               double *manipulability) {
  int n = psdm_robot_n(robot);
  size_t rows = sizeof(double) * 3 * (size_t)n;
  double *J = scratch, *M = J + 6 * n, *A = M + n * n;
  psdm_ellipsoid v;
  psdm_status status = psdm_jacobian(robot, work, q, joint, J);
  if (status) return status;
  memcpy(A, J, rows);
  axes_of(n, A, &v);
  sort_falling(&v);
  if (velocity) *velocity = v;
  for (int k = 0; k < 3 && manipulability; k++) manipulability[k] = (k ? manipulability[k - 1] : 1) * v.axis[k];
  if (!acceleration && !inertia) return PSDM_OK;
  status = psdm_mass(robot, work, q, M);
  if (status) return status;
  if (!psdmp_linalg_cholesky(n, M)) return PSDM_E_SINGULAR;
  if (acceleration) {
    memcpy(A, J, rows);
    solve_rows(n, M, true, A);
    axes_of(n, A, acceleration);
    sort_falling(acceleration);
  }
  if (inertia) {
    memcpy(A, J, rows);
    solve_rows(n, M, false, A);
    axes_of(n, A, inertia);
    double largest = fmax(fmax(inertia->axis[0], inertia->axis[1]), inertia->axis[2]);
    for (int k = 0; k < 3; k++)
      inertia->axis[k] = inertia->axis[k] > stuck * largest ? 1 / (inertia->axis[k] * inertia->axis[k]) : INFINITY;
    sort_falling(inertia);
  }
  return PSDM_OK;
}
