/* cmd_reduce.c: psdm reduce: a smaller model within a given error at a given confidence: its command line, and the
 * operations that it saves. */
#include <math.h>

#include "tool.h"

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Leaves functions out of the derived model until it is just within an error at a confidence (Lloyd, Irani, Ahmadi "
    "2021, section 4.3):\n"
    "functions are ranked by their mean share of the torque over a profile of states, those that matter least go, the "
    "parameters of what\n"
    "is left are fitted again, and the result is verified at fresh states. Operations are compared with the full "
    "closed form's and with\n"
    "the exact recursion's. Exit 1 when the error cannot be met.\n\n"
    "profiles: q in +-pi; slow: qd in +-0.1 rad/s, qdd in +-1 rad/s^2; fast: qd in +-1, qdd in +-10; sliding joints "
    "between their limits.\n\n"
    "examples:\n"
    "  psdm reduce robots/kuka_kr6.yaml\n"
    "  psdm reduce robots/kuka_kr6.yaml --profile fast --error 0.001 --confidence 0.999\n"
    "  psdm reduce robots/kuka_kr6.yaml --out kr6_small\n"
    "  psdm reduce robots/kuka_kr6.yaml --table --times\n"
    "  psdm reduce robots/kuka_kr6.yaml --table --figures --json > kr6.json && psdm report kr6.json --out kr6.html\n";

const command_line reduce_line = {"reduce", NULL, positional, help};

static long in_all(const psdm_operations *c) { return c->mult + c->add + c->div; }

static double fewer(long less, long than) { return than ? 100 * (1 - (double)less / (double)than) : 0; }

/* "83.6 % fewer" */
static const char *difference(long less, long than, char text[32]) {
  double x = fewer(less, than);
  snprintf(text, 32, "%.1f %% %s", fabs(x), x < 0 ? "more" : "fewer");
  return text;
}

static void print_cost(const char *name, const psdm_operations *c, const psdm_operations *than) {
  char text[32];
  printf("  %-20s %7ld %7ld %5ld %8ld", name, c->mult, c->add, c->div, in_all(c));
  if (isfinite(c->ns)) printf(" %8.1f", c->ns);
  printf("%s%s\n", than ? "   " : "", than ? difference(in_all(c), in_all(than), text) : "");
}

static void print_text(const psdm_reduce_result *r) {
  double against = fewer(in_all(&r->reduced), in_all(&r->recursion));
  printf("%s, %s profile: keeps %ld of %ld functions and %ld of %ld base parameters\n\n", tool_safe(r->name),
         r->profile, r->p, r->p_before, r->l, r->l_before);
  printf("  %s error at %.4g %% confidence: %.3g %% (%.2f digits), verified at %ld states\n",
         r->forward ? "acceleration" : "torque", 100 * r->confidence, 100 * r->error, r->digits, r->samples);
  printf("  half of the states: %.3g %%; 99.9 %% of them: %.3g %%\n\n", 100 * r->error_half, 100 * r->error_999);
  printf("  %-20s %7s %7s %5s %8s%s\n", r->forward ? "forward dynamics" : "inverse dynamics", "mult", "add", "div",
         "in all", isfinite(r->recursion.ns) ? "       ns" : "");
  print_cost("full closed form", &r->full, NULL);
  print_cost("reduced", &r->reduced, &r->full);
  print_cost("exact recursion", &r->recursion, &r->full);
  if (in_all(&r->reduced) > in_all(&r->full))
    printf("  dropping functions breaks up shared sums: the full closed form has fewer operations\n");
  if (against > 0) printf("  the reduced model has %.1f %% fewer operations than the exact recursion\n", against);
  else
    printf("  the exact recursion is better: it is exact, and has %.1f %% of the reduced model's operations\n",
           100.0 * (double)in_all(&r->recursion) / (double)in_all(&r->reduced));
}

static void print_cell(const psdm_reduce_result *r, const psdm_reduced_cell *cell) {
  char how[32];
  printf(" %6ld %6ld", cell->functions, cell->operations);
  if (isfinite(cell->ns)) printf(" %7.1f ns", cell->ns);
  printf("  %-12s%s", difference(cell->operations, in_all(&r->full), how),
         cell->operations < in_all(&r->recursion) ? " *" : "  ");
}

static void print_table(const psdm_reduce_result *r) {
  bool timed = isfinite(r->recursion.ns);
  printf("\n  functions, operations%s    %-*s %s\n", timed ? ", time" : "", timed ? 36 : 31, "  95 % confidence",
         "  99.9 % confidence");
  for (long k = 0; k + 1 < r->table.rows; k += 2) {
    if (k % 4 == 0) printf("  %ld correct digits (%g %% error)\n", k / 4 + 2, k ? 0.1 : 1.0);
    printf("    %-20s", r->table.item[k].profile);
    print_cell(r, &r->table.item[k]);
    print_cell(r, &r->table.item[k + 1]);
    printf("\n");
  }
  printf("  * fewer than the exact recursion's %ld", in_all(&r->recursion));
  if (isfinite(r->recursion.ns)) printf(" (%.1f ns)", r->recursion.ns);
  printf("\n");
}

static int print(const psdm_job *job) {
  const psdm_reduce_result *r = (const psdm_reduce_result *)psdm_job_result(job);
  if (!(tool_quiet() && tool_job_text(job, "out"))) print_text(r);
  if (r->table.rows) print_table(r);
  return EXIT_OK;
}

/* only the document has figures */
static int check(psdm_job *job, void *user) {
  (void)user;
  bool lost = tool_job_flag(job, "figures") && !tool_job_flag(job, "json");
  return lost ? tool_usage("reduce", "--figures needs --json; psdm report draws them") : -1;
}

int cmd_reduce(int argc, char **argv) {
  psdm_job *job;
  int code = tool_job_run_prepared(&reduce_line, argc, argv, &job, check, NULL);
  return tool_job_end(job, code, NULL, print);
}
