/* write.c: a robot as YAML or URDF with the same dynamics, names and link frames. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "robot/robot.h"

/* zero up to the rounding of a few products of rotations */
static bool zero(double x) { return fabs(x) < 1e-15; }

/* ---- geometry of joint j relative to its parent's link ---- */

typedef struct placement {
  psdmp_robot_pose before, after; /* parent's link frame -> joint frame -> link frame */
} placement;

/* longest coordinate of any joint or link frame */
static double size_of(const psdm_robot *r) {
  double size = 0;
  for (int b = 0; b < r->bodies; b++)
    for (int i = 0; i < 3; i++) size = fmax(size, fabs(r->body[b].joint.p[i]));
  for (int j = 0; j < r->joints; j++)
    for (int i = 0; i < 3; i++) size = fmax(size, fabs(r->link[j].frame.p[i]));
  return size;
}

/* lengths that are rounding compared to the robot's longest become zero */
static psdmp_robot_pose tidy(const psdm_robot *r, psdmp_robot_pose t) {
  double size = size_of(r);
  for (int i = 0; i < 3; i++)
    if (fabs(t.p[i]) < 1e-16 * size) t.p[i] = 0;
  return t;
}

static placement place(const psdm_robot *r, int j) {
  const psdm_joint *joint = &r->joint[j];
  psdmp_robot_pose parent =
      joint->parent < 0 ? psdmp_robot_pose_identity() : psdmp_robot_pose_inverse(&r->link[joint->parent].frame);
  if (joint->type == PSDM_FIXED)
    return (placement){tidy(r, psdmp_robot_pose_product(&parent, &r->link[j].frame)), psdmp_robot_pose_identity()};
  return (placement){tidy(r, psdmp_robot_pose_product(&parent, &r->body[r->link[j].body].joint)),
                     tidy(r, r->link[j].frame)};
}

/* roll, pitch, yaw of R = Rz(yaw) Ry(pitch) Rx(roll). Roll is computed after yaw is undone, so that near pitch = 90
 * degrees, where the two are indistinguishable, their errors cancel. */
static void rpy_of(const double R[9], double rpy[3]) {
  double yaw = zero(R[0]) && zero(R[3]) ? 0 : atan2(R[3], R[0]), c = cos(yaw), s = sin(yaw);
  rpy[2] = yaw;
  rpy[1] = atan2(-R[6], c * R[0] + s * R[3]);
  rpy[0] = atan2(s * R[2] - c * R[5], c * R[4] - s * R[1]);
}

static bool is_identity(const psdmp_robot_pose *t) {
  const psdmp_robot_pose one = psdmp_robot_pose_identity();
  for (int i = 0; i < 9; i++)
    if (!zero(t->R[i] - one.R[i])) return false;
  return t->p[0] == 0 && t->p[1] == 0 && t->p[2] == 0;
}

/* mass, centre of mass and inertia about it */
static void body_of(const double pi[10], double com[3], double inertia[6]) {
  double about[10];
  for (int i = 0; i < 3; i++) com[i] = pi[0] != 0 ? pi[1 + i] / pi[0] : 0;
  psdmp_robot_pose to_com = psdmp_robot_pose_translation(-com[0], -com[1], -com[2]);
  psdmp_robot_standard_move(&to_com, pi, about);
  memcpy(inertia, about + 4, 6 * sizeof *inertia);
}

/* masses and inertias without first moments of a massless link: what mass, com and inertia can express */
static bool has_body(const double pi[10]) { return pi[0] != 0 || (pi[1] == 0 && pi[2] == 0 && pi[3] == 0); }

/* ---- text ---- */

static void put_number(psdm_output *out, const char *before, double x) {
  char text[32];
  psdm_output_text(out, before);
  psdmp_base_format_short(x + 0.0, text); /* no -0 */
  psdm_output_text(out, text);
}

static void put_list(psdm_output *out, const char *before, const double *x, int count, const char *between,
                     const char *after) {
  psdm_output_text(out, before);
  for (int i = 0; i < count; i++) put_number(out, i ? between : "", x[i]);
  psdm_output_text(out, after);
}

