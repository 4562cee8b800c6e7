/* psdm/payload.h: a load on the last link: its effect, its identification, torques with it.
 *
 * Effect (De Luca, Robotics 2): the standard parameters of the link that carries a load become the sum of both, about
 * the same frame, in any frame convention: pi_n -> pi_n + pi_L. All base parameters follow linearly, theta -> theta + L
 * pi_L, L (base x 10). With theta as an argument of generated code this is the run-time update; docs/payload.md has the
 * equations. */
#ifndef PSDM_PAYLOAD_H
#define PSDM_PAYLOAD_H

#include "psdm/log.h"
#include "psdm/model.h"
#include "psdm/parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A load in usual terms: in the frame of the link that carries it. */
typedef struct psdm_load {
  double mass, com[3];
  double inertia[6]; /* about the centre of mass, in the link's axes: xx xy xz yy yz zz */
} psdm_load;

PSDM_API void psdm_load_to_standard(const psdm_load *load, double pi[10]);
/* false when the mass is not positive: com and inertia are then NAN. */
PSDM_API bool psdm_load_from_standard(const double pi[10], psdm_load *load);

/* L (base x 10) of the base parameters of this model (of this robot) for a load on the link behind `joint`. The link
 * may be a fixed one; the load is then given in its frame. PSDM_E_ARGUMENT when the model's parameters are not formulas
 * of standard parameters (basis echelon, assumptions that the load violates). Allocates and frees. */
PSDM_API psdm_status psdm_payload_map(const psdm_robot *robot, const psdm_model *model, int joint, double *L,
                                      psdm_error *error);

/* theta (base) <- theta_empty + L pi_L. No allocation: for the control loop. */
PSDM_API void psdm_payload_update(int base, const double *L, const double pi_L[10], const double *theta_empty,
                                  double *theta);

/* Adds the load to the robot itself (psdm_robot_set_parameters). No other thread may use it meanwhile. */
PSDM_API psdm_status psdm_payload_attach(psdm_robot *robot, int joint, const double pi_L[10], psdm_error *error);

/* Zero-initialise for the defaults. */
typedef struct psdm_payload_options {
  int files; /* logs with the load */
  const char *const *path;
  /* logs without it, of the same kind of motion, for friction and offsets that drifted since the calibration; may be
   * 0 */
  int empty_files;
  const char *const *empty_path;
  psdm_log_options log;
  const char *link; /* that carries it; NULL: psdm_robot_default_link */
  double cutoff;    /* Hz; 0: the calibration's */
  /* plain least squares; else mass and inertia are physically possible, with a weak pull towards a compact body */
  bool unconstrained;
  /* fit offset, Coulomb and viscous friction of each drive together with the load (always done with empty logs) */
  bool drift;
  psdm_progress progress;
  void *progress_user;
  unsigned long long reserved[8];
} psdm_payload_options;

typedef struct psdm_payload_answer {
  psdm_load load;
  double pi[10], pi_sd[10];
  double mass_sd, com_sd[3], inertia_sd[6];
  double covariance[100]; /* of pi: noise over time blocks, and the uncertainty of the calibrated parameters */
  double prior_share[10]; /* of each variance: above one half the log says little about it */
  int n;
  const psdm_joint_fit *before, *after; /* (n) torques of the loaded log without and with the load */
  double global_before, global_after;   /* relative */
  long rows;
  double seconds;
  bool stopped;
  char remark[6][200]; /* "" past the end */
  struct psdmp_payload *internal;
} psdm_payload_answer;

/* Identifies the load from logs. The parameters are those of the robot without it; they and the robot must outlive
 * the answer. Allocates; free with psdm_payload_free. */
PSDM_API psdm_status psdm_payload_identify(const psdm_robot *robot, const psdm_parameters *parameters,
                                           const psdm_payload_options *options, const psdm_allocator *allocator,
                                           psdm_payload_answer **answer, psdm_error *error);
PSDM_API void psdm_payload_free(psdm_payload_answer *answer); /* accepts NULL */

/* Faults in the logs, as psdm_calibration_fault. */
PSDM_API const char *psdm_payload_fault(const psdm_payload_answer *answer, int index);

/* One row of the logs, and the calibrated robot's torques without and with the load. */
typedef struct psdm_payload_row {
  double t;
  int segment;
  bool loaded;                          /* of a log with the load */
  const double *q, *qd, *qdd;           /* (n) filtered */
  const double *tau, *raw;              /* (n) measured, in the filter's band and as logged */
  const double *tau_empty, *tau_loaded; /* (n) predicted */
} psdm_payload_row;

typedef bool (*psdm_payload_write)(void *user, const psdm_payload_row *row); /* false stops */

/* Reads the logs again. */
PSDM_API psdm_status psdm_payload_predict(const psdm_payload_answer *answer, psdm_payload_write write, void *user,
                                          psdm_error *error);

/* The calibrated parameters of the robot with a load: for prediction without another identification. covariance_L (100,
 * nullable) is added through L, as if independent of these parameters. Allocates; free with psdm_parameters_free. */
PSDM_API psdm_status psdm_payload_parameters(const psdm_robot *robot, const psdm_parameters *empty, int joint,
                                             const double pi_L[10], const double *covariance_L,
                                             const psdm_allocator *allocator, psdm_parameters **loaded,
                                             psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
