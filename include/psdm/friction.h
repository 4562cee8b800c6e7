/* psdm/friction.h: friction of one joint, from viscous to LuGre.
 *
 *   steady    tau = (Fc + (Fs - Fc) exp(-(v/vs)^2)) sign(v) + Fv |v|^d sign(v) + offset
 *   LuGre     z' = v - |v| z / g(v),  g = (Fc + (Fs - Fc) exp(-(v/vs)^2)) / sigma0
 *             tau = sigma0 z + sigma1 z' + Fv |v|^d sign(v) + offset
 *
 * Canudas de Wit, Olsson, Astrom, Lischinsky (1995); eq. 12 to 14 of Lloyd, Irani, Ahmadi (2022). Positive tau
 * opposes positive v. Fs < Fc is allowed. Nothing here allocates, prints or keeps state. */
#ifndef PSDM_FRICTION_H
#define PSDM_FRICTION_H

#include "psdm/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each model adds one thing to the one above it. constant, name, help */
#define PSDM_FRICTION_LIST(X)                                                                     \
  X(PSDM_FRICTION_NONE, "none", "no friction")                                                    \
  X(PSDM_FRICTION_VISCOUS, "viscous", "Fv v + offset")                                            \
  X(PSDM_FRICTION_COULOMB, "coulomb", "and Fc sign(v)")                                           \
  X(PSDM_FRICTION_STRIBECK, "stribeck", "and (Fs - Fc) exp(-(v/vs)^2) sign(v)")                   \
  X(PSDM_FRICTION_POWER, "power", "and Fv |v|^d sign(v) instead of Fv v: the whole steady state") \
  X(PSDM_FRICTION_LUGRE, "lugre", "and bristles that bend before they slide (sigma0, sigma1)")

typedef enum psdm_friction_kind { PSDM_FRICTION_LIST(PSDM_LIST_CONSTANT) PSDM_FRICTION_KINDS } psdm_friction_kind;

PSDM_API const char *psdm_friction_name(psdm_friction_kind kind); /* NULL when out of range */
PSDM_API bool psdm_friction_find(const char *name, psdm_friction_kind *kind);

/* What a model lacks for simulation: NULL when complete, else a sentence ("sigma0 is missing or not positive"). */
PSDM_API const char *psdm_friction_lacks(const psdm_friction *friction, psdm_friction_kind kind);

/* Dry friction of a joint sliding at speed v >= 0 (Fc + Stribeck; at 0 the break-away torque), and its maximum over all
 * speeds: max(Fs, Fc). 0 for models without. */
PSDM_API double psdm_friction_dry(const psdm_friction *friction, psdm_friction_kind kind, double v);
PSDM_API double psdm_friction_most(const psdm_friction *friction, psdm_friction_kind kind);

/* The part that is smooth in v, viscous and offset; and its derivative (infinite at v = 0 where d < 1). */
PSDM_API double psdm_friction_smooth(const psdm_friction *friction, psdm_friction_kind kind, double v);
PSDM_API double psdm_friction_smooth_slope(const psdm_friction *friction, psdm_friction_kind kind, double v);

/* Steady-state torque at velocity v; no dry friction at v = 0. LuGre: that of POWER. */
PSDM_API double psdm_friction_steady(const psdm_friction *friction, psdm_friction_kind kind, double v);

/* Its derivative; 0 in the place of what is infinitely steep at rest: the jump of dry friction, powers below one. */
PSDM_API double psdm_friction_steady_slope(const psdm_friction *friction, psdm_friction_kind kind, double v);

/* Friction as a linear form: torque = sum of value[k] times number k, which psdm_friction_column_name says: "viscous",
 * "offset", then "coulomb", "static", or for LuGre "sigma0", "sigma1". vs, d and g are taken from friction: 0, 1 and no
 * bristles where it is not given. z: bristles' deflection, LuGre only. */
enum { PSDM_FRICTION_MOST_COLUMNS = 4 };
PSDM_API int psdm_friction_columns(psdm_friction_kind kind);
PSDM_API const char *psdm_friction_column_name(psdm_friction_kind kind, int column); /* NULL when out of range */
PSDM_API void psdm_friction_column_values(const psdm_friction *friction, psdm_friction_kind kind, double v, double z,
                                          double *value);

/* ---- LuGre: z is the mean bristle deflection; without sigma0, Fc, Fs > 0 it is 0, and tau the steady state ---- */

PSDM_API void psdm_lugre(const psdm_friction *friction, double v, double z, double *z_rate, double *tau);

/* d tau / dv at constant z; without bristles that of the steady state. */
PSDM_API double psdm_lugre_slope(const psdm_friction *friction, double v, double z);

/* z after dt at constant v, exact: z_inf + (z - z_inf) exp(-|v| dt / g). Safe for every dt and stiffness. */
PSDM_API double psdm_lugre_step(const psdm_friction *friction, double v, double z, double dt);

/* The steady deflection at constant v: g(v) sign(v); 0 at v = 0. */
PSDM_API double psdm_lugre_steady(const psdm_friction *friction, double v);

/* Friction along a measured velocity: tau[k] at t[k], v linear in between, z to 1e-12 of the largest deflection however
 * stiff (at most a few dozen panels of an integral in each interval, one exact step where g is constant). z (nullable)
 * receives the deflections; it begins at start and stays constant while time does. NAN in v or t makes the rest NAN.
 * count may be 0. */
PSDM_API void psdm_lugre_follow(const psdm_friction *friction, double start, long count, const double *t,
                                const double *v, double *z, double *tau);

/* ---- a whole robot, from its file ---- */

/* Friction torque at each independent joint at velocity qd; zero where the robot file gives none. */
PSDM_API void psdm_friction_torque(const psdm_robot *robot, const double *qd, double *tau);

/* d friction torque / d qd at each independent joint, (n); zero where the robot file gives no friction. At rest dry
 * friction jumps and powers below one are infinitely steep: neither has a linear model, so only the smooth part
 * counts. */
PSDM_API void psdm_friction_slope(const psdm_robot *robot, const double *qd, double *slope);

#ifdef __cplusplus
}
#endif
#endif
