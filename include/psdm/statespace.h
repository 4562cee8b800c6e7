/* psdm/statespace.h: linear models of a robot at an equilibrium or along a trajectory, their analysis and LQR.
 *
 *   second order  M dqdd + C2 dqd + D dq = du
 *   state space   dx' = A dx + B du,            dx = (dq; dqd), A = [0, 1; -M^-1 D, -M^-1 C2], B = [0; M^-1]
 *   sampled       dx[k+1] = Ad dx[k] + Bd du[k]  with du held for dt
 *
 * q = q_d + dq and so on, and u are the joint torques; names as in De Luca's "Approximate linearization". Along a
 * trajectory the matrices depend on time, and eigenvalues of the model frozen at an instant prove nothing; at an
 * equilibrium D = G = dg/dq, C2 = 0. Rigid-body dynamics; friction is added by psdm_damp. Matrices are row-major.
 * Nothing here allocates or prints; the robot may be shared, linear, work and scratch belong to one thread. Outputs
 * never overlap inputs. Numbers that are not finite are PSDM_E_ARGUMENT. */
#ifndef PSDM_STATESPACE_H
#define PSDM_STATESPACE_H

#include "psdm/linearize.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models; (n x n) each, NULL where not wanted ---- */

PSDM_API psdm_status psdm_second_order(const psdm_robot *robot, psdm_linear *linear, const double *q, const double *qd,
                                       const double *qdd, double *M, double *C2, double *D, double *G);

/* A (2n x 2n), B (2n x n). */
PSDM_API psdm_status psdm_state_space(const psdm_robot *robot, psdm_linear *linear, const double *q, const double *qd,
                                      const double *qdd, double *A, double *B);

/* Adds dampings to a model: C2 += diag(slope), and A's lower right block -= M^-1 diag(slope) with M^-1 from B (2n x
 * n). C2 may be NULL, and A with B. */
PSDM_API void psdm_damp(int n, const double *slope, double *C2, double *A, const double *B);

/* ---- equilibrium: g(q_e) = u_e. psdm_gravity gives u_e from q_e; this is the inverse ---- */

/* Zero-initialise for the defaults. */
typedef struct psdm_equilibrium_options {
  const double *start;     /* (n) start of the search; NULL: q = 0 */
  int starts;              /* most starts to try, all but the first random, within the joints' limits; 0: 50 */
  unsigned long long seed; /* of the random starts */
  unsigned long long reserved[8];
} psdm_equilibrium_options;

typedef struct psdm_equilibrium_info {
  bool found;
  int starts, steps; /* starts tried, Newton steps in total */
  /* largest |g(q_e) - u|, relative to the largest of the torques u and the gravity torques met on the way */
  double residual;
  int rank; /* of G at q_e; below n, equilibria come in families and q_e is one of many */
} psdm_equilibrium_info;

/* Doubles of scratch. */
PSDM_API size_t psdm_equilibrium_scratch(const psdm_robot *robot);

/* q_e with g(q_e) = u by damped Newton steps (Levenberg, Marquardt) with exact derivatives. PSDM_OK also when none is
 * found: info says so, and q is the closest position. */
PSDM_API psdm_status psdm_equilibrium_find(const psdm_robot *robot, psdm_work *work, psdm_linear *linear,
                                           const double *u, const psdm_equilibrium_options *options, double *scratch,
                                           double *q, psdm_equilibrium_info *info);

/* ---- any linear system: A (states x states), B (states x inputs); dt > 0 sampled, dt = 0 continuous ---- */

/* Doubles of scratch, enough for each of the three below. */
PSDM_API size_t psdm_system_scratch(int states, int inputs);

/* Exact for inputs held for dt: exp([A, B; 0, 0] dt) = [Ad, Bd; 0, 1]. PSDM_E_LIMIT when that overflows. */
PSDM_API psdm_status psdm_system_discretise(int states, int inputs, const double *A, const double *B, double dt,
                                            double *scratch, double *Ad, double *Bd);

