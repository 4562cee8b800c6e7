/* robot.c: a robot from text, file or tables, and its queries: facts, parameters, motors, notes. */
#include "psdm/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "document/document.h"
#include "robot/spec_priv.h"

const char *const psdmp_robot_standard_names[PSDMP_ROBOT_STANDARD] = {"m",  "mx", "my", "mz", "XX",
                                                                      "XY", "XZ", "YY", "YZ", "ZZ"};
const char *const psdmp_robot_body_names[PSDMP_ROBOT_BODY_NAMES] = {"m",   "rx",  "ry",  "rz",  "Ixx", "Iyy",
                                                                    "Izz", "Ixy", "Ixz", "Iyz", "Ia"};

/* ---- input ---- */

/* the file's name without its folder and ending */
static const char *stem(psdmp_base_arena *arena, const char *file) {
  const char *slash = strrchr(file, '/'), *from = slash ? slash + 1 : file, *dot = strrchr(from, '.');
  size_t length = dot && dot > from ? (size_t)(dot - from) : strlen(from);
  return psdmp_base_arena_text(arena, from, length);
}

/* XML begins with a bracket, after blanks and a byte order mark; YAML never does */
static bool looks_like_xml(const char *text, size_t length) {
  size_t at = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n')) at++;
  return at < length && text[at] == '<';
}

/* the common part of all sources, once the spec is filled */
static psdm_status finish(psdmp_robot_spec *spec, const psdm_robot_options *options, psdm_robot *robot,
                          psdm_error *error) {
  psdm_status status = options ? psdmp_robot_spec_restrict(spec, options, &robot->arena, error) : PSDM_OK;
  if (!status)
    status =
        psdmp_robot_spec_missing(spec, options ? options->missing_inertia : PSDM_MISSING_AUTO, &robot->arena, error);
  if (!status) status = psdmp_robot_spec_snap_axes(spec, options ? options->snap_axes : 0, &robot->arena, error);
  if (status) return status;
  if (!spec->name || !spec->name[0]) spec->name = stem(&robot->arena, spec->file);
  if (!spec->name) return psdmp_base_no_memory(spec->file, error);
  robot->memory = options ? options->memory : 0;
  if (options && options->gravity) memcpy(spec->gravity, options->gravity, sizeof spec->gravity);
  return psdmp_robot_build(spec, robot, error);
}

static psdm_status read_text(const char *text, size_t length, const char *name, const psdm_robot_options *options,
                             psdmp_base_arena *arena, psdmp_robot_spec *spec, psdm_error *error) {
  char *file = psdmp_base_arena_text(arena, name, strlen(name));
  if (!file) return psdmp_base_no_memory(name, error);
  if (length > PSDMP_DOCUMENT_DOC_BYTES)
    return psdmp_base_fail(error, PSDM_E_LIMIT, name, 0, 0, "%zu bytes; at most %d are read", length,
                           PSDMP_DOCUMENT_DOC_BYTES);
  return looks_like_xml(text, length) ? psdmp_robot_spec_from_urdf(text, length, file, options, arena, spec, error)
                                      : psdmp_robot_spec_from_yaml(text, length, file, options, arena, spec, error);
}

static psdm_robot *new_robot(const psdm_allocator *allocator) {
  psdm_robot *robot = psdmp_base_alloc(allocator, sizeof *robot);
  if (robot) robot->arena.allocator = allocator;
  return robot;
}

/* a robot from text, from tables in memory, or, if neither is there, from tables in files */
typedef struct source {
  const char *text, *name, *x_path;
  size_t length;
  const psdm_matrix *dh, *x;
} source;

static psdm_status make(const source *from, const psdm_robot_options *options, const psdm_allocator *allocator,
                        psdm_robot **out, psdm_error *error) {
  *out = NULL;
  psdm_robot *robot = new_robot(allocator);
  psdmp_robot_spec *spec = robot ? psdmp_base_arena_alloc(&robot->arena, sizeof *spec) : NULL;
  psdm_status status;
  if (!spec) status = psdmp_base_no_memory(from->name, error);
  else if (from->text) status = read_text(from->text, from->length, from->name, options, &robot->arena, spec, error);
  else if (from->dh) status = psdmp_robot_spec_from_matrices(from->dh, from->x, options, &robot->arena, spec, error);
  else status = psdmp_robot_spec_from_tables(from->name, from->x_path, options, &robot->arena, spec, error);
  if (!status) status = finish(spec, options, robot, error);
  if (status) {
    psdm_robot_free(robot);
    return status;
  }
  *out = robot;
  return PSDM_OK;
}

