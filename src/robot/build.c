/* build.c: from a robot file's spec to the canonical tree. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "robot/spec_priv.h"

static psdm_status fail_joint(const psdmp_robot_spec *spec, int j, psdm_error *error, const char *what) {
  char name[80];
  psdmp_base_quote(spec->joint[j].name, strlen(spec->joint[j].name), name, sizeof name);
  return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, spec->joint[j].line, spec->joint[j].column, "joint '%s': %s",
                         name, what);
}

/* ---- order: parents before children, otherwise as in the file ---- */

static psdm_status sort_joints(const psdmp_robot_spec *spec, psdmp_base_arena *arena, int *order, psdm_error *error) {
  int placed = 0;
  bool *done = PSDMP_BASE_NEW(arena, spec->joints, bool);
  if (!done) return psdmp_base_no_memory(spec->file, error);
  /* each sweep places what it can; a file in order needs one */
  for (bool progress = true; placed < spec->joints && progress;) {
    progress = false;
    for (int j = 0; j < spec->joints; j++) {
      int parent = spec->joint[j].parent;
      if (done[j] || (parent >= 0 && !done[parent])) continue;
      done[j] = progress = true;
      order[placed++] = j;
    }
  }
  for (int j = 0; j < spec->joints; j++)
    if (!done[j]) return fail_joint(spec, j, error, "its parents form a cycle");
  return PSDM_OK;
}

/* ---- the tree itself ---- */

/* among the links moved by most joints, the last in the file */
static bool find_last(psdm_robot *r) {
  int *depth = PSDMP_BASE_NEW(&r->arena, r->bodies, int), most = 0;
  for (int b = 0; depth && b < r->bodies; b++) {
    depth[b] = 1 + (r->body[b].parent < 0 ? 0 : depth[r->body[b].parent]);
    if (depth[b] > most) most = depth[b];
  }
  for (int j = 0; depth && j < r->joints; j++)
    if (r->link[j].body >= 0 && depth[r->link[j].body] == most) r->last = j;
  return depth != NULL;
}

static psdm_status place_bodies(const psdmp_robot_spec *spec, psdm_robot *r, psdm_error *error) {
  psdmp_base_arena *arena = &r->arena;
  r->joints = spec->joints;
  for (int j = 0; j < spec->joints; j++) r->bodies += spec->joint[j].type != PSDM_FIXED;
  if (!r->bodies) return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, 1, 1, "no joint moves");
  if (r->bodies > PSDM_MAX_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, spec->file, 1, 1, "%d moving joints; at most %d are accepted",
                           r->bodies, PSDM_MAX_JOINTS);
  r->joint = PSDMP_BASE_NEW(arena, r->joints, psdm_joint);
  r->link = PSDMP_BASE_NEW(arena, r->joints, psdmp_robot_link);
  r->body = PSDMP_BASE_NEW(arena, r->bodies, psdmp_robot_body);
  r->pi = PSDMP_BASE_NEW(arena, r->bodies * PSDMP_ROBOT_STANDARD, double);
  r->place = PSDMP_BASE_NEW(arena, r->joints, psdmp_robot_placement);
  r->unknown_by = PSDMP_BASE_NEW(arena, r->bodies, int);
  if (!r->joint || !r->link || !r->body || !r->pi || !r->place || !r->unknown_by)
    return psdmp_base_no_memory(spec->file, error);

  int number = 0;
  for (int j = 0; j < spec->joints; j++) {
    const psdmp_robot_spec_joint *s = &spec->joint[j];
    bool moves = s->type != PSDM_FIXED;
    r->joint[j] = (psdm_joint){.name = s->name,
                               .type = s->type,
                               .parent = s->parent,
                               .limits = s->limits,
                               .friction = s->friction,
                               .stiffness = s->stiffness,
                               .damping = s->damping,
                               .torque_constant = s->torque_constant,
                               .gear = s->gear,
                               .drive = -1,
                               .link = moves ? number : -1,
                               .q = moves && !s->coupled ? r->n++ : -1};
    number += moves;
  }
  if (!r->n)
    return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, 1, 1,
                           "every joint follows another; at least one must be independent");

  int body = 0;
  for (int k = 0; k < spec->joints; k++) {
    int j = r->order[k];
    const psdmp_robot_spec_joint *s = &spec->joint[j];
    int carrier = s->parent < 0 ? -1 : r->link[s->parent].body;
    r->place[j] = (psdmp_robot_placement){s->before, s->after};
    r->link[j] =
        (psdmp_robot_link){.name = s->link_name, .line = s->link_line, .body = s->type == PSDM_FIXED ? carrier : body};
    if (s->type == PSDM_FIXED) continue;
    r->body[body++] = (psdmp_robot_body){
        .parent = carrier, .prismatic = s->type == PSDM_PRISMATIC, .number = r->joint[j].link, .index = j};
  }
  r->base = spec->base;
  if (!find_last(r)) return psdmp_base_no_memory(spec->file, error);
  psdmp_robot_place(r);
  return psdmp_robot_keep_lengths(spec, r) ? PSDM_OK : psdmp_base_no_memory(spec->file, error);
}