/* a double-quoted YAML scalar: JSON's escapes are YAML's too */
static void put_yaml_name(psdm_output *out, const char *before, const char *name) {
  psdm_output_text(out, before);
  psdm_output_text(out, "\"");
  for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
    const char plain[2] = {(char)*c, '\0'};
    if (*c < 0x20 || *c == 0x7F) psdm_output_print(out, "\\x%02x", *c);
    else if (*c == 0xC2 && c[1] >= 0x80 &&
             c[1] < 0xA0) /* U+0080 .. U+009F are not allowed in YAML, and U+0085 is a line break */
      psdm_output_print(out, "\\x%02x", *++c);
    else if (*c == 0xE2 && c[1] == 0x80 && (c[2] == 0xA8 || c[2] == 0xA9)) { /* U+2028, U+2029 are line breaks too */
      psdm_output_print(out, "\\u20%02x", c[2] - 0x80);
      c += 2;
    } else {
      if (*c == '"' || *c == '\\') psdm_output_text(out, "\\");
      psdm_output_text(out, plain);
    }
  }
  psdm_output_text(out, "\"");
}

static void put_xml_name(psdm_output *out, const char *before, const char *name, const char *after) {
  psdm_output_text(out, before);
  for (const char *c = name; *c; c++) {
    const char plain[2] = {*c, '\0'};
    switch (*c) {
      case '&': psdm_output_text(out, "&amp;"); break;
      case '<': psdm_output_text(out, "&lt;"); break;
      case '>': psdm_output_text(out, "&gt;"); break;
      case '"': psdm_output_text(out, "&quot;"); break;
      default:
        if ((unsigned char)*c == 0x7F || *c == '\t' || *c == '\n' || *c == '\r') psdm_output_print(out, "&#%d;", *c);
        else if ((unsigned char)*c < 0x20) psdm_output_text(out, "&#xFFFD;"); /* XML has no other control characters */
        else psdm_output_text(out, plain);
    }
  }
  psdm_output_text(out, after);
}

/* a name not used by any joint or link: stem, a suffix, and underscores until it is free */
static const char *fresh_name(const psdm_robot *r, const char *stem, const char *suffix, char *buf, size_t size) {
  snprintf(buf, size, "%.220s%s", stem, suffix);
  while (psdm_robot_find(r, buf) >= 0 && strlen(buf) + 2 < size) strcat(buf, "_");
  return buf;
}

/* ---- YAML ---- */

/* after = Rz(theta) Tz(d) Tx(a) Rx(alpha), a dh row; false if the link frame is elsewhere */
typedef struct dh_row {
  double theta, d, a, alpha;
} dh_row;

static bool row_of(const psdmp_robot_pose *t, dh_row *row) {
  if (!zero(t->R[6])) return false;
  double c = t->R[0], s = t->R[3];
  row->theta = atan2(s, c);
  row->d = t->p[2];
  row->a = c * t->p[0] + s * t->p[1];
  row->alpha = atan2(t->R[7], t->R[8]);
  return fabs(c * t->p[1] - s * t->p[0]) <= 1e-15 * fabs(row->a);
}

/* a rotation about and translation along z belongs in the row; the cosine of a tilt would hide it up to 4e-8 rad */
static bool absorb(const psdmp_robot_pose *before, dh_row *row) {
  if (before->R[8] < 0 || !zero(before->R[2]) || !zero(before->R[5]) || before->p[0] != 0 || before->p[1] != 0)
    return false;
  row->theta += atan2(before->R[3], before->R[0]);
  row->d += before->p[2];
  return true;
}

static void yaml_origin(psdm_output *out, const psdmp_robot_pose *t) {
  double rpy[3];
  if (is_identity(t)) return;
  rpy_of(t->R, rpy);
  put_list(out, ", origin: {xyz: [", t->p, 3, ", ", "]");
  put_list(out, ", rpy: [", rpy, 3, ", ", "]}");
}

