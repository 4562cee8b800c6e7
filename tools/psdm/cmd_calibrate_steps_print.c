/* cmd_calibrate_steps_print.c: the text report of --route steps. */
#include <math.h>
#include <string.h>

#include "cmd_calibrate.h"

static const psdm_step_result *step_of(const psdm_calibrate_steps_result *r, int step) {
  const psdm_step_result *const steps[PSDM_STEPS] = {&r->steps.motor, &r->steps.gravity, &r->steps.friction,
                                                     &r->steps.inertia};
  return steps[step];
}

static const char *joint(const psdm_calibrate_steps_result *r, long i) { return tool_safe(r->joints.item[i].name); }

/* marks values that do not come from this run's logs */
static void print_from(const char *from) {
  static const struct {
    const char *from, *words;
  } known[] = {{"nothing", "   not excited"}, {"file", "   from the robot file"}, {"before", "   from --params"}};
  const char *words = "";
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (strcmp(known[k].from, from) == 0) words = known[k].words;
  printf("%s\n", words);
}

static void print_head(const psdm_calibrate_steps_result *r) {
  int count = 0;
  printf("%s: %ld log%s in steps, %.6g Hz, %.1f s; done:", tool_safe(r->name), r->logs.rows,
         r->logs.rows > 1 ? "s" : "", r->rate, r->seconds);
  for (int k = 0; k < PSDM_STEPS; k++)
    if (step_of(r, k)->done)
      printf("%s %s%s", count++ ? "," : "", psdm_step_name((psdm_step)k),
             step_of(r, k)->from_before ? " (before)" : "");
  printf("%s\n", count ? "" : " nothing yet");
}

static void print_faults(const psdm_calibrate_steps_result *r) {
  enum { SHOWN = 8 };
  for (long k = 0; k < r->fault_lines.rows && k < SHOWN; k++)
    printf("%s  %s\n", k ? "" : "\nfaults of the logs:\n", tool_safe(r->fault_lines.item[k]));
  if (r->fault_lines.rows > SHOWN) printf("  and more; --json has all of them\n");
}

/* ---- the numbers, step by step ---- */

static void print_motors(const psdm_calibrate_steps_result *r) {
  printf("\nmotors, %s (16, 17):\n  %-12s %12s %11s %7s\n",
         r->currents ? "Nm/A behind the gear" : "factors of the logged torques", "drive", "constant", "sd", "sd %");
  for (long i = 0; i < r->n; i++) {
    const psdm_step_joint *motor = &r->steps.motor.joints.item[i];
    printf("  %-12.12s %12.6g %11.3g %7.2f", joint(r, i), motor->constant, motor->sd,
           100 * motor->sd / fabs(motor->constant));
    print_from(motor->from);
  }
}

/* "ZZ1 + 0.4 mz3 - YY2", cut where the line ends */
static void print_formula(const psdm_step_parameter *p) {
  enum { WIDE = 72 };
  char text[256] = "";
  size_t length = 0;
  long terms = p->formula.rows;
  for (long t = 0; t < terms && length < WIDE; t++) {
    double coefficient = p->formula.item[t].value, size = fabs(coefficient);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s",
                               t                 ? (coefficient < 0 ? " - " : " + ")
                               : coefficient < 0 ? "-"
                                                 : "");
    if (size != 1) length += (size_t)snprintf(text + length, sizeof text - length, "%.4g ", size);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s", p->formula.item[t].name);
    if (length >= WIDE && t + 1 < terms) snprintf(text + length, sizeof text - length, " ...");
  }
  printf("   %s", text);
}

static void print_parameters(const psdm_calibrate_steps_result *r, bool gravity) {
  printf("\n%s parameters%s %s:\n", gravity ? "gravity" : "inertia", r->tool.item ? " of the arm without its tool" : "",
         gravity ? "(18)" : "(21)");
  printf("  %-6s %13s %11s %7s   %s\n", "name", "value", "sd", "sd %", "formula");
  for (long k = 0; k < r->parameters.rows; k++) {
    const psdm_step_parameter *p = &r->parameters.item[k];
    if (p->gravity != gravity) continue;
    if (p->value == 0 && p->sd == 0) printf("  %-6s %13s %11s %7s", p->name, "0", "assumed", "");
    else printf("  %-6s %13.6g %11.3g %7.1f", p->name, p->value, p->sd, 100 * p->sd / fabs(p->value));
    print_formula(p);
    print_from(p->from);
  }
}

