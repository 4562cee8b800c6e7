/* fuzz_urdf.c: any bytes as a URDF, whole or cut. If an input does not begin with '<', its first four bytes are
 * options: a letter of flags, then the choice of root, tip and locked joint among the text's names. */
#include <string.h>

#include "exercise.h"

enum { FLAG_NO_SNAP = 1, FLAG_ROOT = 2, FLAG_TIP = 4, FLAG_LOCK = 8, NAME_BYTES = 64 };

/* the pick-th value of an attribute called name, modulo their number; "" when there is none */
static const char *pick_name(const char *text, size_t size, int pick, char out[NAME_BYTES]) {
  int found = 0;
  out[0] = '\0';
  for (size_t i = 0; i + 6 < size && found <= pick; i++) {
    if (memcmp(text + i, "name=", 5)) continue;
    const char *from = text + i + 6, *end = memchr(from, text[i + 5], size - i - 6);
    if (!end || end - from >= NAME_BYTES) continue;
    memcpy(out, from, (size_t)(end - from));
    out[end - from] = '\0';
    found++;
  }
  return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char root[NAME_BYTES], tip[NAME_BYTES], joint[NAME_BYTES];
  psdm_robot_options options = {0};
  psdm_lock lock = {joint, 0.4};
  if (size > 4 && data[0] != '<') {
    const char *text = (const char *)data + 4;
    options.no_snap = data[0] & FLAG_NO_SNAP;
    if (data[0] & FLAG_ROOT) options.root = pick_name(text, size - 4, data[1] % 32, root);
    if (data[0] & FLAG_TIP) options.tip = pick_name(text, size - 4, data[2] % 32, tip);
    if (data[0] & FLAG_LOCK)
      options.locks = &lock, options.lock_count = 1, pick_name(text, size - 4, data[3] % 32, joint);
    data += 4, size -= 4;
  }
  if (!size || data[0] != '<') return 0; /* YAML has its own fuzzer */
  psdm_robot *robot = parse_or_refuse(data, size, "fuzz.urdf", &options);
  if (!robot) return 0;
  exercise(robot);
  exercise_writing(robot);
  psdm_robot_free(robot);
  return 0;
}
