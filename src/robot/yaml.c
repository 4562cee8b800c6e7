/* yaml.c: robot files as written by users. Every field is checked; unknown keys name the nearest known one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "document/document.h"
#include "robot/names_priv.h"
#include "robot/spec_priv.h"

typedef struct reader {
  const char *file;
  psdmp_base_arena *arena;
  psdm_error *error;
  psdmp_robot_spec *spec;
  bool snap;
  psdmp_robot_names joints, links; /* once all are read */
  char where[96];                  /* "joint 'A1'": prefix of every message */
} reader;

typedef psdm_status (*field_read)(reader *r, const psdmp_document_node *node, void *target);

typedef struct field {
  const char *key;
  field_read read;
  size_t offset; /* of the target inside the struct being filled */
} field;

#define COUNT(array) (sizeof(array) / sizeof *(array))
/* ---- messages ---- */

static psdm_status refuse(reader *r, int line, int column, const char *format, ...) PSDM_PRINTF(4, 5);
static psdm_status refuse(reader *r, int line, int column, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  return psdmp_base_fail(r->error, PSDM_E_PARSE, r->file, line, column, "%s%s%s", r->where, r->where[0] ? ": " : "",
                         text);
}

/* "alpha is 'abc'; an angle was expected" */
static psdm_status expected(reader *r, const psdmp_document_node *node, const char *what) {
  char found[64], key[48];
  const char *name = node->key ? node->key : "entry";
  psdmp_base_quote(name, strlen(name), key, sizeof key);
  bool empty = node->kind == PSDMP_DOCUMENT_SCALAR ? !node->length : !node->count;
  if (empty) return refuse(r, node->line, node->column, "%s is empty; %s was expected", key, what);
  if (node->kind != PSDMP_DOCUMENT_SCALAR)
    return refuse(r, node->line, node->column, "%s is a %s; %s was expected", key,
                  node->kind == PSDMP_DOCUMENT_MAP ? "map" : "list", what);
  psdmp_base_quote(node->text, node->length, found, sizeof found);
  return refuse(r, node->line, node->column, "%s is '%s'; %s was expected", key, found, what);
}

static psdm_status unknown_key(reader *r, const psdmp_document_node *node, const char *what, const field *fields,
                               size_t count) {
  const char *known[32];
  char list[256] = "", found[64];
  for (size_t i = 0; i < count; i++) {
    known[i] = fields[i].key;
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", fields[i].key);
  }
  const char *near = psdmp_base_nearest(node->key, known, count);
  psdmp_base_quote(node->key, strlen(node->key), found, sizeof found);
  if (near)
    return refuse(r, node->key_line, node->key_column, "unknown key '%s' in %s; did you mean '%s'? (known: %s)", found,
                  what, near, list);
  return refuse(r, node->key_line, node->key_column, "unknown key '%s' in %s (known: %s)", found, what, list);
}

/* ---- values ---- */

static psdm_status read_number(reader *r, const psdmp_document_node *node, void *target) {
  if (node->kind == PSDMP_DOCUMENT_SCALAR && psdmp_base_parse_number(node->text, node->length, target)) return PSDM_OK;
  return expected(r, node, "a finite decimal number");
}

static psdm_status read_positive(reader *r, const psdmp_document_node *node, void *target) {
  double *value = target;
  if (node->kind == PSDMP_DOCUMENT_SCALAR && psdmp_base_parse_number(node->text, node->length, value) && *value > 0)
    return PSDM_OK;
  return expected(r, node, "a number above zero");
}

static psdm_status read_not_negative(reader *r, const psdmp_document_node *node, void *target) {
  double *value = target;
  if (node->kind == PSDMP_DOCUMENT_SCALAR && psdmp_base_parse_number(node->text, node->length, value) && *value >= 0)
    return PSDM_OK;
  return expected(r, node, "a number that is not negative");
}

static psdm_status read_nonzero(reader *r, const psdmp_document_node *node, void *target) {
  double *value = target;
  if (node->kind == PSDMP_DOCUMENT_SCALAR && psdmp_base_parse_number(node->text, node->length, value) && *value != 0)
    return PSDM_OK;
  return expected(r, node, "a number other than zero");
}

/* a limit or an offset: may be written as an angle, but is never snapped */
static psdm_status read_quantity(reader *r, const psdmp_document_node *node, void *target) {
  if (node->kind == PSDMP_DOCUMENT_SCALAR && psdmp_base_parse_angle(node->text, node->length, target)) return PSDM_OK;
  return expected(r, node, "a number or an angle such as 1.57, -pi/2 or 90 deg");
}

static psdm_status read_magnitude(reader *r, const psdmp_document_node *node, void *target) {
  double *value = target;
  if (node->kind == PSDMP_DOCUMENT_SCALAR && psdmp_base_parse_angle(node->text, node->length, value) && *value > 0)
    return PSDM_OK;
  return expected(r, node, "a number above zero");
}

static psdm_status read_angle(reader *r, const psdmp_document_node *node, void *target) {
  psdm_status status = read_quantity(r, node, target);
  if (status || !r->snap) return status;
  return psdmp_robot_spec_snap(r->spec, r->arena, target, node->line, r->where, node->key ? node->key : "rpy")
             ? psdmp_base_no_memory(r->file, r->error)
             : PSDM_OK;
}

static psdm_status read_vector(reader *r, const psdmp_document_node *node, double out[3], field_read read,
                               const char *what) {
  if (node->kind != PSDMP_DOCUMENT_LIST || node->count != 3) {
    if (node->kind == PSDMP_DOCUMENT_LIST)
      return refuse(r, node->line, node->column, "%s has %d entries; %s was expected", node->key ? node->key : "entry",
                    node->count, what);
    return expected(r, node, what);
  }
  int i = 0;
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    psdm_status status = read(r, at, &out[i++]);
    if (status) return status;
  }
  return PSDM_OK;
}

