/* cmd_simulate.c: psdm simulate: its command line, and how a run went: final state, events, speed, and where all
 * energy went. */
#include <math.h>

#include "tool.h"

static const char *const positional[] = {"ROBOT", NULL};

#define INTEGRATORS PSDM_INTEGRATOR_LIST(TOOL_WORD_HELP)
#define FRICTIONS PSDM_FRICTION_LIST(TOOL_WORD_HELP)
#define CONTROLLERS PSDM_CONTROL_LIST(TOOL_WORD_HELP)
#define REFERENCES PSDM_REFERENCE_LIST(TOOL_WORD_HELP)
static const char help[] =
    "Simulates a robot: M(q) qdd + c(q, qd) + g(q) + friction = tau + J'w, with optional springs, loads, limits and a "
    "controller.\n"
    "By default it moves freely, from rest at q = 0. The summary has the final state and an energy audit.\n"
    "Exit 1 when the motion diverges or exceeds --wall, 130 when interrupted (Ctrl-C): the motion until then is "
    "written.\n"
    "\n"
    "integrators:\n" INTEGRATORS "\n"
    "friction, each including those above it:\n" FRICTIONS "\n"
    "controllers (e = q_d - q):\n" CONTROLLERS "\n"
    "references:\n" REFERENCES "\n"
    "examples:\n"
    "  psdm simulate robots/kuka_kr6.yaml --time 60 --out free.csv\n"
    "  psdm simulate robots/two_link.yaml --time 5 --control computed-torque --reference quintic --to 1.2,0.4 "
    "--duration 2\n"
    "  psdm simulate robots/kuka_kr6.yaml --time 5 --control pd-gravity --rate 500 --quantum 1e-4 --reference sines "
    "--log log.csv\n"
    "  psdm simulate robots/kuka_kr6.yaml --time 10 --control adaptive --model-error 0.2 --reference fourier --json\n"
    "  psdm simulate robots/two_link.yaml --inverse --reference quintic --to 1.2,0.4 --time 2 --out torques.csv\n"
    "  psdm simulate arm.yaml --inverse --reference excitation.csv --ignore-extra --friction lugre --log log.csv "
    "--log-rate 1000 --log-noise 0.005\n";

const command_line simulate_line = {"simulate", NULL, positional, help};

static double speed_of(const psdm_simulation *j) { return j->run.wall > 0 ? (j->run.t - j->start) / j->run.wall : NAN; }

static void print_head(const psdm_simulation *j) {
  const psdm_sim_result *r = &j->run;
  printf("%s: %.6g s simulated in %.3g s", tool_safe(psdm_robot_name(j->robot)), r->t - j->start, r->wall);
  if (isfinite(speed_of(j))) printf(", %.4g times real time", speed_of(j));
  printf("\n  %s, %s; %ld steps, %ld evaluations\n", psdm_integrator_name(r->integrator),
         r->native ? "generated code" : "recursions", r->steps, r->evaluations);
  printf("  %s\n", j->stopped                               ? "interrupted"
                   : r->end == PSDM_SIM_TIME || !r->text[0] ? psdm_sim_end_text(r->end)
                                                            : settings_named(r->text));
}

static const psdm_joint *joint_of(const psdm_simulation *j, int q) {
  int k = 0;
  while (psdm_robot_joint(j->robot, k)->q != q) k++;
  return psdm_robot_joint(j->robot, k);
}

static void print_state(const psdm_simulation *j, const psdm_sim_row *row) {
  printf("\n  at t = %-13.6g %12s %12s %12s %12s", row->t, "q", "qd", "qdd", "tau");
  if (row->theta) printf(" %12s", "theta");
  if (j->rms) printf(" %12s %12s", "error", "rms error");
  printf("\n");
  for (int i = 0; i < row->n; i++) {
    printf("  %-20s %12.6g %12.6g %12.6g %12.6g", tool_safe(joint_of(j, i)->name), row->q[i] + 0.0, row->qd[i] + 0.0,
           row->qdd[i] + 0.0, row->tau[i] + 0.0);
    if (row->theta) printf(" %12.6g", row->theta[i] + 0.0);
    if (j->rms) printf(" %12.3g %12.3g", j->final[i] + 0.0, j->rms[i]);
    printf("\n");
  }
  if (row->passive && row->joints) {
    printf("  %-20s", "passive joints");
    for (int i = 0; i < row->joints; i++) printf(" %12.6g", row->passive[i] + 0.0);
    printf("\n");
  }
}

