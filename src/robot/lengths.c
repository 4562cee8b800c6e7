/* lengths.c: the lengths in a robot file, and the same robot with others: formulas are polynomials in them. */
#include <math.h>
#include <string.h>

#include "robot/spec_priv.h"

void psdmp_robot_spec_add_length(psdmp_robot_spec_joint *joint, char kind, double value, const double R[9], int axis,
                                 bool after) {
  psdmp_robot_length *length = &joint->length[joint->lengths++];
  *length = (psdmp_robot_length){.kind = kind, .value = value};
  for (int i = 0; i < 3; i++) (after ? length->after : length->before)[i] = R[3 * i + axis];
}

/* the part of the translation before the joint that is not a or d: its origin, or where it was locked */
static void leftover(const psdmp_robot_spec_joint *s, double left[3]) {
  double size = 0;
  memcpy(left, s->before.p, 3 * sizeof *left);
  for (int k = 0; k < s->lengths; k++)
    for (int i = 0; i < 3; i++) {
      double part = s->length[k].value * s->length[k].before[i];
      left[i] -= part;
      size = fmax(size, fabs(part));
    }
  for (int i = 0; i < 3; i++)
    if (fabs(left[i]) <= 1e-14 * size) left[i] = 0; /* rounding of the products */
}

bool psdmp_robot_keep_lengths(const psdmp_robot_spec *spec, psdm_robot *r) {
  double left[3];
  int count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; j < spec->joints; j++) {
      const psdmp_robot_spec_joint *s = &spec->joint[j];
      leftover(s, left);
      for (int i = 0; i < 3; i++) {
        if (left[i] == 0) continue;
        if (pass) {
          r->length[r->lengths] = (psdmp_robot_length){.kind = (char)('x' + i), .joint = j, .value = left[i]};
          r->length[r->lengths++].before[i] = 1;
        }
        count += !pass;
      }
      for (int k = 0; k < s->lengths; k++) {
        if (s->length[k].value == 0) continue;
        if (pass) {
          r->length[r->lengths] = s->length[k];
          r->length[r->lengths++].joint = j;
        }
        count += !pass;
      }
    }
    if (!pass) r->length = psdmp_base_arena_alloc(&r->arena, (size_t)(count ? count : 1) * sizeof *r->length);
    if (!r->length) return false;
  }
  return true;
}

void psdmp_robot_place(psdm_robot *r) {
  const psdmp_robot_link base = {.body = -1, .frame = r->base};
  for (int k = 0; k < r->joints; k++) {
    int j = r->order[k], parent = r->joint[j].parent;
    const psdmp_robot_link *carrier = parent < 0 ? &base : &r->link[parent];
    psdmp_robot_pose at = psdmp_robot_pose_product(&carrier->frame, &r->place[j].before);
    if (r->joint[j].type == PSDM_FIXED) {
      r->link[j].frame = psdmp_robot_pose_product(&at, &r->place[j].after);
    } else {
      r->link[j].frame = r->place[j].after;
      r->body[r->link[j].body].joint = at;
    }
  }
}

bool psdmp_robot_copy(const psdm_robot *r, psdmp_base_arena *arena, psdm_robot *copy) {
  *copy = *r;
  copy->link = psdmp_base_arena_alloc(arena, (size_t)r->joints * sizeof *r->link);
  copy->body = psdmp_base_arena_alloc(arena, (size_t)r->bodies * sizeof *r->body);
  copy->place = psdmp_base_arena_alloc(arena, (size_t)r->joints * sizeof *r->place);
  if (!copy->link || !copy->body || !copy->place) return false;
  memcpy(copy->link, r->link, (size_t)r->joints * sizeof *r->link);
  memcpy(copy->body, r->body, (size_t)r->bodies * sizeof *r->body);
  memcpy(copy->place, r->place, (size_t)r->joints * sizeof *r->place);
  return true;
}

void psdmp_robot_set_lengths(psdm_robot *copy, const double *lengths) {
  for (int j = 0; j < copy->joints; j++)
    for (int i = 0; i < 3; i++) copy->place[j].before.p[i] = copy->place[j].after.p[i] = 0;
  for (int k = 0; k < copy->lengths; k++) {
    const psdmp_robot_length *length = &copy->length[k];
    psdmp_robot_placement *place = &copy->place[length->joint];
    for (int i = 0; i < 3; i++) {
      place->before.p[i] += lengths[k] * length->before[i];
      place->after.p[i] += lengths[k] * length->after[i];
    }
  }
  psdmp_robot_place(copy);
  psdmp_robot_reduce(copy);
}
