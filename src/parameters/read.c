/* read.c: a parameter file, checked key by key. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "document/document.h"
#include "parameters/parameters.h"
#include "psdm/friction.h"
#include "robot/robot.h"

typedef struct reader {
  const char *file;
  const psdm_robot *robot;
  psdmp_base_arena *arena;
  psdm_parameters *p;
  bool steps; /* route: steps */
  psdm_error *error;
} reader;

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
static psdm_status refuse(const reader *r, const psdmp_document_node *node, const char *format, ...) PSDM_PRINTF(3, 4);
static psdm_status refuse(const reader *r, const psdmp_document_node *node, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  return psdmp_base_fail(r->error, PSDM_E_PARSE, r->file, node ? node->line : 1, node ? node->column : 1, "%s", text);
}

static psdm_status expected(const reader *r, const psdmp_document_node *node, const char *what) {
  char found[80] = "something else";
  if (node->kind == PSDMP_DOCUMENT_SCALAR) psdmp_base_quote(node->text, node->length, found, sizeof found);
  const char *key = node->key ? node->key : "an entry";
  if (node->kind != PSDMP_DOCUMENT_SCALAR)
    return refuse(r, node, "%s is a %s; %s was expected", key, node->kind == PSDMP_DOCUMENT_MAP ? "map" : "list", what);
  return refuse(r, node, "%s is '%s'; %s was expected", key, found, what);
}

/* ---- maps and numbers ---- */

/* finds the nodes of known keys, NULL where absent; the first `needed` are required */
static psdm_status take(const reader *r, const psdmp_document_node *node, const char *what, const char *const *key,
                        int count, int needed, const psdmp_document_node **found) {
  memset(found, 0, (size_t)count * sizeof *found);
  if (node->kind != PSDMP_DOCUMENT_MAP) return refuse(r, node, "%s is not a map", what);
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    int i = 0;
    char name[64];
    while (i < count && strcmp(key[i], at->key) != 0) i++;
    psdmp_base_quote(at->key, strlen(at->key), name, sizeof name);
    const psdmp_document_node here = {.line = at->key_line, .column = at->key_column};
    if (i == count) {
      const char *near = psdmp_base_nearest(at->key, key, (size_t)count);
      return refuse(r, &here, "unknown key '%s' in %s%s%s%s", name, what, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
    }
    if (found[i]) return refuse(r, &here, "duplicate key '%s' in %s", name, what);
    found[i] = at;
  }
  for (int i = 0; i < needed; i++)
    if (!found[i]) return refuse(r, node, "no '%s' in %s", key[i], what);
  return PSDM_OK;
}

/* a number, or YAML's words for non-finite ones */
static psdm_status number(const reader *r, const psdmp_document_node *node, double *x) {
  static const struct {
    const char *word;
    double value;
  } words[] = {{".nan", NAN}, {".inf", INFINITY}, {"-.inf", -INFINITY}};
  if (node->kind == PSDMP_DOCUMENT_SCALAR && psdmp_base_parse_number(node->text, node->length, x)) return PSDM_OK;
  for (int k = 0; k < COUNT(words) && node->kind == PSDMP_DOCUMENT_SCALAR; k++)
    if (strcmp(node->text, words[k].word) == 0) return *x = words[k].value, PSDM_OK;
  return expected(r, node, "a decimal number");
}

/* a number used to compute torques */
static psdm_status finite(const reader *r, const psdmp_document_node *node, double *x) {
  psdm_status status = number(r, node, x);
  return status || isfinite(*x) ? status : expected(r, node, "a finite number");
}

static psdm_status numbers(const reader *r, const psdmp_document_node *node, int count, bool all_finite, double *x) {
  if (node->kind != PSDMP_DOCUMENT_LIST) return expected(r, node, "a list of numbers");
  if (node->count != count)
    return refuse(r, node, "%s has %d numbers; %d were expected", node->key ? node->key : "the list", node->count,
                  count);
  psdm_status status = PSDM_OK;
  int i = 0;
  for (const psdmp_document_node *at = node->child; at && !status; at = at->next, i++)
    status = all_finite ? finite(r, at, &x[i]) : number(r, at, &x[i]);
  return status;
}

