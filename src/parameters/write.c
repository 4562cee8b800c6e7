/* write.c: the result of a calibration, as YAML. */
#include <inttypes.h>
#include <math.h>

#include "parameters/parameters.h"

/* YAML's own words for non-finite numbers */
static void put(psdm_output *out, const char *before, double x) {
  psdm_output_text(out, before);
  if (isfinite(x)) psdm_output_number(out, x);
  else psdm_output_text(out, isnan(x) ? ".nan" : x > 0 ? ".inf" : "-.inf");
}

static void put_list(psdm_output *out, const char *before, const double *x, int count, const char *after) {
  psdm_output_text(out, before);
  for (int i = 0; i < count; i++) put(out, i ? ", " : "", x[i]);
  psdm_output_text(out, after);
}

/* quoted; characters that YAML cannot hold become question marks, since a name is only for the reader */
static void put_name(psdm_output *out, const char *name) {
  psdm_output_text(out, "\"");
  for (const char *c = name; *c; c++) {
    unsigned char byte = (unsigned char)*c;
    bool control =
        byte < 0x20 || byte == 0x7F || (byte == 0xC2 && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xA0);
    const char plain[2] = {control ? '?' : *c, '\0'};
    if (control && byte == 0xC2) c++;
    if (*c == '"' || *c == '\\') psdm_output_text(out, "\\");
    psdm_output_text(out, plain);
  }
  psdm_output_text(out, "\"");
}

static void write_column(psdm_output *out, const psdm_column *c) {
  psdm_output_print(out, "{column: \"%s\"", psdm_column_text(c->kind));
  if (c->width != 0) put(out, ", width: ", c->width);
  if (c->load) psdm_output_print(out, ", load: %d", c->load);
  put(out, ", gain: ", c->gain);
  put(out, ", sd: ", c->sd);
  psdm_output_text(out, "}");
}

static void write_friction(const psdm_parameters *p, psdm_output *out) {
  psdm_output_text(out, "friction:  # of each drive: gain times column; x, v its position and speed, f its rigid "
                        "torque, load: times |f| or f^2\n");
  for (int i = 0; i < p->n; i++) {
    if (!p->columns[i]) psdm_output_text(out, "  - []\n");
    for (int k = 0; k < p->columns[i]; k++) {
      psdm_output_text(out, k ? "    - " : "  - - ");
      write_column(out, &p->column[i][k]);
      psdm_output_text(out, "\n");
    }
  }
}

static void write_joints(const psdm_joint_fit *joint, int n, psdm_output *out) {
  static const size_t offset[] = {offsetof(psdm_joint_fit, rmse), offsetof(psdm_joint_fit, rel),
                                  offsetof(psdm_joint_fit, nrmse), offsetof(psdm_joint_fit, r2)};
  static const char *const key[] = {"rmse", "rel", "nrmse", "r2"};
  psdm_output_text(out, "rows: [");
  for (int i = 0; i < n; i++) psdm_output_print(out, "%s%ld", i ? ", " : "", joint[i].rows);
  psdm_output_text(out, "]");
  for (int k = 0; k < 4; k++) {
    psdm_output_print(out, ", %s: [", key[k]);
    for (int i = 0; i < n; i++) put(out, i ? ", " : "", *(const double *)((const char *)&joint[i] + offset[k]));
    psdm_output_text(out, "]");
  }
  psdm_output_text(out, "}\n");
}

static void write_fit(const psdm_part_fit *fit, int n, const char *name, psdm_output *out) {
  psdm_output_print(out, "  %s: {", name);
  put(out, "global_rel: ", fit->global_rel);
  psdm_output_text(out, ", ");
  write_joints(fit->joint, n, out);
}

/* steps choose nothing; their rate is a predictor's initial one */
static void write_choices(const psdm_parameters *p, psdm_output *out) {
  if (p->lugre) {
    put(out, "choices: {rate: ", p->rate);
    psdm_output_text(out, "}\n");
    return;
  }
  psdm_output_print(out, "choices: {kinematics: %s", psdm_kinematics_name(p->source));
  put(out, ", cutoff: ", p->cutoff);
  put(out, ", delay: ", p->delay);
  put(out, ", lambda: ", p->lambda);
  put(out, ", rest: ", p->rest);
  put(out, ", rate: ", p->rate);
  psdm_output_text(out, "}\n");
}

static void write_full(const psdm_parameters *p, psdm_output *out) {
  psdm_output_text(out, "pi:  # full standard parameters of each link: m mx my mz XX XY XZ YY YZ ZZ\n  links:\n");
  for (int k = 0; k < p->links; k++) put_list(out, "    - [", p->pi + 10L * k, 10, "]\n");
  put_list(out, "  drives: [", p->pi + 10L * p->links, p->standard - 10 * p->links, "]\n");
}

