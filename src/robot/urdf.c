/* urdf.c: URDF through libxml2. No network, no DTD, no entities; what URDF tools ignore is ignored, what they would
 * silently misread is refused with its line. */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "robot/names_priv.h"
#include "robot/spec_priv.h"

typedef struct reader {
  const char *file;
  psdmp_base_arena *arena;
  psdm_error *error;
  psdmp_robot_spec *spec;
  bool snap;
} reader;

/* a link element and its properties */
typedef struct link_node {
  const char *name;
  int line;
  int parent_joint;         /* joint whose child it is, -1: none */
  bool known, half, shaped; /* it has an <inertial>, one without moments, a <visual> or <collision> */
  double pi[PSDMP_ROBOT_STANDARD];
} link_node;

typedef struct joint_node {
  const char *name, *parent, *child;
  const xmlNode *node;
  psdm_joint_type type;
  int parent_link, child_link;
  psdmp_robot_pose origin;
  double axis[3];
} joint_node;

typedef struct urdf {
  int links, joints;
  link_node *link;
  joint_node *joint;
  psdmp_robot_names link_names, joint_names;
} urdf;

/* ---- messages ---- */

static int line_of(const xmlNode *node) { return (int)xmlGetLineNo((xmlNode *)node); }

static psdm_status refuse(reader *r, const xmlNode *node, const char *format, ...) PSDM_PRINTF(3, 4);
static psdm_status refuse(reader *r, const xmlNode *node, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  return psdmp_base_fail(r->error, PSDM_E_PARSE, r->file, node ? line_of(node) : 0, 0, "%s", text);
}

/* a name fit for a message, in one of a few buffers */
typedef struct quoted {
  char text[72];
} quoted;
static quoted quote(const char *name) {
  quoted q;
  psdmp_base_quote(name, strlen(name), q.text, sizeof q.text);
  return q;
}

/* ---- elements and attributes ---- */

/* a default namespace changes nothing (Drake's files have one); a prefix makes it a foreign element */
static bool has_prefix(const xmlNode *node) { return node->ns && node->ns->prefix; }

static bool is_element(const xmlNode *node, const char *name) {
  return node->type == XML_ELEMENT_NODE && !has_prefix(node) && strcmp((const char *)node->name, name) == 0;
}

/* with the prefix declared or, if the declaration is missing, as part of the name */
static bool is_xacro(const xmlNode *node) {
  const char *prefix = has_prefix(node) ? (const char *)node->ns->prefix : "", *name = (const char *)node->name;
  return node->type == XML_ELEMENT_NODE && (strcmp(prefix, "xacro") == 0 || strncmp(name, "xacro:", 6) == 0);
}

static psdm_status refuse_xacro(reader *r, const xmlNode *node) {
  const char *name = (const char *)node->name;
  return refuse(r, node, "<xacro:%s>: this is a xacro file; run 'xacro FILE > robot.urdf' and read that",
                quote(strncmp(name, "xacro:", 6) ? name : name + 6).text);
}

/* the only child element of that name, NULL if there is none; a second one is an error */
static psdm_status only_child(reader *r, const xmlNode *parent, const char *name, const xmlNode **child) {
  *child = NULL;
  for (const xmlNode *at = parent->children; at; at = at->next) {
    if (is_xacro(at)) return refuse_xacro(r, at);
    if (!is_element(at, name)) continue;
    if (*child) return refuse(r, at, "a second <%s>; the first is on line %d", name, line_of(*child));
    *child = at;
  }
  return PSDM_OK;
}

/* an attribute's text in the arena, NULL when absent */
static psdm_status attribute(reader *r, const xmlNode *node, const char *name, const char **value) {
  *value = NULL;
  if (!xmlHasNsProp((xmlNode *)node, (const xmlChar *)name, NULL)) return PSDM_OK;
  xmlChar *text = xmlGetNoNsProp((xmlNode *)node, (const xmlChar *)name);
  if (!text) return psdmp_base_no_memory(r->file, r->error); /* present */
  *value = psdmp_base_arena_text(r->arena, (const char *)text, strlen((const char *)text));
  xmlFree(text);
  if (!*value) return psdmp_base_no_memory(r->file, r->error);
  if (strstr(*value, "${") || strstr(*value, "$("))
    return refuse(r, node, "attribute %s is '%s': this is a xacro file; run 'xacro FILE > robot.urdf' and read that",
                  name, quote(*value).text);
  return PSDM_OK;
}

