/* cmd_excite.c: psdm excite: its command line; the quality of a motion, its margins to the limits, and the next
 * commands. */
#include <math.h>
#include <string.h>

#include "tool.h"

static const char *const positional[] = {"ROBOT", NULL};

static const char help[] =
    "Designs a motion for the robot to perform while it is recorded, for psdm calibrate. It respects all limits at all "
    "times: positions, velocities, accelerations,\n"
    "torques if inertias are known, and the distances required by `collision:` of the robot file; all of this is "
    "verified before a file is written.\n"
    "The robot file needs no inertias. Without limits in the file: +-2 rad, 2 rad/s, 8 rad/s^2 (0.5 m, 0.5 m/s, 2 "
    "m/s^2).\n"
    "An interrupt (Ctrl-C) ends the search with the best so far, and exit code 130.\n"
    "\n"
    "experiments, in the order in which psdm calibrate --route steps uses them:\n" PSDM_STEP_LIST(
        TOOL_WORD_HELP) "\nexamples:\n"
                        "  psdm excite robots/kuka_kr6.yaml --out excitation.csv\n"
                        "  psdm excite robots/kuka_lbr7.yaml --seconds 20 --harmonics 8 --starts 16 --velocity 1.5 "
                        "--periods 3 --out excitation.csv\n"
                        "  psdm excite arm.yaml --shape sines --goal condition --band 0.8 --json\n"
                        "  psdm excite arm.yaml --for motor --mass 3.5 --com 0,0,0.1 --out motor.csv\n"
                        "  psdm excite arm.yaml --for friction --levels 12 --out friction.csv\n"
                        "  psdm simulate arm.yaml --inverse --reference excitation.csv --ignore-extra --friction lugre "
                        "--log log.csv --log-rate 1000\n";

const command_line excite_line = {"excite", NULL, positional, help};

static void print_head(const psdm_job *job, const psdm_excite_result *r, psdm_step step) {
  printf("%s: %s, %.6g s\n", tool_safe(r->robot), psdm_step_help(step), r->seconds);
  if (step != PSDM_STEP_INERTIA) return;
  printf("  %s, %s; %ld parameters to identify%s\n",
         strcmp(r->shape, "sines") == 0 ? "a few sines per joint (eq. 22 of Lloyd, Irani, Ahmadi 2022)"
                                        : "Fourier series (Swevers et al. 1997)",
         strcmp(r->goal, "condition") == 0 ? "minimal condition number" : "maximal determinant", r->parameters,
         tool_job_flag(job, "no_friction") ? "" : ", friction of the joints among them");
}

/* ---- limits ---- */

static bool is_default(const char *from) { return strcmp(from, "default") == 0; }

/* '*' where it is in neither option nor file */
static const char *mark(const char *from) { return is_default(from) ? "*" : " "; }

static void print_share(double value, double limit, const char *sign) {
  if (isnan(value)) printf(" %9s", "-");
  else printf(" %9.4g", value);
  if (isfinite(limit)) printf(" of %-8.4g%s", limit, sign);
  else printf(" %-12s", "");
}

static void print_joint(const psdm_excite_joint *m, bool torques) {
  const psdm_limits_from *limit = &m->limits;
  printf("  %-16.16s %8.4g %8.4g in %8.4g%s%8.4g%s", tool_safe(m->name), m->lower + 0.0, m->upper + 0.0,
         limit->lower + 0.0, mark(limit->lower_from), limit->upper + 0.0, mark(limit->upper_from));
  print_share(m->velocity, limit->velocity, mark(limit->velocity_from));
  print_share(m->acceleration, limit->acceleration, mark(limit->acceleration_from));
  if (torques) print_share(m->effort, limit->effort, " ");
  printf("\n");
}

static void print_joints(const psdm_excite_result *r) {
  bool defaults = false;
  printf("\n  %-16s %8s %8s    %8s %8s  %9s %12s %9s %12s", "joint", "q from", "to", "lowest", "highest", "|qd|", "",
         "|qdd|", "");
  if (r->torques) printf(" %9s", "|tau|");
  printf("\n");
  for (long i = 0; i < r->joints.rows; i++) {
    const psdm_limits_from *limit = &r->joints.item[i].limits;
    print_joint(&r->joints.item[i], r->torques);
    defaults |= is_default(limit->lower_from) || is_default(limit->upper_from) || is_default(limit->velocity_from) ||
                is_default(limit->acceleration_from);
  }
  if (defaults)
    printf("  * not in the robot file: assumed; override with --lower, --upper, --velocity, --acceleration\n");
}

static void print_limits(const psdm_job *job, const psdm_excite_result *r) {
  psdm_error unknown;
  print_joints(r);
  if (r->torques)
    printf("  torques %s\n", r->friction ? "with the file's steady friction" : "without friction: the file has none");
  else if (psdm_robot_ready(psdm_job_robot_used(job), &unknown)) /* behind ";": what other commands need */
    printf("  no torques: %.*s\n", (int)strcspn(unknown.text, ";"), unknown.text);
  if (isfinite(r->verified.motion.gap)) printf("  smallest gap between links, or to the floor: %.4g m\n", r->gap);
  else printf("  collisions are not checked: the robot file has no `collision:`\n");
  printf("  verified at %ld points, and at %ld along the rows as a robot would interpolate them: at most %.2f %% of a "
         "limit, %.2f %%\n",
         r->verified.motion.points, r->verified.rows.points, 100 * r->verified.motion.worst,
         100 * r->verified.rows.worst);
  if (r->verified.file) printf("  file read back: %.2f %%\n", 100 * r->verified.file->worst);
}