static void print_drive(const psdm_step_friction_result *f) {
  const psdm_lugre_numbers *s = &f->sd;
  const double number[PSDM_FRICTION_NUMBERS] = {f->coulomb,  f->static_, f->stribeck, f->viscous,
                                                f->exponent, f->sigma0,  f->sigma1,   f->offset},
               sd[PSDM_FRICTION_NUMBERS] = {s->coulomb,  s->static_, s->stribeck, s->viscous,
                                            s->exponent, s->sigma0,  s->sigma1,   s->offset};
  for (int k = 0; k < PSDM_FRICTION_NUMBERS; k++) printf(" %10.4g", number[k]);
  print_from(f->from);
  printf("  %-12s", "");
  for (int k = 0; k < PSDM_FRICTION_NUMBERS; k++) printf(" %10.2g", sd[k]);
  if (isfinite(f->effective_inertia)) printf("   inertia %.4g, up to %.3g rad/s", f->effective_inertia, f->speed);
  printf("\n");
}

static void print_friction(const psdm_calibrate_steps_result *r) {
  static const char *const keys[PSDM_FRICTION_NUMBERS] = {"coulomb",  "static", "stribeck", "viscous",
                                                          "exponent", "sigma0", "sigma1",   "offset"};
  printf("\nfriction of the drives (12 to 14, 19, 20), and sd:\n  %-12s", "drive");
  for (int k = 0; k < PSDM_FRICTION_NUMBERS; k++) printf(" %10s", keys[k]);
  printf("\n");
  for (long i = 0; i < r->friction.rows; i++) {
    const psdm_step_friction_result *f = &r->friction.item[i];
    printf("  %-12.12s", joint(r, i));
    if (f->covariance.rows) print_drive(f);
    else print_from("nothing");
  }
}

/* ---- torque errors: rows of Table 3 ---- */

/* held-out rows, or those that were fitted where none were held out */
static bool is_held(const psdm_step_result *step) {
  long rows = 0;
  for (long i = 0; i < step->joints.rows; i++) rows += step->joints.item[i].rows;
  return rows > 0;
}

/* R2 is meaningless if the model predicts no torque */
static void print_fit(long rows, double rmse, double rel, double r2) {
  if (rows && rel == 1) printf("  %9.3g %8s", rmse, "-");
  else if (rows) printf("  %9.3g %8.4f", rmse, r2);
  else printf("  %9s %8s", "-", "-");
}

static void print_step(const psdm_step_result *step, long i) {
  const psdm_step_joint *held = &step->joints.item[i];
  const psdm_fit_numbers *train = &held->train;
  if (!step->done) print_fit(0, NAN, NAN, NAN);
  else if (is_held(step)) print_fit(held->rows, held->rmse, held->rel, held->r2);
  else print_fit(train->rows, train->rmse, train->rel, train->r2);
}

static void print_table(const psdm_calibrate_steps_result *r) {
  bool held = true, any = false;
  for (int k = 0; k < PSDM_STEPS; k++)
    any |= step_of(r, k)->done, held &= !step_of(r, k)->done || is_held(step_of(r, k));
  if (!any) return;
  printf("\naccuracy, %s, RMSE in Nm:\n  %-12s", held ? "held-out rows" : "fitted rows where none were held out", "");
  for (int k = 0; k < PSDM_STEPS; k++) printf("  %18s", psdm_step_name((psdm_step)k));
  printf("  %18s\n  %-12s", "all", "");
  for (int k = 0; k <= PSDM_STEPS; k++) printf("  %9s %8s", "RMSE", "R2");
  printf("\n");
  for (long i = 0; i < r->n; i++) {
    const psdm_named_fit *all = &r->all.item[i];
    printf("  %-12.12s", joint(r, i));
    for (int k = 0; k < PSDM_STEPS; k++) print_step(step_of(r, k), i);
    print_fit(all->rows, all->rmse, all->rel, all->r2);
    printf("\n");
  }
}

/* ---- the end ---- */

static void print_verdict(const psdm_calibrate_steps_result *r) {
  const verdict_of v = VERDICT_OF(r->verdict);
  for (long k = 0; k < r->remarks.rows; k++)
    printf("%s  %s\n", k ? "" : "\ncautions:\n", settings_named(tool_safe(r->remarks.item[k])));
  calibrate_print_verdict(&v, r->verdict.of, r->verdict.error);
}

void calibrate_steps_print(const psdm_calibrate_steps_result *r) {
  print_head(r);
  print_faults(r);
  if (r->steps.motor.done) print_motors(r);
  if (r->steps.gravity.done) print_parameters(r, true);
  if (r->steps.friction.done) print_friction(r);
  if (r->steps.inertia.done) print_parameters(r, false);
  print_table(r);
  print_verdict(r);
}
