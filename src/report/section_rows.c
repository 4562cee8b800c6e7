/* section_rows.c: matches rows to results, and their clock. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/section_parts_priv.h"

/* ---- matching ---- */

/* where a command names the file of its rows, and a column of such rows */
static const struct {
  const char *command, *setting, *column, *other_column;
  bool counted; /* "rows" of the result is their number */
} writers[] = {
    {"calibrate", "settings.predict", "predicted1", "measured", false},
    {"payload", "settings.predict", "with1", NULL, false},
    {"excite", "settings.out", "q1", NULL, true},
    {"simulate", "settings.out", "q1", NULL, true},
    {"plan", "settings.out", "q1", NULL, true},
};

enum { WRITERS = sizeof writers / sizeof *writers };

static int writer_of(const psdmp_report_result *json) {
  int k = 0;
  while (k < WRITERS && (!json->root || strcmp(json->command, writers[k].command))) k++;
  return k;
}

static bool could_be(const psdmp_report_result *csv, int writer) {
  if (csv->kind != PSDMP_REPORT_RESULT_CSV) return false;
  return psdmp_report_result_column(csv, writers[writer].column) >= 0 ||
         (writers[writer].other_column && psdmp_report_result_column(csv, writers[writer].other_column) >= 0);
}

/* whether the numbers of axes and rows match the result */
static bool fits(const psdmp_report_result *json, const psdmp_report_result *csv, int writer) {
  double n = psdmp_report_number(json->root, "n"), rows = psdmp_report_number(json->root, "rows");
  bool axes = psdmp_report_result_column(csv, "drive") >= 0 ||
              psdmp_report_rows_axes(csv, "q") == (int)(n >= 0 && n <= PSDMP_REPORT_MOST_AXES ? n : -1);
  return could_be(csv, writer) && axes && (!writers[writer].counted || rows == (double)csv->rows);
}

static size_t folder_length(const char *path) { return (size_t)(psdmp_report_words_file(path) - path); }

/* equal except for their extensions: "1-calibrate.json", "1-calibrate.csv" */
static bool same_stem(const char *a, const char *b) {
  const char *dot_a = strrchr(psdmp_report_words_file(a), '.'), *dot_b = strrchr(psdmp_report_words_file(b), '.');
  size_t length = dot_a ? (size_t)(dot_a - a) : strlen(a);
  return length == (dot_b ? (size_t)(dot_b - b) : strlen(b)) && strncmp(a, b, length) == 0;
}

/* How surely a result refers to these rows. The name is that given to the command; it and the result may have been
 * moved together since. Rows that were kept in memory have the name of their result. */
typedef enum likeness { OTHER, ALONE, SAME_NAME, SAME_FOLDER, SAME_PATH } likeness;

static likeness likeness_of(const psdmp_report_result *json, const psdmp_report_result *csv) {
  int writer = writer_of(json);
  if (writer == WRITERS || !fits(json, csv, writer)) return OTHER;
  const char *path = psdmp_report_text(json->root, "%s", writers[writer].setting);
  if (!path[0]) return same_stem(json->path, csv->path) ? SAME_FOLDER : ALONE;
  if (strcmp(path, csv->path) == 0) return SAME_PATH;
  if (strcmp(psdmp_report_words_file(path), psdmp_report_words_file(csv->path)) != 0) return ALONE;
  size_t length = folder_length(json->path);
  return folder_length(csv->path) == length && strncmp(json->path, csv->path, length) == 0 ? SAME_FOLDER : SAME_NAME;
}

/* the only unmatched rows with this likeness; none if there are several */
static psdmp_report_result *only_one(const psdmp_report_results *results, const psdmp_report_result *json,
                                     likeness like) {
  psdmp_report_result *found = NULL;
  for (int k = 0; k < results->count; k++) {
    psdmp_report_result *csv = results->item[k];
    if (csv->kind != PSDMP_REPORT_RESULT_CSV || csv->taken || likeness_of(json, csv) != like) continue;
    if (found) return NULL;
    found = csv;
  }
  return found;
}

/* the surest matches first, each file once */
void psdmp_report_rows_match(const psdmp_report_results *results) {
  for (int k = 0; k < results->count; k++) results->item[k]->matched = NULL, results->item[k]->taken = false;
  for (likeness like = SAME_PATH; like > OTHER; like--)
    for (int k = 0; k < results->count; k++) {
      psdmp_report_result *json = results->item[k];
      if (!json->root || json->matched) continue;
      json->matched = only_one(results, json, like);
      if (json->matched) json->matched->taken = true;
    }
}

/* ---- columns ---- */

const double *psdmp_report_rows_column(const psdmp_report_result *csv, const char *name) {
  int column = psdmp_report_result_column(csv, name);
  return column < 0 ? NULL : csv->value[column];
}

const double *psdmp_report_rows_group(const psdmp_report_result *csv, const char *group, int axis) {
  char name[48];
  snprintf(name, sizeof name, "%s%d", group, axis + 1);
  return psdmp_report_rows_column(csv, name);
}

int psdmp_report_rows_axes(const psdmp_report_result *csv, const char *group) {
  int count = 0;
  while (count < PSDMP_REPORT_MOST_AXES && psdmp_report_rows_group(csv, group, count)) count++;
  return count;
}

/* ---- the clock ---- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* the median of the steps forward; NAN if there is none */
static double usual_step(psdmp_report_page *page, const double *t, size_t rows) {
  size_t count = 0;
  double *step = psdmp_report_page_memory(page, (rows ? rows : 1) * sizeof *step);
  if (!step) return NAN;
  for (size_t k = 1; k < rows; k++)
    if (t[k] > t[k - 1]) step[count++] = t[k] - t[k - 1];
  if (!count) return NAN;
  qsort(step, count, sizeof *step, compare);
  return step[count / 2];
}

bool psdmp_report_timeline_of(psdmp_report_page *page, const psdmp_report_result *csv, psdmp_report_timeline *line) {
  const double *t = psdmp_report_rows_column(csv, "t"), *segment = psdmp_report_rows_column(csv, "segment");
  *line = (psdmp_report_timeline){.rows = csv->rows, .rate = NAN};
  line->t = psdmp_report_page_memory(page, (2 * csv->rows + 1) * sizeof *line->t);
  line->row = psdmp_report_page_memory(page, (2 * csv->rows + 1) * sizeof *line->row);
  if (!t || !csv->rows || !line->t || !line->row) return false;
  double step = usual_step(page, t, csv->rows), shift = 0, last = 0; /* last: the last time drawn */
  line->rate = 1 / step;
  for (size_t k = 0; k < csv->rows; k++) {
    bool broken =
        k && ((segment && segment[k] != segment[k - 1]) || !(t[k] > t[k - 1]) || t[k] - t[k - 1] > 1.5 * step);
    if (broken) {
      /* a clock that restarts continues one step after the end of the previous run */
      if (t[k] <= t[k - 1]) shift = last + step - t[k], line->shifted = true;
      line->t[line->points] = NAN;
      line->row[line->points++] = -1;
    }
    line->t[line->points] = t[k] + shift;
    if (isfinite(line->t[line->points])) last = line->t[line->points];
    line->row[line->points++] = (long)k;
  }
  return true;
}

double *psdmp_report_along(psdmp_report_page *page, const psdmp_report_timeline *line, const double *value) {
  double *out = value ? psdmp_report_page_memory(page, (line->points ? line->points : 1) * sizeof *out) : NULL;
  for (size_t k = 0; out && k < line->points; k++) out[k] = line->row[k] < 0 ? NAN : value[line->row[k]];
  return out;
}
