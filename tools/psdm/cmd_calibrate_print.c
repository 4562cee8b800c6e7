/* cmd_calibrate_print.c: the text report. */
#include <math.h>
#include <string.h>

#include "cmd_calibrate.h"

static void print_faults(const psdm_calibrate_result *r) {
  enum { SHOWN = 8 };
  const psdm_fault_counts *f = &r->faults;
  const long count[PSDM_FAULTS] = {f->garbage, f->short_, f->nan,       f->repeated, f->back,    f->jump,
                                   f->jitter,  f->frozen, f->saturated, f->spikes,   f->wrapped, f->commas};
  long faults = 0;
  for (int k = 0; k < PSDM_FAULTS; k++) faults += count[k];
  if (!faults) return;
  printf("\nfaults of the log:\n");
  for (int k = 0; k < PSDM_FAULTS; k++)
    if (count[k]) printf("  %6ld  %s\n", count[k], psdm_fault_text((psdm_fault)k));
  for (long k = 0; k < r->fault_lines.rows && k < SHOWN; k++)
    printf("          %s\n", tool_safe(r->fault_lines.item[k]));
  if (r->fault_lines.rows > SHOWN) printf("          and more; --json has the first of each kind\n");
}

static void print_log(const psdm_calibrate_result *r) {
  printf("%s: %ld rows of %ld log%s, %ld segment%s, %.6g Hz; %ld fitted%s, %s, %.1f s\n", tool_safe(r->name), r->rows,
         r->logs.rows, r->logs.rows > 1 ? "s" : "", r->segments, r->segments > 1 ? "s" : "", r->rate, r->used,
         r->choices.stride > 1 ? " after decimation" : "", r->estimator, r->seconds);
  print_faults(r);
}

static void print_choices(const psdm_calibrate_result *r) {
  printf("\nchosen:\n");
  for (long k = 0; k < r->reasons.rows; k++) printf("  %s\n", settings_named(r->reasons.item[k]));
}

/* ---- errors ---- */

static void print_fit(const psdm_named_fit *f) {
  printf("   %9.4g %6.2f %6.2f %8.5f", f->rmse, 100 * f->rel, 100 * f->nrmse, f->r2);
}

static void print_part(const char *name, long train_rows, double train_rel, long held_rows, double held_rel,
                       bool held) {
  if (!train_rows) return;
  printf("  %-12s   %9ld %6.2f", name, train_rows + held_rows, 100 * train_rel);
  if (held) printf(" %6.2f", 100 * held_rel);
  printf("\n");
}

static void print_errors(const psdm_calibrate_result *r) {
  const psdm_fit_set *t = &r->train, *h = &r->heldout;
  bool held = h->all.rows > 0;
  printf("\ntorque error, rows in motion:\n  %-12s   %9s %6s %6s %8s", "training", "RMSE", "rel %", "nrm %", "R2");
  if (held) printf("   %9s %6s %6s %8s  (held out)", "RMSE", "rel %", "nrm %", "R2");
  printf("\n");
  for (long i = 0; i < r->n; i++) {
    printf("  %-12.12s", tool_safe(t->joints.item[i].name));
    print_fit(&t->joints.item[i]);
    if (held) print_fit(&h->joints.item[i]);
    printf("\n");
  }
  printf("  %-12s   %9s %6s", "", "", "rel %");
  if (held) printf(" %6s", "held");
  printf("   (|error| / |torque| over all joints)\n");
  print_part("in motion", t->rows, t->global_rel, h->rows, h->global_rel, held);
  print_part("all rows", t->all.rows, t->all.global_rel, h->all.rows, h->all.global_rel, held);
  print_part("at rest", t->rest.rows, t->rest.global_rel, h->rest.rows, h->rest.global_rel, held);
  print_part("as logged", t->raw.rows, t->raw.global_rel, h->raw.rows, h->raw.global_rel, held);
}

/* ---- what was found ---- */

static void print_parameters(const psdm_calibrate_result *r) {
  printf("\nbase parameters:%s\n  %-6s %13s %11s %7s\n",
         r->compare ? "  (and the compared result, with the distance in sd)" : "", "name", "value", "sd", "sd %");
  for (long k = 0; k < r->parameters.rows; k++) {
    const psdm_fitted_parameter *p = &r->parameters.item[k];
    printf("  %-6s %13.6g %11.3g %7.1f", p->name, p->value, p->sd, 100 * p->sd / fabs(p->value));
    if (r->compare)
      printf(" %13.6g %6.1f", r->compare->parameters.item[k].compared, r->compare->parameters.item[k].sds_apart);
    printf("%s\n", p->prior_share > 0.5 ? "   mostly from the prior" : p->essential ? "" : "   not essential");
  }
}

static void print_friction(const psdm_calibrate_result *r) {
  printf("\nfriction of the drives (x position, v speed, f rigid torque):\n");
  for (long i = 0; i < r->friction.rows; i++) {
    const psdm_fitted_friction *drive = &r->friction.item[i];
    printf("  %-12.12s", tool_safe(drive->joint));
    for (long k = 0; k < drive->columns.rows; k++) {
      const psdm_friction_column *column = &drive->columns.item[k];
      const char *sign = column->gain < 0 ? (k ? " - " : " -") : k ? " + " : " ";
      printf("%s%.4g", sign, fabs(column->gain));
      if (strcmp(column->column, psdm_column_text(PSDM_COLUMN_OFFSET)) != 0 || column->load)
        printf(" %s", column->text);
    }
    printf("\n");
  }
}

static void print_worth(const psdm_calibrate_result *r) {
  enum { SHOWN = 5 };
  printf("\ncondition number %.3g; residuals: Durbin-Watson %.2f (2: white), uncorrelated after %.0f samples; cost "
         "over ordinary least squares %.3f\n",
         r->condition, r->durbin_watson, r->correlation, r->cost_ratio);
  for (long k = 0; k < r->blind.rows && k < SHOWN; k++)
    printf("%s  %s\n", k ? "" : "hardly excited:\n", r->blind.item[k]);
  if (r->blind.rows > SHOWN) printf("  and more; --json has all of them\n");
}

static void print_comparison(const psdm_calibrate_result *r) {
  const psdm_comparison *c = r->compare;
  if (!c) return;
  printf("\non the same %ld %s rows:\n  %-12s %12s %12s\n", c->rows,
         strcmp(c->part, "heldout") == 0 ? "held-out" : "training", "RMSE", "this", "compared");
  for (long i = 0; i < c->joints.rows; i++)
    printf("  %-12.12s %12.4g %12.4g\n", tool_safe(r->train.joints.item[i].name), c->joints.item[i].rmse,
           c->joints.item[i].rmse_compared);
  printf("  %-12s %12.2f %12.2f\n", "rel %", 100 * c->global_rel, 100 * c->global_rel_compared);
}

static void print_verdict(const psdm_calibrate_result *r) {
  const verdict_of v = VERDICT_OF(r->verdict);
  for (long k = 0; k < r->doubts.rows; k++)
    printf("%s  %s\n", k ? "" : "\ncautions:\n", settings_named(r->doubts.item[k]));
  calibrate_print_verdict(
      &v, r->verdict.heldout ? "held-out rows" : "parts of the log, each predicted by a fit to the others",
      r->verdict.error);
}

void calibrate_print(const psdm_calibrate_result *r) {
  print_log(r);
  print_choices(r);
  print_errors(r);
  print_parameters(r);
  print_friction(r);
  print_worth(r);
  print_comparison(r);
  print_verdict(r);
}
