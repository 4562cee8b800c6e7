/* old_headers_today.c: the sizes of the options structs. They do not change: a new field takes places of `reserved`. */
#include "psdm/psdm.h"

/* clang-format off */
#define SIZES(X)                                                                                                       \
  X(psdm_along_options, 80) \
  X(psdm_bounds_options, 152) \
  X(psdm_calibrate_options, 352) \
  X(psdm_code_options, 144) \
  X(psdm_compile_options, 96) \
  X(psdm_control_options, 168) \
  X(psdm_derive_options, 152) \
  X(psdm_equilibrium_options, 88) \
  X(psdm_eval_options, 136) \
  X(psdm_excite_options, 272) \
  X(psdm_log_options, 120) \
  X(psdm_observer_options, 152) \
  X(psdm_optimal_options, 216) \
  X(psdm_base_parameters_options, 88) \
  X(psdm_path_options, 120) \
  X(psdm_payload_options, 256) \
  X(psdm_reduce_options, 176) \
  X(psdm_report_options, 80) \
  X(psdm_robot_options, 136) \
  X(psdm_sim_options, 216) \
  X(psdm_steps_options, 280) \
  X(psdm_symbolic_options, 96)
/* clang-format on */

#define SAME_SIZE(type, size)                                                      \
  _Static_assert(sizeof(void *) != 8 || sizeof(long) != 8 || sizeof(type) == size, \
                 "an options struct keeps its size: a new field takes places of reserved");
SIZES(SAME_SIZE)

size_t robot_options_today(void);
size_t derive_options_today(void);
size_t excite_options_today(void);
size_t robot_options_today(void) { return sizeof(psdm_robot_options); }
size_t derive_options_today(void) { return sizeof(psdm_derive_options); }
size_t excite_options_today(void) { return sizeof(psdm_excite_options); }
