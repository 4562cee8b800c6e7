/* cmd_calibrate.c: psdm calibrate: from a log to a model and its reliability. */
#include "cmd_calibrate.h"

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Identifies a robot's base parameters and the friction of its drives from logs: tau = Y(q, qd, qdd) theta + "
    "friction. The robot file needs no inertias.\n"
    "Filter, torque delay, friction columns and prior weight are chosen by cross-validation on the training rows; "
    "held-out rows are used only for the\n"
    "final errors. The main figures are for rows in which a joint moves. The verdict is good, usable, poor or useless, "
    "by the rules of\n"
    "docs/calibrate.md; exit 1 when it is poor or useless (--accept) or a threshold is not met. The parameters are "
    "written in any case. An interrupt\n"
    "(Ctrl-C) keeps the best so far, with exit code 130.\n"
    "\n"
    "In steps (--route steps, or a step before each log's name), each from its own experiment (psdm excite --for "
    "STEP): motor constants from known\n"
    "masses, then gravity, LuGre friction, and the remaining inertias. Each step can be run alone: --params reads the "
    "results of earlier runs, --out is\n"
    "rewritten completely after every step. docs/steps.md has the equations.\n"
    "\n"
    "estimators:\n" PSDM_ESTIMATOR_LIST(
        TOOL_WORD_HELP) "\nlogs: CSV (a header with t, q1.., optionally qd1.., qdd1.., and tau1.. or i1..; motor side "
                        "qm1.., taum1..), its gzip, .mat, HDF5\n"
                        "\nexamples:\n"
                        "  psdm calibrate robots/kuka_kr6.yaml --log run.csv --holdout 0.3 --out kr6_params.yaml\n"
                        "  psdm calibrate arm.yaml --log monday.csv tuesday.csv.gz --holdout blocks:0.5/4 --json\n"
                        "  psdm calibrate arm.yaml --log run.csv --columns t=1,q=2:7,tau=8:13 --degrees --estimator "
                        "wls "
                        "--plain-friction\n"
                        "  psdm calibrate arm.yaml --log run.csv --predict rows.csv --urdf arm_identified.urdf "
                        "--codegen "
                        "arm_c --max-rel 0.05\n"
                        "  psdm calibrate arm.yaml --log today.csv --compare arm_params.yaml\n"
                        "  psdm calibrate arm.yaml --log motor:empty.csv motor:loaded.csv gravity:slow.csv --weight "
                        "loaded.csv=2.5,0,0,0.1 --out arm_params.yaml\n"
                        "  psdm calibrate arm.yaml --log friction:sines.csv inertia:run.csv --params arm_params.yaml "
                        "--out "
                        "arm_params.yaml\n"
                        "  psdm eval arm.yaml inverse --params arm_params.yaml --friction --in states.csv\n";

const command_line calibrate_line = {"calibrate", NULL, positional, help};

/* ---- the end of both reports ---- */

void calibrate_print_verdict(const verdict_of *v, const char *of, double rel) {
  printf("\nverdict: %s; error of %.2f %% (%s)", v->word, 100 * rel, of);
  if (v->asked) printf("; %s", v->failures ? "not good enough" : "all thresholds are met");
  printf("\n");
  for (long k = 0; k < v->failures; k++) printf("  %s\n", v->failure[k]);
  for (long k = 0; k < v->findings; k++)
    printf("  %s: %s (%s)\n", v->finding[k].verdict, settings_named(tool_safe(v->finding[k].text)), v->finding[k].rule);
}

static verdict_of verdict_of_job(const psdm_job *job) {
  const psdm_result *answer = psdm_job_result(job);
  if (answer->type == &psdm_calibrate_result_type) return VERDICT_OF(((const psdm_calibrate_result *)answer)->verdict);
  return VERDICT_OF(((const psdm_calibrate_steps_result *)answer)->verdict);
}

/* why it is not good, where standard output is taken */
static void warn_verdict(const psdm_job *job) {
  const verdict_of v = verdict_of_job(job);
  psdm_verdict accepted = PSDM_VERDICT_GOOD, found;
  psdm_verdict_find(v.accept, &accepted);
  for (long k = 0; k < v.failures; k++) tool_warn("%s", v.failure[k]);
  for (long k = 0; k < v.findings && k < 8; k++) {
    if (!psdm_verdict_find(v.finding[k].verdict, &found) || found <= accepted) break;
    tool_warn("verdict: %s: %s", v.finding[k].verdict, tool_safe(v.finding[k].text));
  }
}

/* ---- the command ---- */

static void print(const psdm_job *job) {
  const psdm_result *answer = psdm_job_result(job);
  if (answer->type == &psdm_calibrate_result_type) calibrate_print((const psdm_calibrate_result *)answer);
  else calibrate_steps_print((const psdm_calibrate_steps_result *)answer);
}

static int report(psdm_job *job) {
  static const char *const files[] = {"out", "predict", "urdf", NULL};
  bool json = tool_job_flag(job, "json"), words = tool_job_words(job, files);
  int code = tool_job_json(job);
  if (words) print(job);
  else if (!json) warn_verdict(job);
  if (code == EXIT_OK && fflush(stdout) == 0 && !ferror(stdout)) psdm_job_settle(job);
  return code == EXIT_OK && !psdm_job_good(job) ? EXIT_QUALITY : code;
}

int cmd_calibrate(int argc, char **argv) {
  psdm_job *job;
  int code = tool_job_run(&calibrate_line, argc, argv, &job);
  if (code < 0) code = report(job);
  psdm_job_free(job);
  return code;
}
