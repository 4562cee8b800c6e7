/* cmd_analyze_path.c: reads the positions of --path, writes their ellipsoids. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_analyze.h"

static int file_error(const psdm_csv *csv, psdm_status status, int at, const char *text) {
  psdm_error error = {.status = status, .line = at};
  snprintf(error.file, sizeof error.file, "%.250s", psdm_csv_file(csv));
  snprintf(error.text, sizeof error.text, "%.500s", text);
  return tool_fail(&error);
}

/* columns of q1.., and of t or -1 */
static int match_columns(analysis *a, const psdm_csv *csv, int *column, int *time) {
  char text[256];
  *time = psdm_csv_find(csv, "t");
  for (int j = 0; j < a->n; j++) {
    snprintf(text, sizeof text, "q%d", j + 1);
    column[j] = psdm_csv_find(csv, text);
    snprintf(text, sizeof text, "missing column 'q%d'; a path needs q1 to q%d and may have t", j + 1, a->n);
    if (column[j] < 0) return file_error(csv, PSDM_E_PARSE, psdm_csv_header_line(csv), text);
  }
  for (int c = 0; c < psdm_csv_columns(csv) && !a->set.ignore_extra; c++) {
    bool used = c == *time;
    for (int j = 0; j < a->n; j++) used = used || column[j] == c;
    snprintf(text, sizeof text, "unknown column '%.80s': expected t, q1 to q%d; --ignore-extra skips it",
             tool_safe(psdm_csv_name(csv, c)), a->n);
    if (!used) return file_error(csv, PSDM_E_PARSE, psdm_csv_header_line(csv), text);
  }
  return -1;
}

static bool grow(analysis *a) {
  path_rows *p = &a->path;
  if (p->count < p->room) return true;
  size_t room = p->room ? 2 * (size_t)p->room : 256;
  double *t = realloc(p->t, room * sizeof *t);
  if (t) p->t = t;
  double *q = realloc(p->q, room * (size_t)a->n * sizeof *q);
  if (q) p->q = q;
  double *row = realloc(p->row, room * PATH_NUMBERS * sizeof *row);
  if (row) p->row = row;
  p->room = (long)room;
  return t && q && row;
}

static void put_ellipsoid(double *at, const psdm_ellipsoid *e, bool inverse) {
  for (int k = 0; k < 3; k++) at[k] = inverse ? 1 / e->axis[k] : e->axis[k];
  memcpy(at + 3, e->direction, sizeof e->direction);
}

/* inverses of apparent masses: these may be zero, the masses infinite */
static psdm_status ellipsoids(analysis *a, double *scratch, const double *q, double *row) {
  psdm_ellipsoid velocity, acceleration, inertia;
  psdm_status status = psdm_ellipsoids_at(a->robot, a->work, q, a->link, scratch, &velocity,
                                          a->numeric ? &acceleration : NULL, a->numeric ? &inertia : NULL, row);
  if (status) return status;
  memset(row + 3, 0, sizeof *row * (PATH_NUMBERS - 3));
  put_ellipsoid(row + 3, &velocity, false);
  if (a->numeric) put_ellipsoid(row + 15, &acceleration, false);
  if (a->numeric) put_ellipsoid(row + 27, &inertia, true);
  return PSDM_OK;
}

static int read_rows(analysis *a, psdm_csv *csv, const int *column, int time, double *values, double *scratch) {
  path_rows *p = &a->path;
  psdm_error error;
  bool more = true;
  while (more) {
    if (psdm_csv_row(csv, values, &more, &error)) return tool_fail(&error);
    if (!more) break;
    if (!grow(a)) return tool_no_memory("analyze");
    double *q = p->q + p->count * a->n;
    p->t[p->count] = time < 0 ? 0 : values[time];
    for (int j = 0; j < a->n; j++) q[j] = values[column[j]];
    psdm_status status = ellipsoids(a, scratch, q, p->row + p->count * PATH_NUMBERS);
    if (status) return file_error(csv, status, psdm_csv_line(csv), psdm_status_text(status));
    p->count++;
  }
  return p->count ? -1 : file_error(csv, PSDM_E_PARSE, 0, "no positions");
}