size_t psdm_robot_memory(const psdm_robot *robot) { return robot->memory; }

psdm_status psdm_robot_fits(const psdm_robot *robot, const char *what, double bytes, psdm_error *error) {
  return psdmp_base_memory_ask("", what, bytes, robot->memory, "", error);
}

psdm_status psdm_robot_parse(const char *text, size_t length, const char *name, const psdm_robot_options *options,
                             const psdm_allocator *allocator, psdm_robot **out, psdm_error *error) {
  return make(&(source){.text = text, .length = length, .name = name}, options, allocator, out, error);
}

psdm_status psdm_robot_load_tables(const char *dh_path, const char *x_path, const psdm_robot_options *options,
                                   const psdm_allocator *allocator, psdm_robot **out, psdm_error *error) {
  return make(&(source){.name = dh_path, .x_path = x_path}, options, allocator, out, error);
}

psdm_status psdm_robot_parse_tables(const psdm_matrix *dh, const psdm_matrix *x, const psdm_robot_options *options,
                                    const psdm_allocator *allocator, psdm_robot **out, psdm_error *error) {
  return make(&(source){.name = dh->name, .dh = dh, .x = x}, options, allocator, out, error);
}

psdm_status psdm_robot_load(const char *path, const psdm_robot_options *options, const psdm_allocator *allocator,
                            psdm_robot **out, psdm_error *error) {
  *out = NULL;
  psdmp_base_arena arena = {.allocator = allocator};
  char *text = NULL;
  size_t length = 0;
  psdm_status status = psdmp_document_file_read(path, PSDMP_DOCUMENT_DOC_BYTES, &arena, &text, &length, error);
  if (!status)
    status = psdm_robot_parse(text, length, strcmp(path, "-") ? path : "<stdin>", options, allocator, out, error);
  psdmp_base_arena_free(&arena);
  return status;
}

void psdm_robot_free(psdm_robot *robot) {
  if (!robot) return;
  psdmp_base_arena_free_owner(&robot->arena, robot);
}

/* ---- derived numbers ---- */

static void refresh_drives(psdm_robot *r) {
  r->unknown_drive = -1;
  memset(r->body_drive, 0, sizeof *r->body_drive * (size_t)r->bodies);
  if (r->drive_mass) memset(r->drive_mass, 0, sizeof *r->drive_mass * (size_t)r->n * (size_t)r->n);
  for (int d = 0; d < r->drives; d++) {
    const psdmp_robot_drive *drive = &r->drive[d];
    if (!isfinite(drive->inertia) && r->unknown_drive < 0) r->unknown_drive = drive->index;
    if (r->plain_drives) r->body_drive[r->link[drive->index].body] = drive->inertia;
    for (int i = 0; r->drive_mass && i < r->n; i++) /* symmetric to the last bit */
      for (int j = 0; j < r->n; j++) r->drive_mass[i * r->n + j] += drive->inertia * (drive->a[i] * drive->a[j]);
  }
}

void psdmp_robot_refresh(psdm_robot *r) {
  if (r->closure) { /* shares its numbers with its tree */
    psdm_robot *tree = (psdm_robot *)r->closure->tree;
    psdmp_robot_refresh(tree);
    r->unknown_link = tree->unknown_link;
    r->unknown_drive = tree->unknown_drive;
    return;
  }
  r->unknown_link = -1;
  for (int b = 0; b < r->bodies; b++) {
    psdmp_robot_body *body = &r->body[b];
    const double *pi = r->pi + (long)PSDMP_ROBOT_STANDARD * body->number;
    for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++)
      if (!isfinite(pi[i]) && (r->unknown_link < 0 || body->index < r->unknown_link)) r->unknown_link = body->index;
    psdmp_robot_standard_move(&r->link[body->index].frame, pi, body->pi);
  }
  psdmp_robot_reduce(r);
  refresh_drives(r);
}

