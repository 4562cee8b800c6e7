/* fingerprint.c: identifies the robot that a file belongs to: FNV-1a over whole numbers, the same on every machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "psdm/output.h"
#include "robot/robot.h"

static void mix(uint64_t *hash, int64_t value) {
  for (int byte = 0; byte < 8; byte++) *hash = (*hash ^ ((uint64_t)value >> (8 * byte) & 0xFF)) * 0x100000001B3u;
}

/* numbers that differ only by rounding hash alike, except for a few in 1e6 near a rounding boundary: such a file is
 * refused though it fits */
static void mix_number(uint64_t *hash, double x) { mix(hash, isfinite(x) && fabs(x) < 1e9 ? llround(x * 1e9) : 0); }

static void mix_numbers(uint64_t *hash, const double *x, int count) {
  for (int i = 0; i < count; i++) mix_number(hash, x[i]);
}

/* which joints are passive, which points meet, and the position that selects the branch */
static void mix_loops(uint64_t *hash, const psdm_robot *r) {
  const psdmp_robot_closure *c = r->closure;
  if (!c) return;
  for (int l = 0; l < c->loops; l++)
    for (int side = 0; side < 2; side++)
      mix(hash, c->loop[l].joint[side]), mix_numbers(hash, c->loop[l].point[side], 3);
  for (int k = 0; k < c->passives; k++) mix(hash, c->passive[k]);
  mix_numbers(hash, c->start, c->passives);
  mix_numbers(hash, c->home, r->n);
}

uint64_t psdm_robot_fingerprint(const psdm_robot *r) {
  uint64_t hash = 0xCBF29CE484222325u;
  psdm_body body;
  mix(&hash, r->n), mix(&hash, r->bodies), mix(&hash, r->drives);
  for (int k = 0; psdm_robot_body(r, k, &body); k++) {
    mix(&hash, body.parent), mix(&hash, body.prismatic), mix(&hash, body.link);
    mix_numbers(&hash, body.R, 9), mix_numbers(&hash, body.p, 3);
    mix_numbers(&hash, r->link[r->body[k].index].frame.R, 9), mix_numbers(&hash, r->link[r->body[k].index].frame.p, 3);
  }
  for (int b = 0; b < r->bodies; b++) {
    mix_number(&hash, r->c[b]);
    for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++) mix(&hash, r->g_col[g]), mix_number(&hash, r->g_val[g]);
  }
  for (int d = 0; d < r->drives; d++) mix(&hash, r->drive[d].index);
  if (r->transmission) mix_numbers(&hash, r->transmission, r->n * r->n);
  mix_loops(&hash, r);
  return hash;
}

/* eight digits: rounding or another machine's sine makes no difference */
uint64_t psdmp_robot_inertia(const psdm_robot *r) {
  uint64_t hash = 0xCBF29CE484222325u;
  char text[32];
  for (int k = 0; k < psdm_robot_parameter_count(r); k++) {
    psdmp_base_print(text, sizeof text, "%.8g,", psdmp_robot_parameter(r, k) + 0.0);
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
  }
  return hash;
}

psdm_status psdmp_robot_description(const psdm_robot *r, const psdm_allocator *allocator, uint64_t *hash) {
  psdm_output *digest;
  psdm_status status = psdmp_base_digest_open(allocator, &digest);
  if (status) return status;
  psdm_robot_write(r, PSDM_FORMAT_YAML, digest);
  *hash = psdmp_base_digest_close(&digest);
  return PSDM_OK;
}

char *psdmp_robot_fingerprint_text(uint64_t hash, char text[PSDMP_ROBOT_FINGERPRINT]) {
  snprintf(text, PSDMP_ROBOT_FINGERPRINT, "%016llx", (unsigned long long)hash);
  return text;
}

bool psdmp_robot_fingerprint_read(const char *text, size_t length, uint64_t *hash) {
  static const char digits[] = "0123456789abcdef";
  *hash = 0;
  for (size_t i = 0; i < length; i++) {
    const char *at = text[i] ? strchr(digits, text[i]) : NULL;
    if (!at) return false;
    *hash = *hash << 4 | (uint64_t)(at - digits);
  }
  return length == PSDMP_ROBOT_FINGERPRINT - 1;
}
