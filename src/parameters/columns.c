/* columns.c: the columns of friction models.
 *
 * tanh(v/w): Coulomb friction with a smooth reversal. stop(x/w): z <- clip(z + dx/w, -1, 1), Coulomb friction that
 * depends on distance instead of speed, and keeps its value at rest (Maxwell slip; Lampaert et al. 2002). Times the
 * load: friction of gears under torque. */
#include <math.h>

#include "parameters/parameters.h"

static const char *const texts[] = {PSDM_COLUMN_LIST(PSDMP_BASE_LIST_WORD)};

const char *psdm_column_text(psdm_column_kind kind) { return psdmp_base_word(texts, PSDM_COLUMN_KINDS, (int)kind); }

static double sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

static double plain_value(const psdmp_parameters_column *c, double x, double v, double z) {
  double w = c->width;
  switch (c->kind) {
    case PSDM_COLUMN_VISCOUS: return v;
    case PSDM_COLUMN_OFFSET: return 1;
    case PSDM_COLUMN_SIGN: return sign(v);
    case PSDM_COLUMN_TANH: return tanh(v / w);
    case PSDM_COLUMN_STOP: return z;
    case PSDM_COLUMN_STRIBECK: return tanh(3 * v / w) * exp(-(v / w) * (v / w));
    case PSDM_COLUMN_POWER: return pow(fabs(v), w) * sign(v);
    case PSDM_COLUMN_ABSOLUTE: return fabs(v);
    case PSDM_COLUMN_LINEAR: return x;
    case PSDM_COLUMN_SINE: return sin(w * x);
    case PSDM_COLUMN_COSINE: return cos(w * x);
    default: return 0;
  }
}

double psdmp_parameters_column_value(const psdmp_parameters_column *c, double x, double v, double load, double z) {
  double plain = plain_value(c, x, v, z);
  return c->load ? plain * (c->load == 1 ? load : load * load) : plain;
}

double psdmp_parameters_column_stop(const psdmp_parameters_column *c, double dx, double z) {
  return fmax(-1, fmin(1, z + dx / c->width));
}

void psdmp_parameters_columns_at(const psdmp_parameters_column *column, int count, double x, double v, double load,
                                 psdmp_parameters_column_state *state, double *value) {
  double dx = state->any ? x - state->last : 0;
  state->last = x;
  state->any = true;
  for (int k = 0; k < count; k++) {
    if (column[k].kind == PSDM_COLUMN_STOP) state->z[k] = psdmp_parameters_column_stop(&column[k], dx, state->z[k]);
    value[k] = psdmp_parameters_column_value(&column[k], x, v, load, state->z[k]);
  }
}

/* ---- slopes ---- */

/* by position or speed, whichever the kind depends on; what is infinitely steep at rest counts as 0 */
static double plain_slope(const psdmp_parameters_column *c, double x, double v) {
  double w = c->width, turn, fall;
  switch (c->kind) {
    case PSDM_COLUMN_VISCOUS:
    case PSDM_COLUMN_LINEAR: return 1;
    case PSDM_COLUMN_TANH: return (1 - tanh(v / w) * tanh(v / w)) / w;
    case PSDM_COLUMN_STRIBECK:
      turn = tanh(3 * v / w), fall = exp(-(v / w) * (v / w));
      return (3 * (1 - turn * turn) - 2 * v / w * turn) * fall / w;
    case PSDM_COLUMN_POWER: return v != 0 ? w * pow(fabs(v), w - 1) : w == 1;
    case PSDM_COLUMN_ABSOLUTE: return sign(v);
    case PSDM_COLUMN_SINE: return w * cos(w * x);
    case PSDM_COLUMN_COSINE: return -w * sin(w * x);
    default: return 0;
  }
}

void psdmp_parameters_column_slopes(const psdmp_parameters_column *c, double x, double v, double load, double z,
                                    double slope[3]) {
  double factor = c->load == 0 ? 1 : c->load == 1 ? load : load * load, own = factor * plain_slope(c, x, v);
  bool position = c->kind >= PSDM_COLUMN_LINEAR;
  slope[0] = position ? own : 0;
  slope[1] = position ? 0 : own;
  slope[2] = c->load == 0 ? 0 : plain_value(c, x, v, z) * (c->load == 1 ? 1 : 2 * load);
}

double psdmp_parameters_column_steady(const psdmp_parameters_column *column, double v, double load) {
  psdmp_parameters_column plain = *column;
  psdmp_parameters_column_state state = {.any = false};
  double value;
  if (plain.kind == PSDM_COLUMN_STOP) plain.kind = PSDM_COLUMN_SIGN;
  psdmp_parameters_columns_at(&plain, 1, 0, v, load, &state, &value);
  return value;
}