double analyze_measure(const analysis *a, long row) { return a->path.row[row * PATH_NUMBERS + a->path.dimensions - 1]; }

/* an arm that stays in a plane never has a third axis */
static void summarise(analysis *a) {
  path_rows *p = &a->path;
  p->dimensions = 1;
  for (long r = 0; r < p->count; r++)
    for (int k = 1; k < 3; k++)
      if (p->row[r * PATH_NUMBERS + 3 + k] > 1e-9 * p->row[r * PATH_NUMBERS + 3] && p->dimensions < k + 1)
        p->dimensions = k + 1;
  for (long r = 0; r < p->count; r++) {
    if (analyze_measure(a, r) < analyze_measure(a, p->least)) p->least = r;
    if (analyze_measure(a, r) > analyze_measure(a, p->most)) p->most = r;
  }
}

int analyze_read_path(analysis *a) {
  psdm_csv *csv;
  psdm_error error;
  int time = -1;
  tool_input(a->set.path);
  if (psdm_csv_open(a->set.path, NULL, &csv, &error)) return tool_fail(&error);
  int *column = calloc((size_t)a->n, sizeof *column);
  double *values = calloc((size_t)psdm_csv_columns(csv), sizeof *values),
         *scratch = calloc(psdm_ellipsoids_scratch(a->robot), sizeof *scratch);
  int code = column && values && scratch ? match_columns(a, csv, column, &time) : tool_no_memory("analyze");
  a->path.timed = time >= 0;
  /* grows by doubling */
  if (code < 0 &&
      psdm_csv_fits(csv, 3 * sizeof(double) * (size_t)(1 + a->n + PATH_NUMBERS), psdm_robot_memory(a->robot), &error))
    code = tool_fail(&error);
  if (code < 0) code = read_rows(a, csv, column, time, values, scratch);
  if (code < 0) summarise(a);
  free(column);
  free(values);
  free(scratch);
  psdm_csv_close(csv);
  return code;
}

/* ---- output ---- */

/* w1 w2 w3, then v1 v2 v3 v1x v1y .. v3z, a.., im.. */
const char *analyze_path_column(int column, char buf[16]) {
  static const char *const kinds[ELLIPSOIDS] = {"v", "a", "im"};
  int at = column - 3, inside = at % 12;
  if (column < 3) snprintf(buf, 16, "w%d", (column + 1) % 10);
  else if (inside < 3) snprintf(buf, 16, "%s%d", kinds[at / 12], inside + 1);
  else snprintf(buf, 16, "%s%d%c", kinds[at / 12], (inside - 3) / 3 + 1, "xyz"[inside % 3]);
  return buf;
}

int analyze_write_path(const analysis *a) {
  const path_rows *p = &a->path;
  psdm_output *out;
  char name[16];
  int code = tool_open(a->set.out, &out), numbers = a->numeric ? PATH_NUMBERS : 15;
  if (code >= 0) return code;
  if (p->timed) psdm_output_text(out, "t,");
  for (int j = 0; j < a->n; j++) psdm_output_print(out, "q%d,", j + 1);
  for (int c = 0; c < numbers; c++)
    psdm_output_print(out, "%s%s", analyze_path_column(c, name), c < numbers - 1 ? "," : "\n");
  for (long r = 0; r < p->count; r++) {
    if (p->timed) psdm_output_number(out, p->t[r]), psdm_output_text(out, ",");
    for (int j = 0; j < a->n; j++) psdm_output_number(out, p->q[r * a->n + j]), psdm_output_text(out, ",");
    for (int c = 0; c < numbers; c++)
      psdm_output_number(out, p->row[r * PATH_NUMBERS + c]), psdm_output_text(out, c < numbers - 1 ? "," : "\n");
  }
  code = tool_commit(&out);
  return code == EXIT_OK ? -1 : code;
}
