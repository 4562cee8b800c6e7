/* cmd_analyze.c: psdm analyze: structure, bounds and samples of a robot's dynamics, as text and tables. */
#include <math.h>
#include <string.h>

#include "tool.h"

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Analyzes a robot's dynamics M qdd + c + g = tau over all positions at once, from its exact coefficients:\n"
    "  structure   non-zero entries of M, c and g and what they depend on; conditions for M to be constant or diagonal "
    "and for gravity to be\n"
    "              balanced; springs that balance it\n"
    "  bounds      k0 <= ||M|| <= k1, ||S|| <= k4 |qd|, |g| <= k6 (and growth with sliding joints that have no "
    "limits), proved over all\n"
    "              positions within the limits, beside the largest values found; --samples N also shows the "
    "distribution of the values and\n"
    "              tests the bounds: exit 1 if one of them fails\n"
    "  --path      manipulability and ellipsoids of velocity, acceleration and apparent mass along positions\n"
    "\n"
    "examples:\n"
    "  psdm analyze robots/parallelogram.yaml\n"
    "  psdm analyze robots/two_link.yaml --any --no-bounds\n"
    "  psdm analyze robots/two_link.yaml --limits 1=-1:1,2=0:2 --json\n"
    "  psdm analyze robots/kuka_kr6.yaml --samples 100000000 --device cuda\n"
    "  psdm analyze robots/kuka_kr6.yaml --no-bounds --path motion.csv --out ellipsoids.csv --plots figures\n";

const command_line analyze_line = {"analyze", NULL, positional, help};

static const char *const wishes[PSDM_WISHES] = {"M is constant if", "M is diagonal if", "gravity vanishes if",
                                                "springs and counterweights"};
typedef struct view {
  const psdm_job *job;
  const psdm_analyze_result *r;
  const psdm_structure *structure;
  int n;
} view;

enum { FEW_JOINTS = 4 }; /* up to this many terms of c are all listed */

/* "(q2,q3)", or "" for a constant */
static int depends_text(const unsigned char *depends, int n, char *buf, size_t size) {
  size_t used = 0;
  buf[0] = '\0';
  for (int j = 0; j < n && used < size; j++)
    if (depends[j]) used += (size_t)snprintf(buf + used, size - used, "%sq%d", used ? "," : "(", j + 1);
  if (used && used < size) used += (size_t)snprintf(buf + used, size - used, ")");
  return (int)used;
}

/* "m12(q2)" or "0" */
static int mass_text(const view *a, int i, int j, char *buf, size_t size) {
  unsigned char depends[PSDM_MAX_JOINTS];
  int low = (i < j ? i : j) + 1, high = (i < j ? j : i) + 1;
  if (!psdm_structure_mass(a->structure, i, j, depends)) return snprintf(buf, size, "0");
  int used = snprintf(buf, size, a->n > 9 ? "m%d,%d" : "m%d%d", low, high);
  return used + depends_text(depends, a->n, buf + used, size - (size_t)used);
}

static void print_mass(const view *a) {
  char text[1024];
  printf("M =\n");
  for (int i = 0; i < a->n; i++) {
    printf(" ");
    for (int j = 0; j < a->n; j++) {
      int wide = 0;
      for (int k = 0; k < a->n; k++) {
        int width = mass_text(a, k, j, text, sizeof text);
        if (width > wide) wide = width;
      }
      mass_text(a, i, j, text, sizeof text);
      printf(" %-*s", j < a->n - 1 ? wide + 1 : 0, text);
    }
    printf("\n");
  }
}

static void print_gravity(const view *a) {
  unsigned char depends[PSDM_MAX_JOINTS];
  char text[1024];
  printf("g =");
  for (int i = 0; i < a->n; i++) {
    if (psdm_structure_gravity(a->structure, i, depends)) {
      depends_text(depends, a->n, text, sizeof text);
      printf(" %sg%d%s", i ? " " : "", i + 1, text);
    } else printf(" %s0", i ? " " : "");
  }
  printf("\n");
}

static void print_coriolis(const view *a) {
  unsigned char depends[PSDM_MAX_JOINTS];
  char text[1024];
  int there = 0, all = 0;
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < a->n; j++)
      for (int k = j; k < a->n; k++, all++) there += psdm_structure_coriolis(a->structure, i, j, k, NULL);
  if (!there || a->n > FEW_JOINTS) {
    printf(there ? "c has %d of %d terms\n" : "c = 0\n", there, all);
    return;
  }
  for (int i = 0; i < a->n; i++) {
    int shown = 0;
    printf("c%d =", i + 1);
    for (int j = 0; j < a->n; j++)
      for (int k = j; k < a->n; k++) {
        if (!psdm_structure_coriolis(a->structure, i, j, k, depends)) continue;
        depends_text(depends, a->n, text, sizeof text);
        printf(j == k ? "%s f%s qd%d^2" : "%s f%s qd%d qd%d", shown++ ? " +" : "", text, j + 1, k + 1);
      }
    printf(shown ? "\n" : " 0\n");
  }
}

static void print_facts(const view *a) {
  bool constant = a->r->constant_mass, diagonal = a->r->diagonal_mass;
  printf("M is %s", constant && diagonal ? "constant and diagonal"
                    : constant           ? "constant"
                    : diagonal           ? "diagonal"
                                         : "neither constant nor diagonal");
  printf(a->r->linear ? "; without gravity: the model is linear\n" : "\n");
}