static psdm_status required(reader *r, const xmlNode *node, const char *name, const char **value) {
  psdm_status status = attribute(r, node, name, value);
  if (!status && (!*value || !**value)) return refuse(r, node, "<%s> has no %s", (const char *)node->name, name);
  return status;
}

/* names are no longer than in YAML, so that every robot can be written as YAML */
static psdm_status check_name(reader *r, const xmlNode *node, const char *name) {
  if (strlen(name) <= 200) return PSDM_OK;
  return refuse(r, node, "name of <%s> is '%s'; a name of 1 to 200 characters was expected", (const char *)node->name,
                quote(name).text);
}

static psdm_status read_name(reader *r, const xmlNode *node, const char **name) {
  psdm_status status = required(r, node, "name", name);
  return status ? status : check_name(r, node, *name);
}

/* count numbers separated by blanks; if the attribute is absent, *out keeps its default */
static psdm_status numbers(reader *r, const xmlNode *node, const char *name, int count, double *out) {
  const char *text;
  psdm_status status = attribute(r, node, name, &text);
  if (status || !text) return status;
  const char *at = text;
  int found = 0;
  for (;;) {
    at += strspn(at, " \t\r\n");
    size_t length = strcspn(at, " \t\r\n");
    if (!length) break;
    if (found == count || !psdmp_base_parse_number(at, length, &out[found])) {
      found = -1;
      break;
    }
    found++;
    at += length;
  }
  if (found == count) return PSDM_OK;
  return refuse(r, node, "%s of <%s> is '%s'; %d finite decimal number%s expected%s", name, (const char *)node->name,
                quote(text).text, count, count == 1 ? " was" : "s were",
                !strchr(text, ',') ? ""
                : count == 1       ? ", with a point"
                                   : ", with blanks between them, not commas");
}

static psdm_status snap(reader *r, const xmlNode *node, double *angle) {
  if (!r->snap) return PSDM_OK;
  return psdmp_robot_spec_snap(r->spec, r->arena, angle, line_of(node), "", "rpy")
             ? psdmp_base_no_memory(r->file, r->error)
             : PSDM_OK;
}

/* <origin xyz rpy> of an element, identity when absent */
static psdm_status read_origin(reader *r, const xmlNode *parent, bool snapped, psdmp_robot_pose *pose) {
  const xmlNode *node;
  double xyz[3] = {0, 0, 0}, rpy[3] = {0, 0, 0};
  *pose = psdmp_robot_pose_identity();
  psdm_status status = only_child(r, parent, "origin", &node);
  if (status || !node) return status;
  status = numbers(r, node, "xyz", 3, xyz);
  if (!status) status = numbers(r, node, "rpy", 3, rpy);
  for (int i = 0; i < 3 && !status && snapped; i++) status = snap(r, node, &rpy[i]);
  if (!status) *pose = psdmp_robot_pose_rpy(xyz, rpy);
  return status;
}

/* ---- links ---- */

/* products of inertia may be omitted; an omitted moment is not known to be zero */
static bool has_moments(const xmlNode *inertia) {
  return inertia && xmlHasProp((xmlNode *)inertia, BAD_CAST "ixx") && xmlHasProp((xmlNode *)inertia, BAD_CAST "iyy") &&
         xmlHasProp((xmlNode *)inertia, BAD_CAST "izz");
}

static psdm_status read_inertial(reader *r, const xmlNode *inertial, link_node *link) {
  const xmlNode *mass, *inertia;
  psdmp_robot_pose pose;
  double about[PSDMP_ROBOT_STANDARD] = {0};
  static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
  psdm_status status = read_origin(r, inertial, false, &pose);
  if (!status) status = only_child(r, inertial, "mass", &mass);
  if (!status) status = only_child(r, inertial, "inertia", &inertia);
  if (status) return status;
  if (!mass) return refuse(r, inertial, "link '%s': <inertial> has no <mass>", quote(link->name).text);
  const char *text;
  status = required(r, mass, "value", &text);
  if (!status) status = numbers(r, mass, "value", 1, &about[0]);
  for (int i = 0; i < 6 && !status && inertia; i++) status = numbers(r, inertia, names[i], 1, &about[4 + i]);
  if (status) return status;
  link->half = about[0] != 0 && !has_moments(inertia);
  link->known = !link->half;
  psdmp_robot_standard_move(&pose, about, link->pi);
  if (link->half && about[0] > 0) return PSDM_OK; /* no moments to check */
  return psdmp_robot_spec_check_link(r->spec, r->arena, link->name, link->pi) ? psdmp_base_no_memory(r->file, r->error)
                                                                              : PSDM_OK;
}

