/* model.c: the derived model at a state. No allocation. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "model/model.h"

enum { MOST_JOINTS = 64, MOST_DIGITS = 64 };
/* digits of all joints together: their numbers multiply to 2^64 at most, and ten of 64 are 2^60 */
enum { MOST_VALUES = 11 * MOST_DIGITS + 2 * MOST_JOINTS };

/* ---- functions ---- */

/* the value of each digit of each joint: q^d, or cos^(d/2) sin^(d%2). Both are value[d - 2] times a square or a
 * cosine. */
static void digit_values(const psdm_model *m, const double *q, double *table, double *value_of[MOST_JOINTS]) {
  for (int j = 0; j<m->n; j++, table += m->radix[j - 1]> 2 ? m->radix[j - 1] : 2) {
    double *value = value_of[j] = table;
    double first = m->prismatic[j] ? q[j] : sin(q[j]), second = m->prismatic[j] ? q[j] * q[j] : cos(q[j]);
    value[0] = 1;
    value[1] = first;
    for (int d = 2; d < m->radix[j]; d++) value[d] = second * value[d - 2];
  }
}

/* the factor of a class: gravity, an acceleration (qdd NULL: 1), a product of rates */
static double rate_of(const psdm_model *m, int class, const double *qd, const double *qdd) {
  int first, second;
  psdm_model_class_rates(m, class, &first, &second);
  return first < 0 ? m->gravity : second >= 0 ? qd[first] * qd[second] : qdd ? qdd[first] : 1;
}

/* functions of the classes [first, end) */
static void fill_classes(const psdm_model *m, const double *q, int first, int end, const double *qd, const double *qdd,
                         double *y) {
  double table[MOST_VALUES], *value[MOST_JOINTS];
  digit_values(m, q, table, value);
  for (int k = first; k < end; k++) {
    double rate = rate_of(m, k, qd, qdd);
    for (long f = m->class_start[k]; f < m->class_start[k + 1]; f++) {
      double product = rate;
      uint64_t code = m->code[f];
      for (int j = m->n - 1; code; j--) {
        uint64_t radix = (uint64_t)m->radix[j];
        product *= value[j][code % radix];
        code /= radix;
      }
      y[f] = product;
    }
  }
}

void psdm_model_y(const psdm_model *m, const double *q, const double *qd, const double *qdd, double *y) {
  fill_classes(m, q, 0, m->classes, qd, qdd, y);
}

/* ---- torques and regressors ---- */

/* tau += torques of the functions [first, end) */
static void add_torque(const psdm_model *m, long first, long end, const double *y, const double *theta, double *tau) {
  for (long f = first; f < end; f++)
    for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++)
      tau[m->P[e].joint] += y[f] * m->P[e].value * theta[m->P[e].parameter];
}

static void part_range(const psdm_model *m, psdm_part part, long *first, long *end) {
  *first = part == PSDM_PART_INERTIA ? m->class_start[1] : 0;
  *end = part == PSDM_PART_GRAVITY ? m->class_start[1] : m->p;
}

void psdm_model_regressor(const psdm_model *m, psdm_part part, const double *y, double *Y) {
  long first, end;
  part_range(m, part, &first, &end);
  memset(Y, 0, sizeof *Y * (size_t)m->n * (size_t)m->l);
  for (long f = first; f < end; f++)
    for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++)
      Y[(long)m->P[e].joint * m->l + m->P[e].parameter] += y[f] * m->P[e].value;
}

void psdm_model_torque(const psdm_model *m, psdm_part part, const double *y, const double *theta, double *tau) {
  long first, end;
  part_range(m, part, &first, &end);
  memset(tau, 0, sizeof *tau * (size_t)m->n);
  add_torque(m, first, end, y, theta, tau);
}

size_t psdm_model_scratch(const psdm_model *m) { return (size_t)m->p + (size_t)m->n * (size_t)m->n; }

void psdm_model_inverse(const psdm_model *m, const double *theta, const double *q, const double *qd, const double *qdd,
                        double *scratch, double *tau) {
  psdm_model_y(m, q, qd, qdd, scratch);
  psdm_model_torque(m, PSDM_PART_ALL, scratch, theta, tau);
}