static psdm_status list(const reader *r, const psdmp_document_node *node, int count, bool all_finite,
                        const double **out) {
  double *x = PSDMP_BASE_NEW(r->arena, count, double);
  if (!x) return psdmp_base_no_memory(r->file, r->error);
  *out = x;
  return numbers(r, node, count, all_finite, x);
}

/* ---- the parts ---- */

static psdm_status read_robot(const reader *r, const psdmp_document_node *node) {
  static const char *const keys[] = {"name", "kinematics"};
  const psdmp_document_node *found[COUNT(keys)];
  psdm_status status = take(r, node, "robot", keys, COUNT(keys), 1, found);
  if (status) return status;
  if (found[0]->kind != PSDMP_DOCUMENT_SCALAR) return expected(r, found[0], "a name");
  r->p->robot = psdmp_base_arena_text(r->arena, found[0]->text, found[0]->length);
  if (!r->p->robot) return psdmp_base_no_memory(r->file, r->error);
  if (!found[1]) return PSDM_OK; /* an old or handmade file: the caller warns */
  if (found[1]->kind != PSDMP_DOCUMENT_SCALAR ||
      !psdmp_robot_fingerprint_read(found[1]->text, found[1]->length, &r->p->kinematics))
    return expected(r, found[1], "a fingerprint of sixteen hexadecimal digits");
  if (r->p->kinematics == psdm_robot_fingerprint(r->robot)) return PSDM_OK;
  char name[80], own[80], hash[PSDMP_ROBOT_FINGERPRINT];
  psdmp_base_quote(found[0]->text, found[0]->length, name, sizeof name);
  psdmp_base_quote(psdm_robot_name(r->robot), strlen(psdm_robot_name(r->robot)), own, sizeof own);
  return psdmp_base_fail(r->error, PSDM_E_ROBOT, r->file, found[1]->line, found[1]->column,
                         "the parameters were found for robot '%s', whose kinematics (%.16s) are not those of '%s' "
                         "(%s); without the key 'kinematics' they are accepted anyway",
                         name, found[1]->text, own,
                         psdmp_robot_fingerprint_text(psdm_robot_fingerprint(r->robot), hash));
}

static psdm_status read_estimator(const reader *r, const psdmp_document_node *node) {
  if (node->kind != PSDMP_DOCUMENT_SCALAR || !psdm_estimator_find(node->text, &r->p->estimator))
    return expected(r, node, "the name of an estimator");
  return PSDM_OK;
}

static psdm_status read_truth(const reader *r, const psdmp_document_node *node, bool *truth) {
  bool known =
      node->kind == PSDMP_DOCUMENT_SCALAR && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0);
  *truth = known && node->text[0] == 't';
  return known ? PSDM_OK : expected(r, node, "true or false");
}

/* a number that steps may not have determined yet */
static psdm_status finite_or_nan(const reader *r, const psdmp_document_node *node, double *x) {
  psdm_status status = number(r, node, x);
  return status || !isinf(*x) ? status : expected(r, node, "a finite number or .nan");
}

static psdm_status read_estimate(const reader *r, const psdmp_document_node *node, psdm_estimate *e) {
  static const char *const keys[] = {"value", "sd", "prior", "essential"};
  const psdmp_document_node *found[COUNT(keys)];
  psdm_status status = take(r, node, "a base parameter", keys, COUNT(keys), 1, found);
  e->sd = NAN;
  e->essential = true;
  if (!status) status = r->steps ? finite_or_nan(r, found[0], &e->value) : finite(r, found[0], &e->value);
  if (!status && found[1]) status = number(r, found[1], &e->sd);
  if (!status && found[2]) status = number(r, found[2], &e->prior_share);
  if (!status && found[3]) status = read_truth(r, found[3], &e->essential);
  return status;
}

