/* robot_io.c: the robot of a job, and the tables that jobs read. */
#define _POSIX_C_SOURCE 200809L /* stat, isatty */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/state_priv.h"
#include "psdm/text.h"

/* a text of the caller's in place of a file; NULL: there is none */
static const char *text_for(const psdm_job *job, const char *path) {
  const psdmp_job_text *entry = job->state->texts;
  while (entry && strcmp(entry->name, path) != 0) entry = entry->next;
  return entry ? entry->text : NULL;
}

void psdmp_job_reads(const psdm_job *job, const char *path) {
  if (job->host.reads && !text_for(job, path)) job->host.reads(job->host.user, path);
}

psdm_status psdmp_job_writes(const psdm_job *job, const char *path, bool done) {
  psdm_error error;
  psdm_status status = job->host.writes ? job->host.writes(job->host.user, path, done, &error) : PSDM_OK;
  return status ? psdmp_job_fail(job, &error) : PSDM_OK;
}

/* a parameter file without a fingerprint: nobody can tell whose it is */
static void warn_unsigned(const psdm_job *job, const char *path, const psdm_parameters *p) {
  if (!p->kinematics)
    psdmp_job_note(job, "%s does not name the kinematics of its parameters; they are assumed to be this robot's",
                   psdmp_job_safe(job, path));
}

enum { LOCKS = 64 };

/* "JOINT=VALUE,JOINT=VALUE" in text, which is cut into pieces; a name ends at the last = of its piece */
static psdm_status parse_locks(const psdm_job *job, char *text, psdm_lock *locks, int *count) {
  for (char *at = text, *next; at; at = next) {
    next = strchr(at, ',');
    if (next) *next++ = '\0';
    char *equals = strrchr(at, '=');
    if (*count == LOCKS) return psdmp_job_wrong(job, "`lock`: at most %d joints", LOCKS);
    if (!equals || !psdm_parse_number(equals + 1, &locks[*count].value))
      return psdmp_job_wrong(job, "`lock` '%s': JOINT=VALUE was expected", psdmp_job_safe(job, at));
    *equals = '\0';
    locks[(*count)++].joint = at;
  }
  return PSDM_OK;
}

/* a number in rad, or one with its unit: "0.1 deg" */
static bool parse_angle(const char *text, double *value) {
  char number[64];
  size_t length = strlen(text);
  const char *unit = length > 3 ? text + length - 3 : "";
  bool degrees = strcmp(unit, "deg") == 0;
  if (degrees || strcmp(unit, "rad") == 0) length -= 3;
  while (length && text[length - 1] == ' ') length--;
  if (length >= sizeof number) return false;
  snprintf(number, sizeof number, "%.*s", (int)length, text);
  if (!psdm_parse_number(number, value)) return false;
  if (degrees) *value *= 3.14159265358979323846 / 180;
  return true;
}

/* what the robot cannot hold of its calibrated friction is told, and that base parameters alone say nothing about
 * single links */
static void tell_parameters(const psdm_job *job, const char *path, const psdm_parameters *p) {
  double most = 0, left_out;
  for (int i = 0; i < p->n; i++) {
    psdm_friction friction;
    psdm_parameters_friction(p, i, &friction, &left_out);
    if (left_out > most) most = left_out;
  }
  warn_unsigned(job, path, p);
  if (!p->pi)
    psdmp_job_note(job, "%s has base parameters only: torques are right, the inertias of single links are meaningless",
                   path);
  if (most > 0)
    psdmp_job_note(job, "%s: friction is the nearest Coulomb and viscous curve, at most %.2g off at a steady speed",
                   path, most);
}

static psdm_status load_parameters(const psdm_job *job, const char *path, const psdm_robot *robot,
                                   psdm_parameters **parameters) {
  psdm_error error;
  const char *text = text_for(job, path);
  psdm_status status = text ? psdm_parameters_parse(text, strlen(text), path, robot, NULL, parameters, &error)
                            : psdm_parameters_load(path, robot, NULL, parameters, &error);
  return status ? psdmp_job_fail(job, &error) : PSDM_OK;
}

