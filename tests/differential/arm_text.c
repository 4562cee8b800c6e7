/* arm_text.c: a random robot as a user's file: YAML with rows, or URDF; numbers as short as they can be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm.h"

#define put text_put

static void put_numbers(text_writer *w, const double *x, int count, const char *between) {
  for (int i = 0; i < count; i++) {
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
      snprintf(text, sizeof text, "%.*g", digits, x[i] + 0.0);
      if (strtod(text, NULL) == x[i]) break;
    }
    put(w, "%s%s", i ? between : "", text);
  }
}

static void put_key(text_writer *w, const char *key, const double *x, int count) {
  put(w, count > 1 ? "%s: [" : "%s: ", key);
  put_numbers(w, x, count, ", ");
  if (count > 1) put(w, "]");
}

static bool zeros(const double *x, int count) {
  while (count > 0 && x[count - 1] == 0) count--;
  return !count;
}

static void put_place(text_writer *w, const char *key, const double o[6]) {
  put(w, "%s: {", key);
  put_key(w, "xyz", o, 3);
  put(w, ", ");
  put_key(w, "rpy", o + 3, 3);
  put(w, "}");
}

static void put_body(text_writer *w, const arm_body *b) {
  static const char *const entry[] = {"xx", "xy", "xz", "yy", "yz", "zz"};
  put(w, "{");
  put_key(w, "mass", &b->mass, 1);
  put(w, ", ");
  put_key(w, "com", b->com, 3);
  put(w, ", inertia: {");
  for (int i = 0; i < 6; i++) {
    put(w, i ? ", " : "");
    put_key(w, entry[i], &b->inertia[i], 1);
  }
  put(w, "}}\n");
}

static void put_joint(text_writer *w, const arm *a, int j) {
  static const char *const types[] = {"revolute", "prismatic", "fixed"}, *const row[] = {"theta", "d", "a", "alpha"};
  const arm_joint *b = &a->joint[j];
  put(w, "  - {name: j%d, type: %s", j + 1, types[b->type]);
  for (int i = 0; i < 4; i++) {
    put(w, ", ");
    put_key(w, row[i], &b->row[i], 1);
  }
  if (b->parent != j - 1 && b->parent < 0) put(w, ", parent: base");
  if (b->parent != j - 1 && b->parent >= 0) put(w, ", parent: j%d", b->parent + 1);
  if (b->parent != j - 1 || !zeros(b->origin, 6)) {
    put(w, ", ");
    put_place(w, "origin", b->origin);
  }
  if (b->drive != 0 && b->type != PSDM_FIXED) {
    put(w, ", ");
    put_key(w, "drive_inertia", &b->drive, 1);
  }
  if (b->leaders && b->type != PSDM_FIXED) {
    put(w, ", couple: {");
    for (int k = 0; k < b->leaders; k++) {
      put(w, "j%d: ", b->leader[k] + 1);
      put_numbers(w, &b->factor[k], 1, "");
      put(w, ", ");
    }
    put_key(w, "offset", &b->offset, 1);
    put(w, "}");
  }
  put(w, "}\n");
}

static void put_yaml(text_writer *w, const arm *a) {
  put_key(w, "gravity", a->gravity, 3);
  put(w, "\nconvention: %s\n", a->layout == ARM_DH ? "dh" : "modified-dh");
  if (!zeros(a->base, 6)) {
    put_place(w, "base", a->base);
    put(w, "\n");
  }
  put(w, "joints:\n");
  for (int j = 0; j < a->joints; j++) put_joint(w, a, j);
  put(w, "links:\n");
  for (int j = 0; j < a->joints; j++) {
    put(w, "  - ");
    put_body(w, &a->joint[j].body);
  }
  if (!a->has_tool) return;
  put(w, "tool: ");
  put_body(w, &a->tool);
}

static void put_attribute(text_writer *w, const char *key, const double *x, int count) {
  put(w, " %s=\"", key);
  put_numbers(w, x, count, " ");
  put(w, "\"");
}

static void put_link(text_writer *w, const arm_joint *b, int j) {
  static const char *const entry[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
  put(w, "  <link name=\"l%d\"><inertial><origin", j + 1);
  put_attribute(w, "xyz", b->body.com, 3);
  put(w, "/><mass");
  put_attribute(w, "value", &b->body.mass, 1);
  put(w, "/><inertia");
  for (int i = 0; i < 6; i++) put_attribute(w, entry[i], &b->body.inertia[i], 1);
  put(w, "/></inertial></link>\n");
}

static void put_urdf(text_writer *w, const arm *a) {
  static const char *const types[] = {"revolute", "prismatic", "fixed"};
  put(w, "<robot name=\"r\">\n  <link name=\"l0\"/>\n");
  for (int j = 0; j < a->joints; j++) {
    const arm_joint *b = &a->joint[j];
    put(w, "  <joint name=\"j%d\" type=\"%s\"><parent link=\"l%d\"/><child link=\"l%d\"/><origin", j + 1,
        b->type == PSDM_REVOLUTE && b->continuous ? "continuous" : types[b->type], b->parent + 1, j + 1);
    put_attribute(w, "xyz", b->origin, 3);
    put_attribute(w, "rpy", b->origin + 3, 3);
    put(w, "/>");
    if (b->type != PSDM_FIXED) {
      put(w, "<axis");
      put_attribute(w, "xyz", b->axis, 3);
      put(w, "/>");
      if (!b->continuous) put(w, "<limit lower=\"-9\" upper=\"9\" effort=\"1\" velocity=\"1\"/>");
    }
    if (b->leaders && b->type != PSDM_FIXED) {
      put(w, "<mimic joint=\"j%d\"", b->leader[0] + 1);
      put_attribute(w, "multiplier", &b->factor[0], 1);
      put_attribute(w, "offset", &b->offset, 1);
      put(w, "/>");
    }
    put(w, "</joint>\n");
    put_link(w, b, j);
  }
  put(w, "</robot>\n");
}

char *arm_text(const arm *a, char *buf, size_t size) {
  text_writer w = {buf, size};
  if (a->layout == ARM_URDF) put_urdf(&w, a);
  else put_yaml(&w, a);
  return buf;
}

psdm_status arm_read(const arm *a, const char *text, psdm_robot **robot, psdm_error *error) {
  const psdm_robot_options options = {.no_snap = !a->snap, .gravity = a->layout == ARM_URDF ? a->gravity : NULL};
  return psdm_robot_parse(text, strlen(text), a->layout == ARM_URDF ? "arm.urdf" : "arm.yaml", &options, NULL, robot,
                          error);
}
