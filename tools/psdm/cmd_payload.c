/* cmd_payload.c: psdm payload: its command line; the load, and how well torques are met with it. */
#include "tool.h"

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Finds mass, centre of mass and inertia of a robot's load, from logs of the calibrated robot (--params) with the "
    "load, and preferably without it too\n"
    "(--empty): the difference between the measured torque and that of the calibrated parameters is fitted by the "
    "columns of the link that carries the load.\n"
    "A load adds to ten standard parameters of one link, so the parameters of the loaded robot follow without a new "
    "calibration (--out). An interrupt\n"
    "(Ctrl-C) keeps the result from the rows so far, with exit code 130.\n"
    "\n"
    "logs: as psdm calibrate reads them\n"
    "\n"
    "examples:\n"
    "  psdm calibrate arm.yaml --log run.csv --covariance --out arm_params.yaml\n"
    "  psdm payload arm.yaml --params arm_params.yaml --log with_load.csv --empty without.csv --out loaded.yaml\n"
    "  psdm payload arm.yaml --params arm_params.yaml --log with_load.csv --json\n"
    "  psdm payload arm.yaml --params arm_params.yaml --load 2.5,0,0,0.08 --out loaded.yaml\n"
    "  psdm eval arm.yaml inverse --params loaded.yaml --friction --in states.csv\n";

const command_line payload_line = {"payload", NULL, positional, help};

/* one number, its standard deviation where logs gave it, and whether they say little about it */
static void print_number(const psdm_payload_result *r, int parameter, double scale, double value, double sd,
                         const char *unit) {
  printf(" %11.5g %s", scale * value, unit);
  if (r->verdict)
    printf("  +- %.2g%s", scale * sd, r->prior_share.item[parameter].value > 0.5 ? "  mostly from the prior" : "");
  printf("\n");
}

static void print_load(const psdm_payload_result *r) {
  static const psdm_inertia_pairs none;
  static const char *const pair[6] = {"xx", "xy", "xz", "yy", "yz", "zz"};
  const psdm_load_result *load = &r->load;
  const psdm_inertia_pairs *I = &load->inertia, *s = load->inertia_sd ? load->inertia_sd : &none;
  const double inertia[6] = {I->xx, I->xy, I->xz, I->yy, I->yz, I->zz},
               sd[6] = {s->xx, s->xy, s->xz, s->yy, s->yz, s->zz};
  printf("  mass    ");
  print_number(r, 0, 1, load->mass, load->mass_sd, "kg");
  for (int k = 0; k < 3; k++) {
    printf("  centre %c", "xyz"[k]);
    print_number(r, 1 + k, 1e3, load->com[k], load->com_sd[k], "mm");
  }
  for (int k = 0; k < 6; k++) {
    printf("  I%s     ", pair[k]);
    print_number(r, 4 + k, 1, inertia[k], sd[k], "kg m^2");
  }
}

static void print_fit(const psdm_payload_result *r) {
  printf("\ntorques of the logs with the load, rows in motion: |error| / |tau| %.2f %% with the empty robot's "
         "parameters, %.2f %% with the load\n\n",
         100 * r->before->global_rel, 100 * r->after->global_rel);
  printf("  %-16s %10s %10s %9s %9s\n", "joint", "rmse empty", "rmse with", "rel empty", "rel with");
  for (int i = 0; i < r->n; i++) {
    const psdm_named_fit *before = &r->before->joints.item[i], *after = &r->after->joints.item[i];
    printf("  %-16.16s %10.4g %10.4g %8.2f%% %8.2f%%\n", tool_safe(r->joints.item[i].name), before->rmse, after->rmse,
           100 * before->rel, 100 * after->rel);
  }
}

static void print_faults(const psdm_payload_result *r) {
  enum { SHOWN = 8 };
  for (int k = 0; k < SHOWN && k < r->fault_lines.rows; k++)
    printf("%s  %s\n", k ? "" : "\nfaults of the logs:\n", tool_safe(r->fault_lines.item[k]));
  if (r->fault_lines.rows > SHOWN) printf("  and more\n");
}

static void print(const psdm_payload_result *r) {
  printf("%s: load on link '%s', ", tool_safe(r->name), tool_safe(r->link));
  if (r->verdict) printf("from %ld rows, %.1f s\n", r->rows, r->seconds);
  else printf("as given\n");
  print_load(r);
  if (!r->verdict) return;
  print_fit(r);
  print_faults(r);
  for (int k = 0; k < r->remarks.rows; k++) printf("%s- %s\n", k ? "" : "\n", settings_named(r->remarks.item[k]));
  printf("\nverdict: %s%s%s\n", r->verdict->word, r->verdict->text[0] ? ": " : "", settings_named(r->verdict->text));
}

int cmd_payload(int argc, char **argv) {
  static const char *const files[] = {"out", "predict", NULL};
  psdm_job *job;
  int code = tool_job_run(&payload_line, argc, argv, &job);
  if (code < 0 && (code = tool_job_json(job)) == EXIT_OK) {
    const psdm_payload_result *r = (const psdm_payload_result *)psdm_job_result(job);
    if (tool_job_words(job, files)) print(r);
    else if (r->verdict && !r->verdict->good && !tool_job_flag(job, "json"))
      tool_warn("verdict: %s: %s", r->verdict->word, r->verdict->text);
    code = psdm_job_good(job) ? EXIT_OK : EXIT_QUALITY;
  }
  psdm_job_free(job);
  return code;
}