static psdm_status read_theta(const reader *r, const psdmp_document_node *node) {
  if (node->kind != PSDMP_DOCUMENT_MAP) return expected(r, node, "a map {base parameter: {value, sd}}");
  psdm_estimate *theta = PSDMP_BASE_NEW(r->arena, node->count, psdm_estimate);
  if (!theta) return psdmp_base_no_memory(r->file, r->error);
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    psdm_estimate *e = &theta[r->p->base];
    const psdmp_document_node here = {.line = at->key_line, .column = at->key_column};
    char name[64];
    psdmp_base_quote(at->key, strlen(at->key), name, sizeof name);
    if (psdmp_robot_standard_find(r->robot, at->key) < 0)
      return refuse(r, &here, "'%s' is not a parameter of robot '%s'", name, psdm_robot_name(r->robot));
    for (int j = 0; j < r->p->base; j++)
      if (strcmp(theta[j].name, at->key) == 0) return refuse(r, &here, "duplicate base parameter '%s'", name);
    if (!(e->name = psdmp_base_arena_text(r->arena, at->key, strlen(at->key))))
      return psdmp_base_no_memory(r->file, r->error);
    psdm_status status = read_estimate(r, at, e);
    if (status) return status;
    r->p->base++;
  }
  r->p->theta = theta;
  return PSDM_OK;
}

static psdm_status read_full(const reader *r, const psdmp_document_node *node) {
  static const char *const keys[] = {"links", "drives"};
  const psdmp_document_node *found[COUNT(keys)];
  psdm_parameters *p = r->p;
  psdm_status status = take(r, node, "pi", keys, COUNT(keys), COUNT(keys), found);
  double *pi = PSDMP_BASE_NEW(r->arena, p->standard, double);
  if (!pi) return psdmp_base_no_memory(r->file, r->error);
  if (!status && (found[0]->kind != PSDMP_DOCUMENT_LIST || found[0]->count != p->links))
    return refuse(r, found[0], "a list of %d links, ten numbers each, was expected", p->links);
  int k = 0;
  for (const psdmp_document_node *at = status ? NULL : found[0]->child; at && !status; at = at->next, k++)
    status = numbers(r, at, 10, true, pi + 10L * k);
  if (!status) status = numbers(r, found[1], p->standard - 10 * p->links, true, pi + 10L * p->links);
  p->pi = pi;
  return status;
}

static psdm_status read_column(const reader *r, const psdmp_document_node *node, psdm_column *c) {
  static const char *const keys[] = {"column", "gain", "width", "load", "sd"};
  const psdmp_document_node *found[COUNT(keys)];
  double load = 0;
  psdm_status status = take(r, node, "a friction column", keys, COUNT(keys), 2, found);
  if (status) return status;
  int kind = 0;
  while (kind < PSDM_COLUMN_KINDS && (found[0]->kind != PSDMP_DOCUMENT_SCALAR ||
                                      strcmp(found[0]->text, psdm_column_text((psdm_column_kind)kind)) != 0))
    kind++;
  if (kind == PSDM_COLUMN_KINDS) return expected(r, found[0], "a column such as \"v\" or \"tanh(v/w)\"");
  *c = (psdm_column){.kind = (psdm_column_kind)kind, .sd = NAN};
  status = finite(r, found[1], &c->gain);
  if (!status && found[2]) status = finite(r, found[2], &c->width);
  if (!status && found[3]) status = number(r, found[3], &load);
  if (!status && found[4]) status = number(r, found[4], &c->sd);
  if (status) return status;
  if (load != 0 && load != 1 && load != 2) return expected(r, found[3], "0, 1 or 2");
  c->load = (int)load;
  bool wide =
      kind == PSDM_COLUMN_TANH || kind == PSDM_COLUMN_STOP || kind == PSDM_COLUMN_STRIBECK || kind == PSDM_COLUMN_POWER;
  return wide && !(c->width > 0) ? refuse(r, node, "column \"%s\" needs a width above zero", psdm_column_text(c->kind))
                                 : PSDM_OK;
}

static psdm_status read_friction(const reader *r, const psdmp_document_node *node) {
  psdm_parameters *p = r->p;
  int *columns = PSDMP_BASE_NEW(r->arena, p->n, int), i = 0;
  const psdm_column **column = PSDMP_BASE_NEW(r->arena, p->n, const psdm_column *);
  if (!columns || !column) return psdmp_base_no_memory(r->file, r->error);
  if (node->kind != PSDMP_DOCUMENT_LIST || node->count != p->n)
    return refuse(r, node, "friction needs a list of columns for each of %d drives", p->n);
  for (const psdmp_document_node *drive = node->child; drive; drive = drive->next, i++) {
    if (drive->kind != PSDMP_DOCUMENT_LIST || drive->count > 128)
      return expected(r, drive, "a list of friction columns");
    psdm_column *own = PSDMP_BASE_NEW(r->arena, drive->count, psdm_column);
    if (!own) return psdmp_base_no_memory(r->file, r->error);
    for (const psdmp_document_node *at = drive->child; at; at = at->next) {
      psdm_status status = read_column(r, at, &own[columns[i]++]);
      if (status) return status;
    }
    column[i] = own;
  }
  p->columns = columns;
  p->column = column;
  return PSDM_OK;
}

