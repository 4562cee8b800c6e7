/* documents.c: the document types of linear models. */
#include "psdm/results.h"

#define MODE(X, S)                                       \
  X(S, number, re, , , "1/s", "real part")               \
  X(S, number, im, , , "1/s", "imaginary part")          \
  X(S, number, frequency, , , "rad/s", "absolute value") \
  X(S, number, damping, , , "", "-re over the absolute value")
PSDM_RESULT_TYPE(psdm_mode, MODE, NULL, "An eigenvalue, of the continuous system")
PSDM_RESULT_TYPE(psdm_lqr_result, PSDM_LQR_RESULT, NULL, "An LQR design")
PSDM_RESULT_TYPE(psdm_equilibrium_result, PSDM_EQUILIBRIUM_RESULT, NULL, "A search for an equilibrium")
PSDM_RESULT_TYPE(psdm_linear_point, PSDM_LINEAR_POINT, NULL, "A linear model at one state")
PSDM_RESULT_TYPE(psdm_linearize_result, PSDM_LINEARIZE_RESULT, "linearize", "Linear models")
