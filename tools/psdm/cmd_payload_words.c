/* cmd_payload_words.c: the command line of psdm payload as options of the library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_payload.h"

/* ---- option values ---- */

static int check_logs(payload_job *j) {
  const payload_settings *s = &j->set;
  if (!s->params)
    return tool_usage("payload",
                      "missing --params FILE: the calibration of the robot without the load, from psdm calibrate");
  if (s->load && (s->log.count || s->empty.count || s->predict))
    return tool_usage("payload", "--load gives a known load and cannot be used with --log, --empty or --predict");
  if (!s->load && !s->log.count)
    return tool_usage("payload", "missing --log FILE (the log with the load), or --load for a known load");
  for (int i = 0; i < s->log.count; i++)
    if (!s->log.value[i][0]) return tool_usage("payload", "--log: empty file name");
  for (int i = 0; i < s->empty.count; i++)
    if (!s->empty.value[i][0]) return tool_usage("payload", "--empty: empty file name");
  for (int i = 0; i < s->log.count * s->empty.count; i++)
    if (strcmp(s->log.value[i / s->empty.count], s->empty.value[i % s->empty.count]) == 0)
      return tool_usage("payload", "'%s' is given both with and without the load",
                        tool_safe(s->empty.value[i % s->empty.count]));
  j->options.files = s->log.count;
  j->options.path = s->log.value;
  j->options.empty_files = s->empty.count;
  j->options.empty_path = s->empty.value;
  return -1;
}

static int choose_numbers(payload_job *j) {
  const payload_settings *s = &j->set;
  psdm_payload_options *o = &j->options;
  if (!(s->rate >= 0)) return tool_usage("payload", "--rate must not be negative");
  if (s->cutoff && strcmp(s->cutoff, "none") == 0) o->cutoff = INFINITY;
  else if (s->cutoff && !(tool_parse_number(s->cutoff, &o->cutoff) && o->cutoff > 0))
    return tool_usage("payload", "--cutoff '%s': a number above 0, or 'none', was expected", tool_safe(s->cutoff));
  o->unconstrained = s->plain;
  o->drift = s->drift;
  o->log = (psdm_log_options){
      .columns = s->columns, .degrees = s->degrees, .rate = s->rate, .ignore_extra = s->ignore_extra};
  return -1;
}

/* what would end up mixed on standard output */
static int check_outputs(const payload_job *j) {
  const payload_settings *s = &j->set;
  const char *const path[] = {s->out, s->predict};
  int standard = s->json;
  for (int k = 0; k < 2; k++) standard += path[k] && strcmp(path[k], "-") == 0;
  return standard > 1 ? tool_usage("payload", "only one of --json, --out and --predict can use standard output") : -1;
}

static int count_numbers(const char *text) {
  int count = 1;
  for (; *text; text++) count += *text == ',';
  return count;
}

/* "2.5,0,0,0.08": a point; with six more numbers its own inertia */
static int read_load(payload_job *j) {
  const char *text = j->set.load;
  double value[10] = {0};
  if (!text) return -1;
  int count = count_numbers(text);
  if (count != 4 && count != 10)
    return tool_usage("payload", "--load '%s': mass and centre, four numbers, or with the inertia ten, were expected",
                      tool_safe(text));
  int code = tool_numbers("payload", "load", text, count, value);
  if (code >= 0) return code;
  if (!(value[0] > 0)) return tool_usage("payload", "--load '%s': the mass must be above 0", tool_safe(text));
  j->load = (psdm_load){.mass = value[0], .com = {value[1], value[2], value[3]}};
  memcpy(j->load.inertia, value + 4, sizeof j->load.inertia);
  psdm_load_to_standard(&j->load, j->pi);
  return -1;
}

int payload_words(payload_job *j) {
  int code = check_logs(j);
  if (code < 0) code = tool_verdict("payload", j->set.accept, &j->accept);
  if (code < 0) code = choose_numbers(j);
  if (code < 0) code = read_load(j);
  return code < 0 ? check_outputs(j) : code;
}

/* ---- options that depend on the robot ---- */

static int per_joint(const payload_job *j, const char *option, const char *text, double **out) {
  if (!text) return -1;
  if (count_numbers(text) != j->n)
    return tool_usage("payload", "--%s '%s': %d numbers were expected, one per joint", option, tool_safe(text), j->n);
  *out = calloc((size_t)j->n + 1, sizeof **out);
  return *out ? tool_numbers("payload", option, text, j->n, *out) : tool_no_memory("payload");
}

static int choose_link(payload_job *j) {
  j->joint =
      j->set.link ? psdm_robot_find(j->robot, j->set.link) : tool_default_link(j->robot, "--link selects another");
  if (j->joint >= 0) return -1;
  return tool_no_link("payload", "link", j->set.link, j->robot);
}

int payload_numbers(payload_job *j) {
  j->n = psdm_robot_n(j->robot);
  int code = per_joint(j, "offset", j->set.offset, &j->offset);
  if (code < 0) code = per_joint(j, "sign", j->set.sign, &j->sign);
  for (int i = 0; i < j->n && code < 0 && j->sign; i++)
    if (fabs(j->sign[i]) != 1) code = tool_usage("payload", "--sign: %g is neither 1 nor -1", j->sign[i]);
  if (code < 0) code = choose_link(j);
  j->options.log.offset = j->offset;
  j->options.log.sign = j->sign;
  j->options.link = psdm_robot_link_name(j->robot, j->joint);
  return code;
}
