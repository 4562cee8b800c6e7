/* base_recursion.c: base parameters without forming Psi (the idea of Gautier and Khalil 1990 in linear algebra).
 *
 * V_k are the functionals on body k's parameters, T_k the part of them that appears with functions not shared by the
 * parent's parameters:
 *   T_k = { V_parent Lambda_b (b > 0), the rows of D_ik for i up to k },   V_k = { V_parent Lambda_0, T_k }.
 * A direction u in the null space of T_k can be moved to the parent: body k gets -u, the parent Lambda_0 u, and no
 * torque changes. So the number of base parameters is the sum of the ranks of T_k, and each decision is made in eleven
 * dimensions (the ten parameters and the drive inertia, which appears in D_kk alone).
 *
 * Rows keep their size: sums of squares over V_k and T_k are means over all angles, so that the remainder of a row is
 * the torque of a unit direction at unit accelerations, in units of the reach. An axis that is off by 1e-7 thus gives
 * directions of 1e-7, and one is treated as zero only where it changes no torque. */
#include <math.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "linalg/linalg.h"

enum { WIDE = PSDMP_ROBOT_STANDARD + 1, DRIVE = PSDMP_ROBOT_STANDARD, TWIST = 6 };
enum { MOST_ROWS = 4 * PSDMP_ROBOT_STANDARD + 3 * TWIST + 1 };

/* within a link: XX XY XZ YY YZ ZZ mx my mz m Ia; the last are dropped first, which makes formulas polynomials in the
 * lengths */
static const int keep_order[WIDE] = {4, 5, 6, 7, 8, 9, 1, 2, 3, 0, DRIVE};

/* rows below this are rounding: a dozen joints give 1e-15 */
static const double RANK_TOLERANCE = 1e-13;

/* rows, stored as their triangle, which has the same sums of squares */
typedef struct span {
  int rows;
  double row[WIDE][WIDE];
} span;

/* rows collected for one */
typedef struct heap {
  int rows, width;
  double column[WIDE][MOST_ROWS];
} heap;

typedef struct body_base {
  span V, T, twists; /* twists: those of the joints at this body (6 wide) */
  int kept, dropped;
  int keep[WIDE], drop[WIDE];
  double R[WIDE][WIDE]; /* column drop[d] = sum over j of R[j][d] column keep[j] */
  double L0[100];       /* Lambda_0 */
} body_base;

typedef struct judge {
  double tolerance, dropped, kept; /* largest remainder treated as zero, smallest that was not */
} judge;

static void add_row(heap *h, double weight, const double *row) {
  bool any = false;
  for (int i = 0; i < h->width; i++) any |= row[i] != 0;
  if (!any) return;
  for (int i = 0; i < h->width; i++) h->column[i][h->rows] = weight * row[i];
  h->rows++;
}

/* Householder reflections; empty rows are left out */
static void compress(heap *h, span *out) {
  *out = (span){.rows = 0};
  for (int c = 0; c < h->width && c < h->rows; c++) {
    double *x = h->column[c], sum = 0;
    for (int i = c; i < h->rows; i++) sum += x[i] * x[i];
    if (sum == 0) continue;
    double size = x[c] > 0 ? -sqrt(sum) : sqrt(sum), square = sum - x[c] * size;
    x[c] -= size;
    for (int k = c + 1; k < h->width; k++) {
      double *y = h->column[k], part = 0;
      for (int i = c; i < h->rows; i++) part += x[i] * y[i];
      part /= square;
      for (int i = c; part != 0 && i < h->rows; i++) y[i] -= part * x[i];
    }
    x[c] = size;
    for (int i = c + 1; i < h->rows; i++) x[i] = 0;
  }
  for (int i = 0; i < h->width && i < h->rows; i++) {
    bool any = false;
    for (int k = 0; k < h->width; k++) any |= (out->row[out->rows][k] = h->column[k][i]) != 0;
    out->rows += any;
  }
}

