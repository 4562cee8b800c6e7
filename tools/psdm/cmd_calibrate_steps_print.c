/* cmd_calibrate_steps_print.c: the text report of --route steps. */
#include <math.h>
#include <string.h>

#include "cmd_calibrate.h"

static bool is_there(const psdm_steps *s, int step) { return s->step[step].done || s->step[step].from_before; }

static const char *joint(const calibrate_job *j, int i) { return tool_safe(calibrate_joint_name(j, i)); }

/* marks values that do not come from this run's logs */
static void print_from(int from) {
  static const char *const words[] = {"   not excited", "   from the robot file", "   from --params", ""};
  printf("%s\n", words[from]);
}

static void print_head(const calibrate_job *j) {
  const psdm_steps *s = j->steps.result;
  int count = 0;
  printf("%s: %d log%s in steps, %.6g Hz, %.1f s; done:", tool_safe(psdm_robot_name(j->robot)), j->set.log.count,
         j->set.log.count > 1 ? "s" : "", s->rate, s->seconds);
  for (int k = 0; k < PSDM_STEPS; k++)
    if (is_there(s, k))
      printf("%s %s%s", count++ ? "," : "", psdm_step_name((psdm_step)k), s->step[k].done ? "" : " (before)");
  printf("%s\n", count ? "" : " nothing yet");
}

static void print_faults(const psdm_steps *s) {
  enum { SHOWN = 8 };
  const char *text;
  int k = 0;
  for (; (text = psdm_steps_fault(s, k)) && k < SHOWN; k++)
    printf("%s  %s\n", k ? "" : "\nfaults of the logs:\n", tool_safe(text));
  if (text) printf("  and more; --json has all of them\n");
}

/* ---- the numbers, step by step ---- */

static void print_motors(const calibrate_job *j) {
  const psdm_steps *s = j->steps.result;
  printf("\nmotors, %s (16, 17):\n  %-12s %12s %11s %7s\n",
         s->currents ? "Nm/A behind the gear" : "factors of the logged torques", "drive", "constant", "sd", "sd %");
  for (int i = 0; i < j->n; i++) {
    double value = s->torque_constant[i], sd = s->sd[i];
    printf("  %-12.12s %12.6g %11.3g %7.2f", joint(j, i), value, sd, 100 * sd / fabs(value));
    print_from(s->torque_constant_from[i]);
  }
}

/* "ZZ1 + 0.4 mz3 - YY2", cut where the line ends */
static void print_formula(const calibrate_job *j, int k) {
  enum { WIDE = 72 };
  char text[256] = "", name[32];
  size_t length = 0;
  int terms = psdm_model_base_terms(j->model, k);
  for (int t = 0; t < terms && length < WIDE; t++) {
    int standard;
    double coefficient = psdm_model_base_term(j->model, k, t, &standard), size = fabs(coefficient);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s",
                               t                 ? (coefficient < 0 ? " - " : " + ")
                               : coefficient < 0 ? "-"
                                                 : "");
    if (size != 1) length += (size_t)snprintf(text + length, sizeof text - length, "%.4g ", size);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s",
                               psdm_model_standard_name(j->model, standard, name, sizeof name));
    if (length >= WIDE && t + 1 < terms) snprintf(text + length, sizeof text - length, " ...");
  }
  printf("   %s", text);
}

static void print_parameters(const calibrate_job *j, bool gravity) {
  const psdm_steps *s = j->steps.result;
  printf("\n%s parameters%s %s:\n", gravity ? "gravity" : "inertia", s->tool ? " of the arm without its tool" : "",
         gravity ? "(18)" : "(21)");
  printf("  %-6s %13s %11s %7s   %s\n", "name", "value", "sd", "sd %", "formula");
  for (int k = 0; k < s->base; k++) {
    const psdm_estimate *e = &s->theta[k];
    if ((s->gravity[k] != 0) != gravity) continue;
    if (e->value == 0 && e->sd == 0) printf("  %-6s %13s %11s %7s", e->name, "0", "assumed", "");
    else printf("  %-6s %13.6g %11.3g %7.1f", e->name, e->value, e->sd, 100 * e->sd / fabs(e->value));
    print_formula(j, k);
    print_from(s->theta_from[k]);
  }
}

