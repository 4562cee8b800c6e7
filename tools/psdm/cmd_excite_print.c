/* cmd_excite_print.c: the quality of a motion, its margins to the limits, and the next commands. */
#include <math.h>
#include <string.h>

#include "cmd_excite.h"

static void print_head(const excite_job *j) {
  const psdm_excitation *e = j->result;
  const psdm_excite_options *o = &j->options;
  printf("%s: %s, %.6g s\n", tool_safe(psdm_robot_name(j->robot)), psdm_step_help(e->step), e->seconds);
  if (e->step != PSDM_STEP_INERTIA) return;
  printf("  %s, %s; %d parameters to identify%s\n",
         o->shape == PSDM_EXCITE_SINES ? "a few sines per joint (eq. 22 of Lloyd, Irani, Ahmadi 2022)"
                                       : "Fourier series (Swevers et al. 1997)",
         o->goal == PSDM_EXCITE_CONDITION ? "minimal condition number" : "maximal determinant", e->parameters,
         o->no_friction ? "" : ", friction of the joints among them");
}

/* ---- limits ---- */

/* '*' where it is in neither option nor file */
static const char *mark(const excite_job *j, int which, int joint) {
  return j->source[which * j->n + joint] == LIMIT_DEFAULT ? "*" : " ";
}

static void print_share(double value, double limit, const char *sign) {
  if (isnan(value)) printf(" %9s", "-");
  else printf(" %9.4g", value);
  if (isfinite(limit)) printf(" of %-8.4g%s", limit, sign);
  else printf(" %-12s", "");
}

static void print_joint(const excite_job *j, int i) {
  const excite_measure *m = &j->planned;
  const psdm_joint *joint = excite_joint(j, i);
  printf("  %-16.16s %8.4g %8.4g in %8.4g%s%8.4g%s", tool_safe(joint->name), m->lower[i] + 0.0, m->upper[i] + 0.0,
         j->lower[i] + 0.0, mark(j, LIMIT_LOWER, i), j->upper[i] + 0.0, mark(j, LIMIT_UPPER, i));
  print_share(m->velocity[i], j->velocity[i], mark(j, LIMIT_VELOCITY, i));
  print_share(m->acceleration[i], j->acceleration[i], mark(j, LIMIT_ACCELERATION, i));
  if (j->torques) print_share(m->effort[i], j->effort[i], " ");
  printf("\n");
}

static void print_limits(const excite_job *j) {
  bool defaults = false;
  printf("\n  %-16s %8s %8s    %8s %8s  %9s %12s %9s %12s", "joint", "q from", "to", "lowest", "highest", "|qd|", "",
         "|qdd|", "");
  if (j->torques) printf(" %9s", "|tau|");
  printf("\n");
  for (int i = 0; i < j->n; i++) print_joint(j, i);
  for (int k = 0; k < LIMITS * j->n; k++) defaults |= j->source[k] == LIMIT_DEFAULT;
  if (defaults)
    printf("  * not in the robot file: assumed; override with --lower, --upper, --velocity, --acceleration\n");
  if (j->torques)
    printf("  torques %s\n", j->friction ? "with the file's steady friction" : "without friction: the file has none");
  else printf("  no torques: %s\n", j->unknown.text);
  if (isfinite(j->planned.gap))
    printf("  smallest gap between links, or to the floor: %.4g m\n", fmin(j->planned.gap, j->between.gap));
  else printf("  collisions are not checked: the robot file has no `collision:`\n");
  printf("  verified at %ld points, and at %ld along the rows as a robot would interpolate them: at most %.2f %% of a "
         "limit, %.2f %%\n",
         j->planned.points, j->between.points, 100 * j->planned.worst, 100 * j->between.worst);
  if (j->read_back) printf("  file read back: %.2f %%\n", 100 * j->read.worst);
}

/* ---- quality ---- */

static void print_condition(const char *name, double found, double best, double median) {
  printf("  %-34s %10.4g %16.4g %10.4g %20.3g %10.3g\n", name, found, best, median, best / found, median / found);
}