/* ---- inertia: each moving link carries its own, that of its fixed links and motors, and the tool ---- */

/* standard parameters given in the frame of joint j's link, about the frame of the moving link it belongs to; that
 * link's joint, -1 when it never moves */
static int carried(const psdm_robot *r, int j, const double pi[10], double moved[10]) {
  if (r->link[j].body < 0) return -1; /* fixed to the base */
  int index = r->body[r->link[j].body].index;
  psdmp_robot_pose home = psdmp_robot_pose_inverse(&r->link[index].frame);
  psdmp_robot_pose frame = psdmp_robot_pose_product(&home, &r->link[j].frame);
  psdmp_robot_standard_move(&frame, pi, moved);
  if (index == j) memcpy(moved, pi, PSDMP_ROBOT_STANDARD * sizeof *moved);
  return index;
}

/* adds them to that link */
static void add_inertia(psdm_robot *r, int j, const double pi[10]) {
  double moved[10];
  int index = carried(r, j, pi, moved);
  double *to = index < 0 ? NULL : r->pi + (long)PSDMP_ROBOT_STANDARD * r->joint[index].link;
  for (int i = 0; to && i < PSDMP_ROBOT_STANDARD; i++) to[i] += moved[i];
}

static void collect_inertia(const psdmp_robot_spec *spec, psdm_robot *r) {
  static const double unknown[10] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, none[6] = {0};
  for (int b = 0; b < r->bodies; b++) r->unknown_by[b] = -1;
  for (int j = 0; j < spec->joints; j++) {
    const psdmp_robot_spec_joint *s = &spec->joint[j];
    add_inertia(r, j, s->known ? s->pi : unknown);
    int body = r->link[j].body;
    if (!s->known && body >= 0 && r->unknown_by[r->body[body].number] < 0) r->unknown_by[r->body[body].number] = j;
    if (s->has_motor && s->motor_on >= 0) {
      double motor[10];
      psdmp_robot_standard_from_body(s->motor_mass, s->motor_com, none, motor);
      add_inertia(r, s->motor_on, motor);
    }
  }
  r->tool_joint = spec->has_tool ? carried(r, spec->tool_on, spec->tool, r->tool) : -1;
  if (r->tool_joint >= 0) add_inertia(r, spec->tool_on, spec->tool);
}

/* ---- coupled joints: q_tree = G q + c ---- */

/* One joint in terms of the independent ones. */
typedef struct expansion {
  double *row; /* (n), NULL until it is known */
  double constant;
} expansion;

