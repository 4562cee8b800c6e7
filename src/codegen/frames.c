/* frames.c: frames on common normals (Khalil and Kleinfinger 1986), with the free choices left to the caller. */
#include <math.h>
#include <string.h>

#include "codegen/chain_priv.h"

/* axes closer than this are parallel, cosines closer to 0 and 1 are these */
static const double NEAR = PSDMP_CODEGEN_PARALLEL;

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static double clean(double x) {
  if (fabs(x) < NEAR) return 0;
  return fabs(fabs(x) - 1) < NEAR ? copysign(1, x) : x;
}

static void clean_vector(double *v) {
  for (int i = 0; i < 3; i++) v[i] = clean(v[i]);
}

/* R v or R^T v */
static void turn(const double *R, const double *v, double *out) {
  for (int i = 0; i < 3; i++) out[i] = R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2];
}
static void turn_back(const double *R, const double *v, double *out) {
  for (int i = 0; i < 3; i++) out[i] = R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2];
}

/* angle from x to y about z; multiples of 15 degrees are exact */
static double angle_about(const double *z, const double *x, const double *y) {
  double c[3];
  cross(x, y, c);
  double angle = atan2(dot(c, z), dot(x, y)), near = psdmp_robot_nearest_15(angle);
  return fabs(angle - near) < NEAR ? near : angle;
}

/* the way from one axis to the next in the canonical frame of the first body, from the point c0 on it */
typedef struct normal {
  bool parallel, free; /* free: the axes coincide, or the second can be moved: no direction follows */
  double sign;         /* -1: the child's z is turned round so that parallel axes point the same way */
  double x[3];         /* unit vector along the normal */
  double a, e;         /* length; where it starts on the first axis */
  double ca, sa;
  double foot[3]; /* where it ends */
} normal;

/* reach: what lengths are compared with */
static void find_normal(const double z[3], const double c0[3], const psdmp_robot_pose *child, bool slides, double reach,
                        normal *k) {
  double u[3] = {child->R[2], child->R[5], child->R[8]}, D[3], s[3], across[3];
  clean_vector(u);
  *k = (normal){.sign = 1};
  for (int i = 0; i < 3; i++) D[i] = slides ? 0 : child->p[i] - c0[i];
  cross(z, u, s);
  double size = sqrt(dot(s, s)), c = clean(dot(z, u));
  k->parallel = size < NEAR;
  if (k->parallel && c < 0) k->sign = -1;
  if (k->parallel) {
    k->ca = 1;
    double along = dot(D, z);
    for (int i = 0; i < 3; i++) k->x[i] = D[i] - along * z[i];
    k->a = sqrt(dot(k->x, k->x));
    k->free = k->a <= NEAR * reach;
    if (k->free) k->a = 0;
    for (int i = 0; i < 3 && !k->free; i++) k->x[i] /= k->a;
  } else {
    for (int i = 0; i < 3; i++) k->x[i] = s[i] / size;
    k->a = dot(D, k->x);
    if (k->a < 0)
      for (int i = 0; i < 3; i++) k->x[i] = -k->x[i];
    k->ca = c;
    k->sa = clean(k->a < 0 ? -size : size);
    k->a = fabs(k->a) <= NEAR * reach ? 0 : fabs(k->a);
    /* by cross products, which lose nothing however small the angle; the foot may slip along the axis as long as it
     * stays on the child's */
    cross(D, u, across);
    k->e = dot(across, s) / (size * size);
    if (fabs(k->e) * size <= NEAR * reach) k->e = 0;
  }
  clean_vector(k->x);
  for (int i = 0; i < 3; i++) k->foot[i] = c0[i] + k->e * z[i] + (k->free ? 0 : k->a * k->x[i]);
}

/* ---- one body after the other ---- */

/* what the parent tells a body: a point of its axis, the minus frame's x, all in the body's canonical frame */
typedef struct entry {
  double in[3], x[3];
} entry;

static int first_child(const psdm_robot *r, int b) {
  for (int k = b + 1; k < r->bodies; k++)
    if (r->body[k].parent == b) return k;
  return -1;
}