static psdm_status read_link(reader *r, const xmlNode *node, link_node *link) {
  const xmlNode *inertial;
  *link = (link_node){.line = line_of(node), .parent_joint = -1};
  for (const xmlNode *at = node->children; at; at = at->next)
    link->shaped |= is_element(at, "visual") || is_element(at, "collision");
  psdm_status status = read_name(r, node, &link->name);
  if (!status) status = only_child(r, node, "inertial", &inertial);
  return status || !inertial ? status : read_inertial(r, inertial, link);
}

/* ---- joints ---- */

static psdm_status read_type(reader *r, const xmlNode *node, joint_node *joint) {
  static const struct {
    const char *name;
    psdm_joint_type type;
  } types[] = {
      {"revolute", PSDM_REVOLUTE}, {"continuous", PSDM_REVOLUTE}, {"prismatic", PSDM_PRISMATIC}, {"fixed", PSDM_FIXED}};
  const char *text;
  psdm_status status = required(r, node, "type", &text);
  if (status) return status;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].name, text) == 0) {
      joint->type = types[i].type;
      return PSDM_OK;
    }
  return refuse(r, node, "joint '%s' has type '%s'; supported are revolute, continuous, prismatic and fixed",
                quote(joint->name).text, quote(text).text);
}

static psdm_status read_end(reader *r, const joint_node *joint, const char *which, const char **name) {
  const xmlNode *node;
  psdm_status status = only_child(r, joint->node, which, &node);
  if (!status && !node) return refuse(r, joint->node, "joint '%s' has no <%s>", quote(joint->name).text, which);
  return status ? status : required(r, node, "link", name);
}

static psdm_status read_axis(reader *r, joint_node *joint) {
  const xmlNode *node;
  double *a = joint->axis;
  a[0] = 1; /* URDF's default */
  psdm_status status = only_child(r, joint->node, "axis", &node);
  if (!status && node) status = numbers(r, node, "xyz", 3, a);
  if (status || joint->type == PSDM_FIXED) return status;
  double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  if (!(length > 1e-9) || !isfinite(length))
    return refuse(r, node ? node : joint->node, "joint '%s': its axis has no direction", quote(joint->name).text);
  for (int i = 0; i < 3; i++) a[i] /= length;
  return PSDM_OK;
}

static psdm_status read_joint(reader *r, const xmlNode *node, joint_node *joint) {
  *joint = (joint_node){.node = node};
  psdm_status status = read_name(r, node, &joint->name);
  if (!status) status = read_type(r, node, joint);
  if (!status) status = read_end(r, joint, "parent", &joint->parent);
  if (!status) status = read_end(r, joint, "child", &joint->child);
  if (!status) status = read_origin(r, node, true, &joint->origin);
  return status ? status : read_axis(r, joint);
}

/* a rotation from z to the axis; signed permutations if the axis is one of the frame's */
static psdmp_robot_pose axis_rotation(const double a[3]) {
  static const double PI = 3.14159265358979323846;
  const bool none[3] = {fabs(a[0]) < 1e-15, fabs(a[1]) < 1e-15, fabs(a[2]) < 1e-15};
  if (none[0] && none[1]) return a[2] > 0 ? psdmp_robot_pose_identity() : psdmp_robot_pose_rotation(0, PI);
  if (none[1] && none[2]) return psdmp_robot_pose_rotation(1, copysign(PI / 2, a[0]));
  if (none[0] && none[2]) return psdmp_robot_pose_rotation(0, copysign(PI / 2, -a[1]));
  /* the shorter way round (Rodrigues), towards -z via x to avoid its singularity */
  if (a[2] < -0.5) {
    const double mirrored[3] = {a[0], -a[1], -a[2]};
    psdmp_robot_pose flip = psdmp_robot_pose_rotation(0, PI), rest = axis_rotation(mirrored);
    return psdmp_robot_pose_product(&flip, &rest);
  }
  double k = 1 / (1 + a[2]), x = a[0], y = a[1];
  psdmp_robot_pose r = psdmp_robot_pose_identity();
  const double R[9] = {1 - k * x * x, -k * x * y, x, -k * x * y, 1 - k * y * y, y, -x, -y, a[2]};
  memcpy(r.R, R, sizeof R);
  return r;
}