/* expands joint j when all that it follows is expanded; *done says whether it was */
static psdm_status expand_joint(const psdmp_robot_spec *spec, psdm_robot *r, expansion *e, int j, bool *done,
                                psdm_error *error) {
  const psdmp_robot_spec_joint *s = &spec->joint[j];
  *done = false;
  for (int i = 0; i < s->couples; i++)
    if (!e[s->couple[i].joint].row) return PSDM_OK;
  double *row = PSDMP_BASE_NEW(&r->arena, r->n, double);
  if (!row) return psdmp_base_no_memory(spec->file, error);
  if (!s->coupled) row[r->joint[j].q] = 1;
  e[j].constant = s->couple_offset;
  for (int i = 0; i < s->couples; i++) {
    const expansion *other = &e[s->couple[i].joint];
    for (int k = 0; k < r->n; k++) row[k] += s->couple[i].factor * other->row[k];
    e[j].constant += s->couple[i].factor * other->constant;
  }
  e[j].row = row;
  *done = true;
  return PSDM_OK;
}

static psdm_status expand_joints(const psdmp_robot_spec *spec, psdm_robot *r, expansion *e, psdm_error *error) {
  for (bool progress = true; progress;) {
    progress = false;
    for (int j = 0; j < spec->joints; j++) {
      bool done;
      if (e[j].row || spec->joint[j].type == PSDM_FIXED) continue;
      psdm_status status = expand_joint(spec, r, e, j, &done, error);
      if (status) return status;
      progress |= done;
    }
  }
  for (int j = 0; j < spec->joints; j++)
    if (!e[j].row && spec->joint[j].type != PSDM_FIXED)
      return fail_joint(spec, j, error, "it follows itself through other joints");
  return PSDM_OK;
}

static psdm_status couple_joints(const psdmp_robot_spec *spec, psdm_robot *r, psdm_error *error) {
  psdmp_base_arena *arena = &r->arena;
  expansion *e = PSDMP_BASE_NEW(arena, spec->joints, expansion);
  r->g_row = PSDMP_BASE_NEW(arena, r->bodies + 1, int);
  r->c = PSDMP_BASE_NEW(arena, r->bodies, double);
  if (!e || !r->g_row || !r->c) return psdmp_base_no_memory(spec->file, error);
  psdm_status status = expand_joints(spec, r, e, error);
  if (status) return status;

  r->direct = true;
  int entries = 0;
  for (int b = 0; b < r->bodies; b++) {
    int j = r->body[b].index;
    r->coupled |= spec->joint[j].coupled;
    r->direct &= !spec->joint[j].coupled && r->joint[j].q == b;
    for (int k = 0; k < r->n; k++) entries += e[j].row[k] != 0;
  }
  r->g_col = PSDMP_BASE_NEW(arena, entries, int);
  r->g_val = PSDMP_BASE_NEW(arena, entries, double);
  if (!r->g_col || !r->g_val) return psdmp_base_no_memory(spec->file, error);
  entries = 0;
  for (int b = 0; b < r->bodies; b++) {
    const expansion *row = &e[r->body[b].index];
    r->c[b] = row->constant;
    r->g_row[b] = entries;
    for (int k = 0; k < r->n; k++)
      if (row->row[k] != 0) r->g_col[entries] = k, r->g_val[entries++] = row->row[k];
  }
  r->g_row[r->bodies] = entries;
  return PSDM_OK;
}

/* ---- motors ---- */

/* the file's matrix at the independent joints' places */
static void fill_transmission(const psdmp_robot_spec *spec, psdm_robot *r, int motors) {
  int row = 0, column;
  for (int i = 0; i < spec->joints; i++) {
    int q = r->joint[i].q;
    if (q < 0) continue;
    r->transmission[q * r->n + q] = 1;
    if (spec->joint[i].passive || !spec->transmission) continue;
    column = 0;
    for (int j = 0; j < spec->joints; j++)
      if (r->joint[j].q >= 0 && !spec->joint[j].passive)
        r->transmission[q * r->n + r->joint[j].q] = spec->transmission[row * motors + column++];
    row++;
  }
}