static void yaml_limits(psdm_output *out, const psdm_limits *l) {
  const double value[] = {l->lower, l->upper, l->velocity, l->acceleration, l->effort};
  static const char *const name[] = {"lower: ", "upper: ", "velocity: ", "acceleration: ", "effort: "};
  int written = 0;
  for (int i = 0; i < 5; i++) {
    if (!isfinite(value[i])) continue;
    psdm_output_text(out, written++ ? ", " : ", limits: {");
    put_number(out, name[i], value[i]);
  }
  if (written) psdm_output_text(out, "}");
}

static void yaml_friction(psdm_output *out, const psdm_friction *f) {
  if (!f->given) return;
  put_number(out, ", friction: {coulomb: ", f->coulomb);
  if (f->stribeck > 0) {
    put_number(out, ", static: ", f->stat);
    put_number(out, ", stribeck: ", f->stribeck);
  }
  put_number(out, ", viscous: ", f->viscous);
  if (f->exponent != 1) put_number(out, ", exponent: ", f->exponent);
  if (f->sigma0 != 0) put_number(out, ", sigma0: ", f->sigma0);
  if (f->sigma1 != 0) put_number(out, ", sigma1: ", f->sigma1);
  if (f->offset != 0) put_number(out, ", offset: ", f->offset);
  psdm_output_text(out, "}");
}

/* the joint of a column of G: the tree's own numbering for closed loops */
static const char *independent_name(const psdm_robot *r, int q) {
  const psdm_joint *joint = r->closure ? r->closure->tree->joint : r->joint;
  for (int j = 0; j < r->joints; j++)
    if (joint[j].q == q) return joint[j].name;
  return "";
}

static void yaml_couple(psdm_output *out, const psdm_robot *r, int j) {
  int b = r->link[j].body;
  if (r->joint[j].q >= 0 || r->joint[j].passive) return;
  psdm_output_text(out, ", couple: {");
  for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++) {
    put_yaml_name(out, "", independent_name(r, r->g_col[g]));
    put_number(out, ": ", r->g_val[g]);
    psdm_output_text(out, ", ");
  }
  put_number(out, "offset: ", r->c[b]);
  psdm_output_text(out, "}");
}

static void yaml_joint_rest(psdm_output *out, const psdm_robot *r, int j) {
  const psdm_joint *joint = &r->joint[j];
  if (joint->type == PSDM_FIXED) return;
  yaml_limits(out, &joint->limits);
  yaml_friction(out, &joint->friction);
  if (joint->drive >= 0) {
    double inertia = r->drive[joint->drive].inertia;
    if (isfinite(inertia)) put_number(out, ", drive_inertia: ", inertia);
    else psdm_output_text(out, ", drive_inertia: unknown");
  }
  if (isfinite(joint->stiffness)) put_number(out, ", stiffness: ", joint->stiffness);
  if (joint->damping > 0) put_number(out, ", damping: ", joint->damping);
  if (!isnan(joint->torque_constant)) put_number(out, ", torque_constant: ", joint->torque_constant);
  if (joint->gear != 1) put_number(out, ", gear: ", joint->gear);
  yaml_couple(out, r, j);
}

/* whether joint j needs a second, fixed joint to reach the user's link frame */
static bool yaml_needs_frame(const psdm_robot *r, int j) {
  dh_row row;
  placement p = place(r, j);
  return r->joint[j].type != PSDM_FIXED && !row_of(&p.after, &row);
}

static void yaml_joint(psdm_output *out, const psdm_robot *r, int j) {
  static const char *const types[] = {"revolute", "prismatic", "fixed"};
  const psdm_joint *joint = &r->joint[j];
  dh_row row = {0, 0, 0, 0};
  placement p = place(r, j);
  char name[256];
  bool frame = yaml_needs_frame(r, j), absorbed = false;
  if (joint->type != PSDM_FIXED && !frame) {
    row_of(&p.after, &row);
    absorbed = absorb(&p.before, &row);
  }
  put_yaml_name(out, "  - {name: ", joint->name);
  psdm_output_print(out, ", type: %s", types[joint->type]);
  if (joint->parent < 0) psdm_output_text(out, psdm_robot_find(r, "base") < 0 ? ", parent: base" : ", parent: \"\"");
  else if (yaml_needs_frame(r, joint->parent))
    put_yaml_name(out, ", parent: ", fresh_name(r, r->joint[joint->parent].name, "__frame", name, sizeof name));
  else put_yaml_name(out, ", parent: ", r->joint[joint->parent].name);
  if (!absorbed) yaml_origin(out, &p.before);
  put_number(out, ", theta: ", row.theta);
  put_number(out, ", d: ", row.d);
  put_number(out, ", a: ", row.a);
  put_number(out, ", alpha: ", row.alpha);
  yaml_joint_rest(out, r, j);
  psdm_output_text(out, "}\n");
  if (!frame) return;
  put_yaml_name(out, "  - {name: ", fresh_name(r, joint->name, "__frame", name, sizeof name));
  psdm_output_text(out, ", type: fixed");
  put_yaml_name(out, ", parent: ", joint->name);
  yaml_origin(out, &p.after);
  psdm_output_text(out, "}\n");
}

