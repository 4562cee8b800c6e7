/* peer_none.c: no peer available; libpsdm is timed alone. */
#include <stddef.h>

#include "peer.h"

const char *peer_name(void) { return NULL; }
const char *peer_compiler(void) { return NULL; }

const char *peer_refusal(const psdm_robot *robot) {
  (void)robot;
  return "no peer at hand";
}

peer *peer_new(const psdm_robot *robot, const double *states, int count) {
  (void)robot, (void)states, (void)count;
  return NULL;
}

void peer_free(peer *p) { (void)p; }

int peer_ways(recursion which) {
  (void)which;
  return 0;
}

const char *peer_function(recursion which, int way) {
  (void)which, (void)way;
  return NULL;
}

double peer_sweep(peer *p, recursion which, int way) {
  (void)p, (void)which, (void)way;
  return 0;
}

void peer_result(peer *p, recursion which, int way, int state, double *out) {
  (void)p, (void)which, (void)way, (void)state, (void)out;
}
