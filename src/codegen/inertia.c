/* inertia.c: pseudo-inertias with zeros.
 *
 * Base parameters say which combinations of the standard parameters torques depend on; what they do not see is a
 * linear space of null vectors (mass on a joint's axis belongs to both links, a sliding joint passes all of S on,
 * and so on). Moving along it changes no torque and makes one entry zero per null vector. Which ones is the choice. */
#include <math.h>
#include <string.h>

#include "codegen/chain_priv.h"
#include "codegen/trial.h"
#include "psdm/base_parameters.h"
#include "psdm/rigid.h"

/* ---- what is the same for every choice ---- */

/* e_d - sum of coefficients e_kept, one for every standard parameter that is not kept */
static void set_nulls(const psdm_model *base, psdmp_codegen_freedom *f) {
  int S = f->standard;
  bool kept[11 * PSDMP_CODEGEN_CODE_JOINTS + 1] = {false};
  int row[11 * PSDMP_CODEGEN_CODE_JOINTS + 1];
  for (int j = 0; j < base->l; j++) kept[base->base[j].parameter] = true;
  f->nulls = 0;
  for (int k = 0; k < S; k++) {
    row[k] = kept[k] ? -1 : f->nulls++;
    if (row[k] >= 0) f->null[(long)row[k] * S + k] = 1;
  }
  for (int j = 0; j < base->l; j++)
    for (int t = 0; t < base->base[j].terms; t++) {
      const psdmp_model_base_term *term = &base->base[j].term[t];
      if (row[term->parameter] >= 0)
        f->null[(long)row[term->parameter] * S + base->base[j].parameter] = -term->coefficient;
    }
}

/* ---- null vectors by construction: what moves between a body and its parent, whatever the motion and gravity ---- */

/* standard parameters of unit second moment a b^T + b a^T in the axes of a frame: J = tr(S) 1 - S */
static void add_second(double scale, const double a[3], const double b[3], double pi[10]) {
  double t = 2 * scale * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
  pi[4] += t - 2 * scale * a[0] * b[0];
  pi[7] += t - 2 * scale * a[1] * b[1];
  pi[9] += t - 2 * scale * a[2] * b[2];
  pi[5] -= scale * (a[0] * b[1] + a[1] * b[0]);
  pi[6] -= scale * (a[0] * b[2] + a[2] * b[0]);
  pi[8] -= scale * (a[1] * b[2] + a[2] * b[1]);
}

/* mass on the line p + t z, its part with t^power: unit mass, first and second moment */
static void add_line(double scale, const double p[3], const double z[3], int power, double pi[10]) {
  if (power == 0) {
    pi[0] += scale;
    for (int i = 0; i < 3; i++) pi[1 + i] += scale * p[i];
    add_second(0.5 * scale, p, p, pi);
  } else if (power == 1) {
    for (int i = 0; i < 3; i++) pi[1 + i] += scale * z[i];
    add_second(scale, p, z, pi);
  } else {
    add_second(0.5 * scale, z, z, pi);
  }
}

/* where the joint's frame stands in the user's frame of the body, or of its parent */
static psdmp_robot_pose joint_in_link(const psdm_robot *r, int b, bool parent) {
  int body = parent ? r->body[b].parent : b;
  psdmp_robot_pose back = psdmp_robot_pose_inverse(&r->link[r->body[body].index].frame);
  return parent ? psdmp_robot_pose_product(&back, &r->body[b].joint) : back;
}