static void print_conditions(const view *a) {
  static const psdm_wish order[] = {PSDM_WISH_CONSTANT_MASS, PSDM_WISH_DIAGONAL_MASS, PSDM_WISH_NO_GRAVITY,
                                    PSDM_WISH_SPRINGS};
  for (size_t w = 0; w < sizeof order / sizeof *order; w++) {
    const char *sentence = psdm_structure_condition(a->structure, order[w], 0);
    if (sentence) printf("\n%s\n", wishes[order[w]]);
    for (int k = 1; sentence; k++) {
      printf("  %s\n", sentence);
      sentence = psdm_structure_condition(a->structure, order[w], k);
    }
  }
}

/* ---- bounds ---- */

static void print_place(const view *a, const char *name, const double *x) {
  printf("%s%s = (", *name == 'q' && name[1] ? ", " : "", name);
  for (int i = 0; i < a->n; i++) printf("%s%.4g", i ? ", " : "", x[i]);
  printf(")");
}

static void print_bound(const view *a, const char *what, const psdm_bound_result *b, bool least) {
  double ratio = least ? b->found / b->bound : b->bound / b->found;
  printf("  %-24s %12.6g %12.6g ", what, b->bound, b->found);
  if (isfinite(ratio) && b->bound > 0) printf("%8.4f   ", ratio);
  else printf("%8s   ", "-");
  print_place(a, "q", b->q.item);
  if (b->qd.item) print_place(a, "qd", b->qd.item);
  printf("\n");
}

static void print_sampled(const char *what, const psdm_bound_result *b, long beyond) {
  const psdm_sampled *s = b->samples;
  printf("  %-24s %12.6g %12.6g %12.6g %12.6g %12.6g %8ld\n", what, s->least, s->half, s->at_95, s->at_999, s->largest,
         beyond);
}

static bool stays_at_zero(const view *a) {
  const psdm_analysis *own = psdm_job_analysis(a->job);
  for (int q = 0; q < a->n; q++)
    if (strcmp(a->r->joints.item[q].type, "prismatic") == 0 && !(isfinite(own->lower[q]) && isfinite(own->upper[q])))
      return true;
  return false;
}

static void print_samples(const view *a) {
  const psdm_bounds_result *b = a->r->bounds;
  if (!b->samples) return;
  printf("\n%ld samples between the limits%s, %.1f s%s\n", b->samples,
         stays_at_zero(a) ? ", sliding joints without limits at 0" : "", b->samples_seconds,
         strcmp(b->device, "cuda") == 0 ? " on the GPU" : "");
  printf("  %-24s %12s %12s %12s %12s %12s %8s\n", "", "least", "half", "95 %", "99.9 %", "largest", "beyond");
  print_sampled("||M||", &b->mass, b->mass.samples->beyond + b->mass_small.samples->beyond);
  print_sampled("M's least eigenvalue", &b->mass_least, b->mass_least.samples->beyond);
  print_sampled("||S|| at random unit qd", &b->coriolis, b->coriolis.samples->beyond);
  print_sampled("|g|", &b->gravity, b->gravity.samples->beyond);
  if (!b->beyond) printf("  no sample exceeds a proved bound\n");
}

static void print_bounds(const view *a) {
  const psdm_bounds_result *b = a->r->bounds;
  if (!b) return;
  printf("\nbounds, %.1f s\n  %-24s %12s %12s %8s   %s\n", b->seconds, "", "proved", "found", "ratio", "at");
  print_bound(a, "||M|| at most", &b->mass, false);
  print_bound(a, "||M|| at least", &b->mass_small, true);
  print_bound(a, "M's eigenvalues at least", &b->mass_least, true);
  print_bound(a, "||S||/|qd| at most", &b->coriolis, false);
  print_bound(a, "|g| at most", &b->gravity, false);
  printf("  k0..k7 =");
  for (int k = 0; k < 8; k++) printf(" %.6g", b->k[k]);
  printf("\n");
  if (b->coriolis_square > 0)
    printf("  ||S|| also grows with %.6g |q|^2 |qd|: sliding joints without limits\n", b->coriolis_square);
  print_samples(a);
}

/* ---- path ---- */

static void print_path(const view *a) {
  const psdm_path_result *p = a->r->path;
  if (!p) return;
  printf("\nalong the path: %ld positions, %s moves in %ld direction%s\n", p->positions, tool_safe(p->link),
         p->dimensions, p->dimensions == 1 ? "" : "s");
  for (int k = 0; k < 2; k++) {
    const psdm_path_point *point = k ? &p->most : &p->least;
    printf("  %-8s manipulability %.6g at ", k ? "largest" : "smallest", point->manipulability);
    if (!isnan(point->t)) printf("t = %.6g, ", point->t);
    print_place(a, "q", point->q.item);
    printf("\n");
  }
}

static int print(const psdm_job *job) {
  const psdm_analyze_result *r = (const psdm_analyze_result *)psdm_job_result(job);
  const view a = {job, r, psdm_job_analysis(job)->structure, (int)r->n};
  printf("%s: %d joint%s, %s\n\n", tool_safe(r->name), a.n, a.n == 1 ? "" : "s",
         strcmp(r->masses, "own") == 0 ? "with this robot's masses (--any: for all)" : "for any masses");
  print_mass(&a);
  print_gravity(&a);
  print_coriolis(&a);
  print_facts(&a);
  print_conditions(&a);
  print_bounds(&a);
  print_path(&a);
  return EXIT_OK;
}

int cmd_analyze(int argc, char **argv) {
  static const char *const files[] = {"out", NULL};
  return tool_job_command(&analyze_line, argc, argv, files, print);
}
