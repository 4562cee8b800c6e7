/* reduce_times.c: evaluation times of what a reduction counts operations of: full, reduced and exact code, and the
 * models of the table, compiled and called at random states, in turn. */
#include <math.h>
#include <stdlib.h>

#include "study/reduce_priv.h"

enum { STATES = 64, ROUNDS = 40 };

/* seconds of one measurement: the clock's resolution is far below */
static const double LEAST = 100e-6;

typedef void (*takes_three)(const double *, const double *, const double *, double *);

void psdmp_study_reduce_compile(psdmp_study_reduce *j, const psdm_code *code, int slot) {
  const psdm_compile_options options = {.native = true};
  psdm_error error;
  if (!j->set.times || slot < 0 || j->untimed) return;
  psdmp_job_ask_soon(&j->job); /* for some time nothing else is said */
  psdmp_job_progress(&j->job, "compiling", -1);
  psdm_compiled_free(j->compiled[slot]);
  j->compiled[slot] = NULL;
  if (!psdm_compile(code, &options, NULL, &j->compiled[slot], &error)) return;
  j->untimed = true;
  if (!psdmp_job_interrupted(&j->job)) psdmp_job_warn(&j->job, "no times: %s", error.text);
}

/* ns per state over so many sweeps */
static double sweep(const psdmp_study_reduce *j, int slot, const double *state, double *out, long sweeps) {
  size_t n = (size_t)psdm_robot_n(j->job.robot);
  takes_three f = (takes_three)psdm_compiled_symbol(j->compiled[slot], psdmp_study_reduce_asked(j), false, NULL);
  double started = psdmp_base_clock();
  for (long i = 0; i < sweeps; i++)
    for (size_t s = 0; s < STATES; s++) f(state + 3 * n * s, state + 3 * n * s + n, state + 3 * n * s + 2 * n, out);
  return (psdmp_base_clock() - started) * 1e9 / ((double)sweeps * STATES);
}

static void measure(psdmp_study_reduce *j, const double *state, double *out) {
  for (int round = 0; round < ROUNDS && !psdmp_job_interrupted(&j->job); round++) {
    for (int slot = 0; slot < TIMED; slot++) {
      if (!j->compiled[slot]) continue;
      double known = j->ns[slot] > 0 ? j->ns[slot] : sweep(j, slot, state, out, 1);
      double ns = sweep(j, slot, state, out, (long)(LEAST * 1e9 / (fmax(known, 1) * STATES)) + 1);
      if (j->ns[slot] <= 0 || ns < j->ns[slot]) j->ns[slot] = ns;
    }
    psdmp_job_progress(&j->job, "measuring", (double)(round + 1) / ROUNDS);
  }
}

psdm_status psdmp_study_reduce_measure(psdmp_study_reduce *j) {
  if (!j->set.times || j->untimed) return PSDM_OK;
  size_t n = (size_t)psdm_robot_n(j->job.robot);
  double *state = calloc(3 * n * STATES + n, sizeof *state);
  uint64_t seed = 1;
  if (!state) return psdmp_job_memory(&j->job);
  for (size_t i = 0; i < 3 * n * STATES; i++) state[i] = psdmp_base_random(&seed, -1, 1) * (i / n % 3 == 2 ? 10 : 1);
  psdmp_job_tell(&j->job, PSDM_JOB_STAGE, "measuring");
  measure(j, state, state + 3 * n * STATES);
  psdmp_job_event(&j->job, PSDM_JOB_STAGE);
  free(state);
  return PSDM_OK;
}

void psdmp_study_reduce_times_free(psdmp_study_reduce *j) {
  for (int slot = 0; slot < TIMED; slot++) psdm_compiled_free(j->compiled[slot]);
}