static psdm_status read_vector3(reader *r, const psdmp_document_node *node, void *target) {
  return read_vector(r, node, target, read_number, "a list of 3 numbers");
}

static psdm_status read_angles3(reader *r, const psdmp_document_node *node, void *target) {
  return read_vector(r, node, target, read_angle, "a list of 3 angles");
}

static psdm_status read_name(reader *r, const psdmp_document_node *node, void *target) {
  if (node->kind != PSDMP_DOCUMENT_SCALAR || !node->length || node->length > 200)
    return expected(r, node, "a name of 1 to 200 characters");
  *(const char **)target = node->text;
  return PSDM_OK;
}

/* keeps a node until what it refers to is known */
static psdm_status read_node(reader *r, const psdmp_document_node *node, void *target) {
  (void)r;
  *(const psdmp_document_node **)target = node;
  return PSDM_OK;
}

/* ---- maps ---- */

/* reads each entry by its field; *seen gets one bit per field */
static psdm_status read_map(reader *r, const psdmp_document_node *node, const char *what, const field *fields,
                            size_t count, void *target, unsigned *seen) {
  *seen = 0;
  if (node->kind != PSDMP_DOCUMENT_MAP) {
    char expectation[80];
    snprintf(expectation, sizeof expectation, "a map (%s)", what);
    return expected(r, node, expectation);
  }
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    size_t i = 0;
    while (i < count && strcmp(fields[i].key, at->key) != 0) i++;
    if (i == count) return unknown_key(r, at, what, fields, count);
    if (*seen & (1u << i)) return refuse(r, at->key_line, at->key_column, "duplicate key '%s' in %s", at->key, what);
    *seen |= 1u << i;
    psdm_status status = fields[i].read(r, at, (char *)target + fields[i].offset);
    if (status) return status;
  }
  return PSDM_OK;
}

static psdm_status read_pose(reader *r, const psdmp_document_node *node, void *target) {
  struct {
    double xyz[3], rpy[3];
  } v = {{0}, {0}};
  const field fields[] = {{"xyz", read_vector3, 0}, {"rpy", read_angles3, sizeof v.xyz}};
  unsigned seen;
  psdm_status status = read_map(r, node, "origin", fields, COUNT(fields), &v, &seen);
  if (!status) *(psdmp_robot_pose *)target = psdmp_robot_pose_rpy(v.xyz, v.rpy);
  return status;
}

static psdm_status read_limits(reader *r, const psdmp_document_node *node, void *target) {
  static const field fields[] = {{"lower", read_quantity, offsetof(psdm_limits, lower)},
                                 {"upper", read_quantity, offsetof(psdm_limits, upper)},
                                 {"velocity", read_magnitude, offsetof(psdm_limits, velocity)},
                                 {"acceleration", read_magnitude, offsetof(psdm_limits, acceleration)},
                                 {"effort", read_positive, offsetof(psdm_limits, effort)}};
  unsigned seen;
  psdm_limits *limits = target;
  psdm_status status = read_map(r, node, "limits", fields, COUNT(fields), limits, &seen);
  if (!status && !(limits->lower < limits->upper))
    return refuse(r, node->line, node->column, "lower limit %g is not below the upper limit %g", limits->lower,
                  limits->upper);
  return status;
}

static psdm_status read_friction(reader *r, const psdmp_document_node *node, void *target) {
  static const field fields[] = {{"coulomb", read_number, offsetof(psdm_friction, coulomb)},
                                 {"static", read_number, offsetof(psdm_friction, stat)},
                                 {"stribeck", read_positive, offsetof(psdm_friction, stribeck)},
                                 {"viscous", read_number, offsetof(psdm_friction, viscous)},
                                 {"exponent", read_positive, offsetof(psdm_friction, exponent)},
                                 {"sigma0", read_positive, offsetof(psdm_friction, sigma0)},
                                 {"sigma1", read_number, offsetof(psdm_friction, sigma1)},
                                 {"offset", read_number, offsetof(psdm_friction, offset)}};
  enum { STATIC = 1, STRIBECK = 2 };
  unsigned seen;
  psdm_friction *f = target;
  psdm_status status = read_map(r, node, "friction", fields, COUNT(fields), f, &seen);
  if (status) return status;
  if (!(seen >> STATIC & 1) != !(seen >> STRIBECK & 1))
    return refuse(r, node->line, node->column,
                  "friction has only one of 'static' and 'stribeck'; they belong together");
  if (!(seen >> STATIC & 1)) f->stat = f->coulomb;
  f->given = true;
  return PSDM_OK;
}

/* a number, or the word unknown: either makes it a parameter of the model */
static psdm_status read_drive(reader *r, const psdmp_document_node *node, void *target) {
  psdmp_robot_spec_joint *joint = target;
  joint->has_drive = true;
  joint->drive_inertia = NAN;
  if (node->kind == PSDMP_DOCUMENT_SCALAR && strcmp(node->text, "unknown") == 0) return PSDM_OK;
  if (node->kind == PSDMP_DOCUMENT_SCALAR && psdmp_base_parse_number(node->text, node->length, &joint->drive_inertia))
    return PSDM_OK;
  return expected(r, node, "a number or the word 'unknown'");
}

static psdm_status read_type(reader *r, const psdmp_document_node *node, void *target) {
  static const char *const names[] = {"revolute", "prismatic", "fixed"};
  for (int i = 0; node->kind == PSDMP_DOCUMENT_SCALAR && i < 3; i++)
    if (strcmp(node->text, names[i]) == 0) {
      *(psdm_joint_type *)target = (psdm_joint_type)i;
      return PSDM_OK;
    }
  return expected(r, node, "revolute, prismatic or fixed");
}