static psdm_status read_limit(reader *r, const joint_node *joint, psdmp_robot_spec_joint *out) {
  const xmlNode *node;
  const char *type;
  psdm_limits *l = &out->limits;
  psdm_status status = only_child(r, joint->node, "limit", &node);
  if (!status) status = attribute(r, joint->node, "type", &type);
  if (status || !node) return status;
  double lower = 0, upper = 0, velocity = 0, effort = 0;
  status = numbers(r, node, "lower", 1, &lower);
  if (!status) status = numbers(r, node, "upper", 1, &upper);
  if (!status) status = numbers(r, node, "velocity", 1, &velocity);
  if (!status) status = numbers(r, node, "effort", 1, &effort);
  if (status) return status;
  /* zero means absent for velocity and effort, and for a pair of equal positions */
  if (velocity > 0) l->velocity = velocity;
  if (effort > 0) l->effort = effort;
  if (lower < upper && strcmp(type, "continuous") != 0) l->lower = lower, l->upper = upper;
  if (lower > upper)
    return refuse(r, node, "joint '%s': lower limit %g is above the upper limit %g", quote(joint->name).text, lower,
                  upper);
  return PSDM_OK;
}

static psdm_status read_dynamics(reader *r, const joint_node *joint, psdmp_robot_spec_joint *out) {
  const xmlNode *node;
  psdm_friction *f = &out->friction;
  psdm_status status = only_child(r, joint->node, "dynamics", &node);
  if (status || !node) return status;
  status = numbers(r, node, "damping", 1, &f->viscous);
  if (!status) status = numbers(r, node, "friction", 1, &f->coulomb);
  f->stat = f->coulomb;
  f->given = f->viscous != 0 || f->coulomb != 0;
  return status;
}

static psdm_status read_mimic(reader *r, const urdf *u, const joint_node *joint, psdmp_robot_spec_joint *out) {
  const xmlNode *node;
  const char *name;
  double factor = 1;
  psdm_status status = only_child(r, joint->node, "mimic", &node);
  if (status || !node || joint->type == PSDM_FIXED) return status;
  status = required(r, node, "joint", &name);
  if (!status) status = numbers(r, node, "multiplier", 1, &factor);
  if (!status) status = numbers(r, node, "offset", 1, &out->couple_offset);
  if (status) return status;
  int other = psdmp_robot_names_find(&u->joint_names, name);
  if (other < 0) {
    const char *near = psdmp_robot_names_nearest(&u->joint_names, name);
    return refuse(r, node, "joint '%s' mimics '%s', which is not a joint of this file%s%s%s", quote(joint->name).text,
                  quote(name).text, near ? "; did you mean '" : "", near ? quote(near).text : "", near ? "'?" : "");
  }
  out->coupled = true;
  out->couples = 1;
  out->couple = PSDMP_BASE_NEW(r->arena, 1, psdmp_robot_couple);
  if (!out->couple) return psdmp_base_no_memory(r->file, r->error);
  out->couple[0] = (psdmp_robot_couple){other, factor};
  return PSDM_OK;
}

/* ---- the file ---- */

enum { MOST_STRANGERS = 20 };

/* known elements without influence on dynamics */
static bool passed_over(const char *name) {
  static const char *const known[] = {"link",  "joint",        "material", "transmission", "gazebo", "sensor",
                                      "group", "ros2_control", "plugin",   "mujoco",       "drake",  "actuator"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i], name) == 0) return true;
  return false;
}

