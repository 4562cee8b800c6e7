/* convert.c: a robot in another format, with the same dynamics. */
#include <string.h>

#include "study/study.h"

#define CONVERT_SETTINGS(X)                                                                      \
  X(text, out, "-", "FILE", "output file, replaced only when complete; - is standard output")    \
  X(text, to, "", "yaml|urdf", "format (default: by the ending of `out`, else yaml)")            \
  X(text, x, "", "FILE", "inertia table of the PSDM MATLAB toolbox; ROBOT is then its DH table") \
  X(flag, tables, "", "", "ROBOT is a DH table of the PSDM MATLAB toolbox, inertia unknown")     \
  X(flag, lossy, "", "", "write even what the format can express only in part")                  \
  PSDM_ROBOT_SETTINGS(X)

PSDM_SETTINGS_STRUCT(convert_settings, CONVERT_SETTINGS);

typedef struct convert {
  psdm_job job;
  convert_settings set;
  psdm_robot_format format;
} convert;

#define SETTINGS_STRUCT convert_settings
static const psdm_setting settings[] = {CONVERT_SETTINGS(PSDM_SETTINGS_ROW){0}};

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static psdm_robot_format format_of(const convert_settings *set) {
  bool urdf = set->to ? strcmp(set->to, "urdf") == 0 : ends_with(set->out, ".urdf") || ends_with(set->out, ".xml");
  return urdf ? PSDM_FORMAT_URDF : PSDM_FORMAT_YAML;
}

static psdm_status check_losses(const convert *j) {
  const psdm_job *job = &j->job;
  char text[160];
  int losses = 0;
  for (; psdm_robot_loss(job->robot, j->format, losses, text, sizeof text); losses++)
    psdmp_job_warn(job, "URDF cannot express: %s", text);
  const double *g = psdm_robot_gravity(job->robot);
  if (j->format == PSDM_FORMAT_URDF && !(g[0] == 0 && g[1] == 0 && g[2] == -9.81))
    psdmp_job_note(job, "gravity is not part of URDF; read the file back with `gravity = %g,%g,%g`", g[0], g[1], g[2]);
  if (!losses || j->set.lossy) return PSDM_OK;
  psdm_error error;
  psdmp_base_fail(&error, PSDM_E_ROBOT, "", 0, 0,
                  "nothing was written, since %d thing%s would be lost; `lossy` writes the rest", losses,
                  losses == 1 ? "" : "s");
  return psdmp_job_fail(job, &error);
}

static void write(const void *self, psdm_output *out) {
  const convert *j = self;
  psdm_robot_write(j->job.robot, j->format, out);
}

static psdm_status run(psdm_job *job) {
  convert *j = (convert *)job;
  const psdm_robot_settings *set = PSDM_ROBOT_SETTINGS_OF(&j->set);
  j->format = format_of(&j->set);
  psdm_status status = j->set.x || j->set.tables ? psdmp_job_robot_tables(job, j->set.x, set, &job->robot)
                                                 : psdmp_job_robot(job, set, &job->robot);
  if (!status) status = check_losses(j);
  return status ? status : psdmp_job_document(job, "out", psdmp_job_written(job, "out"), write, j);
}

PSDMP_JOB_KIND(study, convert, convert, .free = NULL);
