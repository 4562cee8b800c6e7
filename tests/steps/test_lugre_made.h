/* test_lugre_made.h: short logs of friction simulated with the model itself: two pieces in two poses, with a constant
 * torque and unused rows. Part of one program at a time. */
#ifndef TEST_LUGRE_MADE_H
#define TEST_LUGRE_MADE_H

#include "steps/lugre_priv.h"
#include "test_lugre_fit_log.h"

enum { PIECES = 2, ROWS = 2400, CLOCK = 400 };

typedef struct made {
  psdmp_steps_lugre_piece piece[PIECES];
  double v[PIECES][ROWS], a[PIECES][ROWS], tau[PIECES][ROWS];
  signed char use[PIECES][ROWS];
} made;

static made m;

/* sines that grow from 1e-4 to 1.5 rad/s; the second piece in other tones */
static inline void make(const psdm_friction *f, const double inertia[PIECES], double offset) {
  for (int p = 0; p < PIECES; p++) {
    for (int i = 0; i < ROWS; i++) {
      double t = (double)i / CLOCK, grow = log(1.5e4) * CLOCK / ROWS, size = 1e-4 * exp(grow * t), w = p ? 9.1 : 7.3,
             phase = 0.7 + p;
      m.v[p][i] = size * sin(w * t + phase);
      m.a[p][i] = size * (w * cos(w * t + phase) + grow * sin(w * t + phase));
      m.use[p][i] = i % 500 > 20;
    }
    m.piece[p] = (psdmp_steps_lugre_piece){
        .rows = ROWS, .dt = 1.0 / CLOCK, .v = m.v[p], .a = m.a[p], .tau = m.tau[p], .use = m.use[p], .pose = p};
    psdmp_steps_lugre_simulate(f, ROWS, 1.0 / CLOCK, m.v[p], TORQUE_ALONE, m.tau[p]);
    for (int i = 0; i < ROWS; i++) m.tau[p][i] = m.use[p][i] ? m.tau[p][i] + inertia[p] * m.a[p][i] + offset : 1e6;
  }
}

static const double inertia[PIECES] = {0.6, 1.1};

/* joints whose bristles show at this rate */
static const psdm_friction truth[] = {{6.2, 7.8, 0.05, 10.7, 0.73, 3e4, 19.2, 0, true},
                                      {3.6, 4.4, 0.1, 2.4, 1.2, 5e3, 8.9, 0, true}};

#endif
