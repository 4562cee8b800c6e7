/* cmd_analyze_json.c: what psdm analyze found, as one JSON object. */
#include <string.h>

#include "cmd_analyze.h"

/* {"zero": false, "depends": [2, 3]} */
static void json_entry(psdm_output *out, const char *key, int present, const unsigned char *depends, int n) {
  psdm_json_object(out, key);
  psdm_json_bool(out, "zero", !present);
  psdm_json_array(out, "depends");
  for (int j = 0; j < n; j++)
    if (depends[j]) psdm_json_integer(out, NULL, j + 1);
  psdm_json_close(out);
  psdm_json_close(out);
}

static void json_structure(psdm_output *out, const analysis *a) {
  unsigned char depends[PSDM_MAX_JOINTS];
  int present;
  psdm_json_string(out, "masses", a->numeric && !a->set.any ? "own" : "any");
  psdm_json_array(out, "M");
  for (int i = 0; i < a->n; i++) {
    psdm_json_array(out, NULL);
    for (int j = 0; j < a->n; j++) {
      present = psdm_structure_mass(a->structure, i, j, depends);
      json_entry(out, NULL, present, depends, a->n);
    }
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_array(out, "g");
  for (int i = 0; i < a->n; i++) {
    present = psdm_structure_gravity(a->structure, i, depends);
    json_entry(out, NULL, present, depends, a->n);
  }
  psdm_json_close(out);
  /* [joint, velocity, velocity] of the non-zero terms */
  psdm_json_array(out, "c");
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < a->n; j++)
      for (int k = j; k < a->n; k++) {
        if (!psdm_structure_coriolis(a->structure, i, j, k, NULL)) continue;
        psdm_json_array(out, NULL);
        psdm_json_integer(out, NULL, i + 1);
        psdm_json_integer(out, NULL, j + 1);
        psdm_json_integer(out, NULL, k + 1);
        psdm_json_close(out);
      }
  psdm_json_close(out);
  psdm_json_bool(out, "constant_mass", psdm_structure_constant_mass(a->structure));
  psdm_json_bool(out, "diagonal_mass", psdm_structure_diagonal_mass(a->structure));
  psdm_json_bool(out, "linear", psdm_structure_linear(a->structure));
}

static void json_conditions(psdm_output *out, const analysis *a) {
  psdm_json_object(out, "conditions");
  for (int wish = 0; wish < PSDM_WISHES; wish++) {
    psdm_json_array(out, analyze_wish_keys[wish]);
    const char *sentence = psdm_structure_condition(a->structure, (psdm_wish)wish, 0);
    for (int k = 1; sentence; k++) {
      psdm_json_string(out, NULL, sentence);
      sentence = psdm_structure_condition(a->structure, (psdm_wish)wish, k);
    }
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void json_samples(psdm_output *out, const psdm_samples *s) {
  psdm_json_object(out, "samples");
  psdm_json_number(out, "least", s->least);
  psdm_json_number(out, "half", s->half);
  psdm_json_number(out, "at_95", s->most);
  psdm_json_number(out, "at_999", s->nearly_all);
  psdm_json_number(out, "largest", s->largest);
  psdm_json_integer(out, "beyond", s->beyond);
  psdm_json_close(out);
}

static void json_bound(psdm_output *out, const char *key, const psdm_bound *b, const psdm_bounds *all) {
  int n = all->n;
  psdm_json_object(out, key);
  psdm_json_number(out, "bound", b->bound);
  psdm_json_number(out, "found", b->found);
  psdm_json_numbers(out, "q", b->q, n);
  if (b->qd) psdm_json_numbers(out, "qd", b->qd, n);
  if (all->samples) json_samples(out, &b->at_samples);
  psdm_json_close(out);
}

static void json_bounds(psdm_output *out, const analysis *a) {
  const psdm_bounds *b = a->bounds;
  if (!b) return;
  psdm_json_object(out, "bounds");
  psdm_json_numbers(out, "k", b->k, 8);
  psdm_json_number(out, "coriolis_square", b->coriolis_square);
  json_bound(out, "mass", &b->mass, b);
  json_bound(out, "mass_small", &b->mass_small, b);
  json_bound(out, "mass_least", &b->mass_least, b);
  json_bound(out, "coriolis", &b->coriolis, b);
  json_bound(out, "gravity", &b->gravity, b);
  if (b->samples) {
    psdm_json_integer(out, "samples", b->samples);
    psdm_json_string(out, "device", a->set.device);
    psdm_json_number(out, "samples_seconds", b->samples_seconds);
    psdm_json_integer(out, "beyond", analyze_beyond(b));
  }
  psdm_json_number(out, "seconds", b->seconds);
  psdm_json_close(out);
}

static void json_path_row(psdm_output *out, const analysis *a, const char *key, long row) {
  psdm_json_object(out, key);
  psdm_json_number(out, "manipulability", analyze_measure(a, row));
  if (a->path.timed) psdm_json_number(out, "t", a->path.t[row]);
  psdm_json_numbers(out, "q", a->path.q + row * a->n, a->n);
  psdm_json_close(out);
}

static void json_path(psdm_output *out, const analysis *a) {
  const path_rows *p = &a->path;
  if (!a->set.path) return;
  psdm_json_object(out, "path");
  psdm_json_integer(out, "positions", p->count);
  psdm_json_string(out, "link", psdm_robot_link_name(a->robot, a->link));
  psdm_json_integer(out, "dimensions", p->dimensions);
  json_path_row(out, a, "least", p->least);
  json_path_row(out, a, "most", p->most);
  psdm_json_close(out);
}

int analyze_json(const analysis *a) {
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "analyze");
  tool_json_robot(out, "name", a->robot);
  psdm_json_integer(out, "n", a->n);
  tool_json_joints(out, a->robot, NULL);
  json_structure(out, a);
  json_conditions(out, a);
  json_bounds(out, a);
  json_path(out, a);
  psdm_json_close(out);
  return tool_commit(&out);
}