static psdm_status build_transmission(const psdmp_robot_spec *spec, psdm_robot *r, psdm_error *error) {
  int n = r->n;
  bool gears = false;
  for (int j = 0; j < r->joints; j++) gears |= r->joint[j].q >= 0 && r->joint[j].gear != 1;
  if (!spec->transmission && !gears) return PSDM_OK;
  int motors = 0; /* joints moved by loops have none, and rows of the identity */
  for (int j = 0; j < spec->joints; j++) motors += r->joint[j].q >= 0 && !spec->joint[j].passive;
  if (spec->transmission && spec->transmission_rows != motors)
    return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, spec->transmission_line, spec->transmission_column,
                           "transmission has %d rows; one for each of the %d independent joints was expected",
                           spec->transmission_rows, motors);
  r->transmission = PSDMP_BASE_NEW(&r->arena, n * n, double);
  r->transmission_inv = PSDMP_BASE_NEW(&r->arena, n * n, double);
  double *copy = PSDMP_BASE_NEW(&r->arena, n * n, double);
  if (!r->transmission || !r->transmission_inv || !copy) return psdmp_base_no_memory(spec->file, error);
  fill_transmission(spec, r, motors);
  for (int j = 0; j < r->joints; j++)
    if (r->joint[j].q >= 0)
      for (int i = 0; i < n; i++) r->transmission[i * n + r->joint[j].q] /= r->joint[j].gear;
  memcpy(copy, r->transmission, sizeof *copy * (size_t)n * (size_t)n);
  if (!psdmp_linalg_invert(n, copy, r->transmission_inv, PSDMP_LINALG_PIVOT))
    return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, spec->transmission_line, spec->transmission_column,
                           "transmission is singular; some joint motion moves no motor");
  return PSDM_OK;
}

/* The rate of drive j per unit rate of each independent joint. A coupled joint's drive follows its row of G; a motor
 * behind a transmission follows its row of the inverse, scaled so that Ia is the inertia at joint j when it moves
 * alone. */
static psdm_status drive_row(const psdmp_robot_spec *spec, const psdm_robot *r, int j, double *a, psdm_error *error) {
  int q = r->joint[j].q, n = r->n;
  if (q >= 0 && r->transmission_inv) {
    double own = r->transmission_inv[q * n + q];
    if (own == 0)
      return fail_joint(spec, j, error,
                        "its motor does not move with it (transmission), so its drive inertia has no meaning");
    for (int k = 0; k < n; k++) a[k] = r->transmission_inv[q * n + k] / own;
    return PSDM_OK;
  }
  int b = r->link[j].body;
  for (int i = r->g_row[b]; i < r->g_row[b + 1]; i++) a[r->g_col[i]] = r->g_val[i];
  return PSDM_OK;
}

static psdm_status build_drives(const psdmp_robot_spec *spec, psdm_robot *r, psdm_error *error) {
  psdmp_base_arena *arena = &r->arena;
  for (int j = 0; j < spec->joints; j++) r->drives += spec->joint[j].has_drive;
  r->drive = PSDMP_BASE_NEW(arena, r->drives, psdmp_robot_drive);
  r->body_drive = PSDMP_BASE_NEW(arena, r->bodies, double);
  if (!r->drive || !r->body_drive) return psdmp_base_no_memory(spec->file, error);
  r->plain_drives = true;
  int used = 0;
  for (int j = 0; j < spec->joints; j++) {
    if (!spec->joint[j].has_drive) continue;
    double *a = PSDMP_BASE_NEW(arena, r->n, double);
    if (!a) return psdmp_base_no_memory(spec->file, error);
    psdm_status status = drive_row(spec, r, j, a, error);
    if (status) return status;
    /* plain: the drive turns with its own tree joint only */
    for (int k = 0; k < r->n; k++) r->plain_drives &= a[k] == (k == r->joint[j].q);
    r->joint[j].drive = used;
    r->drive[used++] = (psdmp_robot_drive){.index = j, .inertia = spec->joint[j].drive_inertia, .a = a};
  }
  if (r->plain_drives) return PSDM_OK;
  r->drive_mass = PSDMP_BASE_NEW(arena, r->n * r->n, double);
  return r->drive_mass ? PSDM_OK : psdmp_base_no_memory(spec->file, error);
}