/* y = x M */
static void times(const double x[WIDE], const double M[100], double y[WIDE]) {
  for (int j = 0; j < WIDE; j++) y[j] = 0;
  for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++)
    for (int j = 0; x[i] != 0 && j < PSDMP_ROBOT_STANDARD; j++) y[j] += x[i] * M[10 * i + j];
}

/* y = M x for a twist */
static void turn(const double M[36], const double *x, double y[TWIST]) {
  for (int i = 0; i < TWIST; i++) {
    y[i] = 0;
    for (int c = 0; c < TWIST; c++) y[i] += M[6 * i + c] * x[c];
  }
}

/* mean squares of 1, s, c and of sin 2q, cos 2q, whose halves are sc and cc - 1/2; displacements in units of the
 * reach */
static double weight_of(int b, bool turns) { return b == 0 || !turns ? 1 : b < 3 ? sqrt(0.5) : sqrt(0.125); }

/* Lambda's mean over the angle: cc is 1/2 there */
static void mean_of(const psdmp_derive_joint_maps *maps, double M[100]) {
  for (int i = 0; i < 100; i++) M[i] = maps->L[0][i] + (maps->count == PSDMP_DERIVE_BASIS ? maps->L[4][i] / 2 : 0);
}

/* twists of all joints on the path, in this body's frame */
static void set_twists(body_base *k, const body_base *parent, const psdmp_derive_joint_maps *maps) {
  heap h = {.width = TWIST};
  for (int r = 0; parent && r < parent->twists.rows; r++)
    for (int b = 0; b < 3; b++) {
      double y[WIDE] = {0};
      turn(maps->Ad[b], parent->twists.row[r], y);
      add_row(&h, weight_of(b, maps->count == PSDMP_DERIVE_BASIS), y);
    }
  add_row(&h, 1, maps->twist);
  compress(&h, &k->twists);
}

/* the row of D between two twists in scaled units */
static void mass_row(const double *a, const double *b, double row[WIDE]) {
  psdmp_derive_inertia_row(a, b, row);
  row[DRIVE] = 0;
}

static void set_spans(body_base *k, const body_base *parent, const span *base, const psdmp_derive_joint_maps *maps,
                      bool has_drive) {
  const span *V = parent ? &parent->V : base;
  const double *own = maps->twist;
  bool turns = maps->count == PSDMP_DERIVE_BASIS;
  double y[WIDE], mean[100];
  heap h = {.width = WIDE};
  for (int r = 0; r < V->rows; r++)
    for (int b = 1; b < maps->count; b++) {
      times(V->row[r], maps->L[b], y);
      add_row(&h, weight_of(b, turns), y);
    }
  for (int r = 0; parent && r < parent->twists.rows; r++)
    for (int b = 0; b < 3; b++) { /* joints before this one: their twists here */
      double w[TWIST];
      turn(maps->Ad[b], parent->twists.row[r], w);
      mass_row(w, own, y);
      add_row(&h, weight_of(b, turns), y);
    }
  mass_row(own, own, y);
  y[DRIVE] = has_drive; /* the drive moves with its own joint alone */
  add_row(&h, 1, y);
  compress(&h, &k->T);

  /* V is over the ten parameters */
  h = (heap){.width = PSDMP_ROBOT_STANDARD};
  for (int r = 0; r < k->T.rows; r++) add_row(&h, 1, k->T.row[r]);
  mean_of(maps, mean);
  for (int r = 0; r < V->rows; r++) {
    times(V->row[r], mean, y);
    add_row(&h, 1, y);
  }
  compress(&h, &k->V);
}