static void print_quality(const excite_job *j) {
  const psdm_excitation *e = j->result;
  if (e->step != PSDM_STEP_INERTIA) return;
  printf("\n  %-34s %10s %16s %10s %20s %10s\n", "condition number", "found", "random: best", "median",
         "times better: best", "median");
  print_condition("scaled, as in the fit", e->condition, e->random_best, e->random_median);
  print_condition("unscaled (eq. 23)", e->condition_plain, e->random_plain_best, e->random_plain_median);
  printf("  100 random motions, each as large as the limits allow\n");
  int ended = 0;
  for (int k = 0; k < e->starts; k++) ended += isfinite(e->start_condition[k]) != 0;
  printf("  %d start%s%s", e->starts, e->starts == 1 ? "" : "s", ended ? " ended with" : ", none of which converged");
  for (int k = 0; k < e->starts; k++)
    if (isfinite(e->start_condition[k])) printf(" %.4g", e->start_condition[k]);
  printf("; %ld evaluations, %.3g s%s\n", e->evaluations, e->wall,
         e->stopped ? j->interrupted ? ", interrupted" : ", stopped by --wall" : "");
}

/* ---- the parts of an experiment ---- */

static void print_part(const excite_job *j, const psdm_excite_part *part) {
  printf("  %10.4f %10.4f  %-16.16s", part->begin, part->end,
         part->joint < 0 ? "all" : tool_safe(excite_joint(j, part->joint)->name));
  if (part->amplitude > 0)
    printf(" sine of %.3g rad at %.3g Hz, up to %.3g rad/s\n", part->amplitude, part->frequency,
           part->amplitude * part->frequency * 2 * 3.14159265358979323846);
  else printf(" %s\n", part->direction > 0 ? "there" : part->direction < 0 ? "back" : "there and back");
}

static void print_parts(const excite_job *j) {
  const psdm_excitation *e = j->result;
  if (e->parts) printf("\n  %10s %10s  %s\n", "from, s", "to", "joint");
  for (int k = 0; k < e->parts; k++) print_part(j, &e->part[k]);
  for (int i = 0; i < j->n && e->blind_joints; i++)
    if (e->blind_joints[i])
      printf("  gravity never shows this mass at joint '%s': its torque constant cannot be identified this way, and "
             "the joint is not swept\n",
             tool_safe(excite_joint(j, i)->name));
}

/* ---- next commands ---- */

static void print_use(const excite_job *j) {
  const char *robot = tool_safe(j->path), *log = psdm_step_name(j->result->step);
  printf("\n  let the robot follow %s, record t, q and currents or torques as fast as possible, then\n",
         j->set.out ? tool_safe(j->set.out) : "it (--out FILE.csv)");
  switch (j->result->step) {
    case PSDM_STEP_MOTOR:
      printf("    (once without and once with the mass, or with several)\n");
      printf("    psdm calibrate %s --route steps --log motor:empty.csv motor:loaded.csv --weight "
             "loaded.csv=%.6g,%.6g,%.6g,%.6g --out params.yaml\n",
             robot, j->options.mass, j->options.com[0] + 0.0, j->options.com[1] + 0.0, j->options.com[2] + 0.0);
      break;
    case PSDM_STEP_INERTIA:
      printf("    psdm calibrate %s --log log.csv --holdout 0.3 --out params.yaml                                   "
             "all from this motion\n",
             robot);
      printf("    psdm calibrate %s --route steps --params params.yaml --log inertia:log.csv --out params.yaml      "
             "after motor, gravity, friction\n",
             robot);
      break;
    default:
      printf("    psdm calibrate %s --route steps --params params.yaml --log %s:%s.csv --out params.yaml\n", robot, log,
             log);
  }
}

void excite_print(const excite_job *j) {
  print_head(j);
  print_limits(j);
  print_quality(j);
  print_parts(j);
  if (j->set.out) printf("\n  %ld rows in %s\n", j->rows.rows, tool_safe(j->set.out));
  print_use(j);
}