/* the functions of qdd_j with qdd_j = 1 give column j of M */
void psdm_model_mass(const psdm_model *m, const double *theta, const double *q, double *scratch, double *M) {
  double column[MOST_JOINTS];
  fill_classes(m, q, 1, m->n + 1, NULL, NULL, scratch);
  for (int j = 0; j < m->n; j++) {
    memset(column, 0, sizeof column);
    add_torque(m, m->class_start[1 + j], m->class_start[2 + j], scratch, theta, column);
    for (int i = 0; i < m->n; i++) M[i * m->n + j] = column[i];
  }
}

void psdm_model_bias(const psdm_model *m, const double *theta, const double *q, const double *qd, double *scratch,
                     double *tau) {
  memset(tau, 0, sizeof *tau * (size_t)m->n);
  fill_classes(m, q, 0, 1, NULL, NULL, scratch);
  add_torque(m, 0, m->class_start[1], scratch, theta, tau);
  if (!qd) return;
  fill_classes(m, q, 1 + m->n, m->classes, qd, NULL, scratch);
  add_torque(m, m->class_start[1 + m->n], m->p, scratch, theta, tau);
}

psdm_status psdm_model_forward(const psdm_model *m, const double *theta, const double *q, const double *qd,
                               const double *tau, double *scratch, double *qdd) {
  double *M = scratch + m->p, bias[MOST_JOINTS];
  psdm_model_bias(m, theta, q, qd, scratch, bias);
  psdm_model_mass(m, theta, q, scratch, M);
  for (int i = 0; i < m->n; i++) qdd[i] = tau[i] - bias[i];
  if (!psdmp_linalg_cholesky(m->n, M)) return PSDM_E_SINGULAR;
  psdmp_linalg_cholesky_solve(m->n, M, qdd);
  return PSDM_OK;
}

/* ---- energy ---- */

/* integral from 0 to q of the digit's function: q^d, or sin^a cos^b */
static double integral(bool prismatic, int digit, double q) {
  if (prismatic) return pow(q, digit + 1) / (digit + 1);
  double s = sin(q), c = cos(q);
  int b = digit / 2;
  if (digit % 2) return (1 - pow(c, b + 1)) / (b + 1);
  /* of cos^b: sum of s c^(b-1)/b and (b-1)/b times that of cos^(b-2) */
  double even = q, odd = s;
  for (int k = 2; k <= b; k++) *(k % 2 ? &odd : &even) = (pow(c, k - 1) * s + (k - 1) * (k % 2 ? odd : even)) / k;
  return b % 2 ? odd : even;
}

/* U(q) - U(0): joint by joint to its final value, the later ones still at zero, the integral of the gravity torque */
static double potential_energy(const psdm_model *m, const double *theta, const double *q) {
  double table[MOST_VALUES], *value[MOST_JOINTS], U = 0;
  digit_values(m, q, table, value);
  for (long f = 0; f < m->class_start[1]; f++)
    for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++) {
      int i = m->P[e].joint;
      double term = m->gravity * m->P[e].value * theta[m->P[e].parameter];
      for (int j = 0; j < m->n && term != 0; j++) {
        int digit = (int)(m->code[f] / m->weight[j] % (uint64_t)m->radix[j]);
        if (j < i) term *= value[j][digit];
        else if (j == i) term *= integral(m->prismatic[j], digit, q[j]);
        else if (m->prismatic[j] ? digit : digit % 2) term = 0; /* q or sin at zero */
      }
      U += term;
    }
  return U;
}

void psdm_model_energy(const psdm_model *m, const double *theta, const double *q, const double *qd, double *scratch,
                       double *kinetic, double *potential) {
  double *M = scratch + m->p, T = 0;
  psdm_model_mass(m, theta, q, scratch, M);
  for (int i = 0; i < m->n; i++)
    for (int j = 0; j < m->n; j++) T += 0.5 * qd[i] * M[i * m->n + j] * qd[j];
  *kinetic = T;
  *potential = potential_energy(m, theta, q);
}