static psdm_status read_choices(const reader *r, const psdmp_document_node *node) {
  static const char *const keys[] = {"kinematics", "cutoff", "delay", "lambda", "rest", "rate"};
  const psdmp_document_node *found[COUNT(keys)];
  psdm_parameters *p = r->p;
  double *target[] = {NULL, &p->cutoff, &p->delay, &p->lambda, &p->rest, &p->rate};
  psdm_status status = take(r, node, "choices", keys, COUNT(keys), 0, found);
  if (!status && found[0] &&
      (found[0]->kind != PSDMP_DOCUMENT_SCALAR || !psdm_kinematics_find(found[0]->text, &p->source)))
    return expected(r, found[0], "auto, q, qd or qdd");
  for (int k = 1; k < COUNT(keys) && !status; k++)
    if (found[k]) status = number(r, found[k], target[k]);
  return status;
}

static psdm_joint_fit *new_fit(const reader *r) {
  psdm_joint_fit *joint = PSDMP_BASE_NEW(r->arena, r->p->n, psdm_joint_fit);
  for (int i = 0; i < r->p->n && joint; i++)
    joint[i] = (psdm_joint_fit){.rmse = NAN, .rel = NAN, .nrmse = NAN, .r2 = NAN};
  return joint;
}

static psdm_status read_fit(const reader *r, const psdmp_document_node *node, psdm_part_fit *fit) {
  static const char *const keys[] = {"global_rel", "rows", "rmse", "rel", "nrmse", "r2"};
  const psdmp_document_node *found[COUNT(keys)];
  int n = r->p->n;
  psdm_joint_fit *joint = new_fit(r);
  double *x = PSDMP_BASE_NEW(r->arena, n, double);
  if (!joint || !x) return psdmp_base_no_memory(r->file, r->error);
  *fit = (psdm_part_fit){.joint = joint, .global_rel = NAN};
  psdm_status status = node ? take(r, node, "errors", keys, COUNT(keys), 0, found) : PSDM_OK;
  if (status || !node) return status;
  if (found[0]) status = number(r, found[0], &fit->global_rel);
  for (int k = 1; k < COUNT(keys) && !status; k++) {
    if (!found[k]) continue;
    status = numbers(r, found[k], n, k == 1, x);
    for (int i = 0; i < n && !status; i++) {
      double *const value[] = {&joint[i].rmse, &joint[i].rel, &joint[i].nrmse, &joint[i].r2};
      if (k > 1) *value[k - 2] = x[i];
      else if (!(x[i] >= 0 && x[i] < 1e15)) return expected(r, found[1], "counts of rows");
      else fit->rows += joint[i].rows = (long)x[i];
    }
  }
  return status;
}

static psdm_status read_errors(const reader *r, const psdmp_document_node *node) {
  static const char *const keys[] = {"train", "heldout"};
  const psdmp_document_node *found[COUNT(keys)] = {NULL, NULL};
  psdm_status status = node ? take(r, node, "errors", keys, COUNT(keys), 0, found) : PSDM_OK;
  if (!status) status = read_fit(r, found[0], &r->p->train);
  return status ? status : read_fit(r, found[1], &r->p->heldout);
}

/* both triangles from the lower one */
static psdm_status read_covariance(const reader *r, const psdmp_document_node *node) {
  psdm_parameters *p = r->p;
  int wide = psdmp_parameters_wide(p), row = 0;
  if (node->kind != PSDMP_DOCUMENT_LIST || node->count != wide)
    return refuse(r, node, "covariance needs %d rows, one for each %s", wide,
                  r->steps ? "motor, base parameter and number of lugre" : "base parameter and friction column");
  double *V = PSDMP_BASE_NEW(r->arena, (size_t)wide * (size_t)wide, double);
  if (!V) return psdmp_base_no_memory(r->file, r->error);
  psdm_status status = PSDM_OK;
  for (const psdmp_document_node *at = node->child; at && !status; at = at->next, row++) {
    status = numbers(r, at, row + 1, false, V + (long)row * wide);
    for (int j = 0; j < row && !status; j++) V[(long)j * wide + row] = V[(long)row * wide + j];
  }
  p->covariance = V;
  return status;
}