/* ---- joints ---- */

/* one row of the table, and what must wait until all names are known */
typedef struct row {
  psdmp_robot_spec_joint joint;
  double theta, d, a, alpha;
  psdmp_robot_pose origin;
  const psdmp_document_node *parent, *couple, *motor;
} row;

/* the four numbers of a row as transforms around the joint's motion */
static void place_row(row *w, bool modified) {
  psdmp_robot_pose x = psdmp_robot_pose_rotation(0, w->alpha), z = psdmp_robot_pose_rotation(2, w->theta);
  x.p[0] = w->a; /* Tx(a) and Rx(alpha) commute, as do Rz and Tz */
  z.p[2] = w->d;
  psdmp_robot_pose first = modified ? psdmp_robot_pose_product(&x, &z) : z;
  w->joint.before = psdmp_robot_pose_product(&w->origin, &first);
  w->joint.after = modified ? psdmp_robot_pose_identity() : x;
  const psdmp_robot_pose identity = psdmp_robot_pose_identity();
  psdmp_robot_spec_add_length(&w->joint, 'a', w->a, modified ? w->origin.R : identity.R, 0, !modified);
  psdmp_robot_spec_add_length(&w->joint, 'd', w->d, w->joint.before.R, 2, false); /* Rz leaves the z axis alone */
}

static psdm_status read_joint(reader *r, const psdmp_document_node *node, int index, bool modified, row *w) {
  static const field fields[] = {{"name", read_name, offsetof(row, joint.name)},
                                 {"type", read_type, offsetof(row, joint.type)},
                                 {"theta", read_angle, offsetof(row, theta)},
                                 {"d", read_number, offsetof(row, d)},
                                 {"a", read_number, offsetof(row, a)},
                                 {"alpha", read_angle, offsetof(row, alpha)},
                                 {"parent", read_node, offsetof(row, parent)},
                                 {"origin", read_pose, offsetof(row, origin)},
                                 {"limits", read_limits, offsetof(row, joint.limits)},
                                 {"drive_inertia", read_drive, offsetof(row, joint)},
                                 {"friction", read_friction, offsetof(row, joint.friction)},
                                 {"stiffness", read_positive, offsetof(row, joint.stiffness)},
                                 {"damping", read_not_negative, offsetof(row, joint.damping)},
                                 {"torque_constant", read_nonzero, offsetof(row, joint.torque_constant)},
                                 {"gear", read_nonzero, offsetof(row, joint.gear)},
                                 {"couple", read_node, offsetof(row, couple)},
                                 {"motor", read_node, offsetof(row, motor)}};
  *w = (row){.origin = psdmp_robot_pose_identity()};
  psdmp_robot_spec_joint_init(&w->joint);
  w->joint.line = node->line;
  w->joint.column = node->column;
  w->joint.parent = index - 1;

  /* the name is read first: every message contains it */
  char label[80];
  snprintf(label, sizeof label, "%d", index + 1);
  for (const psdmp_document_node *at = node->kind == PSDMP_DOCUMENT_MAP ? node->child : NULL; at; at = at->next)
    if (strcmp(at->key, "name") == 0 && at->kind == PSDMP_DOCUMENT_SCALAR)
      psdmp_base_quote(at->text, at->length, label, sizeof label);
  snprintf(r->where, sizeof r->where, "joint '%s'", label);
  unsigned seen;
  psdm_status status = read_map(r, node, "a joint", fields, COUNT(fields), w, &seen);
  if (status) return status;
  if (!w->joint.name) {
    snprintf(label, sizeof label, "joint%d", index + 1);
    w->joint.name = psdmp_base_arena_text(r->arena, label, strlen(label));
    if (!w->joint.name) return psdmp_base_no_memory(r->file, r->error);
  }
  place_row(w, modified);
  r->where[0] = '\0';
  return PSDM_OK;
}

/* the joint of this name, or of the link of this name; -2 if unknown, -1 for the base */
static int find_joint(const reader *r, const char *name, bool links) {
  int joint = psdmp_robot_names_find(&r->joints, name);
  if (joint < 0 && links) joint = psdmp_robot_names_find(&r->links, name);
  if (joint >= 0) return joint;
  return links && strcmp(name, "base") == 0 ? -1 : -2;
}

static psdm_status no_such_joint(reader *r, int line, int column, const char *name, const char *what) {
  char found[64], other[64];
  const char *near = psdmp_robot_names_nearest(&r->joints, name);
  psdmp_base_quote(name, strlen(name), found, sizeof found);
  if (near) psdmp_base_quote(near, strlen(near), other, sizeof other);
  return refuse(r, line, column, "%s names '%s', which is not a joint of this file%s%s%s", what, found,
                near ? "; did you mean '" : "", near ? other : "", near ? "'?" : "");
}

/* base or "" is the base, unless something else has that name */
static psdm_status resolve_parent(reader *r, const psdmp_document_node *node, int *parent) {
  const char *name = NULL;
  *parent = -1;
  if (node->kind == PSDMP_DOCUMENT_SCALAR && !node->length && node->quoted) return PSDM_OK;
  psdm_status status = read_name(r, node, &name);
  if (status) return status;
  *parent = find_joint(r, name, true);
  if (*parent >= 0 && strcmp(name, "base") == 0)
    return refuse(r, node->line, node->column, "'base' is also the name of a joint or link; rename it");
  return *parent == -2 ? no_such_joint(r, node->line, node->column, name, node->key ? node->key : "links") : PSDM_OK;
}

