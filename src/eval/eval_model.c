/* eval_model.c: the derived model at a state. No allocation; the quiet room. */
#include <math.h>

#include "model/model_priv.h"

enum { MOST_JOINTS = 64, MOST_DIGITS = 64 };

/* the value of each digit of each joint: q^d, or cos^(d/2) sin^(d%2). Both are value[d - 2] times a square or a cosine. */
static void digit_values(const psdm_model *m, const double *q, double value[MOST_JOINTS][MOST_DIGITS]) {
  for (int j = 0; j < m->n; j++) {
    double first = m->prismatic[j] ? q[j] : sin(q[j]), second = m->prismatic[j] ? q[j] * q[j] : cos(q[j]);
    value[j][0] = 1;
    value[j][1] = first;
    for (int d = 2; d < m->radix[j]; d++) value[j][d] = second * value[j][d - 2];
  }
}

static double rate_of(const psdm_model *m, int index, const double *qd, const double *qdd) {
  int first, second;
  psdm_model_class_rates(m, index, &first, &second);
  if (first < 0) return m->gravity;
  return second < 0 ? qdd[first] : qd[first] * qd[second];
}

void psdm_model_y(const psdm_model *m, const double *q, const double *qd, const double *qdd, double *y) {
  double value[MOST_JOINTS][MOST_DIGITS];
  digit_values(m, q, value);
  for (int k = 0; k < m->classes; k++) {
    double rate = rate_of(m, k, qd, qdd);
    for (long f = m->class_start[k]; f < m->class_start[k + 1]; f++) {
      double product = rate;
      uint64_t code = m->code[f];
      for (int j = m->n - 1; j >= 0 && code; j--) {
        uint64_t radix = (uint64_t)m->radix[j];
        product *= value[j][code % radix];
        code /= radix;
      }
      y[f] = product;
    }
  }
}

void psdm_model_regressor(const psdm_model *m, const double *y, double *Y) {
  for (long i = 0; i < (long)m->n * m->l; i++) Y[i] = 0;
  for (long f = 0; f < m->p; f++)
    for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++) Y[(long)m->P[e].joint * m->l + m->P[e].parameter] += y[f] * m->P[e].value;
}

void psdm_model_torque(const psdm_model *m, const double *y, const double *theta, double *tau) {
  for (int i = 0; i < m->n; i++) tau[i] = 0;
  for (long f = 0; f < m->p; f++)
    for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++) tau[m->P[e].joint] += y[f] * m->P[e].value * theta[m->P[e].parameter];
}
