/* closed_branch.c: finds the passive joints: from the file's position to q along a straight line, in steps short enough
 * for the loops to stay on that position's branch: each is a linear prediction followed by Newton corrections. */
#include <math.h>
#include <string.h>

#include "rigid/closed_priv.h"

enum { MOST_STEPS = 50 };

/* Angles are compared in radians, displacements in units of the loops' size. */
static const double STEP = 0.1,       /* of the independent joints */
    FAR = 0.3,                        /* of the passive ones in a step */
    NEAR = 0.1,                       /* error of a prediction */
    SHORTEST = 1e-5;                  /* part of STEP */
static const double ROUNDING = 1e-13; /* corrections end here */
static const double OPEN = 1e-10;     /* gaps above this, in units of the size, are open */

/* ---- Newton's method on the passive joints, the independent ones fixed ---- */

/* one correction, of half a unit at most; returns its size before clipping, negative where the loops are singular */
static double correct(const psdm_robot *r, psdmp_rigid_closed_work *w) {
  const psdmp_robot_closure *c = r->closure;
  double step[PSDM_MAX_JOINTS], longest = 0;
  psdmp_rigid_closed_gaps(r, w, true);
  if (!psdmp_rigid_closed_factorise(r, w)) return -1;
  psdmp_rigid_closed_solve(r, w, w->gap, 1, step);
  for (int j = 0; j < c->passives; j++) longest = fmax(longest, fabs(step[j]) / c->unit[c->passive[j]]);
  double scale = longest > 0.5 ? 0.5 / longest : 1;
  for (int j = 0; j < c->passives; j++) w->q[c->passive[j]] -= scale * step[j];
  return longest;
}

/* from any start */
static bool search(const psdm_robot *r, psdmp_rigid_closed_work *w) {
  double longest = 1;
  for (int i = 0; i < MOST_STEPS && longest > ROUNDING; i++)
    if ((longest = correct(r, w)) < 0) return false;
  return true; /* as close as it gets; the caller checks the gaps */
}

/* From a prediction: corrections that do not shrink by half lead to another branch, unless they are down to
 * rounding. */
static bool refine(const psdm_robot *r, psdmp_rigid_closed_work *w, double tolerance) {
  double before = 2 * NEAR;
  for (int i = 0; i < MOST_STEPS; i++) {
    double longest = correct(r, w);
    if (!(longest >= 0)) return false;
    if (longest <= tolerance) return true;
    if (longest > 0.5 * before) return before < 1e-6;
    before = longest;
  }
  return true;
}

static bool closed(const psdm_robot *r, const psdmp_rigid_closed_work *w) {
  double widest = 0;
  for (int i = 0; i < 3 * r->closure->loops; i++) {
    double gap = fabs(w->gap[i]);
    if (!(gap <= widest)) widest = gap;
  }
  return widest < OPEN * r->closure->size;
}

/* ---- one step ---- */

/* first-order prediction of the passive joints when the independent ones move to home + part (q - home); false when
 * that is far, as near a singular position, where too long a step would end on another branch */
static bool predict(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q, double part) {
  const psdmp_robot_closure *c = r->closure;
  double move[PSDM_MAX_JOINTS], rate[PSDM_MAX_JOINTS];
  psdmp_rigid_closed_gaps(r, w, true);
  if (!psdmp_rigid_closed_factorise(r, w)) return false;
  for (int i = 0; i < r->n; i++) {
    double to = part == 1 ? q[i] : c->home[i] + part * (q[i] - c->home[i]);
    rate[i] = to - w->q[c->independent[i]];
  }
  for (int e = 0; e < 3 * c->loops; e++) {
    w->gap[e] = 0;
    for (int i = 0; i < r->n; i++) w->gap[e] += w->A[(long)e * c->tree->n + c->independent[i]] * rate[i];
  }
  psdmp_rigid_closed_solve(r, w, w->gap, 1, move);
  for (int j = 0; j < c->passives; j++)
    if (!(fabs(move[j]) < FAR * c->unit[c->passive[j]])) return false;
  for (int i = 0; i < r->n; i++) w->q[c->independent[i]] += rate[i];
  for (int j = 0; j < c->passives; j++) w->q[c->passive[j]] -= move[j];
  return true;
}

