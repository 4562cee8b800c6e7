/* cmd_calibrate_print.c: the text report. */
#include <math.h>
#include <string.h>

#include "cmd_calibrate.h"

char *calibrate_column_text(const psdm_column *column, char *buf, size_t size) {
  static const char *const load[] = {"", " |f|", " f^2"};
  size_t length = 0;
  buf[0] = '\0';
  for (const char *at = psdm_column_text(column->kind); *at && length + 1 < size; at++) {
    if (*at == 'w') length += (size_t)snprintf(buf + length, size - length, "%.3g", column->width);
    else length += (size_t)snprintf(buf + length, size - length, "%c", *at);
  }
  if (length < size) snprintf(buf + length, size - length, "%s", load[column->load]);
  return buf;
}

/* ---- cautions ---- */

static int mostly_prior(const psdm_calibration *c) {
  int count = 0;
  for (int k = 0; k < c->base; k++) count += c->theta[k].prior_share > 0.5;
  return count;
}

const char *calibrate_doubt(const calibrate_job *j, int index, char *buf, size_t size) {
  const psdm_calibration *c = j->result;
  double train = c->train[PSDM_FIT_MOVING].global_rel, held = c->heldout[PSDM_FIT_MOVING].global_rel;
  int prior = mostly_prior(c), blind = 0;
  while (psdm_calibration_blind(c, blind)) blind++;
  const bool doubtful[] = {
      c->stopped, c->cost_ratio > 1.11, held > 1.5 * train, prior > 0, blind > 0, c->heldout[PSDM_FIT_ALL].rows == 0};
  int kind = 0;
  for (; kind < (int)(sizeof doubtful / sizeof *doubtful); kind++)
    if (doubtful[kind] && index-- == 0) break;
  switch (kind) {
    case 0: snprintf(buf, size, "the run was interrupted"); break;
    case 1:
      snprintf(buf, size, "physical consistency costs %.0f %% of the training cost%s", 100 * (c->cost_ratio - 1),
               c->cost_ratio > 4 ? ": kinematics, units or signs may be wrong" : "");
      break;
    case 2:
      snprintf(buf, size,
               "the held-out error is %.1f times the training error: the motion differs, or there is too little of it",
               held / train);
      break;
    case 3:
      snprintf(buf, size,
               "%d of %d base parameters come mostly from the prior: the motion contains little information about them",
               prior, c->base);
      break;
    case 4:
      snprintf(buf, size, "%d combination%s of parameters %s hardly excited by the motion", blind, blind > 1 ? "s" : "",
               blind > 1 ? "are" : "is");
      break;
    case 5: snprintf(buf, size, "nothing was held out: errors are those of the fitted rows (--holdout)"); break;
    default: return NULL;
  }
  return buf;
}

/* ---- parts of the report ---- */

static void print_log(const calibrate_job *j) {
  enum { SHOWN = 8 };
  const psdm_calibration *c = j->result;
  printf("%s: %ld rows of %d log%s, %d segment%s, %.6g Hz; %ld fitted%s, %s, %.1f s\n",
         tool_safe(psdm_robot_name(j->robot)), c->rows, j->set.log.count, j->set.log.count > 1 ? "s" : "", c->segments,
         c->segments > 1 ? "s" : "", c->rate, c->used, c->stride > 1 ? " after decimation" : "",
         psdm_estimator_name(c->estimator), c->seconds);
  long faults = 0;
  for (int k = 0; k < PSDM_FAULTS; k++) faults += c->faults[k];
  if (!faults) return;
  printf("\nfaults of the log:\n");
  for (int k = 0; k < PSDM_FAULTS; k++)
    if (c->faults[k]) printf("  %6ld  %s\n", c->faults[k], psdm_fault_text((psdm_fault)k));
  const char *text;
  int k = 0;
  for (; (text = psdm_calibration_fault(c, k)) && k < SHOWN; k++) printf("          %s\n", tool_safe(text));
  if (text) printf("          and more; --json has the first of each kind\n");
}

static void print_choices(const psdm_calibration *c) {
  printf("\nchosen:\n");
  for (int k = 0; k < 8 && c->reasons[k][0]; k++) printf("  %s\n", c->reasons[k]);
}

static void print_fit(const psdm_joint_fit *f) {
  printf("   %9.4g %6.2f %6.2f %8.5f", f->rmse, 100 * f->rel, 100 * f->nrmse, f->r2);
}

static void print_errors(const calibrate_job *j) {
  static const char *const parts[] = {"all rows", "in motion", "at rest", "as logged"};
  const psdm_calibration *c = j->result;
  bool held = c->heldout[PSDM_FIT_ALL].rows > 0;
  printf("\ntorque error, rows in motion:\n  %-12s   %9s %6s %6s %8s", "training", "RMSE", "rel %", "nrm %", "R2");
  if (held) printf("   %9s %6s %6s %8s  (held out)", "RMSE", "rel %", "nrm %", "R2");
  printf("\n");
  for (int i = 0; i < c->n; i++) {
    printf("  %-12.12s", tool_safe(calibrate_joint_name(j, i)));
    print_fit(&c->train[PSDM_FIT_MOVING].joint[i]);
    if (held) print_fit(&c->heldout[PSDM_FIT_MOVING].joint[i]);
    printf("\n");
  }
  printf("  %-12s   %9s %6s", "", "", "rel %");
  if (held) printf(" %6s", "held");
  printf("   (|error| / |torque| over all joints)\n");
  static const int order[] = {PSDM_FIT_MOVING, PSDM_FIT_ALL, PSDM_FIT_REST, PSDM_FIT_RAW};
  for (int k = 0; k < PSDM_FIT_PARTS; k++) {
    if (!c->train[order[k]].rows) continue;
    printf("  %-12s   %9ld %6.2f", parts[order[k]], c->train[order[k]].rows + c->heldout[order[k]].rows,
           100 * c->train[order[k]].global_rel);
    if (held) printf(" %6.2f", 100 * c->heldout[order[k]].global_rel);
    printf("\n");
  }
}

