/* textbook.c: inverse dynamics from the textbook: Newton-Euler in generic loops (Luh, Walker, Paul 1980). */
#include "textbook.h"

#include <math.h>
#include <string.h>

void textbook_times(double R[3][3], const double x[3], double y[3]) {
  for (int i = 0; i < 3; i++) y[i] = R[i][0] * x[0] + R[i][1] * x[1] + R[i][2] * x[2];
}

void textbook_transposed(double R[3][3], const double x[3], double y[3]) {
  for (int i = 0; i < 3; i++) y[i] = R[0][i] * x[0] + R[1][i] * x[1] + R[2][i] * x[2];
}

void textbook_cross(const double a[3], const double b[3], double c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

void textbook_move(const textbook_link *l, double q, double R[3][3], double p[3]) {
  memcpy(R, l->R, sizeof l->R);
  memcpy(p, l->p, sizeof l->p);
  double c = cos(q), s = sin(q);
  for (int i = 0; i < 3; i++) {
    if (l->prismatic) {
      p[i] += l->R[i][2] * q;
    } else {
      R[i][0] = l->R[i][0] * c + l->R[i][1] * s;
      R[i][1] = l->R[i][1] * c - l->R[i][0] * s;
    }
  }
}

/* acceleration of a point at x: a + dw x x + w x (w x x) */
static void accelerate(const double motion[3][3], const double x[3], double a[3]) {
  double tangential[3], around[3], centripetal[3];
  textbook_cross(motion[1], x, tangential);
  textbook_cross(motion[0], x, around);
  textbook_cross(motion[0], around, centripetal);
  for (int i = 0; i < 3; i++) a[i] = motion[2][i] + tangential[i] + centripetal[i];
}

void textbook_outward(const textbook_link *l, double R[3][3], const double p[3], const double above[3][3], double qd,
                      double qdd, double motion[3][3]) {
  double *w = motion[0], *dw = motion[1], *a = motion[2], at_joint[3], turn[3];
  const double rate[3] = {0, 0, qd};
  accelerate(above, p, at_joint);
  textbook_transposed(R, above[0], w);
  textbook_transposed(R, above[1], dw);
  textbook_transposed(R, at_joint, a);
  textbook_cross(w, rate, turn);
  if (l->prismatic) {
    for (int i = 0; i < 3; i++) a[i] += 2 * turn[i];
    a[2] += qdd;
  } else {
    for (int i = 0; i < 3; i++) dw[i] += turn[i];
    w[2] += qd;
    dw[2] += qdd;
  }
}

void textbook_inverse(const textbook *t, const double gravity[3], const double *q, const double *qd, const double *qdd,
                      double *tau) {
  double R[TEXTBOOK_MOST][3][3], p[TEXTBOOK_MOST][3], f[TEXTBOOK_MOST][3], n[TEXTBOOK_MOST][3];
  double motion[TEXTBOOK_MOST][3][3];
  /* the base accelerates against gravity */
  const double base[3][3] = {{0}, {0}, {-gravity[0], -gravity[1], -gravity[2]}};

  /* outward: motion, then the force and moment that it needs */
  for (int k = 0; k < t->links; k++) {
    const textbook_link *l = &t->link[k];
    double a[3], momentum[3], change[3], gyroscopic[3], lever[3];
    textbook_move(l, q[k], R[k], p[k]);
    textbook_outward(l, R[k], p[k], l->parent < 0 ? base : (const double(*)[3])motion[l->parent], qd[k], qdd[k],
                     motion[k]);
    accelerate((const double(*)[3])motion[k], l->com, a);
    for (int i = 0; i < 3; i++) f[k][i] = l->mass * a[i];
    textbook_times((double(*)[3])l->inertia, motion[k][0], momentum);
    textbook_times((double(*)[3])l->inertia, motion[k][1], change);
    textbook_cross(motion[k][0], momentum, gyroscopic);
    textbook_cross(l->com, f[k], lever);
    for (int i = 0; i < 3; i++) n[k][i] = change[i] + gyroscopic[i] + lever[i];
  }

  /* inward: a joint's load goes to the link before it */
  for (int k = t->links - 1; k >= 0; k--) {
    const textbook_link *l = &t->link[k];
    tau[k] = (l->prismatic ? f[k][2] : n[k][2]) + l->drive * qdd[k];
    if (l->parent < 0) continue;
    double force[3], moment[3], lever[3];
    textbook_times(R[k], f[k], force);
    textbook_times(R[k], n[k], moment);
    textbook_cross(p[k], force, lever);
    for (int i = 0; i < 3; i++) {
      f[l->parent][i] += force[i];
      n[l->parent][i] += moment[i] + lever[i];
    }
  }
}
