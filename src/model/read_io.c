/* read_io.c: reads a model from the JSON of psdm_model_save. JSON is YAML, so one parser serves both. */
#include <math.h>
#include <string.h>

#include "document/document.h"
#include "model/model.h"
#include "robot/robot.h"

typedef struct reader {
  const char *file;
  psdm_error *error;
  psdm_model *m;
  const psdmp_document_node *root;
} reader;

static psdm_status refuse(const reader *r, const psdmp_document_node *at, const char *what) {
  return psdmp_base_fail(r->error, PSDM_E_PARSE, r->file, at ? at->line : 1, at ? at->column : 1, "%s", what);
}

static const psdmp_document_node *member(const psdmp_document_node *map, const char *key) {
  for (const psdmp_document_node *at = map && map->kind == PSDMP_DOCUMENT_MAP ? map->child : NULL; at; at = at->next)
    if (strcmp(at->key, key) == 0) return at;
  return NULL;
}

static bool number(const psdmp_document_node *at, double *value) {
  return at && at->kind == PSDMP_DOCUMENT_SCALAR && psdmp_base_parse_number(at->text, at->length, value);
}

/* a whole number from 0 to limit */
static bool whole(const psdmp_document_node *at, long limit, long *value) {
  double x;
  if (!number(at, &x) || x != floor(x) || x < 0 || x > (double)limit) return false;
  *value = (long)x;
  return true;
}

static const psdmp_document_node *list(const reader *r, const char *key, long count) {
  const psdmp_document_node *at = member(r->root, key);
  return at && at->kind == PSDMP_DOCUMENT_LIST && (count < 0 || at->count == count) ? at : NULL;
}

/* ---- sizes and names ---- */

static psdm_status read_shape(reader *r) {
  psdm_model *m = r->m;
  long n, p, l, links;
  char found[80];
  const psdmp_document_node *name = member(r->root, "name"), *names = list(r, "standard_parameters", -1);
  if (!name || name->kind != PSDMP_DOCUMENT_SCALAR)
    return refuse(r, r->root, "no 'name'; a model exported by psdm derive was expected");
  if (!whole(member(r->root, "n"), 64, &n) || !n || !whole(member(r->root, "p"), PSDMP_DOCUMENT_DOC_NODES, &p) ||
      !whole(member(r->root, "l"), 11 * PSDM_MAX_JOINTS, &l) ||
      !whole(member(r->root, "links"), PSDM_MAX_JOINTS, &links) || !number(member(r->root, "gravity"), &m->gravity) ||
      !names)
    return refuse(r, r->root, "n, p, l, links, gravity and standard_parameters were expected");
  /* ten for each link come first, then at most one for each drive */
  if (names->count < 10 * links || names->count > 11 * PSDM_MAX_JOINTS || names->count > 10 * links + PSDM_MAX_JOINTS ||
      n > PSDM_MAX_JOINTS || l > names->count) {
    psdmp_base_print(found, sizeof found, "%ld links, %ld base parameters", links, l);
    return psdmp_base_fail(r->error, PSDM_E_PARSE, r->file, names->line, names->column,
                           "standard_parameters has %d names, which does not go with %s: ten for each link and at most "
                           "one for each drive were expected",
                           names->count, found);
  }
  m->n = (int)n, m->p = p, m->l = (int)l, m->links = (int)links, m->standard = names->count;
  m->classes = (m->n + 1) * (m->n + 2) / 2;
  m->name = psdmp_base_arena_text(&m->arena, name->text, name->length);
  m->prismatic = PSDMP_BASE_NEW(&m->arena, n, bool);
  m->weight = PSDMP_BASE_NEW(&m->arena, n, uint64_t);
  m->radix = PSDMP_BASE_NEW(&m->arena, n, int);
  m->class_start = PSDMP_BASE_NEW(&m->arena, m->classes + 1, long);
  m->code = PSDMP_BASE_NEW(&m->arena, p, uint64_t);
  m->P_start = PSDMP_BASE_NEW(&m->arena, p + 1, long);
  m->base = PSDMP_BASE_NEW(&m->arena, l, psdmp_model_base);
  m->fate = PSDMP_BASE_NEW(&m->arena, m->standard, unsigned char);
  m->standard_name = psdmp_base_arena_alloc(&m->arena, (size_t)(m->standard + 1) * sizeof *m->standard_name);
  if (!m->name || !m->prismatic || !m->weight || !m->radix || !m->class_start || !m->code || !m->P_start || !m->base ||
      !m->fate || !m->standard_name)
    return psdmp_base_no_memory(r->file, r->error);
  int k = 0;
  for (const psdmp_document_node *at = names->child; at; at = at->next, k++) {
    if (at->kind != PSDMP_DOCUMENT_SCALAR || at->length >= sizeof m->standard_name[0])
      return refuse(r, at, "a parameter's name was expected");
    memcpy(m->standard_name[k], at->text, at->length);
  }
  return PSDM_OK;
}