static void print_parameters(const calibrate_job *j) {
  const psdm_calibration *c = j->result;
  printf("\nbase parameters:%s\n  %-6s %13s %11s %7s\n",
         j->set.compare ? "  (and the compared result, with the distance in sd)" : "", "name", "value", "sd", "sd %");
  for (int k = 0; k < c->base; k++) {
    const psdm_estimate *e = &c->theta[k];
    printf("  %-6s %13.6g %11.3g %7.1f", e->name, e->value, e->sd, 100 * e->sd / fabs(e->value));
    if (j->set.compare) {
      double other = NAN, apart = calibrate_apart(j, k, &other);
      printf(" %13.6g %6.1f", other, apart);
    }
    printf("%s\n", e->prior_share > 0.5 ? "   mostly from the prior" : e->essential ? "" : "   not essential");
  }
}

static void print_friction(const calibrate_job *j) {
  const psdm_calibration *c = j->result;
  char text[96];
  printf("\nfriction of the drives (x position, v speed, f rigid torque):\n");
  for (int i = 0; i < c->n; i++) {
    printf("  %-12.12s", tool_safe(calibrate_joint_name(j, i)));
    for (int k = 0; k < c->columns[i]; k++) {
      const psdm_column *column = &c->column[i][k];
      const char *sign = column->gain < 0 ? (k ? " - " : " -") : k ? " + " : " ";
      printf("%s%.4g", sign, fabs(column->gain));
      if (column->kind != PSDM_COLUMN_OFFSET || column->load)
        printf(" %s", calibrate_column_text(column, text, sizeof text));
    }
    printf("\n");
  }
}

static void print_worth(const calibrate_job *j) {
  enum { SHOWN = 5 };
  const psdm_calibration *c = j->result;
  const char *text;
  printf("\ncondition number %.3g; residuals: Durbin-Watson %.2f (2: white), uncorrelated after %.0f samples; cost "
         "over ordinary least squares %.3f\n",
         c->condition, c->durbin_watson, c->correlation, c->cost_ratio);
  int k = 0;
  for (; (text = psdm_calibration_blind(c, k)) && k < SHOWN; k++)
    printf("%s  %s\n", k ? "" : "hardly excited:\n", text);
  if (text) printf("  and more; --json has all of them\n");
}

static void print_comparison(const calibrate_job *j) {
  const comparison *c = &j->compared;
  double own = 0, others = 0, square = 0;
  if (!j->set.compare) return;
  printf("\non the same %ld %s rows:\n  %-12s %12s %12s\n", c->rows, c->heldout ? "held-out" : "training", "RMSE",
         "this", "compared");
  for (int i = 0; i < j->n; i++) {
    printf("  %-12.12s %12.4g %12.4g\n", tool_safe(calibrate_joint_name(j, i)), sqrt(c->own[i] / (double)c->rows),
           sqrt(c->others[i] / (double)c->rows));
    own += c->own[i], others += c->others[i], square += c->square[i];
  }
  printf("  %-12s %12.2f %12.2f\n", "rel %", 100 * sqrt(own / square), 100 * sqrt(others / square));
}

void calibrate_print_verdict(const calibrate_job *j, const char *of, double rel) {
  const psdm_finding *f;
  printf("\nverdict: %s; error of %.2f %% (%s)", psdm_verdict_name(j->verdict), 100 * rel, of);
  if (j->set.max_rel || j->max_rmse) printf("; %s", j->failures ? "not good enough" : "all thresholds are met");
  printf("\n");
  for (int k = 0; k < j->failures; k++) printf("  %s\n", j->failure[k]);
  for (int k = 0; (f = calibrate_finding(j, k)); k++)
    printf("  %s: %s (%s)\n", psdm_verdict_name(f->verdict), tool_safe(f->text), f->rule);
}

static void print_verdict(const calibrate_job *j) {
  char text[160];
  for (int k = 0; calibrate_doubt(j, k, text, sizeof text); k++) printf("%s  %s\n", k ? "" : "\ncautions:\n", text);
  calibrate_print_verdict(
      j, j->result->judged_heldout ? "held-out rows" : "parts of the log, each predicted by a fit to the others",
      j->result->judged_rel);
}

void calibrate_print(const calibrate_job *j) {
  print_log(j);
  print_choices(j->result);
  print_errors(j);
  print_parameters(j);
  print_friction(j);
  print_worth(j);
  print_comparison(j);
  print_verdict(j);
}
