/* bag_cdr.c: sensor_msgs/msg/JointState in CDR (OMG DDSI-RTPS 2.3, 10.2: four bytes give the encoding, numbers are
 * aligned to their size after them):
 *
 *   header {stamp {int32 sec, uint32 nanosec}, string frame_id}, string[] name, float64[] position, float64[]
 *   velocity, float64[] effort */
#include <stdio.h>
#include <string.h>

#include "log/bag_priv.h"

typedef struct reader {
  const unsigned char *data;
  size_t length, at; /* alignment counts from the fifth byte */
  bool big, good;    /* good: everything was inside */
} reader;

/* space for this many bytes at an alignment: their start, or 0 with good false */
static size_t take(reader *r, size_t align, size_t bytes) {
  size_t at = r->at + (align - (r->at - 4) % align) % align;
  if (!r->good || at > r->length || bytes > r->length - at) {
    r->good = false;
    return 0;
  }
  r->at = at + bytes;
  return at;
}

static uint32_t word(const unsigned char *d, bool big) {
  return big ? (uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 | d[3]
             : (uint32_t)d[3] << 24 | (uint32_t)d[2] << 16 | (uint32_t)d[1] << 8 | d[0];
}

static uint32_t take_word(reader *r) {
  size_t at = take(r, 4, 4);
  return r->good ? word(r->data + at, r->big) : 0;
}

/* text without its final NUL, which some writers omit when it is empty */
static const char *take_text(reader *r, size_t *length) {
  uint32_t bytes = take_word(r);
  size_t at = take(r, 1, bytes);
  *length = bytes;
  if (!r->good || !bytes) return "";
  if (r->data[at + bytes - 1] == '\0') --*length;
  return (const char *)r->data + at;
}

static void take_numbers(reader *r, psdmp_log_joint_state *state, psdmp_log_kind kind) {
  uint32_t count = take_word(r);
  if (count > r->length / 8) r->good = false;
  state->count[kind] = count;
  state->at[kind] = count ? take(r, 8, 8 * (size_t)count) : 0;
}

/* the place of each joint among the names; the successor of the last one is tried first, as messages keep their order
 * */
static void take_names(reader *r, const char *const *joint, int n, int *place) {
  uint32_t count = take_word(r);
  int guess = 0;
  for (int j = 0; j < n; j++) place[j] = -1;
  for (uint32_t k = 0; k < count && r->good && k <= INT32_MAX; k++) {
    size_t length;
    const char *name = take_text(r, &length);
    for (int i = 0; i < n && r->good; i++) {
      int j = (guess + i) % n;
      if (place[j] >= 0 || strlen(joint[j]) != length || memcmp(joint[j], name, length) != 0) continue;
      place[j] = (int)k;
      guess = j + 1;
      break;
    }
  }
}

static bool refuse(char *sentence, const char *text) {
  snprintf(sentence, PSDMP_LOG_SENTENCE, "%s", text);
  return false;
}

bool psdmp_log_joint_state_read(const unsigned char *data, size_t length, const char *const *joint, int n, int *place,
                                psdmp_log_joint_state *state, char sentence[PSDMP_LOG_SENTENCE]) {
  static const unsigned char zstd[] = {0x28, 0xB5, 0x2F, 0xFD};
  size_t unused;
  *state = (psdmp_log_joint_state){.data = data};
  if (length < 4) return refuse(sentence, "the message is shorter than its encoding's four bytes");
  if (memcmp(data, zstd, 4) == 0)
    return refuse(sentence, "the messages are compressed one by one (zstd); record without compression_mode: message");
  if (data[0] != 0 || data[1] > 1) return refuse(sentence, "the message is not in plain CDR");
  reader r = {data, length, 4, data[1] == 0, true};
  state->big = r.big;
  int64_t seconds = (int32_t)take_word(&r);
  state->stamp = seconds * 1000000000 + take_word(&r);
  take_text(&r, &unused);
  take_names(&r, joint, n, place);
  take_numbers(&r, state, PSDMP_LOG_Q);
  take_numbers(&r, state, PSDMP_LOG_QD);
  take_numbers(&r, state, PSDMP_LOG_TAU);
  return r.good || refuse(sentence, "the message ends before its arrays do");
}

double psdmp_log_joint_state_value(const psdmp_log_joint_state *state, psdmp_log_kind kind, int k) {
  const unsigned char *d = state->data + state->at[kind] + 8 * (size_t)k;
  uint64_t low = word(d + (state->big ? 4 : 0), state->big), high = word(d + (state->big ? 0 : 4), state->big),
           bits = high << 32 | low;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