static void yaml_inertia(psdm_output *out, const double *pi) {
  double com[3], inertia[6];
  static const char *const names[] = {"xx: ", ", xy: ", ", xz: ", ", yy: ", ", yz: ", ", zz: "};
  if (!isfinite(pi[0])) return; /* unknown stays unknown */
  if (!has_body(pi)) {
    psdm_output_text(out, ", standard: {");
    for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++) {
      psdm_output_print(out, "%s%s", i ? ", " : "", psdmp_robot_standard_names[i]);
      put_number(out, ": ", pi[i]);
    }
    psdm_output_text(out, "}");
    return;
  }
  body_of(pi, com, inertia);
  put_number(out, ", mass: ", pi[0]);
  put_list(out, ", com: [", com, 3, ", ", "]");
  psdm_output_text(out, ", inertia: {");
  for (int i = 0; i < 6; i++) put_number(out, names[i], inertia[i]);
  psdm_output_text(out, "}");
}

static void yaml_link(psdm_output *out, const psdm_robot *r, int j) {
  char name[256];
  bool fixed = r->joint[j].type == PSDM_FIXED;
  if (yaml_needs_frame(r, j)) {
    put_yaml_name(out, "  - {name: ", fresh_name(r, r->link[j].name, "__axis", name, sizeof name));
    psdm_output_text(out, ", mass: 0}\n");
  }
  put_yaml_name(out, "  - {name: ", r->link[j].name);
  if (fixed) psdm_output_text(out, ", mass: 0"); /* its inertia is part of the link that carries it */
  else yaml_inertia(out, r->pi + (long)PSDMP_ROBOT_STANDARD * r->joint[j].link);
  psdm_output_text(out, "}\n");
}

static void yaml_loops(psdm_output *out, const psdm_robot *r) {
  const psdmp_robot_closure *c = r->closure;
  if (!c) return;
  psdm_output_text(out, "loops:\n");
  for (int l = 0; l < c->loops; l++) {
    put_yaml_name(out, "  - {links: [", r->link[c->loop[l].joint[0]].name);
    put_yaml_name(out, ", ", r->link[c->loop[l].joint[1]].name);
    put_list(out, "], points: [[", c->loop[l].point[0], 3, ", ", "], ");
    put_list(out, "[", c->loop[l].point[1], 3, ", ", "]]");
    if (l == 0) { /* it does not matter which loop names a passive joint: all close together */
      psdm_output_text(out, ", joints: [");
      for (int j = 0, k = 0; j < r->joints; j++)
        if (r->joint[j].passive) put_yaml_name(out, k++ ? ", " : "", r->joint[j].name);
      put_list(out, "], start: [", c->start, c->passives, ", ", "], at: {");
      for (int i = 0; i < r->n; i++) {
        put_yaml_name(out, i ? ", " : "", independent_name(r, c->independent[i]));
        put_number(out, ": ", c->home[i]);
      }
      psdm_output_text(out, "}");
    } else {
      psdm_output_text(out, ", joints: []");
    }
    psdm_output_text(out, "}\n");
  }
}

/* a link by its name, the base as in the file */
static void put_yaml_link(psdm_output *out, const psdm_robot *r, const char *before, int j) {
  if (j >= 0) {
    put_yaml_name(out, before, r->link[j].name);
    return;
  }
  psdm_output_text(out, before);
  psdm_output_text(out, psdm_robot_find(r, "base") < 0 ? "base" : "\"\"");
}

