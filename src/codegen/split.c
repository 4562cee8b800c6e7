/* split.c: axes that are almost parallel.
 *
 * Their common normal lies far away: at 1/sin of the angle between them. Inertias about a frame there grow by the
 * square of the way, and take as many digits with them. So a body without mass is put between the two, held at a
 * constant angle about an axis that is perpendicular to both and passes through the second joint's origin: both
 * normals are near then, and both twists are quarter turns. */
#include <math.h>
#include <string.h>

#include "codegen/chain_priv.h"

/* a foot of the normal may be so many times as far away as the axes' own origins are, which costs the square of it
 * in rounding; also the least angle between axes whose normal is near in any case, as its inverse */
static const double FAR = 4;

/* distances below this share of the reach count as so much: small parts of a large arm need not be split for their
 * own sake */
static const double LEAST = 1.0 / 16;

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* sine of the angle between a joint's axis and its parent's, and how far the feet of their normal are from the
 * origins on them */
static double sine_and_feet(const psdmp_robot_pose *joint, double *feet) {
  const double *p = joint->p, u[3] = {joint->R[2], joint->R[5], joint->R[8]}, s[2] = {-u[1], u[0]}; /* z x u */
  double square = s[0] * s[0] + s[1] * s[1];
  double along_z = (p[1] * u[2] - p[2] * u[1]) * s[0] + (p[2] * u[0] - p[0] * u[2]) * s[1],
         along_u = p[1] * s[0] - p[0] * s[1];
  *feet = square > 0 ? fmax(fabs(along_z), fabs(along_u)) / square : 0;
  return sqrt(square);
}

/* a sliding joint's axis is where one likes, and so never far; where its own child's normal would end is not known
 * here */
static bool is_far(const psdm_robot *r, int b, double reach) {
  const psdmp_robot_body *body = &r->body[b];
  double feet, sine = sine_and_feet(&body->joint, &feet),
               size = fmax(sqrt(dot(body->joint.p, body->joint.p)), LEAST * reach);
  if (body->parent < 0 || body->prismatic || sine > 1 / FAR || sine < PSDMP_CODEGEN_PARALLEL) return false;
  return r->body[body->parent].prismatic || feet > FAR * size;
}

/* the body in between: x along the parent's axis, z perpendicular to both; and the joint seen from it */
static void put_between(const psdmp_robot_body *joint, int parent, psdmp_robot_body *held, psdmp_robot_body *turned) {
  const double *R = joint->joint.R;
  double size = hypot(R[2], R[5]), w[2] = {-R[5] / size, R[2] / size};
  *held = (psdmp_robot_body){.parent = parent, .number = -1, .index = joint->index};
  held->joint = (psdmp_robot_pose){{0, w[1], w[0], 0, -w[0], w[1], 1, 0, 0},
                                   {joint->joint.p[0], joint->joint.p[1], joint->joint.p[2]}};
  *turned = *joint;
  for (int i = 0; i < 3; i++)
    for (int c = 0; c < 3; c++)
      turned->joint.R[3 * i + c] =
          held->joint.R[i] * R[c] + held->joint.R[3 + i] * R[3 + c] + held->joint.R[6 + i] * R[6 + c];
  memset(turned->joint.p, 0, sizeof turned->joint.p);
}

/* bodies, links and q_tree = G q + c with the bodies in between; place: where each body is now */
static void fill(const psdm_robot *r, const bool *far, psdm_robot *out, int *place) {
  int at = 0;
  for (int b = 0; b < r->bodies; b++) {
    int parent = r->body[b].parent < 0 ? -1 : place[r->body[b].parent];
    out->body[at] = r->body[b];
    if (far[b]) {
      put_between(&r->body[b], parent, &out->body[at], &out->body[at + 1]);
      out->g_row[at] = r->g_row[b];
      out->c[at] = 0;
      parent = at++;
    }
    place[b] = at;
    out->body[at].parent = parent;
    out->g_row[at] = r->g_row[b];
    out->c[at++] = r->c[b];
  }
  out->g_row[at] = r->g_row[r->bodies];
  for (int j = 0; j < r->joints; j++) {
    out->link[j] = r->link[j];
    if (r->link[j].body >= 0) out->link[j].body = place[r->link[j].body];
  }
}

psdm_status psdmp_codegen_split(const psdm_robot *r, double reach, psdmp_base_arena *arena, const psdm_robot **out,
                                psdm_error *error) {
  bool far[PSDMP_CODEGEN_CODE_JOINTS];
  int place[PSDMP_CODEGEN_CODE_JOINTS], between = 0;
  *out = r;
  for (int b = 0; b < r->bodies; b++) between += far[b] = is_far(r, b, reach);
  if (!between) return PSDM_OK;
  size_t bodies = (size_t)(r->bodies + between);
  if (bodies > PSDMP_CODEGEN_CODE_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, r->file, 0, 0,
                           "%d moving joints, %d of them almost parallel to the one before; code is generated for at "
                           "most %d of both together",
                           r->bodies, between, PSDMP_CODEGEN_CODE_JOINTS);
  psdm_robot *copy = psdmp_base_arena_alloc(arena, sizeof *copy);
  if (!copy) return psdmp_base_no_memory(r->file, error);
  *copy = *r;
  copy->bodies = (int)bodies;
  copy->body = psdmp_base_arena_alloc(arena, bodies * sizeof *copy->body);
  copy->link = psdmp_base_arena_alloc(arena, (size_t)r->joints * sizeof *copy->link);
  copy->g_row = psdmp_base_arena_alloc(arena, (bodies + 1) * sizeof *copy->g_row);
  copy->c = psdmp_base_arena_alloc(arena, bodies * sizeof *copy->c);
  if (!copy->body || !copy->link || !copy->g_row || !copy->c) return psdmp_base_no_memory(r->file, error);
  fill(r, far, copy, place);
  *out = copy;
  return PSDM_OK;
}
