/* base_recursion.c: base parameters without forming Psi (the idea of Gautier and Khalil 1990 in linear algebra).
 *
 * V_k is the span of all functionals on body k's parameters, T_k the part of it that appears with functions that the parent's
 * parameters do not share:
 *   T_k = span{ V_parent Lambda_b (b > 0), the rows of D_ik for i up to k },   V_k = V_parent Lambda_0 + T_k.
 * A direction u that T_k does not see can be moved to the parent: body k gets -u, the parent Lambda_0 u, and no torque changes.
 * So the number of base parameters is the sum of the ranks of T_k, and each decision is made in eleven dimensions (the ten
 * parameters and the drive inertia, which only D_kk sees). */
#include <math.h>
#include <string.h>

#include "derive/collect.h"

enum { WIDE = PSDMP_STANDARD + 1, DRIVE = PSDMP_STANDARD };

static const int length_degree[WIDE] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2};

/* within a link: XX XY XZ YY YZ ZZ mx my mz m Ia; what comes last is dropped first, and then formulas are polynomials in lengths */
static const int keep_order[WIDE] = {4, 5, 6, 7, 8, 9, 1, 2, 3, 0, DRIVE};

/* rows below this, of unit rows, are rounding: a dozen joints give 1e-14, what is real was seen at 8e-3 and above */
static const double RANK_TOLERANCE = 1e-9;

/* an orthonormal set of rows, and how clear the decisions were */
typedef struct span {
  int rank, width;
  double row[WIDE][WIDE];
} span;

typedef struct body_base {
  span V, T, twists;      /* twists: span of the joints' twists at this body (6 wide) */
  int kept, dropped;
  int keep[WIDE], drop[WIDE];
  double R[WIDE][WIDE];   /* column drop[d] = sum over j of R[j][d] column keep[j], in true units */
  double L0[100];         /* Lambda_0, true units */
} body_base;

typedef struct judge {
  double dropped, kept; /* largest residual taken for zero, smallest that was not */
} judge;

