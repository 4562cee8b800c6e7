/* old_psdm.h: declarations of an older release, reduced to the needs of test_old_headers.c. Frozen: it shows that a
 * program compiled with them works with today's library. psdm_excite_options lacks the fields better, better_user. */
#ifndef OLD_PSDM_H
#define OLD_PSDM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int psdm_status;
typedef struct psdm_robot psdm_robot;
typedef struct psdm_model psdm_model;
typedef struct psdm_excitation psdm_excitation;
typedef bool (*psdm_progress)(void *user, const char *doing, double share);

typedef struct psdm_error {
  psdm_status status;
  int line;
  int column;
  char file[256];
  char text[512];
} psdm_error;

typedef struct psdm_robot_options {
  bool no_snap;
  const double *gravity;
  const char *root;
  const char *tip;
  int lock_count;
  const void *locks;
  int missing_inertia;
  double snap_axes;
  size_t memory;
  unsigned long long reserved[8];
} psdm_robot_options;

typedef struct psdm_derive_options {
  int assume_count;
  const char *const *assume;
  int method;
  int basis;
  void (*sampler)(void);
  void *sampler_user;
  const char *sampler_command;
  psdm_progress progress;
  void *progress_user;
  double rank_tolerance;
  bool unchecked;
  size_t memory;
  unsigned long long reserved[8];
} psdm_derive_options;

typedef struct psdm_excite_options {
  int step;
  double seconds;
  const double *lower, *upper, *velocity, *acceleration, *effort;
  double margin;
  double clearance;
  uint64_t seed;
  int shape;
  int goal;
  int harmonics;
  double band;
  bool no_friction;
  int starts;
  int threads;
  void *ranks;
  long evaluations;
  double wall;
  double mass;
  double com[3];
  double speed;
  int levels;
  psdm_progress progress;
  void *progress_user;
  unsigned long long reserved[8];
} psdm_excite_options;

psdm_status psdm_robot_parse(const char *text, size_t length, const char *name, const psdm_robot_options *options,
                             const void *allocator, psdm_robot **robot, psdm_error *error);
void psdm_robot_free(psdm_robot *robot);
int psdm_robot_n(const psdm_robot *robot);
psdm_status psdm_model_derive(const psdm_robot *robot, const psdm_derive_options *options, const void *allocator,
                              psdm_model **model, void *info, psdm_error *error);
void psdm_model_free(psdm_model *model);
psdm_status psdm_excite(const psdm_robot *robot, const psdm_excite_options *options, const void *allocator,
                        psdm_excitation **excitation, psdm_error *error);
void psdm_excitation_free(psdm_excitation *excitation);

#endif