static psdm_status read_fingerprint(const reader *r, const psdmp_document_node *at, uint64_t *hash) {
  if (!at || (at->kind == PSDMP_DOCUMENT_SCALAR && psdmp_robot_fingerprint_read(at->text, at->length, hash)))
    return PSDM_OK;
  return refuse(r, at, "a fingerprint of sixteen hexadecimal digits was expected");
}

/* the model's robot; old files do not have it */
static psdm_status read_robot(reader *r) {
  psdmp_model_robot *robot = &r->m->robot;
  const psdmp_document_node *node = member(r->root, "robot"), *gravity = member(node, "gravity"),
                            *at = gravity && gravity->kind == PSDMP_DOCUMENT_LIST ? gravity->child : NULL;
  if (!node) return PSDM_OK;
  if (!member(node, "kinematics") || !gravity || gravity->kind != PSDMP_DOCUMENT_LIST || gravity->count != 3)
    return refuse(r, node, "robot: kinematics and gravity, a list of 3 numbers, were expected");
  for (int i = 0; i < 3; i++, at = at->next)
    if (!number(at, &robot->gravity[i])) return refuse(r, at, "a number was expected");
  psdm_status status = read_fingerprint(r, member(node, "kinematics"), &robot->kinematics);
  return status ? status : read_fingerprint(r, member(node, "inertia"), &robot->inertia);
}

/* ---- functions ---- */

/* exponents of one string; false when it is not 5n digits */
static bool exponents(const psdmp_document_node *at, int n, unsigned char *e) {
  static const char digits[] = PSDMP_MODEL_EXPONENT_DIGITS;
  if (at->kind != PSDMP_DOCUMENT_SCALAR || at->length != (size_t)(5 * n)) return false;
  for (int i = 0; i < 5 * n; i++) {
    const char *digit = memchr(digits, at->text[i], sizeof digits - 1);
    if (!digit) return false;
    e[i] = (unsigned char)(digit - digits);
  }
  return true;
}

/* joints with an exponent of q are prismatic; degrees give the digits' range */
static psdm_status read_radix(reader *r, const psdmp_document_node *E) {
  psdm_model *m = r->m;
  unsigned char e[5 * 64];
  int n = m->n;
  for (int j = 0; j < n; j++) m->radix[j] = PSDMP_MODEL_RADIX;
  for (const psdmp_document_node *at = E->child; at; at = at->next) {
    if (!exponents(at, n, e)) return refuse(r, at, "a string of 5n digits, 0 to 9 and a to z, was expected");
    for (int j = 0; j < n; j++) {
      int digit = e[j] ? e[j] : 2 * e[2 * n + j] + e[n + j];
      if ((e[j] && (e[n + j] || e[2 * n + j])) || e[n + j] > 1)
        return refuse(r, at, "a joint has powers of q and of sines, or a square of a sine");
      m->prismatic[j] |= e[j] > 0;
      if (digit >= m->radix[j]) m->radix[j] = digit + 1;
    }
  }
  uint64_t weight = 1;
  for (int j = n - 1; j >= 0; j--) {
    if (weight > UINT64_MAX / 128 / (uint64_t)m->radix[j]) return refuse(r, E, "exponents are too high");
    m->weight[j] = weight;
    weight *= (uint64_t)m->radix[j];
  }
  return PSDM_OK;
}

/* the class of a function from its rates, -1 when invalid */
static int class_of(const unsigned char *e, int n) {
  int first = -1, second = -1, acceleration = -1;
  for (int j = 0; j < n; j++) {
    if (e[4 * n + j] > 1 || (e[4 * n + j] && acceleration >= 0)) return -1;
    if (e[4 * n + j]) acceleration = j;
    for (int k = 0; k < e[3 * n + j]; k++) {
      if (second >= 0) return -1;
      *(first < 0 ? &first : &second) = j;
    }
  }
  if (acceleration >= 0) return first < 0 ? psdmp_model_class_of(n, acceleration, -1) : -1;
  if (first < 0) return 0;
  return second < 0 ? -1 : psdmp_model_class_of(n, first, second);
}

static psdm_status read_functions(reader *r) {
  psdm_model *m = r->m;
  const psdmp_document_node *E = list(r, "E", m->p);
  unsigned char e[5 * 64];
  int n = m->n, last = 0;
  if (!E) return refuse(r, r->root, "E, a list of p strings, was expected");
  psdm_status status = read_radix(r, E);
  if (status) return status;
  long f = 0;
  for (const psdmp_document_node *at = E->child; at; at = at->next, f++) {
    exponents(at, n, e);
    int k = class_of(e, n);
    if (k < last)
      return refuse(r, at, "functions must be ordered by class: gravity, accelerations, centrifugal, Coriolis");
    while (last < k) m->class_start[++last] = f;
    for (int j = 0; j < n; j++) {
      int turned = 2 * e[2 * n + j] + e[n + j];
      if (m->prismatic[j] && turned)
        return refuse(r, at, "a joint has powers of q in one function and of sines in another");
      m->code[f] += (uint64_t)(m->prismatic[j] ? e[j] : turned) * m->weight[j];
    }
  }
  while (last < m->classes) m->class_start[++last] = m->p;
  return PSDM_OK;
}