/* selects the columns of T to keep, in keep_order unless shares would grow, and expresses the others in them */
static void choose_columns(body_base *k, bool has_drive, judge *j) {
  double A[WIDE * WIDE], T[WIDE * WIDE], beta[WIDE * WIDE], scratch[WIDE * (2 * WIDE + 1)], kept, dropped, size = 0;
  for (int r = 0; r < k->T.rows; r++)
    for (int i = 0; i < WIDE; i++) {
      A[r * WIDE + i] = k->T.row[r][i];
      size = fmax(size, fabs(k->T.row[r][i]));
    }
  k->kept = psdmp_linalg_row_space(k->T.rows, WIDE, A, j->tolerance * size, T, &kept, &dropped);
  j->kept = fmin(j->kept, kept / size);
  j->dropped = fmax(j->dropped, dropped / size);
  int columns = has_drive ? WIDE : WIDE - 1;
  psdmp_linalg_pick_columns(k->kept, WIDE, T, columns, keep_order, PSDMP_DERIVE_MOST_SHARE, k->keep, beta, scratch);
  for (int o = 0; o < columns; o++) {
    bool keep = false;
    for (int c = 0; c < k->kept; c++) keep |= k->keep[c] == keep_order[o];
    if (keep) continue;
    for (int c = 0; c < k->kept; c++) {
      double share = beta[c * WIDE + keep_order[o]];
      k->R[c][k->dropped] = fabs(share) < RANK_TOLERANCE ? 0 : share;
    }
    k->drop[k->dropped++] = keep_order[o];
  }
}

/* ---- formulas ---- */

/* effective parameters of each body: (11 x standard) rows over the standard parameters, including those moved to it */
typedef struct formulas {
  int standard;
  double *row;   /* (bodies x 11 x standard) */
  double *theta; /* (standard) one formula at a time */
} formulas;

static double *effective(const formulas *f, int body, int i) {
  return f->row + ((size_t)body * WIDE + (size_t)i) * (size_t)f->standard;
}

/* to += factor * from */
static void accumulate(int count, double *to, double factor, const double *from) {
  if (factor == 0) return;
  for (int i = 0; i < count; i++) to[i] += factor * from[i];
}

/* moves the dropped directions of body b to its parent: Lambda_0 u_d, u_d = e_d - sum R e_keep */
static void move_to_parent(const formulas *f, const body_base *k, int b, int parent) {
  for (int d = 0; d < k->dropped; d++) {
    double u[PSDMP_ROBOT_STANDARD] = {0};
    if (k->drop[d] != DRIVE) u[k->drop[d]] = 1;
    for (int c = 0; c < k->kept; c++)
      if (k->keep[c] != DRIVE) u[k->keep[c]] -= k->R[c][d];
    for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++) {
      double moved = 0;
      for (int e = 0; e < PSDMP_ROBOT_STANDARD; e++) moved += k->L0[10 * i + e] * u[e];
      if (fabs(moved) > 1e-14) accumulate(f->standard, effective(f, parent, i), moved, effective(f, b, k->drop[d]));
    }
  }
}

int psdmp_derive_length_degree(const psdm_robot *r, int k) {
  static const int degree[PSDMP_ROBOT_STANDARD] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 2};
  if (k < PSDMP_ROBOT_STANDARD * r->bodies) return degree[k % PSDMP_ROBOT_STANDARD];
  /* the drive of a prismatic joint is a mass */
  return r->joint[r->drive[k - PSDMP_ROBOT_STANDARD * r->bodies].index].type == PSDM_PRISMATIC ? 0 : 2;
}

/* formula of one kept parameter, the parameter itself first; theta in units of the reach */
bool psdmp_derive_store_formula(const psdm_robot *r, double reach, psdm_model *m, psdmp_model_base *base,
                                const double *theta) {
  double largest = 0;
  int terms = 1, own = psdmp_derive_length_degree(r, base->parameter);
  for (int i = 0; i < m->standard; i++) largest = fmax(largest, fabs(theta[i]));
  for (int i = 0; i < m->standard; i++) terms += i != base->parameter && fabs(theta[i]) > RANK_TOLERANCE * largest;
  base->term = psdmp_base_arena_alloc(&m->arena, (size_t)terms * sizeof *base->term);
  if (!base->term) return false;
  base->term[base->terms++] = (psdmp_model_base_term){base->parameter, theta[base->parameter]};
  for (int i = 0; i < m->standard; i++)
    if (i != base->parameter && fabs(theta[i]) > RANK_TOLERANCE * largest)
      base->term[base->terms++] =
          (psdmp_model_base_term){i, theta[i] * pow(reach, own - psdmp_derive_length_degree(r, i))};
  return true;
}