/* ---- found by steps only ---- */

static psdm_status read_steps(const reader *r, const psdmp_document_node *node) {
  if (node->kind != PSDMP_DOCUMENT_LIST) return expected(r, node, "a list of steps");
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    psdm_step step;
    if (at->kind != PSDMP_DOCUMENT_SCALAR || !psdm_step_find(at->text, &step))
      return expected(r, at, "motor, gravity, friction or inertia");
    if (r->p->steps >> step & 1) return refuse(r, at, "duplicate step '%s'", at->text);
    r->p->steps |= 1u << step;
  }
  return PSDM_OK;
}

static psdm_status read_motors(const reader *r, const psdmp_document_node *node) {
  static const char *const keys[] = {"constant", "sd"};
  const psdmp_document_node *found[COUNT(keys)];
  double *constant = PSDMP_BASE_NEW(r->arena, r->p->n, double), *sd = PSDMP_BASE_NEW(r->arena, r->p->n, double);
  if (!constant || !sd) return psdmp_base_no_memory(r->file, r->error);
  if (node->kind != PSDMP_DOCUMENT_LIST || node->count != r->p->n)
    return refuse(r, node, "motors needs {constant, sd} of each of %d drives", r->p->n);
  psdm_status status = PSDM_OK;
  int i = 0;
  for (const psdmp_document_node *at = node->child; at && !status; at = at->next, i++) {
    status = take(r, at, "a motor", keys, COUNT(keys), COUNT(keys), found);
    if (!status) status = finite_or_nan(r, found[0], &constant[i]);
    if (!status && constant[i] == 0) status = expected(r, found[0], "a number other than zero");
    if (!status) status = number(r, found[1], &sd[i]);
  }
  r->p->torque_constant = constant;
  r->p->torque_constant_sd = sd;
  return status;
}

/* one drive's friction, or the word none */
static psdm_status read_bristles(const reader *r, const psdmp_document_node *node, psdm_friction *f, double *sd) {
  enum { SD = PSDM_FRICTION_NUMBERS, KEYS };
  const char *keys[KEYS];
  const psdmp_document_node *found[KEYS];
  memcpy(keys, psdmp_parameters_lugre_key, sizeof psdmp_parameters_lugre_key);
  keys[SD] = "sd";
  for (int k = 0; k < SD; k++) sd[k] = NAN;
  if (node->kind == PSDMP_DOCUMENT_SCALAR)
    return strcmp(node->text, "none") == 0 ? PSDM_OK : expected(r, node, "a map of friction's numbers, or none,");
  psdm_status status = take(r, node, "a drive's friction", keys, KEYS, SD, found);
  for (int k = 0; k < SD && !status; k++) status = finite(r, found[k], psdmp_parameters_lugre_number(f, k));
  if (!status && found[SD]) status = numbers(r, found[SD], SD, false, sd);
  if (status) return status;
  f->given = true;
  const char *lacks = psdm_friction_lacks(f, f->sigma0 > 0 ? PSDM_FRICTION_LUGRE : PSDM_FRICTION_POWER);
  if (!lacks && !(f->stribeck >= 0 && f->sigma0 >= 0 && f->sigma1 >= 0))
    lacks = "stribeck, sigma0 or sigma1 is negative";
  return lacks ? refuse(r, node, "%s", lacks) : PSDM_OK;
}