/* a body on the base: its minus frame has x along what gravity shows of itself */
static void enter_from_base(const psdm_robot *r, int b, bool gravity_argument, psdmp_codegen_chain_body *body,
                            entry *in) {
  const psdmp_robot_pose *joint = &r->body[b].joint;
  double g[3], size;
  turn_back(joint->R, r->gravity, g);
  g[2] = 0;
  size = sqrt(dot(g, g));
  bool seen = !gravity_argument && size > NEAR * sqrt(dot(r->gravity, r->gravity));
  in->x[0] = seen ? clean(-g[0] / size) : 1;
  in->x[1] = seen ? clean(-g[1] / size) : 0;
  in->x[2] = 0;
  memset(in->in, 0, sizeof in->in);
  body->sign = 1;
  body->parallel = false;
  body->a = body->e = body->beta = body->sa = 0;
  body->ca = 1;
}

static void set_frame(psdmp_codegen_chain_body *body, const double z[3], const double x[3], const double origin[3]) {
  double y[3];
  cross(z, x, y);
  for (int i = 0; i < 3; i++) {
    body->frame.R[3 * i] = x[i];
    body->frame.R[3 * i + 1] = y[i];
    body->frame.R[3 * i + 2] = z[i];
    body->frame.p[i] = origin[i];
  }
}

/* the minus frame of a body on the base, in the base frame */
static void set_minus(const psdm_robot *r, int b, psdmp_codegen_chain_body *body, const entry *in) {
  const psdmp_robot_pose *joint = &r->body[b].joint;
  double z[3] = {0, 0, 1}, y[3], columns[3][3], o[3];
  cross(z, in->x, y);
  turn(joint->R, in->x, columns[0]);
  turn(joint->R, y, columns[1]);
  turn(joint->R, z, columns[2]);
  turn(joint->R, body->frame.p, o);
  for (int i = 0; i < 3; i++) {
    for (int c = 0; c < 3; c++) body->minus.R[3 * i + c] = clean(columns[c][i]);
    body->minus.p[i] = joint->p[i] + o[i];
  }
}

/* own angle, counted in the group, and way along the axis */
static void set_forms(psdmp_codegen_chain *chain, int b) {
  const psdm_robot *r = chain->robot;
  psdmp_codegen_chain_body *body = &chain->body[b];
  int n = chain->n;
  double *moves = body->prismatic ? body->slide : body->own;
  memset(body->own, 0, (size_t)(n + 1) * sizeof *body->own);
  memset(body->slide, 0, (size_t)(n + 1) * sizeof *body->slide);
  if (body->parallel) {
    memcpy(body->own, chain->body[body->parent].own, (size_t)(n + 1) * sizeof *body->own);
    body->own[n] += body->beta;
  }
  for (int e = r->g_row[b]; e < r->g_row[b + 1]; e++) moves[r->g_col[e]] += body->sign * r->g_val[e];
  moves[n] += body->sign * r->c[b];
  body->own[n] += body->offset;
}

/* as a unit only where the robot's other lengths are of its kind: what is misaligned by a micron makes none */
static void note_length(psdmp_codegen_chain *chain, double length) {
  if (fabs(length) < 1e-3 * chain->reach || length == 0) return;
  for (int k = 0; k < chain->lengths; k++)
    if (fabs(fabs(length) - chain->length[k]) < NEAR * chain->reach) return;
  chain->length[chain->lengths++] = fabs(length);
}

/* frame of body b, then what it tells its children */
static void set_body(psdmp_codegen_chain *chain, int b, const psdmp_codegen_choice *choice, entry *in) {
  const psdm_robot *r = chain->robot;
  psdmp_codegen_chain_body *body = &chain->body[b];
  int child = first_child(r, b);
  double z[3] = {0, 0, body->sign}, x[3], origin[3];
  normal k = {.free = true};
  memcpy(origin, in[b].in, sizeof origin);
  if (child >= 0) find_normal(z, origin, &r->body[child].joint, r->body[child].prismatic, chain->reach, &k);
  body->leaf = child < 0;
  memcpy(x, k.free ? in[b].x : k.x, sizeof x);
  /* the origin on the axis: prismatic ones keep their parent's */
  bool base = body->parent < 0, at_child = choice->gene[b][PSDMP_CODEGEN_GENE_ORIGIN] == 0 || base;
  body->d = 0;
  if (child >= 0 && !body->prismatic && !k.parallel && at_child) {
    body->d = base ? 0 : k.e;
    for (int i = 0; i < 3; i++) origin[i] += k.e * z[i];
  }
  body->offset = angle_about(z, in[b].x, x);
  set_frame(body, z, x, origin);
  if (base) set_minus(r, b, body, &in[b]);
  set_forms(chain, b);
  for (int c = b + 1; c < r->bodies; c++) {
    if (r->body[c].parent != b) continue;
    psdmp_codegen_chain_body *next = &chain->body[c];
    double away[3], xin[3];
    find_normal(z, origin, &r->body[c].joint, r->body[c].prismatic, chain->reach, &k);
    next->sign = k.sign;
    next->parallel = k.parallel;
    next->root = k.parallel ? body->root : c;
    next->a = k.a;
    next->e = k.e;
    next->ca = k.ca;
    next->sa = k.sa;
    next->beta = k.free ? 0 : angle_about(z, x, k.x);
    memcpy(xin, k.free ? x : k.x, sizeof xin);
    turn_back(r->body[c].joint.R, xin, in[c].x);
    clean_vector(in[c].x);
    /* the foot, or for a sliding joint the parent's origin */
    for (int i = 0; i < 3; i++) away[i] = (r->body[c].prismatic ? origin[i] : k.foot[i]) - r->body[c].joint.p[i];
    turn_back(r->body[c].joint.R, away, in[c].in);
    if (!r->body[c].prismatic) in[c].in[0] = in[c].in[1] = 0;
  }
  note_length(chain, body->a);
  note_length(chain, body->e);
  note_length(chain, body->d);
}