/* the same order over all links */
void psdmp_derive_keep_order(const psdm_robot *r, int *order) {
  int at = 0;
  for (int number = 0; number < r->bodies; number++) {
    for (int o = 0; o + 1 < WIDE; o++) order[at++] = PSDMP_ROBOT_STANDARD * number + keep_order[o];
    for (int d = 0; d < r->drives; d++)
      if (r->joint[r->drive[d].index].link == number) order[at++] = PSDMP_ROBOT_STANDARD * r->bodies + d;
  }
}

static int standard_index(const psdm_robot *r, int body, int column) {
  if (column != DRIVE) return PSDMP_ROBOT_STANDARD * r->body[body].number + column;
  return PSDMP_ROBOT_STANDARD * r->bodies + r->joint[r->body[body].index].drive;
}

static bool write_formulas(const psdm_robot *r, double reach, const body_base *k, psdm_model *m,
                           psdmp_base_arena *scratch) {
  formulas f = {.standard = m->standard};
  f.row = psdmp_base_arena_alloc(scratch, (size_t)r->bodies * WIDE * (size_t)m->standard * sizeof(double));
  f.theta = psdmp_base_arena_alloc(scratch, (size_t)m->standard * sizeof(double));
  int *by_number = psdmp_base_arena_alloc(scratch, (size_t)r->bodies * sizeof *by_number);
  for (int b = 0; b < r->bodies; b++) m->l += k[b].kept;
  m->base = psdmp_base_arena_alloc(&m->arena, (size_t)(m->l ? m->l : 1) * sizeof *m->base);
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
      for (int d = 0; d < k[b].dropped; d++)
        accumulate(m->standard, f.theta, k[b].R[c][d], effective(&f, b, k[b].drop[d]));
      m->base[j].parameter = standard_index(r, b, k[b].keep[c]);
      if (!psdmp_derive_store_formula(r, reach, m, &m->base[j], f.theta)) return false;
    }
  }
  return true;
}

psdm_status psdmp_derive_base_recursion(const psdm_robot *r, double reach, double tolerance, psdm_model *m,
                                        psdm_derive_info *info, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = m->arena.allocator};
  body_base *k = psdmp_base_arena_alloc(&scratch, (size_t)r->bodies * sizeof *k);
  psdmp_derive_joint_maps *maps = psdmp_base_arena_alloc(&scratch, sizeof *maps);
  judge j = {fmax(tolerance, RANK_TOLERANCE), 0, INFINITY};
  bool ok = k && maps;
  /* before any joint gravity is the only functional: -g over the first moments */
  const double *g = r->gravity, size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  span base = {.rows = size > 0};
  for (int i = 0; i < 3 && size > 0; i++) base.row[0][1 + i] = fabs(g[i]) > 1e-15 * size ? g[i] / size : 0;
  for (int b = 0; ok && b < r->bodies; b++) {
    const body_base *parent = r->body[b].parent < 0 ? NULL : &k[r->body[b].parent];
    bool has_drive = r->joint[r->body[b].index].drive >= 0;
    psdmp_derive_joint_maps_set(r, b, reach, maps);
    memcpy(k[b].L0, maps->L[0], sizeof k[b].L0);
    set_twists(&k[b], parent, maps);
    set_spans(&k[b], parent, &base, maps, has_drive);
    choose_columns(&k[b], has_drive, &j);
  }
  ok = ok && write_formulas(r, reach, k, m, &scratch);
  info->rank_dropped = j.dropped;
  info->rank_kept = j.kept;
  psdmp_base_arena_free(&scratch);
  return ok ? PSDM_OK : psdmp_base_no_memory(r->file, error);
}