/* masses on a revolute axis belong to both bodies; a sliding joint passes pure second moments on */
static void build_nulls(const psdm_robot *r, psdmp_codegen_freedom *f) {
  static const int pair[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
  int S = f->standard;
  memset(f->null, 0, (size_t)S * (size_t)S * sizeof *f->null);
  f->nulls = 0;
  for (int b = 0; b < r->bodies; b++)
    for (int k = 0; k < (r->body[b].prismatic ? 6 : 3); k++, f->nulls++)
      for (int parent = 0; parent < (r->body[b].parent < 0 ? 1 : 2); parent++) {
        psdmp_robot_pose at = joint_in_link(r, b, parent);
        int number = r->body[parent ? r->body[b].parent : b].number;
        double *pi = f->null + (long)f->nulls * S + 10L * number, axis[3][3];
        for (int i = 0; i < 9; i++) axis[i % 3][i / 3] = at.R[i];
        if (r->body[b].prismatic) add_second(parent ? -1 : 1, axis[pair[k][0]], axis[pair[k][1]], pi);
        else add_line(parent ? -1 : 1, at.p, axis[2], k, pi);
      }
}

/* ---- whether null vectors are null: almost parallel axes make formulas that divide by nearly nothing, or drop what
 * is not quite nothing ---- */

/* states that they are asked at */
enum { ASKED = 2 };

/* what unit parameters ask of the joints at some states: Y is (ASKED n x standard) */
static psdm_status standard_columns(const psdm_robot *r, psdmp_base_arena *arena, double *Y) {
  int n = r->n, S = psdm_robot_parameter_count(r);
  double *q = PSDMP_BASE_NEW(arena, 3 * n, double), *qd = q + n, *qdd = qd + n, L = psdmp_robot_unit(r);
  psdm_work *work;
  psdm_status status = q ? psdm_work_new(r, arena->allocator, &work) : PSDM_E_MEMORY;
  if (status) return status;
  for (int s = 0; s < ASKED && !status; s++) {
    for (int i = 0; i < n; i++) {
      /* angles that nothing is aligned with; sliding joints move by as much as the robot is long */
      double unit = psdmp_codegen_joint_unit(r, i);
      q[i] = unit * sin(1.3 + 2.1 * i + s);
      qd[i] = unit * sin(0.4 + 1.7 * i - s) / sqrt(L);
      qdd[i] = 2 * unit * sin(2.2 + 0.9 * i + 3 * s) / L;
    }
    double *rows = Y + (long)s * n * S;
    status = psdm_regressor_standard(r, work, q, qd, qdd, rows);
    /* forces by their work */
    for (long k = 0; k < (long)n * S && !status; k++) rows[k] *= psdmp_codegen_joint_unit(r, (int)(k / S));
  }
  psdm_work_free(work, arena->allocator);
  return status;
}

/* mass, first and second moment, drive */
static int kind_of_parameter(const psdmp_codegen_freedom *f, int k) {
  return k >= f->standard - f->drives ? 3 : k % 10 == 0 ? 0 : k % 10 < 4 ? 1 : 2;
}

/* Largest coefficient of a null vector, in units of the reach: more than a few come from a division by nearly
 * nothing, and moving along such vectors costs as many digits. */
static bool is_plain(const psdmp_codegen_freedom *f, const double *null, double reach) {
  const double large = 8;
  int own = 0, bodies = f->standard - f->drives; /* drives come by gear ratios, which are what they are */
  while (own < bodies && null[own] != 1) own++;
  for (int k = 0; k < bodies && own < bodies; k++)
    if (fabs(null[k]) > large * pow(reach, kind_of_parameter(f, k) - kind_of_parameter(f, own))) return false;
  return true;
}

/* each beside the torque of its own parameter, the one with the coefficient 1, or the largest of its kind */
static bool are_null(const psdmp_codegen_freedom *f, const double *Y, int rows, double reach) {
  const double rounding = 2e-14;
  int S = f->standard;
  double most[4] = {0};
  for (long i = 0; i < (long)rows * S; i++)
    most[kind_of_parameter(f, (int)(i % S))] = fmax(most[kind_of_parameter(f, (int)(i % S))], fabs(Y[i]));
  for (int v = 0; v < f->nulls; v++) {
    const double *null = f->null + (long)v * S;
    double own = 0, left = 0;
    for (int k = 0; k < S; k++)
      if (null[k] == 1) own = fmax(own, most[kind_of_parameter(f, k)]);
    for (int i = 0; i < rows; i++) {
      double sum = 0;
      for (int k = 0; k < S; k++) sum += null[k] * Y[(long)i * S + k];
      left = fmax(left, fabs(sum));
    }
    if (!(left <= rounding * own) || !is_plain(f, null, reach)) return false;
  }
  return true;
}

static psdm_status check_nulls(const psdm_robot *r, const psdmp_codegen_freedom *f, psdmp_base_arena *arena,
                               bool *good) {
  double *Y = PSDMP_BASE_NEW(arena, ASKED * r->n * f->standard, double);
  psdm_status status = Y ? standard_columns(r, arena, Y) : PSDM_E_MEMORY;
  double reach = psdmp_robot_reach(r);
  *good = !status && are_null(f, Y, ASKED * r->n, reach > 0 ? reach : 1);
  return status;
}

/* what the base parameters' formulas leave free, where they are accurate enough, else what each joint alone does */
static psdm_status find_nulls(const psdm_robot *r, bool any_gravity, psdmp_base_arena *arena, psdmp_codegen_freedom *f,
                              psdm_error *error) {
  psdm_robot free = any_gravity ? psdmp_codegen_any_gravity(r) : *r;
  psdm_model *all = NULL;
  psdmp_base_arena scratch = {.allocator = arena->allocator};
  free.assumptions = 0; /* its numbers need not hold them */
  psdm_status status = psdm_base_parameters_derive(&free, NULL, arena->allocator, &all, NULL, error);
  if (status && status != PSDM_E_ACCURACY) return status;
  /* one direction of gravity does not show all that coupled joints can tell apart */
  bool good = all && !(any_gravity && r->coupled);
  if (good) set_nulls(all, f);
  psdm_model_free(all);
  status = good ? check_nulls(&free, f, &scratch, &good) : PSDM_OK;
  psdmp_base_arena_free(&scratch);
  if (!good) build_nulls(r, f);
  return status ? psdmp_base_fail(error, status, r->file, 0, 0, "%s while generating code", psdm_status_text(status))
                : PSDM_OK;
}

psdm_status psdmp_codegen_freedom_set(const psdm_robot *r, const psdm_model *base, const double *theta, bool argument,
                                      bool any_gravity, bool plain, psdmp_base_arena *arena, psdmp_codegen_freedom *f,
                                      psdm_error *error) {
  int S = psdm_robot_parameter_count(r);
  psdm_status status = PSDM_OK;
  *f = (psdmp_codegen_freedom){
      .argument = argument, .standard = S, .drives = r->drives, .columns = argument ? base->l : 1};
  f->null = PSDMP_BASE_NEW(arena, S * S, double);
  f->value = PSDMP_BASE_NEW(arena, S * f->columns, double);
  if (!f->null || !f->value) return psdmp_base_no_memory(r->file, error);
  if (argument && base->combined)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, r->file, 0, 0,
                           "under these assumptions base parameters are not standard ones: theta as an argument needs "
                           "the expanded method");
  if (plain) build_nulls(r, f);
  else status = find_nulls(r, any_gravity, arena, f, error);
  if (status) return status;
  /* the robot's own numbers, or the base parameters in the place of the ones they are named after */
  if (!argument && psdm_robot_ready(r, NULL) == PSDM_OK) {
    psdm_robot_parameters(r, f->value);
    return PSDM_OK;
  }
  for (int j = 0; j < base->l; j++)
    f->value[(long)base->base[j].parameter * f->columns + (argument ? j : 0)] = argument ? 1 : theta ? theta[j] : 0;
  return PSDM_OK;
}

