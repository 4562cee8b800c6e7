/* cmd_derive.c: psdm derive: the closed-form regressor model, compared with the recursion at random states. */
#include "tool.h"

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Derives the dynamics in closed, regressor form, tau = Y(q, qd, qdd) theta: p functions (monomials in sin, cos, "
    "and for sliding\n"
    "joints q, times gravity, an acceleration or a product of two velocities) and l base parameters. The model is then "
    "compared with\n"
    "the Newton-Euler recursion at 1000 random states. Exit 1 when a torque differs by more than 1e-9 of the largest.\n"
    "\n"
    "The dense method (Lloyd, Irani, Ahmadi 2021) uses only sampled torques, takes seconds where the exact one takes a "
    "millisecond,\n"
    "and supports up to seven independent joints: as a check, or to turn any inverse dynamics program into a model.\n"
    "A sampler is a shell command. It is run once per class of functions and step, reads a CSV with the columns q1.., "
    "qd1.., qdd1.. and\n"
    "the standard parameters (m1, mx1, ..) from standard input, and prints a CSV with tau1.., one row for each row.\n"
    "\n"
    "examples:\n"
    "  psdm derive robots/kuka_kr6.yaml\n"
    "  psdm derive robots/two_link.yaml --assume 'ry1 = 0,rz1 = 0' --json\n"
    "  psdm derive robots/kuka_kr6.yaml --export kr6.json\n"
    "  psdm derive robots/fanuc_sr6ia.yaml --method dense --basis echelon\n"
    "  psdm derive robots/fanuc_sr6ia.yaml --method dense --sampler 'python3 my_dynamics.py'\n";

const command_line derive_line = {"derive", NULL, positional, help};

static void print_class(const char *name, const long *each, int n, long count) {
  printf("  %-14s", name);
  for (int j = 0; j < n; j++) {
    if (each) printf(" %8ld", each[j]);
    else printf(" %8s", "");
    count += each ? each[j] : 0;
  }
  printf(" %9ld\n", count);
}

static int print(const psdm_job *job) {
  const psdm_derive_result *r = (const psdm_derive_result *)psdm_job_result(job);
  const psdm_class_sizes *c = &r->classes;
  int n = (int)r->n;
  if (tool_quiet() && tool_job_text(job, "export")) return EXIT_OK;
  printf("%s: %ld functions, %ld base parameters of %d standard ones\n\n", tool_safe(r->name), r->p, r->l,
         psdm_robot_parameter_count(psdm_job_robot_used(job)));
  printf("  %-14s", "functions");
  for (int j = 0; j < n; j++) printf(" %8d", j + 1);
  printf(" %9s\n", "in all");
  print_class("gravity", NULL, n, c->gravity);
  print_class("acceleration", c->acceleration.item, n, 0);
  print_class("centrifugal", c->centrifugal.item, n, 0);
  print_class("Coriolis", NULL, n, c->coriolis);
  printf("\n  P has %ld non-zeros (%.2g %% of p n l), derived in %.3g ms\n", r->nonzeros,
         100.0 * (double)r->nonzeros / ((double)r->p * n * (double)r->l), 1e3 * r->seconds);
  if (r->plain)
    printf("  of %.15g candidates, up to %.15g in a system; as it stands %ld multiplications and %ld additions\n",
           r->plain->candidates, r->plain->largest_system, r->plain->mult, r->plain->add);
  printf("  coefficients: largest dropped %.2g, smallest kept %.2g; rank: %.2g and %.2g\n", r->dropped, r->kept,
         r->rank_dropped, r->rank_kept);
  if (r->searched)
    printf("  searched %ld functions, with systems of up to %.3g MB\n", r->searched, 1e-6 * (double)r->bytes);
  printf("  torque error against Newton-Euler over %ld states: %.2g\n", r->states, r->residual);
  return EXIT_OK;
}

int cmd_derive(int argc, char **argv) { return tool_job_command(&derive_line, argc, argv, NULL, print); }