static psdm_status resolve_couple(reader *r, const psdmp_document_node *node, psdmp_robot_spec_joint *joint) {
  if (node->kind != PSDMP_DOCUMENT_MAP || !node->count)
    return expected(r, node, "a map {joint: factor, ..., offset: value}");
  joint->coupled = true;
  joint->couple = PSDMP_BASE_NEW(r->arena, node->count, psdmp_robot_couple);
  if (!joint->couple) return psdmp_base_no_memory(r->file, r->error);
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    psdm_status status;
    int other = find_joint(r, at->key, false);
    if (strcmp(at->key, "offset") == 0) {
      if (other >= 0)
        return refuse(r, at->key_line, at->key_column, "'offset' is also the name of a joint; rename the joint");
      status = read_quantity(r, at, &joint->couple_offset);
      if (status) return status;
      continue;
    }
    if (other < 0) return no_such_joint(r, at->key_line, at->key_column, at->key, "couple");
    char name[80];
    psdmp_base_quote(at->key, strlen(at->key), name, sizeof name);
    for (int i = 0; i < joint->couples; i++)
      if (joint->couple[i].joint == other)
        return refuse(r, at->key_line, at->key_column, "couple names '%s' twice", name);
    status = read_number(r, at, &joint->couple[joint->couples].factor);
    if (status) return status;
    joint->couple[joint->couples++].joint = other;
  }
  return PSDM_OK;
}

/* a motor that is mounted on another link: its mass there, its rotor inertia as drive inertia (seen through the gear)
   */
static psdm_status resolve_motor(reader *r, const psdmp_document_node *node, psdmp_robot_spec_joint *joint) {
  struct {
    double mass, com[3], inertia;
    const psdmp_document_node *on;
  } v = {.inertia = NAN};
  const field fields[] = {{"mass", read_number, 0},
                          {"com", read_vector3, sizeof(double)},
                          {"inertia", read_positive, 4 * sizeof(double)},
                          {"on", read_node, 5 * sizeof(double)}};
  unsigned seen;
  psdm_status status = read_map(r, node, "motor", fields, COUNT(fields), &v, &seen);
  if (status) return status;
  joint->has_motor = true;
  joint->motor_mass = v.mass;
  memcpy(joint->motor_com, v.com, sizeof v.com);
  joint->motor_on = joint->parent;
  if (v.on) status = resolve_parent(r, v.on, &joint->motor_on);
  if (status || isnan(v.inertia)) return status;
  if (joint->has_drive)
    return refuse(r, node->line, node->column, "both drive_inertia and motor inertia are given; keep one");
  joint->has_drive = true;
  joint->drive_inertia = v.inertia * joint->gear * joint->gear;
  return PSDM_OK;
}

/* all joint and link names must be unique */
static psdm_status index_names(reader *r) {
  const psdmp_robot_spec *spec = r->spec;
  const char **joints = PSDMP_BASE_NEW(r->arena, spec->joints, const char *),
             **links = PSDMP_BASE_NEW(r->arena, spec->joints, const char *);
  if (!joints || !links) return psdmp_base_no_memory(r->file, r->error);
  for (int j = 0; j < spec->joints; j++) joints[j] = spec->joint[j].name, links[j] = spec->joint[j].link_name;
  if (!psdmp_robot_names_init(&r->joints, r->arena, joints, spec->joints) ||
      !psdmp_robot_names_init(&r->links, r->arena, links, spec->joints))
    return psdmp_base_no_memory(r->file, r->error);
  int first = 0, joint = psdmp_robot_names_twin(&r->joints, &first),
      link = joint < 0 ? psdmp_robot_names_twin(&r->links, &first) : -1;
  if (joint < 0 && link < 0) return PSDM_OK;
  char name[80];
  const psdmp_robot_spec_joint *twin = &spec->joint[joint < 0 ? link : joint], *before = &spec->joint[first];
  const char *text = joint < 0 ? twin->link_name : twin->name;
  psdmp_base_quote(text, strlen(text), name, sizeof name);
  return refuse(r, joint < 0 ? twin->link_line : twin->line, joint < 0 ? twin->link_column : twin->column,
                "%s name '%s' is a duplicate (first on line %d)", joint < 0 ? "link" : "joint", name,
                joint < 0 ? before->link_line : before->line);
}

/* ---- links ---- */

/* body parameters as users give them */
typedef struct body {
  double mass, com[3], inertia[6]; /* inertia about the COM: xx xy xz yy yz zz */
  const char *name;
  double standard[PSDMP_ROBOT_STANDARD];
} body;

static psdm_status read_inertia(reader *r, const psdmp_document_node *node, void *target) {
  static const field fields[] = {{"xx", read_number, 0 * sizeof(double)}, {"xy", read_number, 1 * sizeof(double)},
                                 {"xz", read_number, 2 * sizeof(double)}, {"yy", read_number, 3 * sizeof(double)},
                                 {"yz", read_number, 4 * sizeof(double)}, {"zz", read_number, 5 * sizeof(double)}};
  unsigned seen;
  return read_map(r, node, "inertia", fields, COUNT(fields), target, &seen);
}

static psdm_status read_standard(reader *r, const psdmp_document_node *node, void *target) {
  field fields[PSDMP_ROBOT_STANDARD];
  for (size_t i = 0; i < PSDMP_ROBOT_STANDARD; i++)
    fields[i] = (field){psdmp_robot_standard_names[i], read_number, i * sizeof(double)};
  unsigned seen;
  return read_map(r, node, "standard", fields, COUNT(fields), target, &seen);
}