bool psdmp_codegen_inertia_new(const psdmp_codegen_chain *chain, const psdmp_codegen_freedom *f,
                               psdmp_base_arena *arena, psdmp_codegen_inertia *in) {
  *in = (psdmp_codegen_inertia){
      .argument = f->argument, .size = 10 * chain->bodies + f->drives, .columns = f->columns, .nulls = f->nulls};
  in->value = PSDMP_BASE_NEW(arena, in->size * in->columns, double);
  in->null = PSDMP_BASE_NEW(arena, in->nulls * in->size, double);
  in->zero = PSDMP_BASE_NEW(arena, in->nulls, int);
  return in->value && in->null && in->zero;
}

/* ---- into the chain's frames and units ---- */

void psdmp_codegen_to_pseudo(const psdmp_robot_pose *frame, double unit, bool tensor, const double pi[10],
                             double out[10]) {
  double s[10];
  psdmp_robot_standard_move(frame, pi, s);
  out[PSDMP_CODEGEN_M] = s[0] * unit * unit;
  for (int i = 0; i < 3; i++) out[PSDMP_CODEGEN_HX + i] = s[1 + i] * unit;
  out[PSDMP_CODEGEN_SXX] = 0.5 * (s[7] + s[9] - s[4]);
  out[PSDMP_CODEGEN_SYY] = 0.5 * (s[4] + s[9] - s[7]);
  out[PSDMP_CODEGEN_SZZ] = 0.5 * (s[4] + s[7] - s[9]);
  if (tensor) out[PSDMP_CODEGEN_SXX] = s[4], out[PSDMP_CODEGEN_SYY] = s[7], out[PSDMP_CODEGEN_SZZ] = s[9];
  out[PSDMP_CODEGEN_SXY] = -s[5];
  out[PSDMP_CODEGEN_SXZ] = -s[6];
  out[PSDMP_CODEGEN_SYZ] = -s[8];
}

