/* bristles_priv.h: LuGre bristle deflection after an interval in which the velocity changes linearly.
 *
 * Included by friction.c alone, which defines real; and written into generated code by src/emit/functions.c, with its
 * own prefix, type and libm. So this is C99 with libm only, names start with bristle_, and numbers that are not
 * integers are in BRISTLE_NUMBER().
 *
 * While v = v0 + a t keeps its sign, use the distance x back from the end of the piece instead of time: |dz/dx| = 1 -
 * |z| / g, and u = (v/vs)^2 is linear in x. The rest of a deflection after the distance x then has a closed form,
 * e^-A(x) with
 *
 *   A(x) = integral of 1/g = sigma0 x / Fc (1 + ln(G(u) / G(u1)) / (u - u1)),   G(u) = Fc + (Fs - Fc) e^-u = sigma0
 *                                                                               g(v),   u1 at the end,
 *   z(end) = z(start) e^-A(X) + sign(v) times the integral of e^-A(x) from 0 to X.
 *
 * The integrand is analytic except where G = 0. In each Gauss-Legendre panel A grows by at most 4, more where e^-A is
 * small, and u changes by at most 1 or half the distance to that zero: 1e-12 of the deflection. Panels end where the
 * deflection has decayed (A > 36), and are long where G is Fc to the last digit (u > 38): a few dozen at most, for any
 * change of velocity. */
#ifndef PSDMP_RIGID_BRISTLES_PRIV_H
#define PSDMP_RIGID_BRISTLES_PRIV_H

/* generated code begins here */

/* A stretch of time in which the velocity keeps its sign. */
typedef struct bristle_piece {
  real sigma0, coulomb, rise; /* Fc, Fs - Fc */
  real length;                /* X */
  real end, change;           /* u1; what u changes by with x, backwards */
  real decay, dry;            /* e^-u1; G(u1) */
  real zero;                  /* how far below u = 0 the zero of G lies; infinite where Fs > Fc */
} bristle_piece;

/* from z to its end over an angle bent, in units of the bristles' own length; rounding may not carry it past the end */
BRISTLE_FUNCTION real bristle_relax(real z, real end, real bent) {
  const real next = bent < 1 ? z - (end - z) * expm1(-bent) : end + (z - end) * exp(-bent);
  return (z <= end && next > end) || (z >= end && next < end) ? end : next;
}

/* whether G is the same over all of it, to the last digits */
BRISTLE_FUNCTION int bristle_level(const bristle_piece *p) {
  const real apart = p->change * p->length, least = fmax(fmin(p->end, p->end + apart), 0);
  return p->rise == 0 || !isfinite(apart) ||
         fabs(p->rise) * exp(-least) * fmin(fabs(apart), 1) < BRISTLE_LEVEL * p->coulomb;
}

/* A(x). G(u) - G(u1) without cancellation, and without overflow as u is never negative */
BRISTLE_FUNCTION real bristle_bend(const bristle_piece *p, real x) {
  const real apart = p->change * x;
  const real grown =
      apart > 0 ? p->rise * p->decay * expm1(-apart) : -p->rise * exp(-fmax(p->end + apart, 0)) * expm1(apart);
  return p->sigma0 * x / p->coulomb * (1 + (apart == 0 ? -p->rise * p->decay / p->dry : log1p(grown / p->dry) / apart));
}

/* the length of the panel at x, where A is bent; steps that rounding would swallow are too short to matter */
BRISTLE_FUNCTION real bristle_panel(const bristle_piece *p, real x, real bent) {
  const real u = fmax(p->end + p->change * x, 0), clear = (u + p->zero) / 2; /* u + zero is at least that in it */
  real length = (4 + bent / 4) * p->coulomb * -expm1(-clear) / p->sigma0;
  if (u < 38) length = fmin(length, fmin(clear, 1) / fabs(p->change));
  else if (p->change < 0) length = fmin(length, fmax(u - 38, 1) / -p->change);
  return fmin(fmax(length, BRISTLE_SHORT * x), p->length - x);
}

/* integral of e^-A over all of it */
BRISTLE_FUNCTION real bristle_bending(const bristle_piece *p) {
  const real node[4] = {BRISTLE_NUMBER(0.18343464249564980494), BRISTLE_NUMBER(0.52553240991632898582),
                        BRISTLE_NUMBER(0.79666647741362673959), BRISTLE_NUMBER(0.96028985649753623168)};
  const real weight[4] = {BRISTLE_NUMBER(0.36268378337836198297), BRISTLE_NUMBER(0.31370664587788728734),
                          BRISTLE_NUMBER(0.22238103445337447054), BRISTLE_NUMBER(0.10122853629037625915)};
  real sum = 0, bent = 0, x = 0;
  while (x < p->length && bent < 36) {
    const real length = bristle_panel(p, x, bent);
    real part = 0;
    for (int k = 0; k < 4; k++)
      part += weight[k] * (exp(-bristle_bend(p, x + length / 2 * (1 - node[k]))) +
                           exp(-bristle_bend(p, x + length / 2 * (1 + node[k]))));
    sum += part * length / 2;
    x += length;
    bent = bristle_bend(p, x);
  }
  return sum;
}

/* z after a piece, between speeds of one direction; no further bent than before or than friction bends it */
BRISTLE_FUNCTION real bristle_slide(real coulomb, real stat, real stribeck, real sigma0, real direction, real from,
                                    real to, real time, real z) {
  bristle_piece p;
  p.sigma0 = sigma0;
  p.coulomb = coulomb;
  p.rise = stribeck > 0 ? stat - coulomb : 0;
  p.length = (from + to) / 2 * time;
  p.end = stribeck > 0 ? (to / stribeck) * (to / stribeck) : 0;
  p.change = p.rise != 0 ? 2 * (from - to) / time / stribeck / stribeck : 0;
  p.zero = p.rise < 0 ? -log1p(-stat / coulomb) : (real)INFINITY;
  p.decay = exp(-p.end);
  p.dry = p.coulomb + p.rise * p.decay;
  if (p.length == 0) return z;
  if (!isfinite(p.length)) return (real)NAN;
  if (bristle_level(&p)) return bristle_relax(z, direction * p.dry / p.sigma0, p.sigma0 / p.dry * p.length);
  const real next = z * exp(-bristle_bend(&p, p.length)) + direction * bristle_bending(&p),
             most = fmax(fabs(z), fmax(coulomb + p.rise, coulomb) / sigma0);
  return fabs(next) > most ? copysign(most, next) : next;
}

/* z after dt; where the velocity changes its sign, in two pieces */
BRISTLE_FUNCTION real bristle_step(real v0, real v1, real dt, real z, real coulomb, real stat, real stribeck,
                                   real sigma0) {
  const int s0 = (v0 > 0) - (v0 < 0), s1 = (v1 > 0) - (v1 < 0), both = (v0 + v1 > 0) - (v0 + v1 < 0);
  if (dt <= 0) return z;
  if (s0 * s1 >= 0) return bristle_slide(coulomb, stat, stribeck, sigma0, (real)both, fabs(v0), fabs(v1), dt, z);
  const real until = dt * (v0 / (v0 - v1));
  z = bristle_slide(coulomb, stat, stribeck, sigma0, (real)s0, fabs(v0), 0, until, z);
  return bristle_slide(coulomb, stat, stribeck, sigma0, (real)s1, 0, fabs(v1), dt - until, z);
}

/* generated code ends here */

#endif