static void yaml_collision(psdm_output *out, const psdm_robot *r) {
  const psdmp_robot_collision *c = r->collision;
  if (!c) return;
  psdm_output_text(out, "collision:\n");
  if (c->floor) {
    put_list(out, "  floor: {normal: [", c->normal, 3, ", ", "]");
    put_number(out, ", height: ", c->height);
    psdm_output_text(out, "}\n");
  }
  psdm_output_text(out, c->capsules ? "  capsules:\n" : "  capsules: []\n");
  for (int i = 0; i < c->capsules; i++) {
    put_yaml_link(out, r, "    - {link: ", c->capsule[i].joint);
    put_list(out, ", from: [", c->capsule[i].from, 3, ", ", "]");
    put_list(out, ", to: [", c->capsule[i].to, 3, ", ", "]");
    put_number(out, ", radius: ", c->capsule[i].radius);
    psdm_output_text(out, "}\n");
  }
  for (int i = 0; i < c->aparts; i++) {
    put_yaml_link(out, r, i ? ", [" : "  apart: [[", c->apart[i][0]);
    put_yaml_link(out, r, ", ", c->apart[i][1]);
    psdm_output_text(out, i + 1 == c->aparts ? "]]\n" : "]");
  }
}

static void yaml_top(psdm_output *out, const psdm_robot *r) {
  char text[320];
  yaml_loops(out, r);
  if (r->transmission) {
    psdm_output_text(out, "transmission:\n");
    for (int i = 0; i < r->n; i++) {
      psdm_output_text(out, "  - [");
      for (int j = 0, k = 0; j < r->joints; j++)
        if (r->joint[j].q >= 0)
          put_number(out, k++ ? ", " : "", r->transmission[i * r->n + r->joint[j].q] * r->joint[j].gear);
      psdm_output_text(out, "]\n");
    }
  }
  for (int i = 0; i < r->assumptions; i++)
    psdm_output_print(out, "%s%s%s", i ? ", " : "assume: [", psdm_robot_assumption(r, i, text, sizeof text),
                      i + 1 == r->assumptions ? "]\n" : "");
  if (r->thetas) psdm_output_text(out, "theta:\n");
  for (int i = 0; i < r->thetas; i++) {
    put_yaml_name(out, "  ", r->theta[i].name);
    put_number(out, ": ", r->theta[i].value);
    psdm_output_text(out, "\n");
  }
  yaml_collision(out, r);
}

static void write_yaml(const psdm_robot *r, psdm_output *out) {
  put_yaml_name(out, "name: ", r->name);
  put_list(out, "\ngravity: [", r->gravity, 3, ", ", "]\nconvention: dh\njoints:\n");
  for (int j = 0; j < r->joints; j++) yaml_joint(out, r, j);
  psdm_output_text(out, "links:\n");
  for (int j = 0; j < r->joints; j++) yaml_link(out, r, j);
  yaml_top(out, r);
}

/* ---- URDF ---- */

static void urdf_origin(psdm_output *out, const char *indent, const psdmp_robot_pose *t) {
  double rpy[3];
  if (is_identity(t)) return;
  rpy_of(t->R, rpy);
  psdm_output_text(out, indent);
  put_list(out, "<origin xyz=\"", t->p, 3, " ", "\"");
  put_list(out, " rpy=\"", rpy, 3, " ", "\"/>\n");
}

static void urdf_link(psdm_output *out, const char *name, const double *pi) {
  double com[3], inertia[6];
  static const char *const names[] = {"ixx=\"", "\" ixy=\"", "\" ixz=\"", "\" iyy=\"", "\" iyz=\"", "\" izz=\""};
  put_xml_name(out, "  <link name=\"", name, "\"");
  if (!pi || !isfinite(pi[0])) {
    psdm_output_text(out, "/>\n");
    return;
  }
  body_of(pi, com, inertia);
  put_list(out, ">\n    <inertial>\n      <origin xyz=\"", com, 3, " ", "\"/>\n");
  put_number(out, "      <mass value=\"", pi[0]);
  psdm_output_text(out, "\"/>\n      <inertia ");
  for (int i = 0; i < 6; i++) put_number(out, names[i], inertia[i]);
  psdm_output_text(out, "\"/>\n    </inertial>\n  </link>\n");
}