/* the own frame, moved to where the way to the only child ends */
static psdmp_robot_pose end_of_way(const psdmp_codegen_chain *chain, int b) {
  const psdmp_codegen_chain_body *child = &chain->body[psdmp_codegen_only_child(chain, b)];
  psdmp_robot_pose turn = psdmp_robot_pose_rotation(2, child->beta), back = psdmp_robot_pose_rotation(2, -child->beta);
  psdmp_robot_pose way = psdmp_robot_pose_translation(child->a * chain->unit, 0,
                                                      (child->e + (child->parallel ? child->d : 0)) * chain->unit);
  way = psdmp_robot_pose_product(&way, &back);
  way = psdmp_robot_pose_product(&turn, &way);
  return psdmp_robot_pose_product(&chain->body[b].frame, &way);
}

/* the ten columns of that map, for one body */
static void body_map(const psdmp_codegen_chain *chain, int b, const unsigned char *gene, double map[10][10]) {
  const psdm_robot *r = chain->robot;
  psdmp_robot_pose here = gene[PSDMP_CODEGEN_GENE_PLACE] ? end_of_way(chain, b) : chain->body[b].frame;
  psdmp_robot_pose back = psdmp_robot_pose_inverse(&here),
                   frame = psdmp_robot_pose_product(&back, &r->link[r->body[b].index].frame);
  for (int k = 0; k < 10; k++) {
    double unit[10] = {0}, column[10];
    unit[k] = 1;
    psdmp_codegen_to_pseudo(&frame, chain->unit, gene[PSDMP_CODEGEN_GENE_TENSOR], unit, column);
    for (int i = 0; i < 10; i++) map[i][k] = column[i];
  }
}

/* null vectors of robots that are counted in their own unit: largest entry about 1, as it is with metres */
static void scale_nulls(psdmp_codegen_inertia *in) {
  for (int v = 0; v < in->nulls; v++) {
    double *row = in->null + (long)v * in->size, most = 0;
    int power;
    for (int i = 0; i < in->size; i++) most = fmax(most, fabs(row[i]));
    frexp(most, &power);
    for (int i = 0; i < in->size; i++) row[i] = ldexp(row[i], -power);
  }
}