/* ---- P and the base parameters ---- */

static psdm_status read_P(reader *r) {
  psdm_model *m = r->m;
  const psdmp_document_node *P = list(r, "P", -1);
  if (!P) return refuse(r, r->root, "P, a list of [function, joint, parameter, value], was expected");
  m->P = PSDMP_BASE_NEW(&m->arena, P->count, psdmp_model_entry);
  if (!m->P) return psdmp_base_no_memory(r->file, r->error);
  long at_entry = 0, before = 0;
  for (const psdmp_document_node *at = P->child; at; at = at->next, at_entry++) {
    long f, joint, parameter;
    double value;
    const psdmp_document_node *x = at->kind == PSDMP_DOCUMENT_LIST && at->count == 4 ? at->child : NULL;
    if (!x || !whole(x, m->p - 1, &f) || !whole(x->next, m->n - 1, &joint) ||
        !whole(x->next->next, m->l - 1, &parameter) || !number(x->next->next->next, &value) || f < before)
      return refuse(r, at, "[function, joint, parameter, value], functions ascending, was expected");
    m->P[at_entry] = (psdmp_model_entry){value, (unsigned short)joint, (unsigned short)parameter};
    while (before < f) m->P_start[++before] = at_entry;
  }
  while (before < m->p) m->P_start[++before] = at_entry;
  return PSDM_OK;
}

static int find_standard(const psdm_model *m, const char *name) {
  for (int k = 0; k < m->standard; k++)
    if (strcmp(m->standard_name[k], name) == 0) return k;
  return -1;
}

static psdm_status read_base(reader *r) {
  psdm_model *m = r->m;
  const psdmp_document_node *list_node = list(r, "base_parameters", m->l);
  if (!list_node) return refuse(r, r->root, "base_parameters, a list of l entries, was expected");
  int j = 0;
  for (const psdmp_document_node *at = list_node->child; at; at = at->next, j++) {
    psdmp_model_base *base = &m->base[j];
    const psdmp_document_node *formula = member(at, "formula"), *name = member(at, "name");
    if (!formula || formula->kind != PSDMP_DOCUMENT_MAP || !formula->count || !name ||
        name->kind != PSDMP_DOCUMENT_SCALAR)
      return refuse(r, at, "a base parameter with name and formula was expected");
    base->term = PSDMP_BASE_NEW(&m->arena, formula->count, psdmp_model_base_term);
    if (!base->term) return psdmp_base_no_memory(r->file, r->error);
    for (const psdmp_document_node *term = formula->child; term; term = term->next) {
      double coefficient;
      int k = find_standard(m, term->key);
      if (k < 0 || !number(term, &coefficient))
        return refuse(r, term, "a standard parameter and its coefficient were expected");
      base->term[base->terms++] = (psdmp_model_base_term){k, coefficient};
    }
    base->parameter = base->term[0].parameter;
    if (strcmp(name->text, m->standard_name[base->parameter]) != 0) { /* echelon: theta1, ... */
      base->name = psdmp_base_arena_text(&m->arena, name->text, name->length);
      if (!base->name) return psdmp_base_no_memory(r->file, r->error);
    }
  }
  m->combined = true; /* not in the file; evaluating the model's own functions is always correct */
  return PSDM_OK;
}

psdm_status psdm_model_load(const char *path, const psdm_allocator *allocator, psdm_model **model, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = allocator};
  const char *file = strcmp(path, "-") ? path : "<stdin>";
  psdm_model *m = psdmp_base_alloc(allocator, sizeof *m);
  char *text = NULL;
  size_t length;
  psdmp_document_node *root = NULL;
  *model = NULL;
  psdm_status status = m ? psdmp_document_file_read(path, PSDMP_DOCUMENT_DOC_BYTES, &scratch, &text, &length, error)
                         : psdmp_base_no_memory(file, error);
  if (!status) status = psdmp_document_parse(text, length, file, &scratch, &root, error);
  if (m) m->arena.allocator = allocator;
  reader r = {file, error, m, root};
  if (!status) status = read_shape(&r);
  if (!status) status = read_robot(&r);
  if (!status) status = read_functions(&r);
  if (!status) status = read_P(&r);
  if (!status) status = read_base(&r);
  psdmp_base_arena_free(&scratch);
  if (status) {
    psdm_model_free(m);
    return status;
  }
  psdmp_model_set_fates(m);
  *model = m;
  return PSDM_OK;
}