/* mass, com and inertia, or standard parameters; *known is false without either */
static psdm_status read_body(reader *r, const psdmp_document_node *node, const char *what, body *b, bool *known,
                             double pi[10]) {
  static const field fields[] = {{"mass", read_number, offsetof(body, mass)},
                                 {"com", read_vector3, offsetof(body, com)},
                                 {"inertia", read_inertia, offsetof(body, inertia)},
                                 {"standard", read_standard, offsetof(body, standard)},
                                 {"name", read_name, offsetof(body, name)}};
  enum { MASS = 1, COM = 2, INERTIA = 4, STANDARD = 8 };
  unsigned seen;
  *b = (body){0};
  psdm_status status = read_map(r, node, what, fields, COUNT(fields), b, &seen);
  if (status) return status;
  if ((seen & STANDARD) && (seen & (MASS | COM | INERTIA)))
    return refuse(r, node->line, node->column,
                  "both 'standard' and mass, com or inertia are given; keep one of the two");
  if ((seen & (COM | INERTIA)) && !(seen & MASS))
    return refuse(r, node->line, node->column, "com or inertia without a mass");
  *known = (seen & (MASS | STANDARD)) != 0;
  if (seen & STANDARD) memcpy(pi, b->standard, sizeof b->standard);
  else psdmp_robot_standard_from_body(b->mass, b->com, b->inertia, pi);
  return PSDM_OK;
}

static psdm_status read_links(reader *r, const psdmp_document_node *node) {
  psdmp_robot_spec *spec = r->spec;
  if (node && node->kind != PSDMP_DOCUMENT_LIST) return expected(r, node, "a list with one link per joint");
  if (node && node->count != spec->joints)
    return refuse(r, node->line, node->column, "%d links for %d joints; one link per joint was expected", node->count,
                  spec->joints);
  int j = 0;
  for (const psdmp_document_node *at = node ? node->child : NULL; at; at = at->next, j++) {
    body b;
    psdmp_robot_spec_joint *joint = &spec->joint[j];
    snprintf(r->where, sizeof r->where, "link %d", j + 1);
    psdm_status status = read_body(r, at, "a link", &b, &joint->known, joint->pi);
    if (status) return status;
    joint->link_name = b.name;
    joint->link_line = at->line;
    joint->link_column = at->column;
  }
  r->where[0] = '\0';
  for (j = 0; j < spec->joints; j++) {
    psdmp_robot_spec_joint *joint = &spec->joint[j];
    char name[32];
    snprintf(name, sizeof name, "link%d", j + 1);
    if (!joint->link_name) joint->link_name = psdmp_base_arena_text(r->arena, name, strlen(name));
    if (!joint->link_name) return psdmp_base_no_memory(r->file, r->error);
    if (joint->known && psdmp_robot_spec_check_link(spec, r->arena, joint->link_name, joint->pi))
      return psdmp_base_no_memory(r->file, r->error);
  }
  return PSDM_OK;
}

static psdm_status read_tool(reader *r, const psdmp_document_node *node) {
  body b;
  bool known;
  snprintf(r->where, sizeof r->where, "tool");
  psdm_status status = read_body(r, node, "tool", &b, &known, r->spec->tool);
  if (status) return status;
  if (!known) return refuse(r, node->line, node->column, "a tool needs a mass");
  if (psdmp_robot_spec_check_link(r->spec, r->arena, b.name ? b.name : "tool", r->spec->tool))
    return psdmp_base_no_memory(r->file, r->error);
  r->where[0] = '\0';
  r->spec->has_tool = true;
  r->spec->tool_on = r->spec->joints - 1;
  return PSDM_OK;
}

/* ---- the rest of the top level ---- */

static psdm_status read_transmission(reader *r, const psdmp_document_node *node) {
  if (node->kind != PSDMP_DOCUMENT_LIST || !node->count) return expected(r, node, "a square matrix, a list of rows");
  int n = node->count, i = 0;
  if (n > PSDM_MAX_JOINTS) return refuse(r, node->line, node->column, "transmission has %d rows", n);
  double *matrix = PSDMP_BASE_NEW(r->arena, n * n, double);
  if (!matrix) return psdmp_base_no_memory(r->file, r->error);
  for (const psdmp_document_node *line = node->child; line; line = line->next) {
    if (line->kind != PSDMP_DOCUMENT_LIST) return expected(r, line, "a row of numbers");
    if (line->count != n)
      return refuse(r, line->line, line->column, "row %d of transmission has %d entries; %d were expected", i / n + 1,
                    line->count, n);
    for (const psdmp_document_node *at = line->child; at; at = at->next) {
      psdm_status status = read_number(r, at, &matrix[i++]);
      if (status) return status;
    }
  }
  r->spec->transmission = matrix;
  r->spec->transmission_rows = n;
  r->spec->transmission_line = node->line;
  r->spec->transmission_column = node->column;
  return PSDM_OK;
}

static psdm_status read_assume(reader *r, const psdmp_document_node *node) {
  psdmp_robot_spec *spec = r->spec;
  int links = 0;
  for (int j = 0; j < spec->joints; j++) links += spec->joint[j].type != PSDM_FIXED;
  if (node->kind != PSDMP_DOCUMENT_LIST) return expected(r, node, "a list such as [Ixz4 = 0, Ixx5 = Iyy5]");
  spec->assumption = PSDMP_BASE_NEW(r->arena, node->count, psdmp_robot_assumption);
  if (!spec->assumption) return psdmp_base_no_memory(r->file, r->error);
  for (const psdmp_document_node *at = node->child; at; at = at->next)
    if (at->kind != PSDMP_DOCUMENT_SCALAR ||
        !psdmp_robot_parse_assumption(at->text, links, &spec->assumption[spec->assumptions++]))
      return expected(r, at, PSDMP_ROBOT_ASSUMPTION_HINT);
  return PSDM_OK;
}