/* An eigenvalue re + i im; frequency and damping are of exp(s t), s = lambda or log(lambda) / dt. */
typedef struct psdm_mode {
  double re, im;
  double frequency; /* |s|, rad/s */
  double damping;   /* -Re(s) / |s|; 0 where s is 0 */
} psdm_mode;

/* verdict, message */
#define PSDM_STABILITY_LIST(X)                                                                   \
  X(PSDM_STABILITY_STABLE, "stable: every small deviation dies out")                             \
  X(PSDM_STABILITY_OSCILLATING, "stable, undamped: small deviations neither grow nor die out")   \
  X(PSDM_STABILITY_DRIFTING, "not stable: a deviation is not called back, and drifts with time") \
  X(PSDM_STABILITY_UNSTABLE, "unstable: a small deviation grows")

typedef enum psdm_stability { PSDM_STABILITY_LIST(PSDM_LIST_CONSTANT) PSDM_STABILITY_COUNT } psdm_stability;

PSDM_API const char *psdm_stability_text(psdm_stability stability); /* NULL when out of range */

/* no margin for systems with more states: it takes a singular value decomposition per mode */
enum { PSDM_SYSTEM_MARGIN = 200 };

typedef struct psdm_system_facts {
  psdm_stability stability;
  int unstable, drifting, undamped, damped; /* modes of each kind */
  double growth;                            /* largest Re(s), 1/s */
  int reachable;                            /* dimension of the states that the inputs reach */
  /* of the mode that is hardest to reach: the smallest singular value of [lambda - A, B] (Popov, Belevitch, Hautus),
   * B scaled to A's size, relative to A's size; NAN when not computed */
  double reach_margin;
  bool controllable; /* all states are reached */
} psdm_system_facts;

/* modes: (states), by falling Re(s). Modes within 1e-7 of the fastest one from the boundary of stability count as on
 * it; models of robots at rest are recognised by their form, and theirs are known more exactly. PSDM_E_LIMIT when
 * LAPACK finds no eigenvalues. */
PSDM_API psdm_status psdm_system_analyze(int states, int inputs, const double *A, const double *B, double dt,
                                         double *scratch, psdm_mode *modes, psdm_system_facts *facts);

/* outcome of an LQR design, message */
#define PSDM_LQR_LIST(X)                                                                                  \
  X(PSDM_LQR_OK, "the closed loop is stable")                                                             \
  X(PSDM_LQR_WEIGHT, "R is not symmetric and positive definite, or Q is not symmetric")                   \
  X(PSDM_LQR_UNREACHABLE, "a mode that is not stable is out of the inputs' reach: no gains stabilise it") \
  X(PSDM_LQR_BOUNDARY, "a mode on the boundary of stability has no weight in Q")                          \
  X(PSDM_LQR_FAILED, "the Riccati equation could not be solved in double precision")                      \
  X(PSDM_LQR_LACKING, "needs LAPACK, which this build lacks: install liblapacke-dev libopenblas-dev and build again")

typedef enum psdm_lqr_outcome { PSDM_LQR_LIST(PSDM_LIST_CONSTANT) PSDM_LQR_COUNT } psdm_lqr_outcome;

PSDM_API const char *psdm_lqr_text(psdm_lqr_outcome outcome); /* NULL when out of range */

typedef struct psdm_lqr_info {
  psdm_lqr_outcome outcome;
  double residual; /* of the Riccati equation, relative to its largest term */
  psdm_mode mode;  /* UNREACHABLE: the mode */
} psdm_lqr_info;

/* Gains du = -K dx, (inputs x states), that minimise the integral or sum of dx^T Q dx + du^T R du, and X (states x
 * states), with which dx^T X dx is that cost. Riccati's equation by ordered Schur vectors, refined. X and modes
 * (states; of the closed loop) may be NULL. PSDM_OK also when there are no such gains: info says why, and K, X, modes
 * are then not set. */
PSDM_API psdm_status psdm_system_lqr(int states, int inputs, const double *A, const double *B, double dt,
                                     const double *Q, const double *R, double *scratch, double *K, double *X,
                                     psdm_mode *modes, psdm_lqr_info *info);

#ifdef __cplusplus
}
#endif
#endif