psdm_status psdmp_codegen_chain_new(const psdm_robot *real, bool metres, psdmp_base_arena *arena,
                                    psdmp_codegen_chain *chain, psdm_error *error) {
  const psdm_robot *r;
  if (real->bodies > PSDMP_CODEGEN_CODE_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, real->file, 0, 0, "%d moving joints; code is generated for at most %d",
                           real->bodies, PSDMP_CODEGEN_CODE_JOINTS);
  double reach = psdmp_robot_reach(real);
  psdm_status status = psdmp_codegen_split(real, reach, arena, &r, error);
  if (status) return status;
  *chain = (psdmp_codegen_chain){.robot = r,
                                 .moving = real->bodies,
                                 .bodies = r->bodies,
                                 .n = r->n,
                                 .reach = reach,
                                 .usual = metres ? 1 : psdmp_robot_unit(real),
                                 .unit = 1};
  chain->body = PSDMP_BASE_NEW(arena, r->bodies, psdmp_codegen_chain_body);
  double *forms = PSDMP_BASE_NEW(arena, 2 * r->bodies * (r->n + 1), double);
  if (!chain->body || !forms) return psdmp_base_no_memory(r->file, error);
  for (int b = 0; b < r->bodies; b++) {
    chain->body[b].own = forms + (size_t)(2 * b) * (size_t)(r->n + 1);
    chain->body[b].slide = chain->body[b].own + r->n + 1;
  }
  return PSDM_OK;
}

void psdmp_codegen_chain_set(psdmp_codegen_chain *chain, const psdmp_codegen_choice *choice, bool gravity_argument) {
  const psdm_robot *r = chain->robot;
  entry in[PSDMP_CODEGEN_CODE_JOINTS];
  chain->lengths = 0;
  for (int b = 0; b < r->bodies; b++) {
    psdmp_codegen_chain_body *body = &chain->body[b];
    body->parent = r->body[b].parent;
    body->prismatic = r->body[b].prismatic;
    body->held = r->body[b].number < 0;
    if (body->parent < 0) {
      enter_from_base(r, b, gravity_argument, body, &in[b]);
      body->root = b;
    }
    set_body(chain, b, choice, in);
  }
  chain->unit = choice->unit > 0 && choice->unit <= chain->lengths ? chain->length[choice->unit - 1] : chain->usual;
  for (int b = 0; b < r->bodies; b++) {
    psdmp_codegen_chain_body *body = &chain->body[b];
    body->a /= chain->unit;
    body->e /= chain->unit;
    body->d /= chain->unit;
    for (int i = 0; i <= chain->n; i++) body->slide[i] /= chain->unit;
  }
}

void psdmp_codegen_chain_turn(psdmp_codegen_chain *chain, int b, double angle) {
  psdmp_codegen_chain_body *body = &chain->body[b];
  psdmp_robot_pose by = psdmp_robot_pose_rotation(2, angle);
  body->frame = psdmp_robot_pose_product(&body->frame, &by);
  body->offset += angle;
  body->own[chain->n] += angle;
}

int psdmp_codegen_only_child(const psdmp_codegen_chain *chain, int b) {
  int child = first_child(chain->robot, b);
  for (int k = child + 1; child >= 0 && k < chain->bodies; k++)
    if (chain->body[k].parent == b) return -1;
  return child;
}