static psdm_status read_lugre(const reader *r, const psdmp_document_node *node) {
  psdm_parameters *p = r->p;
  psdm_friction *lugre = PSDMP_BASE_NEW(r->arena, p->n, psdm_friction);
  double *sd = PSDMP_BASE_NEW(r->arena, PSDM_FRICTION_NUMBERS * p->n, double);
  const psdm_column **column = PSDMP_BASE_NEW(r->arena, p->n, const psdm_column *);
  p->columns = PSDMP_BASE_NEW(r->arena, p->n, int);
  if (!lugre || !sd || !column || !p->columns) return psdmp_base_no_memory(r->file, r->error);
  if (node->kind != PSDMP_DOCUMENT_LIST || node->count != p->n)
    return refuse(r, node, "lugre needs the friction of each of the %d drives", p->n);
  psdm_status status = PSDM_OK;
  int i = 0;
  for (const psdmp_document_node *at = node->child; at && !status; at = at->next, i++)
    status = read_bristles(r, at, &lugre[i], sd + PSDM_FRICTION_NUMBERS * i);
  p->column = column;
  p->lugre = lugre;
  p->lugre_sd = sd;
  return status;
}

static psdm_status read_step_errors(const reader *r, const psdmp_document_node *node) {
  const char *keys[PSDM_STEPS];
  const psdmp_document_node *found[PSDM_STEPS] = {NULL};
  int n = r->p->n;
  psdm_joint_fit *all = PSDMP_BASE_NEW(r->arena, PSDM_STEPS * n, psdm_joint_fit);
  if (!all) return psdmp_base_no_memory(r->file, r->error);
  for (int k = 0; k < PSDM_STEPS; k++) keys[k] = psdm_step_name((psdm_step)k);
  psdm_status status = node ? take(r, node, "step_errors", keys, PSDM_STEPS, 0, found) : PSDM_OK;
  for (int k = 0; k < PSDM_STEPS && !status; k++) {
    psdm_part_fit fit;
    status = read_fit(r, found[k], &fit);
    if (!status) memcpy(all + (long)k * n, fit.joint, (size_t)n * sizeof *all);
  }
  r->p->step_fit = all;
  return status;
}

/* which base parameters have a value */
static psdm_status find_known(const reader *r) {
  unsigned char *known = PSDMP_BASE_NEW(r->arena, r->p->base, unsigned char);
  for (int j = 0; j < r->p->base && known; j++) known[j] = !isnan(r->p->theta[j].value);
  r->p->theta_known = known;
  return known ? PSDM_OK : psdmp_base_no_memory(r->file, r->error);
}

/* ---- all together ---- */

enum {
  FORMAT,
  ROBOT,
  THETA,
  SPEED,
  ROUTE,
  SIGMA,
  CHOICES,
  ERRORS,
  COVARIANCE,
  ESTIMATOR,
  FRICTION,
  PI,
  LOAD,
  MEAN_LOAD,
  STEPS,
  CURRENTS,
  MOTORS,
  LUGRE,
  TOOL,
  STEP_ERRORS,
  KEYS
};
static const char *const file_keys[KEYS] = {
    "format",   "robot", "theta", "speed",     "route", "sigma",    "choices", "errors", "covariance", "estimator",
    "friction", "pi",    "load",  "mean_load", "steps", "currents", "motors",  "lugre",  "tool",       "step_errors"};

/* a file belongs to one route: keys of the other are errors, and some of its own are required */
static psdm_status check_route(reader *r, const psdmp_document_node *root, const psdmp_document_node *const *found) {
  static const struct {
    const char *route;
    int first, end, needed[6]; /* its own keys, and the required ones */
  } routes[] = {{"oneshot", ESTIMATOR, STEPS, {ESTIMATOR, FRICTION, KEYS}},
                {"steps", STEPS, KEYS, {STEPS, CURRENTS, MOTORS, LUGRE, COVARIANCE, KEYS}}};
  const psdmp_document_node *node = found[ROUTE];
  r->steps = node && node->kind == PSDMP_DOCUMENT_SCALAR && strcmp(node->text, "steps") == 0;
  if (node && !r->steps && (node->kind != PSDMP_DOCUMENT_SCALAR || strcmp(node->text, "oneshot") != 0))
    return expected(r, node, "oneshot or steps");
  for (const int *key = routes[r->steps].needed; *key < KEYS; key++)
    if (!found[*key])
      return refuse(r, root, "no '%s' in a parameter file of the route %s", file_keys[*key], routes[r->steps].route);
  for (int key = routes[!r->steps].first; key < routes[!r->steps].end; key++)
    if (found[key]) {
      const psdmp_document_node here = {.line = found[key]->key_line, .column = found[key]->key_column};
      return refuse(r, &here, "'%s' belongs to the route %s; this file is of %s", file_keys[key],
                    routes[!r->steps].route, routes[r->steps].route);
    }
  return PSDM_OK;
}

