/* analyze_path.c: reads the positions of `path`, writes their ellipsoids. */
#include <stdlib.h>
#include <string.h>

#include "study/analyze_priv.h"

static psdm_status file_error(const psdmp_study_analyze *a, const psdm_csv *csv, psdm_status status, int at,
                              const char *text) {
  psdm_error error = {.status = status, .line = at};
  snprintf(error.file, sizeof error.file, "%.250s", psdm_csv_file(csv));
  snprintf(error.text, sizeof error.text, "%.500s", text);
  return psdmp_job_fail(&a->job, &error);
}

/* columns of q1.., and of t or -1 */
static psdm_status match_columns(const psdmp_study_analyze *a, const psdm_csv *csv, int *column, int *time) {
  char text[256];
  *time = psdm_csv_find(csv, "t");
  for (int j = 0; j < a->n; j++) {
    snprintf(text, sizeof text, "q%d", j + 1);
    column[j] = psdm_csv_find(csv, text);
    snprintf(text, sizeof text, "missing column 'q%d'; a path needs q1 to q%d and may have t", j + 1, a->n);
    if (column[j] < 0) return file_error(a, csv, PSDM_E_PARSE, psdm_csv_header_line(csv), text);
  }
  for (int c = 0; c < psdm_csv_columns(csv) && !a->set.ignore_extra; c++) {
    bool used = c == *time;
    for (int j = 0; j < a->n; j++) used = used || column[j] == c;
    snprintf(text, sizeof text, "unknown column '%.80s': expected t, q1 to q%d; `ignore_extra` skips it",
             psdmp_job_safe(&a->job, psdm_csv_name(csv, c)), a->n);
    if (!used) return file_error(a, csv, PSDM_E_PARSE, psdm_csv_header_line(csv), text);
  }
  return PSDM_OK;
}

static bool grow(psdmp_study_analyze *a) {
  psdmp_study_path *p = &a->path;
  long t = p->room, q = t, row = t;
  return psdmp_base_room(NULL, &p->t, p->count, 1, &t, sizeof *p->t) &&
         psdmp_base_room(NULL, &p->q, p->count, 1, &q, (size_t)a->n * sizeof *p->q) &&
         psdmp_base_room(NULL, &p->row, p->count, 1, &row, PATH_NUMBERS * sizeof *p->row) && (p->room = row);
}

static void put_ellipsoid(double *at, const psdm_ellipsoid *e, bool inverse) {
  for (int k = 0; k < 3; k++) at[k] = inverse ? 1 / e->axis[k] : e->axis[k];
  memcpy(at + 3, e->direction, sizeof e->direction);
}

/* inverses of apparent masses: these may be zero, the masses infinite */
static psdm_status ellipsoids(psdmp_study_analyze *a, double *scratch, const double *q, double *row) {
  psdm_ellipsoid velocity, acceleration, inertia;
  psdm_status status = psdm_ellipsoids_at(a->job.robot, a->work, q, a->link, scratch, &velocity,
                                          a->numeric ? &acceleration : NULL, a->numeric ? &inertia : NULL, row);
  if (status) return status;
  memset(row + 3, 0, sizeof *row * (PATH_NUMBERS - 3));
  put_ellipsoid(row + 3, &velocity, false);
  if (a->numeric) put_ellipsoid(row + 15, &acceleration, false);
  if (a->numeric) put_ellipsoid(row + 27, &inertia, true);
  return PSDM_OK;
}

static psdm_status read_rows(psdmp_study_analyze *a, psdm_csv *csv, const int *column, int time, double *values,
                             double *scratch) {
  psdmp_study_path *p = &a->path;
  psdm_error error;
  bool more = true;
  while (more) {
    if (psdm_csv_row(csv, values, &more, &error)) return psdmp_job_fail(&a->job, &error);
    if (!more) break;
    if (!grow(a)) return psdmp_job_memory(&a->job);
    double *q = p->q + p->count * a->n;
    p->t[p->count] = time < 0 ? 0 : values[time];
    for (int j = 0; j < a->n; j++) q[j] = values[column[j]];
    psdm_status status = ellipsoids(a, scratch, q, p->row + p->count * PATH_NUMBERS);
    if (status) return file_error(a, csv, status, psdm_csv_line(csv), psdm_status_text(status));
    p->count++;
  }
  return p->count ? PSDM_OK : file_error(a, csv, PSDM_E_PARSE, 0, "no positions");
}

