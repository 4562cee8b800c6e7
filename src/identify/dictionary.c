/* dictionary.c: the dictionary of friction columns for one drive. */
#include <math.h>

#include "identify/identify.h"
#include "robot/robot.h"

/* 76 columns at most, well below what there is room for */
static void add(psdmp_identify_dictionary *d, psdm_column_kind kind, double width, int load) {
  d->column[d->count++] = (psdmp_parameters_column){kind, width, load};
}

static bool turns(const psdmp_identify_run *r, int drive) {
  for (int j = 0; j < r->robot->joints; j++)
    if (r->robot->joint[j].q == drive) return r->robot->joint[j].type == PSDM_REVOLUTE;
  return false;
}

/* v, one Coulomb element, 1, and springs if requested: x, and for joints that turn sin x, cos x */
int psdmp_identify_columns_always(const psdmp_identify_run *r, int drive) {
  return !r->options->springs ? 3 : turns(r, drive) ? 6 : 4;
}

static void add_springs(const psdmp_identify_run *r, int drive, psdmp_identify_dictionary *d) {
  if (!r->options->springs) return;
  add(d, PSDM_COLUMN_LINEAR, 0, 0);
  if (!turns(r, drive)) return;
  add(d, PSDM_COLUMN_SINE, 1, 0);
  add(d, PSDM_COLUMN_COSINE, 1, 0);
}

/* the fixed columns come first, in every choice */
void psdmp_identify_dictionary_fill(const psdmp_identify_run *r, int drive, bool basic, bool loads,
                                    psdmp_identify_dictionary *d) {
  double speed = fmax(r->speed[drive], 1e-9), span = fmax(r->span[drive], 1e-9);
  d->count = 0;
  add(d, PSDM_COLUMN_VISCOUS, 0, 0);
  if (r->options->plain_friction) {
    add(d, PSDM_COLUMN_SIGN, 0, 0);
    add(d, PSDM_COLUMN_OFFSET, 0, 0);
    add_springs(r, drive, d);
    return;
  }
  add(d, PSDM_COLUMN_TANH, 0.02154434690031884 * speed, 0);
  add(d, PSDM_COLUMN_OFFSET, 0, 0);
  add_springs(r, drive, d);
  for (int k = 0; k < 10; k++) {
    double share = pow(10, -3 + k / 3.0);
    if (k != 4) add(d, PSDM_COLUMN_TANH, share * speed, 0);
    add(d, PSDM_COLUMN_STOP, 0.1 * share * span, 0);
  }
  if (basic) return;
  for (int load = 1; load <= 2 && loads; load++)
    for (int k = 0; k < 10; k++) {
      double share = pow(10, -3 + k / 3.0);
      add(d, PSDM_COLUMN_TANH, share * speed, load);
      add(d, PSDM_COLUMN_STOP, 0.1 * share * span, load);
    }
  static const double stribeck[] = {0.01, 0.03, 0.1}, power[] = {0.3, 0.5, 0.7, 1.5, 2};
  for (int k = 0; k < 3; k++) add(d, PSDM_COLUMN_STRIBECK, stribeck[k] * speed, 0);
  for (int k = 0; k < 5; k++) add(d, PSDM_COLUMN_POWER, power[k], 0);
  add(d, PSDM_COLUMN_ABSOLUTE, 0, 0);
  if (r->span[drive] <= 2 || !turns(r, drive)) return;
  if (!r->options->springs) add(d, PSDM_COLUMN_LINEAR, 0, 0);
  for (int k = r->options->springs ? 2 : 1; k <= 2; k++)
    add(d, PSDM_COLUMN_SINE, k, 0), add(d, PSDM_COLUMN_COSINE, k, 0);
}
