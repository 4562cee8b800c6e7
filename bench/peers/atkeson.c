/* atkeson.c: the regressor of the standard parameters from the textbook (Atkeson, An, Hollerbach 1986). */
#include <string.h>

#include "textbook.h"

/* Force and moment about the origin as (6 x 10) times the standard parameters: f = m a + (dw~ + w~ w~) h, n = h x a
 * + I dw + w x (I w) */
static void link_wrench(const double motion[3][3], double A[6][10]) {
  const double *w = motion[0], *dw = motion[1], *a = motion[2];
  const double skew_dw[3][3] = {{0, -dw[2], dw[1]}, {dw[2], 0, -dw[0]}, {-dw[1], dw[0], 0}};
  const double skew_w[3][3] = {{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}};
  const double minus_a[3][3] = {{0, a[2], -a[1]}, {-a[2], 0, a[0]}, {a[1], -a[0], 0}};
  const double turn[3][6] = {{w[0], w[1], w[2], 0, 0, 0}, {0, w[0], 0, w[1], w[2], 0}, {0, 0, w[0], 0, w[1], w[2]}};
  const double twist[3][6] = {
      {dw[0], dw[1], dw[2], 0, 0, 0}, {0, dw[0], 0, dw[1], dw[2], 0}, {0, 0, dw[0], 0, dw[1], dw[2]}};
  memset(A, 0, sizeof(double[6][10]));
  for (int i = 0; i < 3; i++) {
    A[i][0] = a[i];
    for (int j = 0; j < 3; j++) {
      A[i][1 + j] =
          skew_dw[i][j] + skew_w[i][0] * skew_w[0][j] + skew_w[i][1] * skew_w[1][j] + skew_w[i][2] * skew_w[2][j];
      A[3 + i][1 + j] = minus_a[i][j];
    }
    for (int j = 0; j < 6; j++)
      A[3 + i][4 + j] = twist[i][j] + skew_w[i][0] * turn[0][j] + skew_w[i][1] * turn[1][j] + skew_w[i][2] * turn[2][j];
  }
}

/* every column to the parent's frame and origin */
static void carry_inward(double R[3][3], const double p[3], double A[6][10]) {
  for (int j = 0; j < 10; j++) {
    const double f[3] = {A[0][j], A[1][j], A[2][j]}, n[3] = {A[3][j], A[4][j], A[5][j]};
    double force[3], moment[3], lever[3];
    textbook_times(R, f, force);
    textbook_times(R, n, moment);
    textbook_cross(p, force, lever);
    for (int i = 0; i < 3; i++) A[i][j] = force[i], A[3 + i][j] = moment[i] + lever[i];
  }
}

void atkeson_regressor(const textbook *t, const double *q, const double *qd, const double *qdd, double *Y) {
  double R[TEXTBOOK_MOST][3][3], p[TEXTBOOK_MOST][3], motion[TEXTBOOK_MOST][3][3];
  const double base[3][3] = {{0}, {0}, {-t->gravity[0], -t->gravity[1], -t->gravity[2]}};
  int columns = 10 * t->links;
  memset(Y, 0, sizeof *Y * (size_t)(t->links * columns));
  for (int k = 0; k < t->links; k++) {
    const textbook_link *l = &t->link[k];
    double A[6][10];
    textbook_move(l, q[k], R[k], p[k]);
    textbook_outward(l, R[k], p[k], l->parent < 0 ? base : (const double(*)[3])motion[l->parent], qd[k], qdd[k],
                     motion[k]);
    link_wrench((const double(*)[3])motion[k], A);
    /* its share of every joint on the way to the base */
    for (int i = k; i >= 0; i = t->link[i].parent) {
      memcpy(&Y[i * columns + 10 * k], A[t->link[i].prismatic ? 2 : 5], sizeof A[0]);
      carry_inward(R[i], p[i], A);
    }
  }
}