/* the sign of the determinant of an (m x m) matrix, by elimination in place */
static int orientation(int m, double *X) {
  int sign = 1;
  for (int k = 0; k < m; k++) {
    int pivot = k;
    for (int i = k + 1; i < m; i++)
      if (fabs(X[(long)i * m + k]) > fabs(X[(long)pivot * m + k])) pivot = i;
    for (int j = 0; j < m && pivot != k; j++) {
      double swap = X[(long)k * m + j];
      X[(long)k * m + j] = X[(long)pivot * m + j];
      X[(long)pivot * m + j] = swap;
    }
    double p = X[(long)k * m + k];
    if (p == 0) return 0;
    if ((pivot != k) != (p < 0)) sign = -sign;
    for (int i = k + 1; i < m; i++)
      for (int j = m - 1; j >= k; j--) X[(long)i * m + j] -= X[(long)i * m + k] / p * X[(long)k * m + j];
  }
  return sign;
}

/* whether the passive columns kept their orientation since Q_before: it changes sign where a branch ends, which detects
 * a step across a singular position. The determinant of Q_before^T A_p. */
static bool same_branch(const psdm_robot *r, psdmp_rigid_closed_work *w) {
  const psdmp_robot_closure *c = r->closure;
  int e = 3 * c->loops, m = c->passives;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      w->turn[(long)i * m + j] = 0;
      for (int k = 0; k < e; k++)
        w->turn[(long)i * m + j] += w->Q_before[(long)i * e + k] * w->A[(long)k * c->tree->n + c->passive[j]];
    }
  return orientation(m, w->turn) > 0;
}

/* one step; false, with nothing changed, when it is too long */
static bool advance(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q, double part) {
  const psdmp_robot_closure *c = r->closure;
  double before[PSDM_MAX_JOINTS];
  memcpy(before, w->q, sizeof *before * (size_t)c->tree->n);
  bool ok = predict(r, w, q, part);
  memcpy(w->Q_before, w->Q, sizeof *w->Q * 3 * (size_t)c->loops * (size_t)c->passives);
  ok = ok && refine(r, w, part == 1 ? ROUNDING : 1e-5) && same_branch(r, w);
  if (!ok) memcpy(w->q, before, sizeof *before * (size_t)c->tree->n);
  for (int i = 0; i < r->n && ok && part == 1; i++) w->q[c->independent[i]] = q[i];
  return ok;
}

/* ---- the whole path ---- */

/* w->home, once. */
static void go_home(const psdm_robot *r, psdmp_rigid_closed_work *w) {
  const psdmp_robot_closure *c = r->closure;
  if (w->at_home) return;
  for (int i = 0; i < r->n; i++) w->q[c->independent[i]] = c->home[i];
  for (int j = 0; j < c->passives; j++) w->q[c->passive[j]] = c->start[j];
  if (!search(r, w)) return;
  psdmp_rigid_closed_gaps(r, w, false);
  w->at_home = closed(r, w);
  memcpy(w->home, w->q, sizeof *w->q * (size_t)c->tree->n);
}

psdm_status psdmp_rigid_closed_position(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q) {
  const psdmp_robot_closure *c = r->closure;
  double farthest = 0;
  for (int i = 0; i < r->n; i++) {
    double way = fabs(q[i] - c->home[i]) / c->unit[c->independent[i]];
    if (!(way <= farthest)) farthest = way;
  }
  go_home(r, w);
  if (!w->at_home || !(farthest < 1e3)) return PSDM_E_LOOP;
  memcpy(w->q, w->home, sizeof *w->q * (size_t)c->tree->n);
  double longest = farthest > STEP ? STEP / farthest : 1, step = longest;
  for (double part = 0; part < 1;) {
    double next = part + step < 1 ? part + step : 1;
    if (advance(r, w, q, next)) {
      part = next;
      step = fmin(2 * step, longest);
    } else if ((step *= 0.5) < SHORTEST * longest) {
      return PSDM_E_LOOP; /* a singular position blocks the path */
    }
  }
  psdmp_rigid_closed_gaps(r, w, true);
  return closed(r, w) && psdmp_rigid_closed_factorise(r, w) ? PSDM_OK : PSDM_E_LOOP;
}