/* URDF has both limits or none: an absent one reads as zero */
static bool limited(const psdm_limits *l) { return isfinite(l->lower) && isfinite(l->upper); }

/* URDF's link frame is on the joint axis; one elsewhere needs a second, fixed joint */
static bool urdf_needs_frame(const psdm_robot *r, int j) {
  const psdmp_robot_pose after = tidy(r, r->link[j].frame);
  return r->joint[j].type == PSDM_REVOLUTE && !(after.p[0] == 0 && after.p[1] == 0);
}

static void urdf_ends(psdm_output *out, const psdmp_robot_pose *origin, const char *parent, const char *child) {
  urdf_origin(out, "    ", origin);
  put_xml_name(out, "    <parent link=\"", parent, "\"/>\n");
  put_xml_name(out, "    <child link=\"", child, "\"/>\n");
}

static void urdf_motion(psdm_output *out, const psdm_robot *r, int j, const double axis[3]) {
  const psdm_joint *joint = &r->joint[j];
  const psdm_limits *l = &joint->limits;
  const psdm_friction *f = &joint->friction;
  put_list(out, "    <axis xyz=\"", axis, 3, " ", "\"/>\n");
  psdm_output_text(out, "    <limit");
  if (limited(l)) {
    put_number(out, " lower=\"", l->lower);
    put_number(out, "\" upper=\"", l->upper);
    psdm_output_text(out, "\"");
  }
  put_number(out, " velocity=\"", isfinite(l->velocity) ? l->velocity : 0);
  put_number(out, "\" effort=\"", isfinite(l->effort) ? l->effort : 0);
  psdm_output_text(out, "\"/>\n");
  if (f->given) {
    put_number(out, "    <dynamics damping=\"", f->viscous);
    put_number(out, "\" friction=\"", f->coulomb);
    psdm_output_text(out, "\"/>\n");
  }
  int b = r->link[j].body, g = r->g_row[b];
  if (joint->q >= 0 || joint->passive || r->g_row[b + 1] - g != 1) return;
  put_xml_name(out, "    <mimic joint=\"", independent_name(r, r->g_col[g]), "\"");
  put_number(out, " multiplier=\"", r->g_val[g]);
  put_number(out, "\" offset=\"", r->c[b]);
  psdm_output_text(out, "\"/>\n");
}

static void urdf_joint(psdm_output *out, const psdm_robot *r, int j) {
  const psdm_joint *joint = &r->joint[j];
  const psdmp_robot_pose *after = &r->link[j].frame;
  placement p = place(r, j);
  char body[256], frame[256];
  const char *parent = joint->parent < 0 ? r->base_name : r->link[joint->parent].name;
  bool two = urdf_needs_frame(r, j);
  const char *turning = limited(&joint->limits) ? "revolute" : "continuous";
  const char *type = joint->type == PSDM_FIXED ? "fixed" : joint->type == PSDM_PRISMATIC ? "prismatic" : turning;
  fresh_name(r, r->link[j].name, "__body", body, sizeof body);
  if (joint->type == PSDM_FIXED) urdf_link(out, r->link[j].name, NULL);
  else if (two) urdf_link(out, body, r->body[r->link[j].body].pi), urdf_link(out, r->link[j].name, NULL);
  else urdf_link(out, r->link[j].name, r->pi + (long)PSDMP_ROBOT_STANDARD * joint->link);

  put_xml_name(out, "  <joint name=\"", joint->name, "\"");
  psdm_output_print(out, " type=\"%s\">\n", type);
  psdmp_robot_pose origin = two || joint->type == PSDM_FIXED ? p.before : psdmp_robot_pose_product(&p.before, &p.after);
  const double along[3] = {after->R[6], after->R[7], after->R[8]}, z[3] = {0, 0, 1};
  urdf_ends(out, &origin, parent, two ? body : r->link[j].name);
  if (joint->type != PSDM_FIXED) urdf_motion(out, r, j, two ? z : along);
  psdm_output_text(out, "  </joint>\n");
  if (!two) return;
  put_xml_name(out, "  <joint name=\"", fresh_name(r, joint->name, "__frame", frame, sizeof frame),
               "\" type=\"fixed\">\n");
  urdf_ends(out, after, body, r->link[j].name);
  psdm_output_text(out, "  </joint>\n");
}

