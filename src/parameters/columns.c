/* columns.c: the columns of friction models.
 *
 * tanh(v/w): Coulomb friction with a smooth reversal. stop(x/w): z <- clip(z + dx/w, -1, 1), Coulomb friction that
 * depends on distance instead of speed, and keeps its value at rest (Maxwell slip; Lampaert et al. 2002). Times the
 * load: friction of gears under torque. */
#include <math.h>

#include "parameters/parameters.h"

#define TEXT(id, text) text,
static const char *const column_texts[] = {PSDM_COLUMN_LIST(TEXT)};

const char *psdm_column_text(psdm_column_kind kind) {
  return (unsigned)kind < PSDM_COLUMN_KINDS ? column_texts[kind] : NULL;
}

static double sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }

static double plain_value(const psdmp_parameters_column *c, double x, double v, double dx, double *z) {
  double w = c->width;
  switch (c->kind) {
    case PSDM_COLUMN_VISCOUS: return v;
    case PSDM_COLUMN_OFFSET: return 1;
    case PSDM_COLUMN_SIGN: return sign(v);
    case PSDM_COLUMN_TANH: return tanh(v / w);
    case PSDM_COLUMN_STOP: return *z = fmax(-1, fmin(1, *z + dx / w));
    case PSDM_COLUMN_STRIBECK: return tanh(3 * v / w) * exp(-(v / w) * (v / w));
    case PSDM_COLUMN_POWER: return pow(fabs(v), w) * sign(v);
    case PSDM_COLUMN_ABSOLUTE: return fabs(v);
    case PSDM_COLUMN_LINEAR: return x;
    case PSDM_COLUMN_SINE: return sin(w * x);
    case PSDM_COLUMN_COSINE: return cos(w * x);
    default: return 0;
  }
}

void psdmp_parameters_columns_at(const psdmp_parameters_column *column, int count, double x, double v, double load,
                                 psdmp_parameters_column_state *state, double *value) {
  double dx = state->any ? x - state->last : 0;
  state->last = x;
  state->any = true;
  for (int k = 0; k < count; k++) {
    value[k] = plain_value(&column[k], x, v, dx, &state->z[k]);
    if (column[k].load) value[k] *= column[k].load == 1 ? load : load * load;
  }
}

double psdmp_parameters_column_steady(const psdmp_parameters_column *column, double v, double load) {
  psdmp_parameters_column plain = *column;
  psdmp_parameters_column_state state = {.any = false};
  double value;
  if (plain.kind == PSDM_COLUMN_STOP) plain.kind = PSDM_COLUMN_SIGN;
  psdmp_parameters_columns_at(&plain, 1, 0, v, load, &state, &value);
  return value;
}
