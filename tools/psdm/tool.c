/* tool.c: shared by the commands: input and output files. */
#define _POSIX_C_SOURCE 200809L /* stat */
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

void tool_json_begin(psdm_output *out, const char *command) {
  psdm_json_object(out, NULL);
  psdm_json_string(out, "command", command);
  psdm_json_string(out, "psdm", psdm_version());
}