psdm_status psdmp_job_parameters(const psdm_job *job, const char *path, const psdm_robot *robot,
                                 psdm_parameters **parameters) {
  psdm_status status = load_parameters(job, path, robot, parameters);
  if (!status) warn_unsigned(job, path, *parameters);
  return status;
}

static psdm_status take_parameters(const psdm_job *job, const char *path, psdm_robot *robot) {
  psdm_parameters *parameters;
  psdm_error error;
  psdm_status status = load_parameters(job, path, robot, &parameters);
  if (status) return status;
  psdmp_job_detail(job, "%s: %d base parameters%s", psdmp_job_safe(job, path), parameters->base,
                   parameters->pi ? " and every link's inertia" : "");
  status = psdm_parameters_apply(parameters, robot, &error);
  if (!status) tell_parameters(job, path, parameters);
  psdm_parameters_free(parameters);
  return status ? psdmp_job_fail(job, &error) : PSDM_OK;
}

/* bytes from "500000000", "800M", "4G" (powers of 1000; "4Gi" of 1024); NULL leaves 0 */
static psdm_status parse_memory(const psdm_job *job, const char *text, size_t *bytes) {
  static const char letters[] = "kMGT";
  if (!text) return PSDM_OK;
  double value;
  size_t length = strspn(text, "0123456789.+-eE");
  const char *end = text + length;
  bool number = psdmp_base_parse_number(text, length, &value);
  const char *letter = *end ? strchr(letters, *end == 'K' ? 'k' : *end) : NULL;
  bool binary = letter && end[1] == 'i';
  if (letter && number) value *= pow(binary ? 1024 : 1000, (double)(letter - letters) + 1);
  end += letter ? 1 + binary : 0;
  if (*end == 'B') end++;
  if (!number || *end || !(value >= 1e6) || value > 1e18)
    return psdmp_job_wrong(job, "`memory` '%s': a number of bytes from 1M was expected, as 800M or 4G",
                           psdmp_job_safe(job, text));
  *bytes = (size_t)value;
  return PSDM_OK;
}

/* reads a robot file, or tables when dh is set, and tells what was noticed */
static psdm_status load(const psdm_job *job, const char *path, bool tables, const char *x_path,
                        const psdm_robot_settings *set, psdm_robot **robot) {
  psdm_error error;
  psdm_lock locks[LOCKS];
  char text[2048] = "";
  psdm_robot_options options = {.no_snap = set->no_snap,
                                .gravity = set->gravity.given ? set->gravity.value : NULL,
                                .root = set->root,
                                .tip = set->tip,
                                .locks = locks};
  const char *missing = set->missing_inertia;
  options.missing_inertia = strcmp(missing, "zero") == 0      ? PSDM_MISSING_ZERO
                            : strcmp(missing, "unknown") == 0 ? PSDM_MISSING_UNKNOWN
                                                              : PSDM_MISSING_AUTO;
  if (set->snap_axes &&
      (!parse_angle(set->snap_axes, &options.snap_axes) || !(options.snap_axes > 0 && options.snap_axes <= 0.1)))
    return psdmp_job_wrong(job, "`snap_axes` '%s': an angle above 0 and up to 0.1 rad was expected, as 1e-3 or 0.1 deg",
                           psdmp_job_safe(job, set->snap_axes));
  if (set->lock) {
    if (strlen(set->lock) >= sizeof text) return psdmp_job_wrong(job, "`lock` is too long");
    snprintf(text, sizeof text, "%s", set->lock);
    psdm_status wrong = parse_locks(job, text, locks, &options.lock_count);
    if (wrong) return wrong;
  }
  psdm_status status = parse_memory(job, set->memory, &options.memory);
  if (status) return status;
  status = tables ? psdm_robot_load_tables(path, x_path, &options, NULL, robot, &error)
                  : psdm_robot_load(path, &options, NULL, robot, &error);
  if (status) return psdmp_job_fail(job, &error);
  psdmp_job_reads(job, path);
  if (x_path) psdmp_job_reads(job, x_path);
  if (set->params && !(job->kind && job->kind->continues)) psdmp_job_reads(job, set->params);
  psdmp_job_detail(job, "%s: robot '%s' with %d joints, %d of them independent, and %d standard parameters",
                   psdmp_job_safe(job, path), psdmp_job_safe(job, psdm_robot_name(*robot)), psdm_robot_joints(*robot),
                   psdm_robot_n(*robot), psdm_robot_parameter_count(*robot));
  for (int i = 0; i < psdm_robot_notes(*robot); i++) psdmp_job_note(job, "%s", psdm_robot_note(*robot, i));
  for (int i = 0; i < psdm_robot_warnings(*robot); i++)
    psdmp_job_tell(job, PSDM_JOB_CAUTION, "%s", psdm_robot_warning(*robot, i));
  return set->params ? take_parameters(job, set->params, *robot) : PSDM_OK;
}