static void fill(const psdmp_codegen_chain *chain, const psdmp_codegen_freedom *f, const psdmp_codegen_choice *choice,
                 psdmp_codegen_inertia *in) {
  const psdm_robot *r = chain->robot;
  int S = f->standard, C = f->columns;
  memset(in->value, 0, (size_t)in->size * (size_t)C * sizeof *in->value);
  memset(in->null, 0, (size_t)in->nulls * (size_t)in->size * sizeof *in->null);
  for (int b = 0; b < chain->bodies; b++) {
    double map[10][10];
    if (chain->body[b].held) continue;
    long from = 10L * r->body[b].number;
    body_map(chain, b, choice->gene[b], map);
    for (int i = 0; i < 10; i++)
      for (int k = 0; k < 10; k++) {
        if (map[i][k] == 0) continue;
        for (int c = 0; c < C; c++) in->value[(10L * b + i) * C + c] += map[i][k] * f->value[(from + k) * C + c];
        for (int v = 0; v < in->nulls; v++)
          in->null[(long)v * in->size + 10 * b + i] += map[i][k] * f->null[(long)v * S + from + k];
      }
  }
  for (int d = 0; d < f->drives; d++) {
    long to = 10L * chain->bodies + d, from = 10L * chain->moving + d;
    for (int c = 0; c < C; c++) in->value[to * C + c] = f->value[from * C + c];
    for (int v = 0; v < in->nulls; v++) in->null[(long)v * in->size + to] = f->null[(long)v * S + from];
  }
  if (chain->usual != 1) scale_nulls(in);
}

/* ---- which entries become zero ---- */

/* a null vector that sees an entry less than this is not asked to clear it */
static const double LEAST_PIVOT = 1e-3;

/* entries in the order in which they are wanted zero: mass lines of revolute joints, S of sliding ones, drives, then
 * the rest from the base outward */
static int wish(const psdmp_codegen_chain *chain, const psdmp_codegen_choice *choice, int size, int *order) {
  static const int revolute[] = {PSDMP_CODEGEN_M, PSDMP_CODEGEN_HZ, PSDMP_CODEGEN_SZZ},
                   tensor[] = {PSDMP_CODEGEN_M, PSDMP_CODEGEN_HZ, PSDMP_CODEGEN_SYY},
                   prismatic[] = {PSDMP_CODEGEN_SXX, PSDMP_CODEGEN_SXY, PSDMP_CODEGEN_SXZ,
                                  PSDMP_CODEGEN_SYY, PSDMP_CODEGEN_SYZ, PSDMP_CODEGEN_SZZ};
  static const int rest[] = {PSDMP_CODEGEN_SYY, PSDMP_CODEGEN_SXY, PSDMP_CODEGEN_SXZ, PSDMP_CODEGEN_SYZ,
                             PSDMP_CODEGEN_HX,  PSDMP_CODEGEN_HY,  PSDMP_CODEGEN_HZ,  PSDMP_CODEGEN_M,
                             PSDMP_CODEGEN_SZZ, PSDMP_CODEGEN_SXX};
  int count = 0;
  for (int b = chain->bodies - 1; b >= 0; b--) {
    bool p = chain->body[b].prismatic;
    for (int i = 0; i < (p ? 6 : 3); i++)
      order[count++] = 10 * b + (p                                            ? prismatic[i]
                                 : choice->gene[b][PSDMP_CODEGEN_GENE_TENSOR] ? tensor[i]
                                                                              : revolute[i]);
  }
  for (int d = 10 * chain->bodies; d < size; d++) order[count++] = d;
  for (int b = 0; b < chain->bodies; b++)
    for (int i = 0; i < 10; i++) order[count++] = 10 * b + rest[i];
  return count;
}

/* how large an entry of a null vector is beside the one that is 1, with lengths in units of the reach */
static double size_beside(const psdmp_codegen_inertia *in, double x, int entry, int one) {
  static const int power[10] = {2, 1, 1, 1};
  return fabs(x) * pow(in->ratio, power[entry % 10] - power[one % 10]);
}