/* ---- found by steps only ---- */

static void write_steps(const psdm_parameters *p, psdm_output *out) {
  psdm_output_text(out, "route: steps\nsteps: [");
  for (int k = 0, count = 0; k < PSDM_STEPS; k++)
    if (p->steps >> k & 1) psdm_output_print(out, "%s%s", count++ ? ", " : "", psdm_step_name((psdm_step)k));
  psdm_output_print(out, "]\ncurrents: %s\nmotors:  # torque constant of each drive, behind its gear: %s\n",
                    p->currents ? "true" : "false", p->currents ? "Nm/A" : "a factor of the logged torque");
  for (int i = 0; i < p->n; i++) {
    put(out, "  - {constant: ", p->torque_constant[i]);
    put(out, ", sd: ", p->torque_constant_sd[i]);
    psdm_output_text(out, "}\n");
  }
}

static void write_lugre(const psdm_parameters *p, psdm_output *out) {
  psdm_output_text(out, "lugre:  # friction of each drive, and the numbers' sd in the same order\n");
  for (int i = 0; i < p->n; i++) {
    psdm_friction f = p->lugre[i];
    if (!f.given) psdm_output_text(out, "  - none\n");
    for (int k = 0; k < PSDM_FRICTION_NUMBERS && f.given; k++) {
      psdm_output_print(out, "%s%s: ", k ? ", " : "  - {", psdmp_parameters_lugre_key[k]);
      put(out, "", *psdmp_parameters_lugre_number(&f, k));
    }
    if (f.given) put_list(out, ", sd: [", p->lugre_sd + PSDM_FRICTION_NUMBERS * i, PSDM_FRICTION_NUMBERS, "]}\n");
  }
}

static void write_step_errors(const psdm_parameters *p, psdm_output *out) {
  psdm_output_text(out, "step_errors:  # held-out rows, of the torque that the step fits\n");
  for (int k = 0; k < PSDM_STEPS; k++) {
    psdm_output_print(out, "  %s: {", psdm_step_name((psdm_step)k));
    write_joints(p->step_fit + (long)k * p->n, p->n, out);
  }
}

/* the lower triangle, one row a line */
static void write_covariance(const psdm_parameters *p, psdm_output *out) {
  int wide = psdmp_parameters_wide(p);
  psdm_output_print(out, "covariance:  # of %s: rows of the lower triangle\n",
                    p->lugre ? "the motors' constants, theta, then the numbers of lugre, drive by drive"
                             : "theta, then of the gains");
  for (int i = 0; i < wide; i++) put_list(out, "  - [", p->covariance + (long)i * wide, i + 1, "]\n");
}

static void write_theta(const psdm_parameters *p, psdm_output *out) {
  psdm_output_text(out, "theta:\n");
  for (int j = 0; j < p->base; j++) {
    psdm_output_print(out, "  %s: {", p->theta[j].name);
    put(out, "value: ", p->theta[j].value);
    put(out, ", sd: ", p->theta[j].sd);
    put(out, ", prior: ", p->theta[j].prior_share);
    if (!p->theta[j].essential) psdm_output_text(out, ", essential: false");
    psdm_output_text(out, "}\n");
  }
}

void psdm_parameters_write(const psdm_parameters *p, psdm_output *out) {
  psdm_output_text(out, "format: psdm-parameters-1\nrobot: {name: ");
  put_name(out, p->robot);
  if (p->kinematics) psdm_output_print(out, ", kinematics: \"%016" PRIx64 "\"", p->kinematics);
  psdm_output_text(out, "}\n");
  if (p->lugre) write_steps(p, out);
  else psdm_output_print(out, "estimator: %s\n", psdm_estimator_name(p->estimator));
  write_theta(p, out);
  if (p->pi) write_full(p, out);
  if (p->lugre) write_lugre(p, out);
  else write_friction(p, out);
  if (p->theta_load) {
    psdm_output_text(out, "load:  # base parameters whose torque is f\n");
    put_list(out, "  [", p->theta_load, p->base, "]\n");
  }
  if (p->tool)
    put_list(out, "tool: [", p->tool, 10, "]  # m mx my mz XX XY XZ YY YZ ZZ, known beforehand; theta has it\n");
  if (p->sigma) put_list(out, "sigma: [", p->sigma, p->n, "]\n");
  put_list(out, "speed: [", p->speed, p->n, "]\n");
  if (p->load) put_list(out, "mean_load: [", p->load, p->n, "]\n");
  write_choices(p, out);
  psdm_output_print(out, "errors:  # %s\n", p->lugre ? "of the last step" : "rows in motion");
  write_fit(&p->train, p->n, "train", out);
  write_fit(&p->heldout, p->n, "heldout", out);
  if (p->step_fit) write_step_errors(p, out);
  if (p->covariance) write_covariance(p, out);
}