/* the first few by name, the rest as a count: a file may hold millions */
static psdm_status note_stranger(reader *r, const xmlNode *node, int *strangers) {
  if (has_prefix(node) || passed_over((const char *)node->name) || (*strangers)++ >= MOST_STRANGERS) return PSDM_OK;
  return psdmp_robot_list_add(&r->spec->notes, r->arena, "line %d: <%s> is not an element of URDF and was ignored",
                              line_of(node), quote((const char *)node->name).text)
             ? psdmp_base_no_memory(r->file, r->error)
             : PSDM_OK;
}

static psdm_status look_over(reader *r, const xmlNode *root, urdf *u) {
  int strangers = 0;
  for (const xmlNode *at = root->children; at; at = at->next) {
    if (at->type != XML_ELEMENT_NODE) continue;
    if (is_xacro(at)) return refuse_xacro(r, at);
    u->links += is_element(at, "link");
    u->joints += is_element(at, "joint");
    if (note_stranger(r, at, &strangers)) return PSDM_E_MEMORY;
  }
  if (strangers > MOST_STRANGERS &&
      psdmp_robot_list_add(&r->spec->notes, r->arena, "%d more elements are not part of URDF and were ignored",
                           strangers - MOST_STRANGERS))
    return psdmp_base_no_memory(r->file, r->error);
  if (u->links > PSDMP_ROBOT_MAX_LINKS || u->joints > PSDMP_ROBOT_MAX_LINKS)
    return psdmp_base_fail(r->error, PSDM_E_LIMIT, r->file, 0, 0, "%d links and %d joints; at most %d of each are read",
                           u->links, u->joints, PSDMP_ROBOT_MAX_LINKS);
  if (!u->joints) return refuse(r, root, "<robot> has no <joint>");
  return PSDM_OK;
}

static psdm_status index_names(reader *r, urdf *u) {
  const char **links = PSDMP_BASE_NEW(r->arena, u->links, const char *),
             **joints = PSDMP_BASE_NEW(r->arena, u->joints, const char *);
  if (!links || !joints) return psdmp_base_no_memory(r->file, r->error);
  for (int i = 0; i < u->links; i++) links[i] = u->link[i].name;
  for (int i = 0; i < u->joints; i++) joints[i] = u->joint[i].name;
  if (!psdmp_robot_names_init(&u->link_names, r->arena, links, u->links) ||
      !psdmp_robot_names_init(&u->joint_names, r->arena, joints, u->joints))
    return psdmp_base_no_memory(r->file, r->error);
  int first, twin = psdmp_robot_names_twin(&u->link_names, &first);
  if (twin >= 0)
    return psdmp_base_fail(r->error, PSDM_E_PARSE, r->file, u->link[twin].line, 0,
                           "link name '%s' is a duplicate (first on line %d)", quote(links[twin]).text,
                           u->link[first].line);
  twin = psdmp_robot_names_twin(&u->joint_names, &first);
  if (twin >= 0)
    return refuse(r, u->joint[twin].node, "joint name '%s' is a duplicate (first on line %d)", quote(joints[twin]).text,
                  line_of(u->joint[first].node));
  return PSDM_OK;
}

static psdm_status find_end(reader *r, const urdf *u, const joint_node *joint, const char *name, const char *which,
                            int *link) {
  *link = psdmp_robot_names_find(&u->link_names, name);
  if (*link >= 0) return PSDM_OK;
  const char *near = psdmp_robot_names_nearest(&u->link_names, name);
  return refuse(r, joint->node, "joint '%s': its %s '%s' is not a link of this file%s%s%s", quote(joint->name).text,
                which, quote(name).text, near ? "; did you mean '" : "", near ? quote(near).text : "",
                near ? "'?" : "");
}

static psdm_status connect(reader *r, urdf *u) {
  for (int j = 0; j < u->joints; j++) {
    joint_node *joint = &u->joint[j];
    psdm_status status = find_end(r, u, joint, joint->parent, "parent", &joint->parent_link);
    if (!status) status = find_end(r, u, joint, joint->child, "child", &joint->child_link);
    if (status) return status;
    link_node *child = &u->link[joint->child_link];
    if (child->parent_joint >= 0)
      return refuse(r, joint->node,
                    "link '%s' is the child of two joints, '%s' and '%s'; closed loops are not read from URDF",
                    quote(child->name).text, quote(u->joint[child->parent_joint].name).text, quote(joint->name).text);
    child->parent_joint = j;
  }
  int root = -1;
  for (int l = 0; l < u->links; l++) {
    if (u->link[l].parent_joint >= 0) continue;
    if (root >= 0)
      return psdmp_base_fail(r->error, PSDM_E_ROBOT, r->file, u->link[l].line, 0,
                             "two links have no parent, '%s' and '%s'; one root was expected",
                             quote(u->link[root].name).text, quote(u->link[l].name).text);
    root = l;
  }
  if (root < 0)
    return psdmp_base_fail(r->error, PSDM_E_ROBOT, r->file, 1, 0, "every link has a parent: the joints form a cycle");
  r->spec->base_name = u->link[root].name;
  return PSDM_OK;
}

