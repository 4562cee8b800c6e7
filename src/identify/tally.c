/* tally.c: torque errors, from sums over rows. */
#include <math.h>

#include "identify/identify.h"

void psdmp_identify_tally_add(psdmp_identify_tally *s, double measured, double error) {
  if (s->count == 0) s->low = s->high = measured;
  s->count++;
  s->error += error * error;
  s->square += measured * measured;
  s->sum += measured;
  s->low = fmin(s->low, measured);
  s->high = fmax(s->high, measured);
}

void psdmp_identify_tally_merge(psdmp_identify_tally *s, const psdmp_identify_tally *other) {
  if (other->count == 0) return;
  s->low = s->count == 0 ? other->low : fmin(s->low, other->low);
  s->high = s->count == 0 ? other->high : fmax(s->high, other->high);
  s->count += other->count;
  s->error += other->error;
  s->square += other->square;
  s->sum += other->sum;
}

psdm_joint_fit psdmp_identify_tally_fit(const psdmp_identify_tally *s) {
  psdm_joint_fit fit = {.rows = (long)s->count, .rmse = NAN, .rel = NAN, .nrmse = NAN, .r2 = NAN};
  if (s->count == 0) return fit;
  double about = s->square - s->sum * s->sum / s->count;
  fit.rmse = sqrt(s->error / s->count);
  if (s->square > 0) fit.rel = sqrt(s->error / s->square);
  if (s->high > s->low) fit.nrmse = fit.rmse / (s->high - s->low);
  if (about > 0) fit.r2 = 1 - s->error / about;
  return fit;
}

double psdmp_identify_tally_rel(int count, const psdmp_identify_tally *s) {
  double error = 0, square = 0;
  for (int i = 0; i < count; i++) error += s[i].error, square += s[i].square;
  return square > 0 ? sqrt(error / square) : NAN;
}