static psdm_status read_theta(reader *r, const psdmp_document_node *node) {
  psdmp_robot_spec *spec = r->spec;
  if (node->kind != PSDMP_DOCUMENT_MAP) return expected(r, node, "a map {base parameter: value}");
  if (node->count > 11 * PSDM_MAX_JOINTS) return refuse(r, node->line, node->column, "%d base parameters", node->count);
  spec->theta = PSDMP_BASE_NEW(r->arena, node->count, psdmp_robot_theta);
  if (!spec->theta) return psdmp_base_no_memory(r->file, r->error);
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    for (int i = 0; i < spec->thetas; i++)
      if (strcmp(spec->theta[i].name, at->key) == 0)
        return refuse(r, at->key_line, at->key_column, "duplicate base parameter");
    psdm_status status = read_number(r, at, &spec->theta[spec->thetas].value);
    if (status) return status;
    spec->theta[spec->thetas].line = at->key_line;
    spec->theta[spec->thetas++].name = at->key;
  }
  return PSDM_OK;
}

static psdm_status read_points(reader *r, const psdmp_document_node *node, psdmp_robot_loop *loop) {
  if (node->kind != PSDMP_DOCUMENT_LIST || node->count != 2)
    return expected(r, node, "two points, one in each link's frame,");
  psdm_status status = read_vector3(r, node->child, loop->point[0]);
  return status ? status : read_vector3(r, node->child->next, loop->point[1]);
}

/* names the joints that the loop moves, and the initial guess of its closure */
static psdm_status read_passive(reader *r, const psdmp_document_node *joints, const psdmp_document_node *start) {
  if (joints->kind != PSDMP_DOCUMENT_LIST) return expected(r, joints, "a list of the joints that the loop moves");
  if (start && (start->kind != PSDMP_DOCUMENT_LIST || start->count != joints->count))
    return expected(r, start, "a list with one value per passive joint");
  const psdmp_document_node *value = start ? start->child : NULL;
  for (const psdmp_document_node *at = joints->child; at; at = at->next) {
    const char *name = NULL;
    psdm_status status = read_name(r, at, &name);
    if (status) return status;
    int j = find_joint(r, name, false);
    if (j < 0) return no_such_joint(r, at->line, at->column, name, "loop");
    psdmp_robot_spec_joint *joint = &r->spec->joint[j];
    if (joint->passive || joint->coupled || joint->type == PSDM_FIXED || joint->gear != 1)
      return refuse(r, at->line, at->column,
                    "joint '%s' is fixed, coupled, geared or in another loop already; a loop moves free joints",
                    joint->name);
    joint->passive = true;
    if (value) status = read_quantity(r, value, &joint->start);
    if (status) return status;
    value = value ? value->next : NULL;
  }
  return PSDM_OK;
}

/* values of the independent joints in the position of start */
static psdm_status read_home(reader *r, const psdmp_document_node *node) {
  if (node->kind != PSDMP_DOCUMENT_MAP) return expected(r, node, "a map {joint: value}");
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    int j = find_joint(r, at->key, false);
    if (j < 0) return no_such_joint(r, at->key_line, at->key_column, at->key, "at");
    psdm_status status = read_quantity(r, at, &r->spec->joint[j].start);
    if (status) return status;
  }
  return PSDM_OK;
}

static psdm_status read_loop(reader *r, const psdmp_document_node *node, psdmp_robot_loop *loop) {
  struct {
    const psdmp_document_node *links, *points, *joints, *start, *at;
  } v = {NULL, NULL, NULL, NULL, NULL};
  const field fields[] = {{"links", read_node, 0},
                          {"points", read_node, sizeof(void *)},
                          {"joints", read_node, 2 * sizeof(void *)},
                          {"start", read_node, 3 * sizeof(void *)},
                          {"at", read_node, 4 * sizeof(void *)}};
  unsigned seen;
  psdm_status status = read_map(r, node, "a loop", fields, COUNT(fields), &v, &seen);
  if (status) return status;
  if (!v.links || !v.joints || v.links->kind != PSDMP_DOCUMENT_LIST || v.links->count != 2)
    return refuse(r, node->line, node->column,
                  "a loop needs links: [A, B], points: [[x, y, z], [x, y, z]] and joints: [passive joints]");
  status = resolve_parent(r, v.links->child, &loop->joint[0]);
  if (!status) status = resolve_parent(r, v.links->child->next, &loop->joint[1]);
  if (!status && (loop->joint[0] < 0 || loop->joint[1] < 0))
    return refuse(r, v.links->line, v.links->column,
                  "a loop ties two links; fix one of them to the base with a fixed joint");
  if (!status && v.points) status = read_points(r, v.points, loop);
  if (!status && v.at) status = read_home(r, v.at);
  return status ? status : read_passive(r, v.joints, v.start);
}

static psdm_status read_loops(reader *r, const psdmp_document_node *node) {
  if (node->kind != PSDMP_DOCUMENT_LIST || !node->count) return expected(r, node, "a list of loops");
  r->spec->loop = PSDMP_BASE_NEW(r->arena, node->count, psdmp_robot_loop);
  if (!r->spec->loop) return psdmp_base_no_memory(r->file, r->error);
  r->spec->loops_line = node->line;
  r->spec->loops_column = node->column;
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    snprintf(r->where, sizeof r->where, "loop %d", r->spec->loops + 1);
    psdm_status status = read_loop(r, at, &r->spec->loop[r->spec->loops++]);
    if (status) return status;
  }
  r->where[0] = '\0';
  return PSDM_OK;
}