/* ---- quality ---- */

static void print_condition(const char *name, double found, double best, double median) {
  printf("  %-34s %10.4g %16.4g %10.4g %20.3g %10.3g\n", name, found, best, median, best / found, median / found);
}

static void print_quality(const psdm_excite_result *r) {
  printf("\n  %-34s %10s %16s %10s %20s %10s\n", "condition number", "found", "random: best", "median",
         "times better: best", "median");
  print_condition("scaled, as in the fit", r->condition, r->random->best, r->random->median);
  print_condition("unscaled (eq. 23)", r->condition_plain, r->random->plain_best, r->random->plain_median);
  printf("  100 random motions, each as large as the limits allow\n");
  long ended = 0, starts = r->starts.rows;
  for (long k = 0; k < starts; k++) ended += isfinite(r->starts.item[k]) != 0;
  printf("  %ld start%s%s", starts, starts == 1 ? "" : "s", ended ? " ended with" : ", none of which converged");
  for (long k = 0; k < starts; k++)
    if (isfinite(r->starts.item[k])) printf(" %.4g", r->starts.item[k]);
  printf("; %ld evaluations, %.3g s%s\n", r->evaluations, r->wall_seconds,
         r->stopped ? r->interrupted ? ", interrupted" : ", stopped by --wall" : "");
}

/* ---- the parts of an experiment ---- */

static void print_part(const psdm_excite_part_result *part) {
  printf("  %10.4f %10.4f  %-16.16s", part->begin, part->end, part->joint ? tool_safe(part->joint) : "all");
  if (part->amplitude > 0)
    printf(" sine of %.3g rad at %.3g Hz, up to %.3g rad/s\n", part->amplitude, part->frequency,
           part->amplitude * part->frequency * 2 * 3.14159265358979323846);
  else printf(" %s\n", part->direction > 0 ? "there" : part->direction < 0 ? "back" : "there and back");
}

static void print_parts(const psdm_excite_result *r) {
  if (r->parts.rows) printf("\n  %10s %10s  %s\n", "from, s", "to", "joint");
  for (long k = 0; k < r->parts.rows; k++) print_part(&r->parts.item[k]);
  for (long i = 0; i < r->joints.rows; i++)
    if (r->joints.item[i].blind)
      printf("  gravity never shows this mass at joint '%s': its torque constant cannot be identified this way, and "
             "the joint is not swept\n",
             tool_safe(r->joints.item[i].name));
}

/* ---- next commands ---- */

static void print_use(const psdm_job *job, psdm_step step, const char *out) {
  const char *robot = tool_safe(psdm_job_robot_path(job)), *log = psdm_step_name(step);
  const double mass = *(const psdm_setting_number *)psdm_job_value(job, "mass"),
               *com = ((const psdm_setting_vector *)psdm_job_value(job, "com"))->value;
  printf("\n  let the robot follow %s, record t, q and currents or torques as fast as possible, then\n",
         out ? tool_safe(out) : "it (--out FILE.csv)");
  switch (step) {
    case PSDM_STEP_MOTOR:
      printf("    (once without and once with the mass, or with several)\n");
      printf("    psdm calibrate %s --route steps --log motor:empty.csv motor:loaded.csv --weight "
             "loaded.csv=%.6g,%.6g,%.6g,%.6g --out params.yaml\n",
             robot, mass, com[0] + 0.0, com[1] + 0.0, com[2] + 0.0);
      break;
    case PSDM_STEP_INERTIA:
      printf("    psdm calibrate %s --log log.csv --holdout 0.3 --out params.yaml                                   "
             "all from this motion\n",
             robot);
      if (!psdm_robot_loops(psdm_job_robot_used(job)))
        printf("    psdm calibrate %s --route steps --params params.yaml --log inertia:log.csv --out params.yaml      "
               "after motor, gravity, friction\n",
               robot);
      break;
    default:
      printf("    psdm calibrate %s --route steps --params params.yaml --log %s:%s.csv --out params.yaml\n", robot, log,
             log);
  }
}

static void print(const psdm_job *job) {
  const psdm_excite_result *r = (const psdm_excite_result *)psdm_job_result(job);
  const char *out = tool_job_text(job, "out");
  psdm_step step = PSDM_STEP_INERTIA;
  psdm_step_find(r->for_, &step);
  print_head(job, r, step);
  print_limits(job, r);
  if (step == PSDM_STEP_INERTIA) print_quality(r);
  print_parts(r);
  if (out) printf("\n  %ld rows in %s\n", r->rows, tool_safe(out));
  print_use(job, step, out);
}

int cmd_excite(int argc, char **argv) {
  static const char *const files[] = {"out", NULL};
  psdm_job *job;
  int code = tool_job_run(&excite_line, argc, argv, &job);
  if (code < 0 && (code = tool_job_json(job)) == EXIT_OK && tool_job_words(job, files)) print(job);
  psdm_job_free(job);
  return code;
}