int psdm_robot_unknown_links(const psdm_robot *r) {
  int count = 0;
  for (int b = 0; b < r->bodies; b++) {
    bool unknown = false;
    for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++) unknown |= !isfinite(r->pi[(long)PSDMP_ROBOT_STANDARD * b + i]);
    count += unknown;
  }
  return count;
}

psdm_status psdm_robot_ready(const psdm_robot *r, psdm_error *error) {
  char name[80];
  if (r->unknown_link >= 0) {
    int by = r->unknown_by[r->joint[r->unknown_link].link]; /* may be a link that is fixed to it */
    const psdmp_robot_link *link = &r->link[by >= 0 ? by : r->unknown_link];
    psdmp_base_quote(link->name, strlen(link->name), name, sizeof name);
    if (r->urdf)
      return psdmp_base_fail(
          error, PSDM_E_MISSING, r->file, link->line, 0,
          "link '%s' has no <inertial> with mass and inertia; this command needs it (or `missing_inertia = zero`)",
          name);
    return psdmp_base_fail(error, PSDM_E_MISSING, r->file, 0, 0,
                           "link '%s' has no mass, centre of mass and inertia; this command needs them ('links:')",
                           name);
  }
  if (r->unknown_drive >= 0) {
    const char *joint = r->joint[r->unknown_drive].name;
    psdmp_base_quote(joint, strlen(joint), name, sizeof name);
    return psdmp_base_fail(error, PSDM_E_MISSING, r->file, 0, 0,
                           "joint '%s' has drive_inertia: unknown; this command needs a number", name);
  }
  return PSDM_OK;
}

/* ---- facts ---- */

const char *psdm_robot_name(const psdm_robot *r) { return r->name; }
const char *psdm_robot_base_name(const psdm_robot *r) { return r->base_name; }
int psdm_robot_n(const psdm_robot *r) { return r->n; }
int psdm_robot_joints(const psdm_robot *r) { return r->joints; }
int psdm_robot_links(const psdm_robot *r) { return r->bodies; }
int psdm_robot_drives(const psdm_robot *r) { return r->drives; }
const double *psdm_robot_gravity(const psdm_robot *r) { return r->gravity; }
bool psdm_robot_coupled(const psdm_robot *r) { return r->coupled; }
int psdm_robot_loops(const psdm_robot *r) { return r->closure ? r->closure->loops : 0; }

void psdm_robot_home(const psdm_robot *r, double *q) {
  for (int i = 0; i < r->n; i++) q[i] = r->closure ? r->closure->home[i] : 0;
}

/* the tree's rows, with its independent joints as columns; rows that depend on a passive joint are not constant */
static void closed_coupling(const psdm_robot *r, double *G, double *c) {
  const psdm_robot *tree = r->closure->tree;
  for (int b = 0; b < tree->bodies; b++) {
    int row = tree->body[b].number;
    bool loop = false;
    if (c) c[row] = tree->c[b];
    for (int j = 0; G && j < r->n; j++) G[row * r->n + j] = 0;
    for (int i = tree->g_row[b]; i < tree->g_row[b + 1]; i++) {
      int at = -1;
      for (int j = 0; j < r->n; j++)
        if (r->closure->independent[j] == tree->g_col[i]) at = j;
      loop |= at < 0;
      if (G && at >= 0) G[row * r->n + at] = tree->g_val[i];
    }
    for (int j = 0; loop && G && j < r->n; j++) G[row * r->n + j] = NAN;
  }
}

bool psdm_robot_body(const psdm_robot *r, int index, psdm_body *body) {
  if (index < 0 || index >= r->bodies) return false;
  const psdmp_robot_body *b = &r->body[index];
  *body = (psdm_body){.parent = b->parent,
                      .prismatic = b->prismatic,
                      .link = b->number,
                      .drive = r->plain_drives ? r->body_drive[index] : NAN};
  memcpy(body->R, b->joint.R, sizeof body->R);
  memcpy(body->p, b->joint.p, sizeof body->p);
  memcpy(body->pi, b->pi, sizeof body->pi);
  return true;
}