/* makes entry e zero with the null vector that sees it most, among those that have no task yet */
static bool take(psdmp_codegen_inertia *in, int done, int e, double least) {
  int best = -1;
  for (int v = done; v < in->nulls; v++)
    if (best < 0 || fabs(in->null[(long)v * in->size + e]) > fabs(in->null[(long)best * in->size + e])) best = v;
  if (best < 0 || fabs(in->null[(long)best * in->size + e]) < least) return false;
  double *row = in->null + (long)done * in->size, *other = in->null + (long)best * in->size;
  double pivot = other[e];
  for (int i = 0; i < in->size; i++) {
    double x = other[i] / pivot;
    other[i] = row[i];
    row[i] = fabs(x) < 1e-14 ? 0 : x;
    if (x != 0) in->pivoted = fmax(in->pivoted, size_beside(in, x, i, e));
  }
  row[e] = 1;
  for (int v = 0; v < in->nulls; v++) {
    double *to = in->null + (long)v * in->size, factor = to[e];
    if (v == done || factor == 0) continue;
    for (int i = 0; i < in->size; i++) {
      if (row[i] == 0) continue;
      double was = fabs(to[i]) + fabs(factor * row[i]);
      to[i] -= factor * row[i];
      if (fabs(to[i]) < 1e-13 * was) to[i] = 0; /* cancelled */
    }
    to[e] = 0;
  }
  in->zero[done] = e;
  return true;
}

static void subtract(psdmp_codegen_inertia *in) {
  int C = in->columns;
  for (int v = 0; v < in->nulls; v++)
    for (int c = 0; c < C; c++) {
      double factor = in->value[(long)in->zero[v] * C + c];
      if (factor == 0) continue;
      for (int i = 0; i < in->size; i++) {
        double x = in->null[(long)v * in->size + i], *to = &in->value[(long)i * C + c];
        if (x == 0) continue;
        double was = fabs(*to) + fabs(factor * x);
        *to -= factor * x;
        if (fabs(*to) < 1e-14 * was) *to = 0;
      }
    }
}

/* mass, first or second moment */
static int kind_of(const psdmp_codegen_inertia *in, long k) {
  long entry = k / in->columns % 10;
  return entry == 0 ? 0 : entry < 4 ? 1 : 2;
}

static void find_largest(const psdmp_codegen_inertia *in, double largest[3]) {
  largest[0] = largest[1] = largest[2] = 0;
  for (long k = 0; k < (long)in->size * in->columns; k++)
    largest[kind_of(in, k)] = fmax(largest[kind_of(in, k)], fabs(in->value[k]));
}

/* largest entry of each kind of a body and of what hangs on it: children come after their parents */
static void find_largest_on(const psdmp_codegen_chain *chain, const psdmp_codegen_inertia *in, double largest[][3]) {
  memset(largest, 0, sizeof *largest * (size_t)chain->bodies);
  for (int b = chain->bodies - 1; b >= 0; b--) {
    int parent = chain->body[b].parent;
    for (long k = 10L * b * in->columns; k < 10L * (b + 1) * in->columns; k++)
      largest[b][kind_of(in, k)] = fmax(largest[b][kind_of(in, k)], fabs(in->value[k]));
    for (int kind = 0; kind < 3 && parent >= 0; kind++)
      largest[parent][kind] = fmax(largest[parent][kind], largest[b][kind]);
  }
}

/* what is rounding beside the entries that parameters came from is zero: a light body keeps what it has beside a
 * heavy one, and beside what was moved to it */
static void clean(const psdmp_codegen_chain *chain, double largest[][3], psdmp_codegen_inertia *in) {
  for (int b = 0; b < chain->bodies; b++)
    for (long k = 10L * b * in->columns; k < 10L * (b + 1) * in->columns; k++)
      if (fabs(in->value[k]) < 1e-16 * largest[b][kind_of(in, k)]) in->value[k] = 0;
}

static void choose_zeros(const psdmp_codegen_chain *chain, const psdmp_codegen_choice *choice,
                         psdmp_codegen_inertia *in) {
  int order[14 * PSDMP_CODEGEN_CODE_JOINTS + 11 * PSDMP_CODEGEN_CODE_JOINTS],
      count = wish(chain, choice, in->size, order), done = 0;
  bool taken[11 * PSDMP_CODEGEN_CODE_JOINTS] = {false};
  for (int k = 0; k < choice->zeros && done < in->nulls; k++)
    if (choice->zero[k] < in->size && !taken[choice->zero[k]] && take(in, done, choice->zero[k], LEAST_PIVOT))
      taken[choice->zero[k]] = true, done++;
  for (double least = 1e-3; done < in->nulls && least > 1e-12; least *= 1e-3)
    for (int k = 0; k < count && done < in->nulls; k++)
      if (!taken[order[k]] && take(in, done, order[k], least)) taken[order[k]] = true, done++;
  in->nulls = done;
}