psdm_status psdmp_job_read_robot(const psdm_job *job, const char *path, const psdm_robot_settings *set,
                                 psdm_robot **robot) {
  return load(job, path, false, NULL, set, robot);
}

psdm_status psdm_job_load(const psdm_job_host *host, const char *path, bool tables, const char *x_path,
                          const psdm_robot_settings *set, psdm_robot **robot, psdm_error *error) {
  psdmp_job_state state = {0};
  psdm_job job = {.host = *host, .state = &state};
  psdm_status status = load(&job, path, tables, x_path, set, robot);
  if (status && error) *error = state.error;
  return status;
}

psdm_status psdmp_job_robot(const psdm_job *job, const psdm_robot_settings *set, psdm_robot **robot) {
  psdm_status status = job->path                                   ? load(job, job->path, false, NULL, set, robot)
                       : !job->given                               ? psdmp_job_wrong(job, "a robot is missing")
                       : psdm_robot_clone(job->given, NULL, robot) ? psdmp_job_memory(job)
                                                                   : PSDM_OK;
  if (!status) job->state->robot = *robot;
  return status;
}

psdm_status psdmp_job_robot_tables(const psdm_job *job, const char *x_path, const psdm_robot_settings *set,
                                   psdm_robot **robot) {
  if (!job->path) return psdmp_job_wrong(job, "the file of a DH table is missing");
  psdm_status status = load(job, job->path, true, x_path, set, robot);
  if (!status) job->state->robot = *robot;
  return status;
}

static bool file_at(const char *path, struct stat *info) {
  return strcmp(path, "-") != 0 && stat(path, info) == 0 && S_ISREG(info->st_mode);
}

bool psdmp_job_is_file(const char *path) {
  struct stat info;
  return file_at(path, &info);
}

long long psdmp_job_file_size(const char *path) {
  struct stat info;
  return file_at(path, &info) ? (long long)info.st_size : 0;
}

void psdmp_job_typed(const psdm_job *job, const char *path, const char *rows, const char *other) {
  if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
    psdmp_job_note(job, "reading %s from the terminal until Ctrl-D; %s reads a file", rows, other);
}

psdm_status psdmp_job_table_fits(const psdm_job *job, const psdm_robot *robot, const char *path, int columns) {
  enum { BYTES = 32 }; /* for every number: room that doubles, and the copies that are made of it */
  psdm_csv *csv = NULL;
  psdm_error error;
  /* what cannot be opened is told of by who reads it */
  if (strcmp(path, "-") == 0 || psdm_csv_open(path, NULL, &csv, NULL)) return PSDM_OK;
  psdm_status status = psdm_csv_fits(csv, BYTES * ((size_t)columns + 1), psdm_robot_memory(robot), &error);
  psdm_csv_close(csv);
  return status ? psdmp_job_fail(job, &error) : PSDM_OK;
}