double psdmp_study_analyze_measure(const psdmp_study_analyze *a, long row) {
  return a->path.row[row * PATH_NUMBERS + a->path.dimensions - 1];
}

/* an arm that stays in a plane never has a third axis */
static void summarise(psdmp_study_analyze *a) {
  psdmp_study_path *p = &a->path;
  p->dimensions = 1;
  for (long r = 0; r < p->count; r++)
    for (int k = 1; k < 3; k++)
      if (p->row[r * PATH_NUMBERS + 3 + k] > 1e-9 * p->row[r * PATH_NUMBERS + 3] && p->dimensions < k + 1)
        p->dimensions = k + 1;
  for (long r = 0; r < p->count; r++) {
    if (psdmp_study_analyze_measure(a, r) < psdmp_study_analyze_measure(a, p->least)) p->least = r;
    if (psdmp_study_analyze_measure(a, r) > psdmp_study_analyze_measure(a, p->most)) p->most = r;
  }
}

psdm_status psdmp_study_analyze_path(psdmp_study_analyze *a) {
  const psdm_robot *robot = a->job.robot;
  psdm_csv *csv;
  psdm_error error;
  int time = -1;
  psdmp_job_reads(&a->job, a->set.path);
  if (psdm_csv_open(a->set.path, NULL, &csv, &error)) return psdmp_job_fail(&a->job, &error);
  int *column = calloc((size_t)a->n, sizeof *column);
  double *values = calloc((size_t)psdm_csv_columns(csv), sizeof *values),
         *scratch = calloc(psdm_ellipsoids_scratch(robot), sizeof *scratch);
  psdm_status status = column && values && scratch ? match_columns(a, csv, column, &time) : psdmp_job_memory(&a->job);
  a->path.timed = time >= 0;
  /* grows by doubling */
  if (!status &&
      psdm_csv_fits(csv, 3 * sizeof(double) * (size_t)(1 + a->n + PATH_NUMBERS), psdm_robot_memory(robot), &error))
    status = psdmp_job_fail(&a->job, &error);
  if (!status) status = read_rows(a, csv, column, time, values, scratch);
  if (!status) summarise(a);
  free(column);
  free(values);
  free(scratch);
  psdm_csv_close(csv);
  return status;
}

/* ---- output ---- */

/* w1 w2 w3, then v1 v2 v3 v1x v1y .. v3z, a.., im.. */
static void name_columns(char name[PATH_NUMBERS][8], const char *words[PATH_NUMBERS]) {
  static const char *const kinds[ELLIPSOIDS] = {"v", "a", "im"};
  for (int c = 0; c < PATH_NUMBERS; c++) {
    int at = c - 3, inside = at % 12;
    if (c < 3) snprintf(name[c], 8, "w%d", c + 1);
    else if (inside < 3) snprintf(name[c], 8, "%s%d", kinds[at / 12], inside + 1);
    else snprintf(name[c], 8, "%s%d%c", kinds[at / 12], (inside - 3) / 3 + 1, "xyz"[inside % 3]);
    words[c] = name[c];
  }
}

psdm_status psdmp_study_analyze_rows(const psdmp_study_analyze *a) {
  const psdmp_study_path *p = &a->path;
  const char *words[PATH_NUMBERS];
  char name[PATH_NUMBERS][8];
  psdmp_job_sink *sink;
  psdm_status status = psdmp_job_rows_open(&a->job, "out", a->set.out, &sink);
  if (status || !sink) return status;
  name_columns(name, words);
  for (long r = 0; r < p->count; r++) {
    const psdmp_job_group list[] = {
        PSDMP_JOB_GROUP("t", 0, p->t + r),
        PSDMP_JOB_GROUP("q", a->n, p->q + r * a->n),
        {.count = a->numeric ? PATH_NUMBERS : 15, .value = p->row + r * PATH_NUMBERS, .words = words}};
    psdmp_job_rows_add(sink, p->timed ? list : list + 1, p->timed ? 3 : 2);
  }
  return psdmp_job_rows_commit(&a->job, &sink);
}