static psdm_status fill_joint(reader *r, const urdf *u, int j) {
  const joint_node *joint = &u->joint[j];
  psdmp_robot_spec_joint *out = &r->spec->joint[j];
  const link_node *link = &u->link[joint->child_link];
  psdmp_robot_spec_joint_init(out);
  out->name = joint->name;
  out->line = line_of(joint->node);
  out->type = joint->type;
  out->parent = u->link[joint->parent_link].parent_joint;
  out->link_name = link->name;
  out->link_line = link->line;
  out->known = link->known;
  out->half = link->half;
  out->shaped = link->shaped;
  memcpy(out->pi, link->pi, sizeof out->pi);
  out->before = joint->origin;
  if (joint->type != PSDM_FIXED) {
    psdmp_robot_pose axis = axis_rotation(joint->axis);
    out->before = psdmp_robot_pose_product(&joint->origin, &axis);
    out->after = psdmp_robot_pose_inverse(&axis);
  }
  psdm_status status = read_limit(r, joint, out);
  if (!status) status = read_dynamics(r, joint, out);
  return status ? status : read_mimic(r, u, joint, out);
}

static psdm_status read_robot(reader *r, const xmlNode *root) {
  urdf u = {0};
  psdmp_robot_spec *spec = r->spec;
  if (!root || !is_element(root, "robot"))
    return refuse(r, root, "the root element is <%s>; <robot> was expected",
                  root ? quote((const char *)root->name).text : "");
  psdm_status status = attribute(r, root, "name", &spec->name);
  if (!status && spec->name) status = check_name(r, root, spec->name);
  if (!status) status = look_over(r, root, &u);
  if (status) return status;
  u.link = PSDMP_BASE_NEW(r->arena, u.links, link_node);
  u.joint = PSDMP_BASE_NEW(r->arena, u.joints, joint_node);
  spec->joint = PSDMP_BASE_NEW(r->arena, u.joints, psdmp_robot_spec_joint);
  if (!u.link || !u.joint || !spec->joint) return psdmp_base_no_memory(r->file, r->error);
  int l = 0, j = 0;
  for (const xmlNode *at = root->children; at && !status; at = at->next) {
    if (is_element(at, "link")) status = read_link(r, at, &u.link[l++]);
    if (is_element(at, "joint")) status = read_joint(r, at, &u.joint[j++]);
  }
  if (!status) status = index_names(r, &u);
  if (!status) status = connect(r, &u);
  spec->joints = u.joints;
  for (j = 0; j < u.joints && !status; j++) status = fill_joint(r, &u, j);
  return status;
}

/* ---- text ---- */

static psdm_status refuse_byte(reader *r, const char *text, const char *at, psdm_status status, const char *why) {
  int line = 1;
  for (; text < at; text++) line += *text == '\n';
  return psdmp_base_fail(r->error, status, r->file, line, 0, "%s", why);
}

/* libxml2 compares each attribute with the others of its tag, and each prefix with all declared ones: hours for a
 * hostile file. No tag holds a '<', so the text between two of them bounds its attributes, whatever else is wrong. */
static psdm_status check_crowds(reader *r, const char *text, size_t length) {
  enum { MOST_ATTRIBUTES = 200, MOST_NAMESPACES = 200 }; /* a second for the largest file */
  int attributes = 0, namespaces = 0;
  bool equals = false;
  for (const char *at = text, *end = text + length; at < end; at++) {
    if (*at == '<') attributes = 0;
    if (equals && (*at == '"' || *at == '\'')) attributes++;
    if (*at == 'x' && end - at > 5 && memcmp(at, "xmlns", 5) == 0) namespaces++;
    if (attributes > MOST_ATTRIBUTES)
      return refuse_byte(r, text, at, PSDM_E_LIMIT, "a tag of more than 200 attributes");
    if (namespaces > MOST_NAMESPACES) return refuse_byte(r, text, at, PSDM_E_LIMIT, "more than 200 namespaces (xmlns)");
    equals = *at == '=' || (equals && strchr(" \t\r\n", *at));
  }
  return PSDM_OK;
}