void psdm_robot_coupling(const psdm_robot *r, double *G, double *c) {
  if (r->closure) {
    closed_coupling(r, G, c);
    return;
  }
  if (G) memset(G, 0, sizeof *G * (size_t)r->bodies * (size_t)r->n);
  for (int b = 0; b < r->bodies; b++) {
    int row = r->body[b].number;
    if (c) c[row] = r->c[b];
    for (int i = r->g_row[b]; G && i < r->g_row[b + 1]; i++) G[row * r->n + r->g_col[i]] = r->g_val[i];
  }
}

const psdm_joint *psdm_robot_joint(const psdm_robot *r, int joint) {
  return joint >= 0 && joint < r->joints ? &r->joint[joint] : NULL;
}

const char *psdm_robot_link_name(const psdm_robot *r, int joint) {
  return joint >= 0 && joint < r->joints ? r->link[joint].name : NULL;
}

int psdm_robot_find(const psdm_robot *r, const char *name) {
  for (int j = 0; j < r->joints; j++)
    if (strcmp(r->link[j].name, name) == 0) return j;
  for (int j = 0; j < r->joints; j++)
    if (strcmp(r->joint[j].name, name) == 0) return j;
  return -1;
}

int psdmp_robot_named(const psdm_robot *r, const char *link) {
  if (!link) return r->last;
  for (int j = 0; j < r->joints; j++)
    if (r->link[j].name == link) return j; /* psdm_robot_link_name's, at no cost */
  return psdm_robot_find(r, link);
}

psdm_status psdmp_robot_named_or_fail(const psdm_robot *r, const char *link, int *joint, psdm_error *error) {
  char name[80];
  *joint = psdmp_robot_named(r, link);
  if (*joint >= 0) return PSDM_OK;
  psdmp_base_quote(link, strlen(link), name, sizeof name);
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, r->file, 0, 0, "no link or joint has the name '%s'", name);
}

bool psdm_robot_moves(const psdm_robot *r, int joint) {
  return joint >= 0 && joint < r->joints && r->link[joint].body >= 0;
}

/* how many joints move a body */
static int moving_depth(const psdm_robot *r, int body) {
  int depth = 0;
  for (; body >= 0; body = r->body[body].parent) depth++;
  return depth;
}

int psdm_robot_default_link(const psdm_robot *r, bool *chosen) {
  int equals = 0, most = moving_depth(r, r->link[r->last].body);
  for (int b = 0; chosen && b < r->bodies; b++) equals += moving_depth(r, b) == most;
  if (chosen) *chosen = equals > 1 || r->last != r->joints - 1;
  return r->last;
}

/* ---- parameters ---- */

int psdm_robot_parameter_count(const psdm_robot *r) { return PSDMP_ROBOT_STANDARD * r->bodies + r->drives; }

char *psdm_robot_parameter_name(const psdm_robot *r, int k, char *buf, size_t size) {
  int inertial = PSDMP_ROBOT_STANDARD * r->bodies;
  if (k >= 0 && k < inertial)
    snprintf(buf, size, "%s%d", psdmp_robot_standard_names[k % PSDMP_ROBOT_STANDARD], k / PSDMP_ROBOT_STANDARD + 1);
  else if (k >= inertial && k < inertial + r->drives)
    snprintf(buf, size, "Ia%d", r->joint[r->drive[k - inertial].index].link + 1);
  else if (size) buf[0] = '\0';
  return buf;
}

int psdmp_robot_standard_find(const psdm_robot *r, const char *name) {
  char own[32];
  for (int k = 0; k < psdm_robot_parameter_count(r); k++)
    if (strcmp(psdm_robot_parameter_name(r, k, own, sizeof own), name) == 0) return k;
  return -1;
}