static void print_friction(const calibrate_job *j) {
  const psdm_steps *s = j->steps.result;
  printf("\nfriction of the drives (12 to 14, 19, 20), and sd:\n  %-12s", "drive");
  for (int k = 0; k < PSDM_FRICTION_NUMBERS; k++) printf(" %10s", calibrate_friction_key(k));
  printf("\n");
  for (int i = 0; i < j->n; i++) {
    const double *sd = s->sd + s->n + s->base + PSDM_FRICTION_NUMBERS * i;
    printf("  %-12.12s", joint(j, i));
    if (!s->friction[i].given) {
      print_from(PSDM_FROM_NOTHING);
      continue;
    }
    for (int k = 0; k < PSDM_FRICTION_NUMBERS; k++) printf(" %10.4g", calibrate_friction_number(&s->friction[i], k));
    print_from(s->friction_from[i]);
    printf("  %-12s", "");
    for (int k = 0; k < PSDM_FRICTION_NUMBERS; k++) printf(" %10.2g", sd[k]);
    if (isfinite(s->effective_inertia[i]))
      printf("   inertia %.4g, up to %.3g rad/s", s->effective_inertia[i], s->speed[i]);
    printf("\n");
  }
}

/* ---- torque errors: rows of Table 3 ---- */

static const psdm_joint_fit *fit_of(const calibrate_job *j, int step, bool *held) {
  const psdm_step_fit *fit = &j->steps.result->step[step];
  long rows = 0;
  for (int i = 0; i < j->n && fit->heldout; i++) rows += fit->heldout[i].rows;
  *held = rows > 0;
  return rows ? fit->heldout : fit->train;
}

/* R2 is meaningless if the model predicts no torque */
static void print_fit(const psdm_joint_fit *fit) {
  if (fit && fit->rows && fit->rel == 1) printf("  %9.3g %8s", fit->rmse, "-");
  else if (fit && fit->rows) printf("  %9.3g %8.4f", fit->rmse, fit->r2);
  else printf("  %9s %8s", "-", "-");
}

static void print_table(const calibrate_job *j) {
  const psdm_steps *s = j->steps.result;
  bool held = true, any = false, own;
  for (int k = 0; k < PSDM_STEPS; k++)
    any |= is_there(s, k) && fit_of(j, k, &own), held &= !is_there(s, k) || !fit_of(j, k, &own) || own;
  if (!any) return;
  printf("\naccuracy, %s, RMSE in Nm:\n  %-12s", held ? "held-out rows" : "fitted rows where none were held out", "");
  for (int k = 0; k < PSDM_STEPS; k++) printf("  %18s", psdm_step_name((psdm_step)k));
  printf("  %18s\n  %-12s", "all", "");
  for (int k = 0; k <= PSDM_STEPS; k++) printf("  %9s %8s", "RMSE", "R2");
  printf("\n");
  for (int i = 0; i < j->n; i++) {
    printf("  %-12.12s", joint(j, i));
    for (int k = 0; k < PSDM_STEPS; k++) {
      const psdm_joint_fit *fit = is_there(s, k) ? fit_of(j, k, &own) : NULL;
      print_fit(fit ? fit + i : NULL);
    }
    print_fit(s->all ? s->all + i : NULL);
    printf("\n");
  }
}

/* ---- the end ---- */

static void print_verdict(const calibrate_job *j) {
  const psdm_steps *s = j->steps.result;
  for (int k = 0; s->remark && s->remark[k][0]; k++)
    printf("%s  %s\n", k ? "" : "\ncautions:\n", tool_safe(s->remark[k]));
  calibrate_print_verdict(j, j->steps.judged_of, calibrate_steps_rel(j));
}

void calibrate_steps_print(const calibrate_job *j) {
  const psdm_steps *s = j->steps.result;
  print_head(j);
  print_faults(s);
  if (is_there(s, PSDM_STEP_MOTOR)) print_motors(j);
  if (is_there(s, PSDM_STEP_GRAVITY)) print_parameters(j, true);
  if (is_there(s, PSDM_STEP_FRICTION)) print_friction(j);
  if (is_there(s, PSDM_STEP_INERTIA)) print_parameters(j, false);
  print_table(j);
  print_verdict(j);
}
