/* tool.c: shared by the commands: numbers, robots, input and output files. */
#define _POSIX_C_SOURCE 200809L /* stat */
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- numbers ---- */

bool tool_parse_number(const char *text, double *value) { return psdm_parse_number(text, value); }

int tool_assume(const char *command, const char *text, psdm_derive_options *options) {
  static char copy[4096];
  static const char *piece[256];
  if (!text) return -1;
  if (strlen(text) >= sizeof copy) return tool_usage(command, "--assume is too long");
  snprintf(copy, sizeof copy, "%s", text);
  for (char *at = copy, *next; at; at = next) {
    next = strchr(at, ',');
    if (next) *next++ = '\0';
    if (options->assume_count == (int)(sizeof piece / sizeof *piece))
      return tool_usage(command, "--assume: at most 256 assumptions");
    piece[options->assume_count++] = at;
  }
  options->assume = piece;
  return -1;
}

/* ---- output ---- */

typedef struct input_file {
  dev_t device;
  ino_t file;
} input_file;
static input_file *input; /* kept until the program ends */
static int inputs, inputs_room;

static bool room_for_input(void) {
  if (inputs < inputs_room) return true;
  input_file *more = realloc(input, sizeof *more * (size_t)(2 * inputs_room + 64));
  if (more) input = more, inputs_room = 2 * inputs_room + 64;
  return more != NULL;
}

static bool file_at(const char *path, struct stat *info) {
  return strcmp(path, "-") != 0 && stat(path, info) == 0 && S_ISREG(info->st_mode);
}

void tool_input(const char *path) {
  struct stat info;
  if (!file_at(path, &info) || !room_for_input()) return;
  input[inputs].device = info.st_dev;
  input[inputs++].file = info.st_ino;
}

psdm_status tool_try_spare(const char *path, psdm_error *error) {
  struct stat info;
  for (int i = 0; file_at(path, &info) && i < inputs; i++) {
    if (input[i].device != info.st_dev || input[i].file != info.st_ino) continue;
    *error =
        (psdm_error){.status = PSDM_E_IO,
                     .text = "this command reads that file and would overwrite it; choose another name for the output"};
    snprintf(error->file, sizeof error->file, "%.250s", path);
    return error->status;
  }
  return PSDM_OK;
}

int tool_spare(const char *path) {
  psdm_error error;
  return tool_try_spare(path, &error) ? tool_fail(&error) : -1;
}

psdm_status tool_try_open(const char *path, psdm_output **out, psdm_error *error) {
  psdm_status status = tool_try_spare(path, error);
  if (!status) status = psdm_output_open(path, NULL, out, error);
  const char *temporary = status ? NULL : psdm_output_temporary(*out);
  if (temporary) tool_pending(temporary);
  return status;
}

int tool_open(const char *path, psdm_output **out) {
  psdm_error error;
  return tool_try_open(path, out, &error) ? tool_fail(&error) : -1;
}

/* the temporary file's name, in text, for after the output is gone */
static const char *temporary_of(const psdm_output *out, char *text, size_t size) {
  const char *temporary = out ? psdm_output_temporary(out) : NULL;
  snprintf(text, size, "%s", temporary ? temporary : "");
  return text;
}

psdm_status tool_try_commit(psdm_output **out, psdm_error *error) {
  char temporary[4096];
  temporary_of(*out, temporary, sizeof temporary);
  psdm_status status = psdm_output_commit(out, error);
  tool_settled(temporary);
  if (status) return status;
  char *ending = NULL; /* the file's name is the temporary one's without its ending */
  for (char *at = temporary; (at = strstr(at, ".part-")); at++) ending = at;
  if (ending) *ending = '\0';
  if (ending) tool_detail("%s: %lld bytes written", tool_safe(temporary), tool_file_size(temporary));
  return PSDM_OK;
}

int tool_commit(psdm_output **out) {
  psdm_error error;
  return tool_try_commit(out, &error) ? tool_fail(&error) : EXIT_OK;
}

void tool_abort(psdm_output **out) {
  char temporary[4096];
  temporary_of(*out, temporary, sizeof temporary);
  psdm_output_abort(out);
  tool_settled(temporary);
}

long long tool_file_size(const char *path) {
  struct stat info;
  return file_at(path, &info) ? (long long)info.st_size : 0;
}

const psdm_word *tool_texts(psdm_result *result, const char *(*at)(const void *from, int index), const void *from,
                            long *count) {
  *count = 0;
  while (at(from, (int)*count)) ++*count;
  psdm_word *text = psdm_result_memory(result, *count, sizeof *text);
  for (long k = 0; text && k < *count; k++) text[k] = psdm_result_text(result, at(from, (int)k));
  if (!text) *count = 0;
  return text;
}

void tool_json_begin(psdm_output *out, const char *command) {
  psdm_json_object(out, NULL);
  psdm_json_string(out, "command", command);
  psdm_json_string(out, "psdm", psdm_version());
}

/* ---- links ---- */

int tool_default_link(const psdm_robot *robot, const char *what) {
  static bool told;
  bool chosen;
  int joint = psdm_robot_default_link(robot, &chosen);
  if (chosen && !told)
    tool_note("link '%s', the tip of the longest moving chain (%s)", tool_safe(psdm_robot_link_name(robot, joint)),
              what);
  told |= chosen;
  return joint;
}

int tool_must_move(const char *command, const char *option, const psdm_robot *robot, int joint) {
  if (psdm_robot_moves(robot, joint)) return -1;
  return tool_usage(command, "--%s: link '%s' is fixed to the base and does not move", option,
                    tool_safe(psdm_robot_link_name(robot, joint)));
}

/* ---- accelerations ---- */

int tool_regular(const psdm_robot *robot) {
  psdm_error error;
  double condition;
  if (psdm_mass_condition(robot, NULL, &condition, &error)) return tool_fail(&error);
  if (condition > 1e12)
    tool_warn("the mass matrix is nearly singular (condition %.1e): accelerations have few correct digits", condition);
  return -1;
}
