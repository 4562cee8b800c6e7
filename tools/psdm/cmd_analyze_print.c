/* cmd_analyze_print.c: the results of psdm analyze as text and tables. */
#include <math.h>
#include <string.h>

#include "cmd_analyze.h"

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
static int mass_text(const analysis *a, int i, int j, char *buf, size_t size) {
  unsigned char depends[PSDM_MAX_JOINTS];
  int low = (i < j ? i : j) + 1, high = (i < j ? j : i) + 1;
  if (!psdm_structure_mass(a->structure, i, j, depends)) return snprintf(buf, size, "0");
  int used = snprintf(buf, size, a->n > 9 ? "m%d,%d" : "m%d%d", low, high);
  return used + depends_text(depends, a->n, buf + used, size - (size_t)used);
}

static void print_mass(const analysis *a) {
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

static void print_gravity(const analysis *a) {
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

static void print_coriolis(const analysis *a) {
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

static void print_facts(const analysis *a) {
  bool constant = psdm_structure_constant_mass(a->structure), diagonal = psdm_structure_diagonal_mass(a->structure);
  printf("M is %s", constant && diagonal ? "constant and diagonal"
                    : constant           ? "constant"
                    : diagonal           ? "diagonal"
                                         : "neither constant nor diagonal");
  printf(psdm_structure_linear(a->structure) ? "; without gravity: the model is linear\n" : "\n");
}

static void print_conditions(const analysis *a) {
  static const psdm_wish order[] = {PSDM_WISH_CONSTANT_MASS, PSDM_WISH_DIAGONAL_MASS, PSDM_WISH_NO_GRAVITY,
                                    PSDM_WISH_SPRINGS};
  for (size_t w = 0; w < sizeof order / sizeof *order; w++) {
    const char *sentence = psdm_structure_condition(a->structure, order[w], 0);
    if (sentence) printf("\n%s\n", analyze_wishes[order[w]]);
    for (int k = 1; sentence; k++) {
      printf("  %s\n", sentence);
      sentence = psdm_structure_condition(a->structure, order[w], k);
    }
  }
}

/* ---- bounds ---- */

static void print_place(const analysis *a, const char *name, const double *x) {
  printf("%s%s = (", *name == 'q' && name[1] ? ", " : "", name);
  for (int i = 0; i < a->n; i++) printf("%s%.4g", i ? ", " : "", x[i]);
  printf(")");
}

static void print_bound(const analysis *a, const char *what, const psdm_bound *b, bool least) {
  double ratio = least ? b->found / b->bound : b->bound / b->found;
  printf("  %-24s %12.6g %12.6g ", what, b->bound, b->found);
  if (isfinite(ratio) && b->bound > 0) printf("%8.4f   ", ratio);
  else printf("%8s   ", "-");
  print_place(a, "q", b->q);
  if (b->qd) print_place(a, "qd", b->qd);
  printf("\n");
}

static void print_sampled(const char *what, const psdm_bound *b, long beyond) {
  const psdm_samples *s = &b->at_samples;
  printf("  %-24s %12.6g %12.6g %12.6g %12.6g %12.6g %8ld\n", what, s->least, s->half, s->most, s->nearly_all,
         s->largest, beyond);
}

static bool stays_at_zero(const analysis *a) {
  for (int k = 0; k < psdm_robot_joints(a->robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(a->robot, k);
    if (joint->q >= 0 && joint->type == PSDM_PRISMATIC &&
        !(isfinite(a->lower[joint->q]) && isfinite(a->upper[joint->q])))
      return true;
  }
  return false;
}

static void print_samples(const analysis *a) {
  const psdm_bounds *b = a->bounds;
  if (!b->samples) return;
  printf("\n%ld samples between the limits%s, %.1f s%s\n", b->samples,
         stays_at_zero(a) ? ", sliding joints without limits at 0" : "", b->samples_seconds,
         strcmp(a->set.device, "cuda") == 0 ? " on the GPU" : "");
  printf("  %-24s %12s %12s %12s %12s %12s %8s\n", "", "least", "half", "95 %", "99.9 %", "largest", "beyond");
  print_sampled("||M||", &b->mass, b->mass.at_samples.beyond + b->mass_small.at_samples.beyond);
  print_sampled("M's least eigenvalue", &b->mass_least, b->mass_least.at_samples.beyond);
  print_sampled("||S|| at random unit qd", &b->coriolis, b->coriolis.at_samples.beyond);
  print_sampled("|g|", &b->gravity, b->gravity.at_samples.beyond);
  if (!analyze_beyond(b)) printf("  no sample exceeds a proved bound\n");
}

static void print_bounds(const analysis *a) {
  const psdm_bounds *b = a->bounds;
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

static void print_path(const analysis *a) {
  const path_rows *p = &a->path;
  static const char *const rows[] = {"smallest", "largest"};
  if (!a->set.path) return;
  printf("\nalong the path: %ld positions, %s moves in %d direction%s\n", p->count,
         tool_safe(psdm_robot_link_name(a->robot, a->link)), p->dimensions, p->dimensions == 1 ? "" : "s");
  for (int k = 0; k < 2; k++) {
    long row = k ? p->most : p->least;
    printf("  %-8s manipulability %.6g at ", rows[k], analyze_measure(a, row));
    if (p->timed) printf("t = %.6g, ", p->t[row]);
    print_place(a, "q", p->q + row * a->n);
    printf("\n");
  }
}

void analyze_print(const analysis *a) {
  printf("%s: %d joint%s, %s\n\n", tool_safe(psdm_robot_name(a->robot)), a->n, a->n == 1 ? "" : "s",
         a->numeric && !a->set.any ? "with this robot's masses (--any: for all)" : "for any masses");
  print_mass(a);
  print_gravity(a);
  print_coriolis(a);
  print_facts(a);
  print_conditions(a);
  print_bounds(a);
  print_path(a);
}
