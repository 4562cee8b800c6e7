/* relations.c: assumptions as linear relations of body parameters, solved by elimination, and random bodies that
 * satisfy them (Lloyd, Irani, Ahmadi 2021, section 3.3). */
#include <math.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "derive/derive_priv.h"
#include "linalg/linalg.h"

enum { MASS, RX, IXX = 4, IYY, IZZ, IXY, IXZ, IYZ, DRIVE, KINDS };

/* a factor below this share of the relation's largest is rounding of the elimination */
static const double ROUNDING = 1e-12;

static int variable(int link, int kind) { return 1 + link * KINDS + kind; }

/* ---- elimination: rows over the variables; number 0 is the value, with its sign turned ---- */

typedef struct elimination {
  int variables, rows;
  double *row; /* (rows x variables) */
  int *pivot;
} elimination;

/* What follows is the parameter of the highest link, the last of it: among equal ones the first keeps its number. */
static int choose_pivot(const double *row, int variables) {
  double largest = 0;
  for (int k = 1; k < variables; k++) largest = fmax(largest, fabs(row[k]));
  for (int k = variables - 1; k >= 1; k--)
    if (fabs(row[k]) > 1e-3 * largest) return k;
  return 0;
}

static void subtract(double *row, double factor, const double *other, int variables, double scale) {
  for (int k = 0; k < variables; k++) {
    row[k] -= factor * other[k];
    if (fabs(row[k]) <= ROUNDING * scale) row[k] = 0;
  }
}

/* false: it contradicts those before it */
static bool add_relation(elimination *e, const psdmp_robot_assumption *a) {
  double *row = e->row + (long)e->rows * e->variables, scale = fabs(a->value);
  memset(row, 0, sizeof *row * (size_t)e->variables);
  row[0] = -a->value;
  for (int t = 0; t < a->terms; t++) {
    row[variable(a->term[t].link, a->term[t].kind)] = a->term[t].factor;
    scale = fmax(scale, fabs(a->term[t].factor));
  }
  for (int i = 0; i < e->rows; i++)
    subtract(row, row[e->pivot[i]], e->row + (long)i * e->variables, e->variables, scale);
  int pivot = choose_pivot(row, e->variables);
  if (!pivot) return row[0] == 0; /* it says what the others say */
  double by = row[pivot];
  for (int k = 0; k < e->variables; k++) row[k] /= by;
  row[pivot] = 1;
  for (int i = 0; i < e->rows; i++) {
    double *other = e->row + (long)i * e->variables, share = other[pivot];
    if (share != 0) subtract(other, share, row, e->variables, 1);
  }
  e->pivot[e->rows++] = pivot;
  return true;
}

static psdm_status refuse(const psdm_robot *r, const char *text, const char *why, psdm_error *error) {
  char quoted[128];
  return psdmp_base_fail(error, PSDM_E_PARSE, r->file, 0, 0, "assumption '%s'%s",
                         psdmp_base_quote(text, strlen(text), quoted, sizeof quoted), why);
}

static psdm_status add_all(const psdm_robot *r, const psdm_derive_options *o, elimination *e, psdm_error *error) {
  for (int i = 0; i < r->assumptions; i++) {
    char text[128];
    if (!add_relation(e, &r->assumption[i]))
      return refuse(r, psdm_robot_assumption(r, i, text, sizeof text), " contradicts the others", error);
  }
  for (int i = 0; o && i < o->assume_count; i++) {
    psdmp_robot_assumption a;
    char text[64];
    if (!psdmp_robot_parse_assumption(o->assume[i], r->bodies, &a))
      return psdmp_base_fail(error, PSDM_E_PARSE, NULL, 0, 0,
                             "assumption '%s': " PSDMP_ROBOT_ASSUMPTION_HINT " was expected",
                             psdmp_base_quote(o->assume[i], strlen(o->assume[i]), text, sizeof text));
    if (!add_relation(e, &a)) return refuse(r, o->assume[i], " contradicts the others", error);
  }
  return PSDM_OK;
}

/* the rows as lists */
static bool keep(const elimination *e, psdmp_base_arena *arena, psdmp_derive_relations *out) {
  long entries = 0;
  for (long k = 0; k < (long)e->rows * e->variables; k++) entries += e->row[k] != 0;
  out->start = PSDMP_BASE_NEW(arena, e->rows + 1, int);
  out->index = PSDMP_BASE_NEW(arena, entries + 1, int);
  out->factor = PSDMP_BASE_NEW(arena, entries + 1, double);
  out->value = PSDMP_BASE_NEW(arena, e->variables, double);
  if (!out->start || !out->index || !out->factor || !out->value) return false;
  for (int i = 0, at = 0; i < e->rows; i++) {
    const double *row = e->row + (long)i * e->variables;
    for (int k = 0; k < e->variables; k++)
      if (row[k] != 0 && k != e->pivot[i]) out->index[at] = k, out->factor[at++] = -row[k];
    out->start[i + 1] = at;
  }
  out->variables = e->variables, out->bound = e->rows, out->pivot = e->pivot;
  return true;
}