static double norm(int width, const double *x) {
  double sum = 0;
  for (int i = 0; i < width; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* adds a row unless the span has it (Gram-Schmidt, twice) */
static void add_row(span *s, const double *row, judge *j) {
  double x[WIDE], size = norm(s->width, row);
  if (s->rank == s->width) return;
  if (size < RANK_TOLERANCE) { /* rows are made of unit rows and scaled geometry: one this small is rounding, not a direction */
    j->dropped = fmax(j->dropped, size);
    return;
  }
  for (int i = 0; i < s->width; i++) x[i] = row[i] / size;
  for (int pass = 0; pass < 2; pass++)
    for (int r = 0; r < s->rank; r++) {
      double dot = 0;
      for (int i = 0; i < s->width; i++) dot += x[i] * s->row[r][i];
      for (int i = 0; i < s->width; i++) x[i] -= dot * s->row[r][i];
    }
  double left = norm(s->width, x);
  if (left < RANK_TOLERANCE) {
    j->dropped = fmax(j->dropped, left);
    return;
  }
  j->kept = fmin(j->kept, left);
  for (int i = 0; i < s->width; i++) s->row[s->rank][i] = x[i] / left;
  s->rank++;
}

/* the joint's matrices with parameters in units of reach^degree and twists in units of reach */
static void scale_maps(psdmp_joint_maps *maps, double reach) {
  const double power[5] = {1 / (reach * reach), 1 / reach, 1, reach, reach * reach};
  for (int b = 0; b < maps->count; b++)
    for (int i = 0; i < PSDMP_STANDARD; i++)
      for (int j = 0; j < PSDMP_STANDARD; j++) maps->L[b][10 * i + j] *= power[2 + length_degree[j] - length_degree[i]];
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) maps->Ad[b][6 * i + j] *= power[2 + (j >= 3) - (i >= 3)];
  for (int i = 3; i < 6; i++) maps->twist[i] /= reach;
}

/* y = x M */
static void times(const double x[WIDE], const double M[100], double y[WIDE]) {
  for (int j = 0; j < WIDE; j++) y[j] = 0;
  for (int i = 0; i < PSDMP_STANDARD; i++)
    for (int j = 0; x[i] != 0 && j < PSDMP_STANDARD; j++) y[j] += x[i] * M[10 * i + j];
}

/* y = M x for a twist */
static void turn(const double M[36], const double *x, double y[6]) {
  for (int i = 0; i < 6; i++) {
    y[i] = 0;
    for (int c = 0; c < 6; c++) y[i] += M[6 * i + c] * x[c];
  }
}

/* twists of all joints on the path, seen at this body */
static void set_twists(body_base *k, const body_base *parent, const psdmp_joint_maps *maps, judge *j) {
  k->twists = (span){.width = 6};
  for (int r = 0; parent && r < parent->twists.rank; r++)
    for (int b = 0; b < 3; b++) {
      double y[WIDE] = {0};
      turn(maps->Ad[b], parent->twists.row[r], y);
      add_row(&k->twists, y, j);
    }
  add_row(&k->twists, maps->twist, j);
}

/* the row of D between two twists in scaled units */
static void mass_row(const double *a, const double *b, double row[WIDE]) {
  psdmp_inertia_row(a, b, row);
  row[DRIVE] = 0;
}

static void set_spans(body_base *k, const body_base *parent, const span *base, const psdmp_joint_maps *maps, judge *j) {
  const span *V = parent ? &parent->V : base;
  const double *own = maps->twist;
  double y[WIDE];
  k->T = (span){.width = WIDE};
  for (int r = 0; r < V->rank; r++)
    for (int b = 1; b < maps->count; b++) {
      times(V->row[r], maps->L[b], y);
      add_row(&k->T, y, j);
    }
  for (int r = 0; parent && r < parent->twists.rank; r++)
    for (int b = 0; b < 3; b++) { /* joints before this one: their twists here */
      double w[6];
      turn(maps->Ad[b], parent->twists.row[r], w);
      mass_row(w, own, y);
      add_row(&k->T, y, j);
    }
  mass_row(own, own, y);
  y[DRIVE] = 1; /* the drive turns with its own joint alone */
  add_row(&k->T, y, j);

  /* V lives in the ten parameters */
  k->V = (span){.width = PSDMP_STANDARD};
  for (int r = 0; r < k->T.rank; r++) add_row(&k->V, k->T.row[r], j);
  for (int r = 0; r < V->rank; r++) {
    times(V->row[r], maps->L[0], y);
    add_row(&k->V, y, j);
  }
}

/* which columns of T to keep, greedily in keep_order, and the others in terms of them */
static void choose_columns(body_base *k, bool has_drive, double reach, judge *j) {
  double Q[WIDE][WIDE], U[WIDE][WIDE] = {{0}}; /* kept columns = Q U, Q orthonormal, U upper triangular */
  int r = k->T.rank;
  for (int o = 0; o < WIDE; o++) {
    int column = keep_order[o];
    double x[WIDE], dot[WIDE] = {0};
    if (column == DRIVE && !has_drive) continue;
    for (int i = 0; i < r; i++) x[i] = k->T.row[i][column];
    double size = norm(r, x);
    for (int pass = 0; pass < 2; pass++)
      for (int c = 0; c < k->kept; c++) {
        double d = 0;
        for (int i = 0; i < r; i++) d += Q[c][i] * x[i];
        for (int i = 0; i < r; i++) x[i] -= d * Q[c][i];
        dot[c] += d;
      }
    double left = norm(r, x);
    if (left > RANK_TOLERANCE * fmax(size, 1e-3)) {
      j->kept = fmin(j->kept, left);
      for (int i = 0; i < r; i++) Q[k->kept][i] = x[i] / left;
      for (int c = 0; c < k->kept; c++) U[c][k->kept] = dot[c];
      U[k->kept][k->kept] = left;
      k->keep[k->kept++] = column;
      continue;
    }
    j->dropped = fmax(j->dropped, left);
    /* back substitution: U R = dot */
    for (int c = k->kept - 1; c >= 0; c--) {
      double value = dot[c];
      for (int e = c + 1; e < k->kept; e++) value -= U[c][e] * k->R[e][k->dropped];
      k->R[c][k->dropped] = value / U[c][c];
    }
    for (int c = 0; c < k->kept; c++) {
      double *entry = &k->R[c][k->dropped];
      if (fabs(*entry) < 1e-12) *entry = 0;
      *entry *= pow(reach, length_degree[k->keep[c]] - length_degree[column]);
    }
    k->drop[k->dropped++] = column;
  }
}

/* ---- formulas ---- */

/* effective parameters of each body: (11 x standard) rows over the standard parameters, what was moved to it included */
typedef struct formulas {
  int standard;
  double *row;   /* (bodies x 11 x standard) */
  double *theta; /* (standard) one formula at a time */
} formulas;

static double *effective(const formulas *f, int body, int i) { return f->row + ((size_t)body * WIDE + (size_t)i) * (size_t)f->standard; }

/* to += factor * from */
static void accumulate(int count, double *to, double factor, const double *from) {
  if (factor == 0) return;
  for (int i = 0; i < count; i++) to[i] += factor * from[i];
}

/* moves the dropped directions of body b to its parent: Lambda_0 u_d, u_d = e_d - sum R e_keep */
static void move_to_parent(const formulas *f, const body_base *k, int b, int parent) {
  for (int d = 0; d < k->dropped; d++) {
    double u[PSDMP_STANDARD] = {0};
    if (k->drop[d] != DRIVE) u[k->drop[d]] = 1;
    for (int c = 0; c < k->kept; c++)
      if (k->keep[c] != DRIVE) u[k->keep[c]] -= k->R[c][d];
    for (int i = 0; i < PSDMP_STANDARD; i++) {
      double moved = 0;
      for (int e = 0; e < PSDMP_STANDARD; e++) moved += k->L0[10 * i + e] * u[e];
      if (fabs(moved) > 1e-14) accumulate(f->standard, effective(f, parent, i), moved, effective(f, b, k->drop[d]));
    }
  }
}

/* formula of one kept parameter, the parameter itself first */
bool psdmp_store_formula(psdm_model *m, psdmp_base *base, const double *theta) {
  double largest = 0;
  int terms = 1;
  for (int i = 0; i < m->standard; i++) largest = fmax(largest, fabs(theta[i]));
  for (int i = 0; i < m->standard; i++) terms += i != base->parameter && fabs(theta[i]) > 1e-12 * largest;
  base->term = psdmp_arena_alloc(&m->arena, (size_t)terms * sizeof *base->term);
  if (!base->term) return false;
  base->term[base->terms++] = (psdmp_base_term){base->parameter, theta[base->parameter]};
  for (int i = 0; i < m->standard; i++)
    if (i != base->parameter && fabs(theta[i]) > 1e-12 * largest) base->term[base->terms++] = (psdmp_base_term){i, theta[i]};
  return true;
}

/* the same order over all links */
void psdmp_keep_order(const psdm_robot *r, int *order) {
  int at = 0;
  for (int number = 0; number < r->bodies; number++) {
    for (int o = 0; o + 1 < WIDE; o++) order[at++] = PSDMP_STANDARD * number + keep_order[o];
    for (int d = 0; d < r->drives; d++)
      if (r->joint[r->drive[d].index].link == number) order[at++] = PSDMP_STANDARD * r->bodies + d;
  }
}

static int standard_index(const psdm_robot *r, int body, int column) {
  if (column != DRIVE) return PSDMP_STANDARD * r->body[body].number + column;
  return PSDMP_STANDARD * r->bodies + r->joint[r->body[body].index].drive;
}

static bool write_formulas(const psdm_robot *r, const body_base *k, psdm_model *m, psdmp_arena *scratch) {
  formulas f = {.standard = m->standard};
  f.row = psdmp_arena_alloc(scratch, (size_t)r->bodies * WIDE * (size_t)m->standard * sizeof(double));
  f.theta = psdmp_arena_alloc(scratch, (size_t)m->standard * sizeof(double));
  int *by_number = psdmp_arena_alloc(scratch, (size_t)r->bodies * sizeof *by_number);
  for (int b = 0; b < r->bodies; b++) m->l += k[b].kept;
  m->base = psdmp_arena_alloc(&m->arena, (size_t)(m->l ? m->l : 1) * sizeof *m->base);
  if (!f.row || !f.theta || !by_number || !m->base) return false;
  for (int b = r->bodies - 1; b >= 0; b--) {
    by_number[r->body[b].number] = b;
    bool drive = r->joint[r->body[b].index].drive >= 0;
    for (int i = 0; i < WIDE; i++)
      if (i != DRIVE || drive) effective(&f, b, i)[standard_index(r, b, i)] += 1;
    if (r->body[b].parent >= 0) move_to_parent(&f, &k[b], b, r->body[b].parent);
  }
  int j = 0;
  for (int number = 0; number < r->bodies; number++) { /* file order, then keep order */
    int b = by_number[number];
    for (int c = 0; c < k[b].kept; c++, j++) {
      memcpy(f.theta, effective(&f, b, k[b].keep[c]), (size_t)m->standard * sizeof *f.theta);
      for (int d = 0; d < k[b].dropped; d++) accumulate(m->standard, f.theta, k[b].R[c][d], effective(&f, b, k[b].drop[d]));
      m->base[j].parameter = standard_index(r, b, k[b].keep[c]);
      if (!psdmp_store_formula(m, &m->base[j], f.theta)) return false;
    }
  }
  return true;
}

psdm_status psdmp_base_recursion(const psdm_robot *r, double reach, psdm_model *m, psdm_derive_info *info, psdm_error *error) {
  psdmp_arena scratch = {.allocator = m->arena.allocator};
  body_base *k = psdmp_arena_alloc(&scratch, (size_t)r->bodies * sizeof *k);
  psdmp_joint_maps *maps = psdmp_arena_alloc(&scratch, sizeof *maps);
  judge j = {0, INFINITY};
  bool ok = k && maps;
  /* before any joint only gravity has a functional: -g over the first moments */
  span base = {.width = PSDMP_STANDARD};
  double g[WIDE] = {0, r->gravity[0], r->gravity[1], r->gravity[2]};
  add_row(&base, g, &j);
  for (int b = 0; ok && b < r->bodies; b++) {
    const body_base *parent = r->body[b].parent < 0 ? NULL : &k[r->body[b].parent];
    psdmp_joint_maps_set(r, b, reach, maps);
    memcpy(k[b].L0, maps->L[0], sizeof k[b].L0);
    scale_maps(maps, reach);
    set_twists(&k[b], parent, maps, &j);
    set_spans(&k[b], parent, &base, maps, &j);
    choose_columns(&k[b], r->joint[r->body[b].index].drive >= 0, reach, &j);
  }
  ok = ok && write_formulas(r, k, m, &scratch);
  info->rank_dropped = j.dropped;
  info->rank_kept = j.kept;
  psdmp_arena_free(&scratch);
  return ok ? PSDM_OK : psdmp_fail(error, PSDM_E_MEMORY, r->file, 0, 0, "out of memory while deriving");
}