static psdm_status read_oneshot(const reader *r, const psdmp_document_node *const *found) {
  psdm_parameters *p = r->p;
  psdm_status status = read_estimator(r, found[ESTIMATOR]);
  if (!status) status = read_friction(r, found[FRICTION]);
  if (!status && found[PI]) status = read_full(r, found[PI]);
  if (!status && found[PI]) status = psdmp_parameters_agree(p, r->robot, r->file, found[THETA]->line, r->error);
  if (!status && !found[PI]) status = psdmp_parameters_complete(p, r->robot, r->file, found[THETA]->line, r->error);
  if (!status && found[LOAD]) status = list(r, found[LOAD], p->base, true, &p->theta_load);
  if (!status && found[MEAN_LOAD]) status = list(r, found[MEAN_LOAD], p->n, true, &p->load);
  for (int i = 0; i < p->n && !status && !p->theta_load; i++)
    for (int k = 0; k < p->columns[i] && !status; k++)
      if (p->column[i][k].load)
        status = refuse(r, found[FRICTION], "a friction column depends on the load, but 'load' is missing");
  return status;
}

static psdm_status read_route(const reader *r, const psdmp_document_node *const *found) {
  psdm_parameters *p = r->p;
  p->estimator = PSDM_ESTIMATOR_WLS; /* as in the linear steps */
  psdm_status status = psdmp_parameters_complete(p, r->robot, r->file, found[THETA]->line, r->error);
  if (!status) status = find_known(r);
  if (!status) status = read_steps(r, found[STEPS]);
  if (!status) status = read_truth(r, found[CURRENTS], &p->currents);
  if (!status) status = read_motors(r, found[MOTORS]);
  if (!status) status = read_lugre(r, found[LUGRE]);
  if (!status && found[TOOL]) status = list(r, found[TOOL], 10, true, &p->tool);
  return status ? status : read_step_errors(r, found[STEP_ERRORS]);
}

static psdm_status read_all(reader *r, const psdmp_document_node *root) {
  const psdmp_document_node *found[KEYS];
  psdm_parameters *p = r->p;
  psdm_status status = take(r, root, "a parameter file", file_keys, KEYS, ROUTE, found);
  if (status) return status;
  if (found[FORMAT]->kind != PSDMP_DOCUMENT_SCALAR || strcmp(found[FORMAT]->text, "psdm-parameters-1") != 0)
    return expected(r, found[FORMAT], "psdm-parameters-1");
  p->n = psdm_robot_n(r->robot);
  p->links = psdm_robot_links(r->robot);
  p->standard = psdm_robot_parameter_count(r->robot);
  status = check_route(r, root, found);
  if (!status) status = read_robot(r, found[ROBOT]);
  if (!status) status = read_theta(r, found[THETA]);
  if (!status) status = list(r, found[SPEED], p->n, true, &p->speed);
  if (!status) status = r->steps ? read_route(r, found) : read_oneshot(r, found);
  if (!status && found[SIGMA]) status = list(r, found[SIGMA], p->n, false, &p->sigma);
  if (!status && found[CHOICES]) status = read_choices(r, found[CHOICES]);
  if (!status) status = read_errors(r, found[ERRORS]);
  return !status && found[COVARIANCE] ? read_covariance(r, found[COVARIANCE]) : status;
}

psdm_status psdm_parameters_parse(const char *text, size_t length, const char *name, const psdm_robot *robot,
                                  const psdm_allocator *allocator, psdm_parameters **out, psdm_error *error) {
  *out = NULL;
  psdmp_base_arena arena = {.allocator = allocator}; /* of the tree, which is freed */
  psdmp_document_node *root;
  psdm_parameters *p = psdmp_parameters_new(allocator);
  if (!p) return psdmp_base_no_memory(name, error);
  reader r = {.file = name, .robot = robot, .arena = &p->internal->arena, .p = p, .error = error};
  psdm_status status = psdmp_document_parse(text, length, name, &arena, &root, error);
  if (!status) status = read_all(&r, root);
  psdmp_base_arena_free(&arena);
  if (status) psdm_parameters_free(p);
  else *out = p;
  return status;
}