/* angle of a leaf's own x axis that makes one of its entries zero */
static double leaf_turn(const double *v, int wanted) {
  switch (wanted) {
    case 1: return atan2(v[PSDMP_CODEGEN_HY], v[PSDMP_CODEGEN_HX]);
    case 2: return 0.5 * atan2(2 * v[PSDMP_CODEGEN_SXY], v[PSDMP_CODEGEN_SXX] - v[PSDMP_CODEGEN_SYY]);
    case 3: return atan2(v[PSDMP_CODEGEN_SYZ], v[PSDMP_CODEGEN_SXZ]);
    case 4: return atan2(-v[PSDMP_CODEGEN_HX], v[PSDMP_CODEGEN_HY]);
    default: return 0;
  }
}

/* the entries of S and h after the frame has turned about z */
static void turn_entries(double *v, double angle, int wanted) {
  double c = cos(angle), s = sin(angle);
  double hx = v[PSDMP_CODEGEN_HX], hy = v[PSDMP_CODEGEN_HY], xz = v[PSDMP_CODEGEN_SXZ], yz = v[PSDMP_CODEGEN_SYZ],
         xx = v[PSDMP_CODEGEN_SXX], yy = v[PSDMP_CODEGEN_SYY], xy = v[PSDMP_CODEGEN_SXY];
  v[PSDMP_CODEGEN_HX] = c * hx + s * hy;
  v[PSDMP_CODEGEN_HY] = c * hy - s * hx;
  v[PSDMP_CODEGEN_SXZ] = c * xz + s * yz;
  v[PSDMP_CODEGEN_SYZ] = c * yz - s * xz;
  v[PSDMP_CODEGEN_SXX] = c * c * xx + 2 * c * s * xy + s * s * yy;
  v[PSDMP_CODEGEN_SYY] = s * s * xx - 2 * c * s * xy + c * c * yy;
  v[PSDMP_CODEGEN_SXY] = c * s * (yy - xx) + (c * c - s * s) * xy;
  static const int zero[5] = {-1, PSDMP_CODEGEN_HY, PSDMP_CODEGEN_SXY, PSDMP_CODEGEN_SYZ, PSDMP_CODEGEN_HX};
  if (wanted) v[zero[wanted]] = 0;
}

void psdmp_codegen_inertia_set(psdmp_codegen_chain *chain, const psdmp_codegen_freedom *f,
                               const psdmp_codegen_choice *choice, psdmp_codegen_inertia *in) {
  in->nulls = f->nulls;
  in->pivoted = 1;
  in->ratio = chain->reach > 0 ? chain->reach / chain->unit : 1;
  fill(chain, f, choice, in);
  double before[3], after[3], largest[2 * PSDMP_CODEGEN_CODE_JOINTS][3];
  find_largest(in, before);
  find_largest_on(chain, in, largest);
  choose_zeros(chain, choice, in);
  subtract(in);
  clean(chain, largest, in);
  find_largest(in, after);
  in->growth = 0;
  for (int k = 0; k < 3; k++)
    if (before[k] > 0) in->growth = fmax(in->growth, after[k] / before[k]);
  for (int b = 0; b < chain->bodies && !in->argument; b++) {
    int wanted = choice->gene[b][PSDMP_CODEGEN_GENE_TURN];
    if (!chain->body[b].leaf || wanted == 0) continue;
    double *v = in->value + 10L * b, angle = leaf_turn(v, wanted);
    turn_entries(v, angle, wanted);
    psdmp_codegen_chain_turn(chain, b, angle);
  }
}
