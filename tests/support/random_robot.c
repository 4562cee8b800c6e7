/* random_robot.c: random robot files: both conventions, trees, sliding and coupled joints, bodies that can exist. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

#define put text_put

/* half of the angles are aligned, as in real arms */
static void put_angle(text_writer *w, rng *g) {
  static const char *const aligned[] = {"0", "pi/2", "-pi/2", "pi", "0", "45 deg"};
  if (rng_int(g, 0, 1)) put(w, "%s", aligned[rng_int(g, 0, 5)]);
  else put(w, "%.17g", rng_uniform(g, -3, 3));
}

static void put_length(text_writer *w, rng *g) { put(w, "%.17g", rng_int(g, 0, 2) ? rng_uniform(g, -0.6, 0.6) : 0); }

static void put_origin(text_writer *w, rng *g) {
  put(w, "{xyz: [%.17g, %.17g, %.17g], rpy: [", rng_uniform(g, -0.4, 0.4), rng_uniform(g, -0.4, 0.4),
      rng_uniform(g, -0.4, 0.4));
  for (int i = 0; i < 3; i++) {
    put_angle(w, g);
    put(w, i < 2 ? ", " : "]}");
  }
}

/* a physical body: three principal moments that obey the triangle inequality, in random axes */
static void put_body(text_writer *w, rng *g) {
  double m = rng_uniform(g, 0.5, 8), a = rng_uniform(g, 0.01, 0.2), b = rng_uniform(g, 0.01, 0.2),
         c = rng_uniform(g, 0.01, 0.2);
  double x = m * a * a, y = m * b * b, z = m * c * c; /* second moments about three axes */
  double t = rng_uniform(g, -3, 3), s = sin(t), k = cos(t);
  double xx = k * k * x + s * s * y, yy = s * s * x + k * k * y, xy = k * s * (x - y);
  put(w, "mass: %.17g, com: [%.17g, %.17g, %.17g], ", m, rng_uniform(g, -0.3, 0.3), rng_uniform(g, -0.3, 0.3),
      rng_uniform(g, -0.3, 0.3));
  put(w, "inertia: {xx: %.17g, yy: %.17g, zz: %.17g, xy: %.17g}", yy + z, xx + z, x + y, -xy);
}

static void put_joint(text_writer *w, rng *g, const random_options *o, int j, const bool *coupled) {
  put(w, "  - {name: j%d, type: %s, theta: ", j + 1, o->prismatic && rng_int(g, 0, 3) == 0 ? "prismatic" : "revolute");
  put_angle(w, g);
  put(w, ", d: ");
  put_length(w, g);
  put(w, ", a: ");
  put_length(w, g);
  put(w, ", alpha: ");
  put_angle(w, g);
  if (o->trees && j > 0 && rng_int(g, 0, 3) == 0) {
    int parent = rng_int(g, 0, j);
    if (parent == j) put(w, ", parent: base, origin: ");
    else put(w, ", parent: j%d, origin: ", parent + 1);
    put_origin(w, g);
  }
  if (o->drives && rng_int(g, 0, 1)) put(w, ", drive_inertia: %.17g", rng_uniform(g, 0.01, 2));
  if (coupled[j]) {
    /* j1 is always independent, and couplings may follow couplings */
    put(w, ", couple: {j1: %.17g, offset: %.17g", (double)rng_int(g, -2, 2) + 0.5 * rng_int(g, 0, 1),
        rng_uniform(g, -1, 1));
    if (j > 1) put(w, ", j%d: %d", rng_int(g, 2, j), rng_int(g, 0, 1) ? 1 : -1);
    put(w, "}");
  }
  put(w, "}\n");
}

char *random_robot_text(rng *g, const random_options *o, char *buf, size_t size) {
  text_writer w = {buf, size};
  int n = rng_int(g, o->n_min, o->n_max);
  bool coupled[64] = {false}, any = o->coupled && rng_int(g, 0, 1);
  for (int j = 1; j < n; j++) coupled[j] = any && rng_int(g, 0, 2) == 0;
  put(&w, "gravity: [%.17g, %.17g, %.17g]\n", rng_uniform(g, -9, 9), rng_uniform(g, -9, 9), rng_uniform(g, -9, 9));
  put(&w, "convention: %s\nbase: ", rng_int(g, 0, 1) ? "dh" : "modified-dh");
  put_origin(&w, g);
  put(&w, "\njoints:\n");
  for (int j = 0; j < n; j++) put_joint(&w, g, o, j, coupled);
  put(&w, "links:\n");
  for (int j = 0; j < n; j++) {
    put(&w, "  - {");
    put_body(&w, g);
    put(&w, "}\n");
  }
  if (rng_int(g, 0, 1)) {
    put(&w, "tool: {");
    put_body(&w, g);
    put(&w, "}\n");
  }
  return buf;
}