static void write_urdf(const psdm_robot *r, psdm_output *out) {
  psdm_output_text(out, "<?xml version=\"1.0\"?>\n");
  put_xml_name(out, "<robot name=\"", r->name, "\">\n");
  put_xml_name(out, "  <link name=\"", r->base_name, "\"/>\n");
  for (int j = 0; j < r->joints; j++) urdf_joint(out, r, j);
  psdm_output_text(out, "</robot>\n");
}

void psdm_robot_write(const psdm_robot *r, psdm_robot_format format, psdm_output *out) {
  if (format == PSDM_FORMAT_URDF) write_urdf(r, out);
  else write_yaml(r, out);
}

/* ---- what URDF cannot express ---- */

static bool has_control(const char *name) {
  for (const unsigned char *c = (const unsigned char *)name; *c; c++)
    if (*c < 0x20 && *c != '\t' && *c != '\n' && *c != '\r') return true;
  return false;
}

/* what our own reader, and others, would read as xacro */
static bool has_xacro(const char *name) { return strstr(name, "$(") || strstr(name, "${"); }

/* the index-th property of joint j that is lost, NULL if there are fewer; index counts down by those it has */
static const char *joint_loss(const psdm_robot *r, int j, int *index) {
  const psdm_joint *joint = &r->joint[j];
  const psdm_friction *f = &joint->friction;
  const psdm_limits *l = &joint->limits;
  if (joint->type == PSDM_FIXED) return NULL;
  const double *pi = r->pi + (long)PSDMP_ROBOT_STANDARD * joint->link;
  int b = r->link[j].body;
  const struct {
    bool lost;
    const char *what;
  } losses[] = {
      {joint->drive >= 0, "a drive inertia"},
      {joint->q < 0 && r->g_row[b + 1] - r->g_row[b] != 1, "a coupling to exactly one joint was expected"},
      {isfinite(pi[0]) && !has_body(pi), "first moments without a mass"},
      {f->given && (f->exponent != 1 || f->stribeck > 0 || f->offset != 0 || f->sigma0 != 0 || f->sigma1 != 0),
       "friction beyond viscous and Coulomb"},
      {isfinite(joint->stiffness), "a stiffness"},
      {!isnan(joint->torque_constant), "a torque constant"},
      {isfinite(l->acceleration), "an acceleration limit"},
      {isfinite(l->lower) != isfinite(l->upper), "a limit on one side only"},
      {has_control(joint->name) || has_control(r->link[j].name), "a name with control characters"},
      {has_xacro(joint->name) || has_xacro(r->link[j].name), "a name with $( or ${, which is read as xacro"},
  };
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    if (losses[i].lost && (*index)-- == 0) return losses[i].what;
  return NULL;
}

const char *psdm_robot_loss(const psdm_robot *r, psdm_robot_format format, int index, char *buf, size_t size) {
  char name[80];
  if (format != PSDM_FORMAT_URDF) return NULL;
  for (int j = 0; j < r->joints; j++) {
    const char *what = joint_loss(r, j, &index);
    if (!what) continue;
    psdmp_base_quote(r->joint[j].name, strlen(r->joint[j].name), name, sizeof name);
    snprintf(buf, size, "joint '%s' has %s", name, what);
    return buf;
  }
  const char *const rest[] = {r->transmission ? "the gears and the transmission" : NULL,
                              r->assumptions ? "the assumptions" : NULL,
                              r->thetas ? "the base parameters (theta)" : NULL, r->closure ? "the closed loops" : NULL,
                              r->collision ? "the collision geometry" : NULL};
  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
    if (rest[i] && index-- == 0) {
      snprintf(buf, size, "%s", rest[i]);
      return buf;
    }
  return NULL;
}