void psdm_robot_parameters(const psdm_robot *r, double *pi) {
  int inertial = PSDMP_ROBOT_STANDARD * r->bodies;
  memcpy(pi, r->pi, sizeof *pi * (size_t)inertial);
  for (int d = 0; d < r->drives; d++) pi[inertial + d] = r->drive[d].inertia;
}

double psdmp_robot_parameter(const psdm_robot *r, int k) {
  int inertial = PSDMP_ROBOT_STANDARD * r->bodies;
  return k < inertial ? r->pi[k] : k < inertial + r->drives ? r->drive[k - inertial].inertia : NAN;
}

int psdm_robot_tool(const psdm_robot *r, double *pi) {
  for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++) pi[i] = r->tool_joint < 0 ? 0 : r->tool[i];
  return r->tool_joint;
}

void psdm_robot_set_parameters(psdm_robot *r, const double *pi) {
  int inertial = PSDMP_ROBOT_STANDARD * r->bodies;
  memcpy(r->pi, pi, sizeof *pi * (size_t)inertial);
  for (int d = 0; d < r->drives; d++) r->drive[d].inertia = pi[inertial + d];
  psdmp_robot_refresh(r);
}

void psdm_robot_drive_mass(const psdm_robot *r, double *B) {
  int n = r->closure ? r->closure->tree->n : r->n;
  memset(B, 0, sizeof *B * (size_t)n * (size_t)n);
  for (int d = 0; d < r->drives; d++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (r->drive[d].a[i] != 0 && r->drive[d].a[j] != 0)
          B[(long)i * n + j] += r->drive[d].a[i] * r->drive[d].inertia * r->drive[d].a[j];
}

/* ---- motors ---- */

bool psdm_robot_has_transmission(const psdm_robot *r) { return r->transmission != NULL; }

/* y = A x, or A^T x; A NULL is the identity */
static void apply(int n, const double *A, bool transposed, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double sum = A ? 0 : x[i];
    for (int j = 0; A && j < n; j++) sum += (transposed ? A[j * n + i] : A[i * n + j]) * x[j];
    y[i] = sum;
  }
}

void psdm_robot_motor_to_joint(const psdm_robot *r, const double *q_motor, double *q) {
  apply(r->n, r->transmission, false, q_motor, q);
}
void psdm_robot_joint_to_motor(const psdm_robot *r, const double *q, double *q_motor) {
  apply(r->n, r->transmission_inv, false, q, q_motor);
}
void psdm_robot_motor_torque(const psdm_robot *r, const double *tau, double *tau_motor) {
  apply(r->n, r->transmission, true, tau, tau_motor);
}
void psdm_robot_joint_torque(const psdm_robot *r, const double *tau_motor, double *tau) {
  apply(r->n, r->transmission_inv, true, tau_motor, tau);
}

/* ---- notes ---- */

int psdm_robot_notes(const psdm_robot *r) { return r->notes; }
const char *psdm_robot_note(const psdm_robot *r, int i) { return i >= 0 && i < r->notes ? r->note[i] : NULL; }
int psdm_robot_warnings(const psdm_robot *r) { return r->warnings; }
const char *psdm_robot_warning(const psdm_robot *r, int i) { return i >= 0 && i < r->warnings ? r->warning[i] : NULL; }

int psdm_robot_assumptions(const psdm_robot *r) { return r->assumptions; }

char *psdm_robot_assumption(const psdm_robot *r, int i, char *buf, size_t size) {
  if (size) buf[0] = '\0';
  if (!size || i < 0 || i >= r->assumptions) return buf;
  psdmp_robot_assumption_text(&r->assumption[i], buf, size);
  return buf;
}

int psdm_robot_thetas(const psdm_robot *r) { return r->thetas; }

const char *psdm_robot_theta(const psdm_robot *r, int i, double *value) {
  if (i < 0 || i >= r->thetas) return NULL;
  if (value) *value = r->theta[i].value;
  return r->theta[i].name;
}

const psdm_joint *psdmp_robot_joint_of(const psdm_robot *robot, int q) {
  for (int j = 0; j < psdm_robot_joints(robot); j++)
    if (psdm_robot_joint(robot, j)->q == q) return psdm_robot_joint(robot, j);
  return NULL;
}
