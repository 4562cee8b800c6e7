/* along_priv.h: a spring with a parallel damper, driven along a motion. Private to the library. */
#ifndef PSDMP_SIM_ALONG_PRIV_H
#define PSDMP_SIM_ALONG_PRIV_H

/* D x' + K x = f: the stretch and its first two derivatives, x (3), from the torque's, f (3). */

/* At the start: the solution without transient, to second order in D / K; exact where D = 0. */
void psdmp_sim_spring_start(double K, double D, const double f[3], double x[3]);

/* h later than the stretch x0, exact where f is the polynomial of degree five with these values at both ends. */
void psdmp_sim_spring_step(double K, double D, double h, const double f0[3], const double f1[3], double x0,
                           double x[3]);

#endif