static psdm_status check_fixed(const psdmp_robot_spec *spec, psdm_error *error) {
  for (int j = 0; j < spec->joints; j++) {
    const psdmp_robot_spec_joint *s = &spec->joint[j];
    if (s->type != PSDM_FIXED) continue;
    if (s->has_drive) return fail_joint(spec, j, error, "a fixed joint has no drive");
    if (s->coupled) return fail_joint(spec, j, error, "a fixed joint cannot follow another");
  }
  for (int j = 0; j < spec->joints; j++)
    for (int i = 0; i < spec->joint[j].couples; i++)
      if (spec->joint[spec->joint[j].couple[i].joint].type == PSDM_FIXED)
        return fail_joint(spec, j, error, "it follows a fixed joint");
  return PSDM_OK;
}

/* ---- warnings: unused or unusual input ---- */

static psdm_status check_thetas(psdmp_robot_spec *spec, psdm_robot *r, psdm_error *error) {
  char name[80];
  for (int k = 0; k < spec->thetas; k++) {
    const psdmp_robot_theta *t = &spec->theta[k];
    if (psdmp_robot_standard_find(r, t->name) < 0 &&
        psdmp_robot_list_add(&spec->warnings, &r->arena,
                             "line %d: theta '%s' is not a parameter of the robot (names such as ZZ1, mx2 or Ia3 were "
                             "expected) and is not used",
                             t->line, psdmp_base_quote(t->name, strlen(t->name), name, sizeof name)))
      return psdmp_base_no_memory(spec->file, error);
  }
  if (!spec->thetas || psdm_robot_ready(r, NULL)) return PSDM_OK;
  return psdmp_robot_list_add(&spec->warnings, &r->arena,
                              "theta is not used: masses and inertias of all links are known")
             ? psdmp_base_no_memory(spec->file, error)
             : PSDM_OK;
}

/* negative friction adds energy */
static psdm_status check_friction(psdmp_robot_spec *spec, psdm_robot *r, psdm_error *error) {
  for (int j = 0; j < r->joints; j++) {
    const psdm_friction *f = &r->joint[j].friction;
    const char *what = !f->given        ? NULL
                       : f->coulomb < 0 ? "coulomb"
                       : f->viscous < 0 ? "viscous"
                       : f->stat < 0    ? "static"
                                        : NULL;
    char name[80];
    if (!what) continue;
    psdmp_base_quote(r->joint[j].name, strlen(r->joint[j].name), name, sizeof name);
    if (psdmp_robot_list_add(&spec->warnings, &r->arena, "joint '%s': %s friction is negative, so it drives the joint",
                             name, what))
      return psdmp_base_no_memory(spec->file, error);
  }
  return PSDM_OK;
}

psdm_status psdmp_robot_build(psdmp_robot_spec *spec, psdm_robot *r, psdm_error *error) {
  r->file = spec->file;
  r->name = spec->name;
  r->urdf = spec->urdf;
  r->base_name = spec->base_name;
  memcpy(r->gravity, spec->gravity, sizeof r->gravity);
  r->order = PSDMP_BASE_NEW(&r->arena, spec->joints, int);
  if (!r->order) return psdmp_base_no_memory(spec->file, error);
  psdm_status status = check_fixed(spec, error);
  if (!status) status = sort_joints(spec, &r->arena, r->order, error);
  if (!status) status = place_bodies(spec, r, error);
  if (!status) status = couple_joints(spec, r, error);
  if (!status) status = build_transmission(spec, r, error);
  if (!status) status = build_drives(spec, r, error);
  if (status) return status;
  collect_inertia(spec, r);
  psdmp_robot_refresh(r);
  if (spec->collision && !psdmp_robot_collision_watch(r, &r->arena, spec->collision))
    return psdmp_base_no_memory(spec->file, error);
  r->collision = spec->collision;
  status = psdmp_robot_close_loops(spec, r, error);
  if (status) return status;
  status = check_thetas(spec, r, error);
  if (!status) status = check_friction(spec, r, error);
  if (status) return status;
  r->notes = spec->notes.count;
  r->note = spec->notes.text;
  r->warnings = spec->warnings.count;
  r->warning = spec->warnings.text;
  r->assumptions = spec->assumptions;
  r->assumption = spec->assumption;
  r->thetas = spec->thetas;
  r->theta = spec->theta;
  return PSDM_OK;
}