psdm_status psdmp_derive_relations_set(const psdm_robot *r, const psdm_derive_options *o, psdmp_base_arena *arena,
                                       psdmp_derive_relations *out, psdm_error *error) {
  int count = r->assumptions + (o ? o->assume_count : 0);
  elimination e = {.variables = 1 + r->bodies * KINDS};
  e.row = PSDMP_BASE_NEW(arena, (long)(count + 1) * e.variables, double);
  e.pivot = PSDMP_BASE_NEW(arena, count + 1, int);
  *out = (psdmp_derive_relations){.robot = r};
  if (!e.row || !e.pivot) return psdmp_base_no_memory(r->file, error);
  psdm_status status = add_all(r, o, &e, error);
  if (status) return status;
  return keep(&e, arena, out) ? PSDM_OK : psdmp_base_no_memory(r->file, error);
}

/* ---- bodies ---- */

/* the bound ones from the others */
static void complete(psdmp_derive_relations *t) {
  t->value[0] = 1;
  for (int i = 0; i < t->bound; i++) {
    double sum = 0;
    for (int k = t->start[i]; k < t->start[i + 1]; k++) sum += t->factor[k] * t->value[t->index[k]];
    t->value[t->pivot[i]] = sum;
  }
}

static void inertia_of(const double *v, double inertia[6]) {
  const double about[6] = {v[IXX], v[IXY], v[IXZ], v[IYY], v[IYZ], v[IZZ]};
  memcpy(inertia, about, sizeof about);
}

static void standard_of(const psdmp_derive_relations *t, double *pi) {
  const psdm_robot *r = t->robot;
  for (int link = 0; link < r->bodies; link++) {
    const double *v = t->value + variable(link, MASS);
    double inertia[6];
    inertia_of(v, inertia);
    psdmp_robot_standard_from_body(v[MASS], v + RX, inertia, pi + (long)PSDMP_ROBOT_STANDARD * link);
  }
  for (int d = 0; d < r->drives; d++)
    pi[PSDMP_ROBOT_STANDARD * r->bodies + d] = t->value[variable(r->joint[r->drive[d].index].link, DRIVE)];
}

void psdmp_derive_relations_sample(psdmp_derive_relations *t, uint64_t *seed, double *pi) {
  for (int i = 0; i < t->variables; i++) t->value[i] = psdmp_base_random(seed, -1, 1);
  complete(t);
  standard_of(t, pi);
}

psdm_status psdmp_derive_sample_assumed(const psdm_robot *r, const psdm_derive_options *o, uint64_t seed,
                                        psdmp_base_arena *arena, double *pi, psdm_error *error) {
  psdmp_derive_relations t;
  psdm_status status = psdmp_derive_relations_set(r, o, arena, &t, error);
  if (!status) psdmp_derive_relations_sample(&t, &seed, pi);
  return status;
}

/* ---- bodies that there can be ---- */

/* some kilograms near the frame, moments of inertia of one size; an arm of this length */
static void draw(psdmp_derive_relations *t, uint64_t *seed, double length) {
  for (int link = 0; link < t->robot->bodies; link++) {
    double *v = t->value + variable(link, MASS), size;
    v[MASS] = psdmp_base_random(seed, 1, 5);
    size = 0.01 * v[MASS] * length * length;
    for (int i = 0; i < 3; i++) {
      v[RX + i] = psdmp_base_random(seed, -0.1, 0.1) * length;
      v[IXX + i] = psdmp_base_random(seed, 1, 1.3) * size;
      v[IXY + i] = psdmp_base_random(seed, -0.1, 0.1) * size;
    }
    v[DRIVE] = psdmp_base_random(seed, 0.5, 1.5) * size;
  }
  complete(t);
}

/* principal moments: none is negative or larger than the two others; a body without mass has none */
static bool possible(const double *v) {
  double inertia[6], moment[3];
  inertia_of(v, inertia);
  psdmp_linalg_eigenvalues3(inertia, moment);
  double slack = 1e-9 * fmax(fabs(moment[0]), fabs(moment[2]));
  if (v[MASS] < 0 || v[DRIVE] < 0 || moment[0] < -slack || moment[2] > moment[0] + moment[1] + slack) return false;
  return v[MASS] > 0 || moment[2] == 0;
}

static bool all_possible(const psdmp_derive_relations *t) {
  for (int link = 0; link < t->robot->bodies; link++)
    if (!possible(t->value + variable(link, MASS))) return false;
  return true;
}

psdm_status psdmp_derive_draw_bodies(const psdm_robot *r, uint64_t seed, psdmp_base_arena *arena, double *pi,
                                     bool *found, psdm_error *error) {
  enum { TRIES = 1000 };
  psdmp_derive_relations t;
  int count = psdm_robot_parameter_count(r);
  double *drawn = PSDMP_BASE_NEW(arena, count, double), length = psdmp_derive_reach(r, arena);
  if (!drawn || arena->failed) return psdmp_base_no_memory(r->file, error);
  psdm_status status = psdmp_derive_relations_set(r, NULL, arena, &t, error);
  if (status) return status;
  *found = false;
  for (int k = 0; k < TRIES && !*found; k++) {
    draw(&t, &seed, length);
    *found = all_possible(&t);
  }
  standard_of(&t, drawn);
  for (int k = 0; k < count; k++)
    if (isnan(pi[k])) pi[k] = drawn[k];
  return PSDM_OK;
}