static void print_energies(const char *name, double start, double end) {
  printf("    %-26s %14.6g %14.6g\n", name, start + 0.0, end + 0.0);
}

static void print_work(const char *name, double value) { printf("    %-26s %14s %14.6g\n", name, "", value + 0.0); }

static void print_audit(const psdm_simulation *j, const psdm_sim_row *row) {
  const psdm_sim_result *r = &j->run;
  printf("\n  %-28s %14s %14s\n", "energy, J", "start", "end");
  print_energies("kinetic", j->first[0], row->kinetic);
  print_energies("gravity's", j->first[1], row->potential);
  if (row->theta) print_energies("springs'", j->first[2], row->elastic);
  if (row->z) print_energies("bristles'", j->first[3], row->bristles);
  print_energies("in all", r->energy_start, r->energy_end);
  print_work("supplied by motors", row->supplied);
  print_work("dissipated", row->dissipated);
  if (j->wrench) print_work("by the wrench", row->external);
  if (j->payload) print_work("by changes of load", row->payload);
  printf("  unaccounted: at most %.2g of the larger of peak kinetic energy and work\n", r->energy_balance);
  bool alone = row->supplied == 0 && row->dissipated == 0 && row->external == 0 && row->payload == 0;
  if (alone)
    printf("  drift, max |E - E0|: %.2g of the peak kinetic energy, %.6g J\n", r->energy_drift, r->peak_kinetic);
}

static void print_events(const psdm_simulation *j) {
  const psdm_sim_result *r = &j->run;
  bool some = r->reversals || r->sticks || r->limits;
  if (some)
    printf("\n  events: %ld changes of direction, %ld times a joint came to rest, %ld stops hit\n", r->reversals,
           r->sticks, r->limits);
}

static void print_inverse(const psdm_simulation *j) {
  printf("%s: torques along a motion from t = %.6g to %.6g s, %ld rows\n", tool_safe(psdm_robot_name(j->robot)),
         j->begin, j->end, j->along);
  printf("  %-20s %12s %12s %12s %12s\n", "joint", "peak |qd|", "peak |tau|", "rms tau", "effort limit");
  for (int i = 0; i < j->n; i++) {
    const psdm_joint *joint = joint_of(j, i);
    printf("  %-20s %12.5g %12.5g %12.5g", tool_safe(joint->name), j->peak_speed[i], j->peak_torque[i],
           j->rms_torque[i]);
    if (isfinite(joint->limits.effort))
      printf(" %12.5g%s\n", joint->limits.effort, j->peak_torque[i] > joint->limits.effort ? "  exceeded" : "");
    else printf(" %12s\n", "-");
  }
}

static void print(const psdm_job *job, const char *out, const char *log) {
  const psdm_simulation *j = psdm_job_simulation(job);
  if (j->inverse) {
    print_inverse(j);
  } else {
    print_head(j);
    print_state(j, &j->last);
    print_audit(j, &j->last);
    print_events(j);
  }
  if (out) printf("%s  %ld rows in %s\n", j->inverse ? "" : "\n", j->rows, tool_safe(out));
  if (log) printf("  %ld rows in %s\n", j->log_rows, tool_safe(log));
}

int cmd_simulate(int argc, char **argv) {
  static const char *const files[] = {"out", "log", NULL};
  psdm_job *job;
  int code = tool_job_run(&simulate_line, argc, argv, &job);
  if (code < 0 && (code = tool_job_json(job)) == EXIT_OK) {
    if (tool_job_words(job, files)) print(job, tool_job_text(job, "out"), tool_job_text(job, "log"));
    code = psdm_job_good(job) ? EXIT_OK : EXIT_QUALITY;
  }
  psdm_job_free(job);
  return code;
}