/* ---- collisions ---- */

/* the joint of a link, -1: the base; a joint's name means its link */
static psdm_status resolve_link(reader *r, const psdmp_document_node *node, int *joint) {
  const char *name = node->text;
  int link = node->kind == PSDMP_DOCUMENT_SCALAR && node->length ? psdmp_robot_names_find(&r->links, name) : -1;
  if (link < 0 || strcmp(name, "base") == 0) return resolve_parent(r, node, joint);
  *joint = link;
  return PSDM_OK;
}

static psdm_status read_floor(reader *r, const psdmp_document_node *node, void *target) {
  psdmp_robot_collision *c = target;
  static const field fields[] = {{"normal", read_vector3, offsetof(psdmp_robot_collision, normal)},
                                 {"height", read_number, offsetof(psdmp_robot_collision, height)}};
  unsigned seen;
  c->normal[2] = 1;
  psdm_status status = read_map(r, node, "floor", fields, COUNT(fields), c, &seen);
  if (status) return status;
  /* a direction of any length. Scaled first, since squares of huge or tiny numbers overflow */
  double largest = fmax(fmax(fabs(c->normal[0]), fabs(c->normal[1])), fabs(c->normal[2]));
  if (largest == 0) return refuse(r, node->line, node->column, "the floor's normal has no direction");
  double x = c->normal[0] / largest, y = c->normal[1] / largest, z = c->normal[2] / largest,
         length = sqrt(x * x + y * y + z * z);
  if (fabs(largest * length - 1) > 4e-16)
    c->normal[0] = x / length, c->normal[1] = y / length, c->normal[2] = z / length;
  c->floor = true;
  return PSDM_OK;
}

static psdm_status read_capsule(reader *r, const psdmp_document_node *node, psdm_capsule *capsule) {
  typedef struct named {
    const psdmp_document_node *link;
    psdm_capsule capsule;
  } named;
  static const field fields[] = {{"link", read_node, offsetof(named, link)},
                                 {"from", read_vector3, offsetof(named, capsule.from)},
                                 {"to", read_vector3, offsetof(named, capsule.to)},
                                 {"radius", read_positive, offsetof(named, capsule.radius)}};
  named v = {NULL, {.joint = -1}};
  enum { FROM = 2, TO = 4, RADIUS = 8 };
  unsigned seen;
  psdm_status status = read_map(r, node, "a capsule", fields, COUNT(fields), &v, &seen);
  if (status) return status;
  if (!v.link || !(seen & FROM) || !(seen & RADIUS))
    return refuse(r, node->line, node->column,
                  "a capsule needs link, from and radius; to is from where it is a sphere");
  if (!(seen & TO)) memcpy(v.capsule.to, v.capsule.from, sizeof v.capsule.to);
  *capsule = v.capsule;
  return resolve_link(r, v.link, &capsule->joint);
}

static psdm_status read_capsules(reader *r, const psdmp_document_node *node, void *target) {
  psdmp_robot_collision *c = target;
  if (node->kind != PSDMP_DOCUMENT_LIST) return expected(r, node, "a list of capsules {link, from, to, radius}");
  if (node->count > PSDMP_ROBOT_MAX_CAPSULES)
    return psdmp_base_fail(r->error, PSDM_E_LIMIT, r->file, node->line, node->column,
                           "%d capsules; at most %d are read", node->count, PSDMP_ROBOT_MAX_CAPSULES);
  c->capsule = PSDMP_BASE_NEW(r->arena, node->count, psdm_capsule);
  if (!c->capsule) return psdmp_base_no_memory(r->file, r->error);
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    snprintf(r->where, sizeof r->where, "capsule %d", c->capsules + 1);
    psdm_status status = read_capsule(r, at, &c->capsule[c->capsules++]);
    if (status) return status;
  }
  snprintf(r->where, sizeof r->where, "collision");
  return PSDM_OK;
}

static psdm_status read_apart(reader *r, const psdmp_document_node *node, void *target) {
  psdmp_robot_collision *c = target;
  if (node->kind != PSDMP_DOCUMENT_LIST) return expected(r, node, "a list of pairs of links such as [[A1, A3]]");
  if (node->count > PSDMP_ROBOT_MAX_APART)
    return psdmp_base_fail(r->error, PSDM_E_LIMIT, r->file, node->line, node->column,
                           "%d pairs of links; at most %d are read", node->count, PSDMP_ROBOT_MAX_APART);
  c->apart = psdmp_base_arena_alloc(r->arena, (size_t)(node->count + 1) * sizeof *c->apart);
  if (!c->apart) return psdmp_base_no_memory(r->file, r->error);
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    if (at->kind != PSDMP_DOCUMENT_LIST || at->count != 2) return expected(r, at, "a pair of links");
    psdm_status status = resolve_link(r, at->child, &c->apart[c->aparts][0]);
    if (!status) status = resolve_link(r, at->child->next, &c->apart[c->aparts][1]);
    if (status) return status;
    c->aparts++;
  }
  return PSDM_OK;
}

static psdm_status read_collision(reader *r, const psdmp_document_node *node) {
  static const field fields[] = {{"floor", read_floor, 0}, {"capsules", read_capsules, 0}, {"apart", read_apart, 0}};
  unsigned seen;
  psdmp_robot_collision *c = PSDMP_BASE_NEW(r->arena, 1, psdmp_robot_collision);
  if (!c) return psdmp_base_no_memory(r->file, r->error);
  snprintf(r->where, sizeof r->where, "collision");
  psdm_status status = read_map(r, node, "collision", fields, COUNT(fields), c, &seen);
  if (status) return status;
  r->where[0] = '\0';
  r->spec->collision = c;
  return PSDM_OK;
}