/* UTF-8 only, whatever the file declares: other encodings could hide attributes from the count */
static psdm_status check_text(reader *r, const char *text, size_t length) {
  enum { MOST_BYTES = 10000000 }; /* above this libxml2 fails in various places (XML_MAX_LOOKUP_LIMIT) */
  if (length > MOST_BYTES)
    return psdmp_base_fail(r->error, PSDM_E_LIMIT, r->file, 0, 0, "%zu bytes; at most %d are read", length, MOST_BYTES);
  for (const char *at = text, *end = text + length; at < end;) {
    size_t step = psdmp_base_utf8_length(at, (size_t)(end - at));
    if (!*at) return refuse_byte(r, text, at, PSDM_E_PARSE, "a NUL byte; this is not a text file");
    if (!step)
      return refuse_byte(r, text, at, PSDM_E_PARSE, "a byte that is not UTF-8; save the file in that encoding");
    at += step;
  }
  return check_crowds(r, text, length);
}

/* ---- the declaration ---- */

/* the version in <?xml version="1.0"?>, and its length; NULL: none */
static const char *version_of(const char *declaration, const char *end, size_t *length) {
  const char *at = declaration;
  while (end - at > 7 && memcmp(at, "version", 7) != 0) at++;
  while (at < end && *at != '"' && *at != '\'') at++;
  const char *close = at < end ? memchr(at + 1, *at, (size_t)(end - at - 1)) : NULL;
  *length = close ? (size_t)(close - at - 1) : 0;
  return close ? at + 1 : NULL;
}

/* Blank lines before <?xml and versions that XML never had ("0.0") are common and harmless: the text is UTF-8 in any
 * case. Then the declaration is blanked in a copy, with a note; every line keeps its number. */