static psdm_status read_convention(reader *r, const psdmp_document_node *node, bool *modified) {
  if (node->kind == PSDMP_DOCUMENT_SCALAR && strcmp(node->text, "dh") == 0) *modified = false;
  else if (node->kind == PSDMP_DOCUMENT_SCALAR && strcmp(node->text, "modified-dh") == 0) *modified = true;
  else return expected(r, node, "dh or modified-dh");
  return PSDM_OK;
}

/* references to other joints by name, once all names are known */
static psdm_status resolve_names(reader *r, const row *rows) {
  psdmp_robot_spec *spec = r->spec;
  for (int j = 0; j < spec->joints; j++) {
    psdmp_robot_spec_joint *joint = &spec->joint[j];
    char name[80];
    psdm_status status = PSDM_OK;
    psdmp_base_quote(joint->name, strlen(joint->name), name, sizeof name);
    snprintf(r->where, sizeof r->where, "joint '%s'", name);
    if (rows[j].parent) status = resolve_parent(r, rows[j].parent, &joint->parent);
    if (!status && joint->parent == j)
      status = refuse(r, rows[j].parent->line, rows[j].parent->column, "it is its own parent");
    if (!status && rows[j].couple) status = resolve_couple(r, rows[j].couple, joint);
    if (!status && rows[j].motor) status = resolve_motor(r, rows[j].motor, joint);
    if (status) return status;
  }
  r->where[0] = '\0';
  return PSDM_OK;
}

static psdm_status read_joints(reader *r, const psdmp_document_node *node, bool modified, row **rows) {
  psdmp_robot_spec *spec = r->spec;
  if (node->kind != PSDMP_DOCUMENT_LIST || !node->count) return expected(r, node, "a list of joints");
  if (node->count > PSDMP_ROBOT_MAX_LINKS)
    return psdmp_base_fail(r->error, PSDM_E_LIMIT, r->file, node->line, node->column, "%d joints; at most %d are read",
                           node->count, PSDMP_ROBOT_MAX_LINKS);
  *rows = PSDMP_BASE_NEW(r->arena, node->count, row);
  spec->joint = PSDMP_BASE_NEW(r->arena, node->count, psdmp_robot_spec_joint);
  if (!*rows || !spec->joint) return psdmp_base_no_memory(r->file, r->error);
  for (const psdmp_document_node *at = node->child; at; at = at->next) {
    int j = spec->joints;
    psdm_status status = read_joint(r, at, j, modified, &(*rows)[j]);
    if (status) return status;
    spec->joint[spec->joints++] = (*rows)[j].joint;
  }
  return PSDM_OK;
}

typedef struct top {
  const char *name;
  const psdmp_document_node *convention, *joints, *links, *tool, *theta, *transmission, *loops, *assume, *collision;
  double gravity[3];
  psdmp_robot_pose base;
} top;

static psdm_status read_top(reader *r, const psdmp_document_node *root, top *t) {
  static const field fields[] = {{"name", read_name, offsetof(top, name)},
                                 {"gravity", read_vector3, offsetof(top, gravity)},
                                 {"convention", read_node, offsetof(top, convention)},
                                 {"joints", read_node, offsetof(top, joints)},
                                 {"links", read_node, offsetof(top, links)},
                                 {"base", read_pose, offsetof(top, base)},
                                 {"tool", read_node, offsetof(top, tool)},
                                 {"theta", read_node, offsetof(top, theta)},
                                 {"transmission", read_node, offsetof(top, transmission)},
                                 {"loops", read_node, offsetof(top, loops)},
                                 {"assume", read_node, offsetof(top, assume)},
                                 {"collision", read_node, offsetof(top, collision)}};
  *t = (top){.gravity = {0, 0, -9.81}, .base = psdmp_robot_pose_identity()};
  unsigned seen;
  psdm_status status = read_map(r, root, "a robot file", fields, COUNT(fields), t, &seen);
  if (status) return status;
  if (!t->convention) return refuse(r, 1, 1, "no 'convention'; dh or modified-dh was expected");
  if (!t->joints) return refuse(r, 1, 1, "no 'joints'");
  return PSDM_OK;
}

psdm_status psdmp_robot_spec_from_yaml(const char *text, size_t length, const char *file,
                                       const psdm_robot_options *options, psdmp_base_arena *arena,
                                       psdmp_robot_spec *spec, psdm_error *error) {
  reader r = {.file = file, .arena = arena, .error = error, .spec = spec, .snap = !(options && options->no_snap)};
  psdmp_document_node *root;
  top t;
  row *rows = NULL;
  bool modified = false;
  spec->file = file;
  psdm_status status = psdmp_document_parse(text, length, file, arena, &root, error);
  if (!status) status = read_top(&r, root, &t);
  if (!status) status = read_convention(&r, t.convention, &modified);
  if (!status) status = read_joints(&r, t.joints, modified, &rows);
  if (!status) status = read_links(&r, t.links);
  if (!status) status = index_names(&r);
  if (!status) status = resolve_names(&r, rows);
  if (!status && t.loops) status = read_loops(&r, t.loops);
  if (!status && t.tool) status = read_tool(&r, t.tool);
  if (!status && t.transmission) status = read_transmission(&r, t.transmission);
  if (!status && t.assume) status = read_assume(&r, t.assume);
  if (!status && t.theta) status = read_theta(&r, t.theta);
  if (!status && t.collision) status = read_collision(&r, t.collision);
  if (status) return status;
  spec->name = t.name;
  spec->base_name = "base";
  spec->base = t.base;
  memcpy(spec->gravity, t.gravity, sizeof spec->gravity);
  return PSDM_OK;
}