static psdm_status pass_over_declaration(reader *r, const char **text, size_t length) {
  const char *begin = *text + (length >= 3 && memcmp(*text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0), *at = begin,
             *end = *text + length;
  while (at < end && strchr(" \t\r\n", *at)) at++;
  if (end - at < 6 || memcmp(at, "<?xml", 5) != 0 || !strchr(" \t\r\n", at[5])) return PSDM_OK;
  const char *close = at;
  while (end - close >= 2 && memcmp(close, "?>", 2) != 0 && *close != '>') close++;
  if (end - close < 2 || *close != '?') return PSDM_OK; /* libxml2 reports the error */
  size_t size;
  const char *version = version_of(at, close, &size);
  bool odd = version && size >= 3 && strspn(version, "0123456789") == 1 && version[1] == '.' && version[0] != '1';
  if (at == begin && !odd) return PSDM_OK;
  char *copy = psdmp_base_arena_text(r->arena, *text, length), shown[32];
  if (!copy) return psdmp_base_no_memory(r->file, r->error);
  int line = 1;
  for (const char *c = *text; c < at; c++) line += *c == '\n';
  for (char *c = copy + (at - *text); c < copy + (close + 2 - *text); c++) *c = strchr("\r\n", *c) ? *c : ' ';
  *text = copy;
  psdm_status status =
      odd ? psdmp_robot_list_add(&r->spec->notes, r->arena,
                                 "line %d: unknown XML version %s; the file is read as version 1.0", line,
                                 psdmp_base_quote(version, size, shown, sizeof shown))
          : psdmp_robot_list_add(&r->spec->notes, r->arena,
                                 "line %d: an XML declaration belongs at the very beginning; it is ignored", line);
  return status ? psdmp_base_no_memory(r->file, r->error) : PSDM_OK;
}

/* ---- XML ---- */

/* the parser's first error: libxml2 continues and reports consequences of it */
typedef struct watch {
  reader *r;
  psdm_status status;
} watch;

/* a document type declaration can hold entity bombs, and no URDF needs one */
static void stop_at_dtd(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system) {
  (void)name, (void)external, (void)system;
  xmlParserCtxtPtr parser = context;
  watch *w = parser->_private;
  if (!w->status)
    w->status = psdmp_base_fail(w->r->error, PSDM_E_PARSE, w->r->file, parser->input ? parser->input->line : 0, 0,
                                "a document type declaration (<!DOCTYPE>) is not supported");
  xmlStopParser(parser);
}

static void keep_first_error(void *context, const xmlError *e) {
  xmlParserCtxtPtr parser = context;
  watch *w = parser->_private;
  if (e->code == XML_ERR_NO_MEMORY)
    w->status = psdmp_base_no_memory(w->r->file, w->r->error); /* earlier errors may be a consequence of it */
  if (w->status || e->level < XML_ERR_FATAL) return;
  const char *message = e->message ? e->message : "";
  char text[200];
  psdmp_base_quote(message, strcspn(message, "\n"), text, sizeof text);
  if (strstr(message, "XML_PARSE_HUGE")) /* how libxml2 reports it */
    w->status =
        psdmp_base_fail(w->r->error, PSDM_E_LIMIT, w->r->file, e->line, 0, "elements are nested more than 256 deep");
  else
    w->status = psdmp_base_fail(w->r->error, PSDM_E_PARSE, w->r->file, e->line, e->int2 > 0 ? e->int2 : 0,
                                "malformed XML: %s", text);
}

/* errors outside the parser: the tree is built without memory, and libxml2 would write to standard error */
static void keep_memory_error(void *context, const xmlError *e) {
  watch *w = context;
  if (e->code == XML_ERR_NO_MEMORY) w->status = psdmp_base_no_memory(w->r->file, w->r->error);
}

static psdm_status read_document(watch *w, xmlParserCtxtPtr parser, const char *text, size_t length) {
  reader *r = w->r;
  parser->_private = w;
  parser->sax->internalSubset = stop_at_dtd;
  parser->sax->serror = (xmlStructuredErrorFunc)keep_first_error; /* const since libxml2 2.12 */
  xmlDocPtr document = xmlCtxtReadMemory(parser, text, (int)length, r->file, NULL,
                                         XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA |
                                             XML_PARSE_COMPACT | XML_PARSE_BIG_LINES | XML_PARSE_IGNORE_ENC);
  if (parser->errNo == XML_ERR_NO_MEMORY)
    w->status = psdmp_base_no_memory(r->file, r->error); /* whatever else followed from it */
  psdm_status status = w->status;
  if (!status) status = document ? read_robot(r, xmlDocGetRootElement(document)) : refuse(r, NULL, "malformed XML");
  if (w->status == PSDM_E_MEMORY) status = w->status; /* while attributes were copied */
  xmlFreeDoc(document);
  return status;
}

psdm_status psdmp_robot_spec_from_urdf(const char *text, size_t length, const char *file,
                                       const psdm_robot_options *options, psdmp_base_arena *arena,
                                       psdmp_robot_spec *spec, psdm_error *error) {
  reader r = {.file = file, .arena = arena, .error = error, .spec = spec, .snap = !(options && options->no_snap)};
  spec->file = file;
  spec->urdf = true;
  spec->base = psdmp_robot_pose_identity();
  memcpy(spec->gravity, (const double[3]){0, 0, -9.81}, sizeof spec->gravity);
  psdm_status status = check_text(&r, text, length);
  if (!status) status = pass_over_declaration(&r, &text, length);
  if (status) return status;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, xmlInitParser); /* libxml2 initialises itself at the first use, which two threads may make at once
                                         */
  /* the thread's own error handler, for the duration of this call */
  watch w = {&r, PSDM_OK};
  xmlStructuredErrorFunc before = xmlStructuredError;
  void *before_context = xmlStructuredErrorContext;
  xmlSetStructuredErrorFunc(&w, (xmlStructuredErrorFunc)keep_memory_error);
  xmlParserCtxtPtr parser = xmlNewParserCtxt();
  status = parser ? read_document(&w, parser, text, length) : psdmp_base_no_memory(r.file, r.error);
  xmlFreeParserCtxt(parser);
  xmlSetStructuredErrorFunc(before_context, before);
  return status;
}
