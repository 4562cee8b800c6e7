/* section_analyze_modes.c: linear models: their eigenvalues and verdicts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/section_parts_priv.h"

enum { MOST_POINTS = 2000, MOST_MODES = 4000, MOST_TABLES = 4 };

typedef struct modes {
  double *re, *im;
  int count;
} modes;

/* adds the eigenvalues of a list */
static void collect(const psdmp_document_node *list, modes *m) {
  for (const psdmp_document_node *mode = psdmp_report_first(list); mode && m->count < MOST_MODES; mode = mode->next) {
    m->re[m->count] = psdmp_report_number(mode, "re");
    m->im[m->count++] = psdmp_report_number(mode, "im");
  }
}

static bool start(psdmp_report_page *page, modes *m) {
  double *memory = psdmp_report_page_memory(page, 2 * MOST_MODES * sizeof *memory);
  if (!memory) return false;
  *m = (modes){.re = memory, .im = memory + MOST_MODES};
  return true;
}

static void reach(const modes *m, double range[4]) {
  for (int k = 0; k < m->count; k++) {
    if (!isfinite(m->re[k]) || !isfinite(m->im[k])) continue;
    range[0] = fmin(range[0], m->re[k]), range[1] = fmax(range[1], m->re[k]);
    range[2] = fmin(range[2], m->im[k]), range[3] = fmax(range[3], m->im[k]);
  }
}

/* the unit circle of sampled systems; the axes of the others, slightly longer than all modes need */
static void draw_boundary(psdmp_report_drawing *d, bool sampled, const modes *open, const modes *closed, double x[],
                          double y[], int points) {
  const double full = 6.283185307179586;
  double range[4] = {0, 0, 0, 0}, size = 0;
  reach(open, range);
  reach(closed, range);
  for (int k = 0; k < 4; k++) size = fmax(size, fabs(range[k]));
  if (size == 0) size = 1;
  /* both axes have two sides */
  for (int k = 0; k < 4; k++) range[k] = k % 2 ? fmax(range[k], 0.05 * size) : fmin(range[k], -0.05 * size);
  for (int k = 0; k < points; k++) {
    double share = (double)k / (points - 1);
    x[k] = cos(full * share), y[k] = sin(full * share);
  }
  if (!sampled) {
    const double more_x = 0.06 * (range[1] - range[0]), more_y = 0.06 * (range[3] - range[2]);
    const double cross[2][5] = {{range[0] - more_x, range[1] + more_x, NAN, 0, 0},
                                {0, 0, NAN, range[2] - more_y, range[3] + more_y}};
    points = 5;
    memcpy(x, cross[0], sizeof cross[0]);
    memcpy(y, cross[1], sizeof cross[1]);
  }
  psdmp_report_draw_xy(d, PSDMP_REPORT_LINE, sampled ? "unit circle" : "axes: stable to the left", x, y, (size_t)points,
                       -1);
}

static void draw_plane(psdmp_report_page *page, const char *title, bool sampled, const modes *open,
                       const modes *closed) {
  enum { BOUNDARY = 97 };
  double x[BOUNDARY], y[BOUNDARY];
  psdmp_report_drawing d = psdmp_report_drawing_of(page, title, sampled ? "real part" : "real part (1/s)",
                                                   sampled ? "imaginary part" : "imaginary part (rad/s)");
  d.plot.tall = d.plot.zoom = true;
  draw_boundary(&d, sampled, open, closed, x, y, BOUNDARY);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, closed->count ? "open loop" : "modes", open->re, open->im,
                       (size_t)open->count, 0);
  psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, "with the LQR gains", closed->re, closed->im, (size_t)closed->count, 1);
  psdmp_report_draw(&d);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* the widest gap between the sizes of the modes, when they span more than three decades; else infinite */
static double slow_end(psdmp_report_page *page, const modes *open, const modes *closed) {
  const modes *both[] = {open, closed};
  double *size = psdmp_report_page_memory(page, 2 * MOST_MODES * sizeof *size), widest = 1, end = INFINITY;
  int count = 0;
  if (!size) return INFINITY;
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < both[b]->count; k++) {
      double s = hypot(both[b]->re[k], both[b]->im[k]);
      if (isfinite(s) && s > 1e-9) size[count++] = s; /* free motion: zero to rounding */
    }
  qsort(size, (size_t)count, sizeof *size, by_size);
  if (count < 2 || size[count - 1] < 1000 * size[0]) return INFINITY;
  for (int k = 1; k < count; k++)
    if (size[k] / size[k - 1] > widest) widest = size[k] / size[k - 1], end = size[k - 1];
  return end;
}

static void keep_slow(modes *m, double end) {
  int kept = 0;
  for (int k = 0; k < m->count; k++)
    if (hypot(m->re[k], m->im[k]) <= end) m->re[kept] = m->re[k], m->im[kept++] = m->im[k];
  m->count = kept;
}

static void draw_modes(psdmp_report_page *page, const psdmp_document_node *root) {
  bool sampled = psdmp_report_number(root, "dt") > 0;
  const psdmp_document_node *points = psdmp_report_node(root, "points");
  modes open, closed;
  int count = 0;
  if (!start(page, &open) || !start(page, &closed)) return;
  for (const psdmp_document_node *point = psdmp_report_first(points); point && count < MOST_POINTS;
       point = point->next, count++) {
    collect(psdmp_report_node(point, "eigenvalues"), &open);
    collect(psdmp_report_node(point, "lqr.closed_loop"), &closed);
  }
  if (!open.count) return;
  draw_plane(page, sampled ? "Eigenvalues of the sampled model" : "Eigenvalues", sampled, &open, &closed);
  /* one mode far out would hide all others */
  double end = sampled ? INFINITY : slow_end(page, &open, &closed);
  if (!isfinite(end)) return;
  keep_slow(&open, end);
  keep_slow(&closed, end);
  draw_plane(page, "Eigenvalues, the slow ones", sampled, &open, &closed);
}

static void points_table(psdmp_report_page *page, const psdmp_document_node *points) {
  static const char *const header[] = {
      "point", "q", "stability", "controllable", "slowest mode (rad/s)", "fastest mode (rad/s)"};
  static const psdmp_report_item words[] = {{"", "stability", PSDMP_REPORT_WORDS, NULL},
                                            {"", "controllable", PSDMP_REPORT_YES_NO, NULL}};
  enum { MOST = 50 };
  int at = 0;
  psdmp_report_page_heading(page, "Points");
  psdmp_report_page_table(page, header, 6, "ntttnn");
  for (const psdmp_document_node *point = points->child; point && at < MOST; point = point->next, at++) {
    const psdmp_document_node *mode = psdmp_report_first(psdmp_report_node(point, "eigenvalues"));
    double slow = NAN, fast = NAN;
    for (; mode; mode = mode->next)
      slow = fmin(slow, psdmp_report_number(mode, "frequency")),
      fast = fmax(fast, psdmp_report_number(mode, "frequency"));
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%d", at + 1);
    psdmp_report_page_cell(page, "%s", psdmp_report_words_vector(page, psdmp_report_node(point, "q"), 4));
    psdmp_report_cells(page, point, PSDMP_REPORT_ITEMS(words));
    psdmp_report_page_cell_number(page, slow, 4);
    psdmp_report_page_cell_number(page, fast, 4);
  }
  psdmp_report_page_table_end(page);
  if (points->count > MOST) psdmp_report_page_paragraph(page, "The first %d of %d points.", MOST, points->count);
}

static void mode_rows(psdmp_report_page *page, const psdmp_document_node *list, const char *loop) {
  for (const psdmp_document_node *mode = psdmp_report_first(list); mode; mode = mode->next) {
    double im = psdmp_report_number(mode, "im");
    if (im < 0) continue; /* its conjugate is already shown */
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", loop);
    psdmp_report_page_cell(page, "%s%s%s", psdmp_report_words_number(page, psdmp_report_number(mode, "re"), 5),
                           im > 0 ? " \xC2\xB1 " : "",
                           im > 0 ? psdmp_report_words(page, "%s i", psdmp_report_words_number(page, im, 5)) : "");
    psdmp_report_page_cell_number(page, psdmp_report_number(mode, "frequency"), 4);
    psdmp_report_page_cell_number(page, psdmp_report_number(mode, "damping"), 3);
  }
}

static void modes_tables(psdmp_report_page *page, const psdmp_document_node *points) {
  static const char *const header[] = {"loop", "eigenvalue", "frequency (rad/s)", "damping"};
  int at = 0;
  for (const psdmp_document_node *point = points->child; point && at < MOST_TABLES; point = point->next, at++) {
    psdmp_report_page_heading(page, psdmp_report_words(page, "Modes of point %d", at + 1));
    psdmp_report_page_table(page, header, 4, "ttnn");
    mode_rows(page, psdmp_report_node(point, "eigenvalues"), "open");
    mode_rows(page, psdmp_report_node(point, "lqr.closed_loop"), "with the LQR gains");
    psdmp_report_page_table_end(page);
  }
}

void psdmp_report_show_linearized(psdmp_report_page *page, const psdmp_report_results *results,
                                  psdmp_report_result *result) {
  const psdmp_document_node *points = psdmp_report_node(result->root, "points");
  psdmp_report_page_section(
      page, psdmp_report_title(page, results, result, "Linear models"),
      "The dynamics near a state, exact to first order: how it swings, whether it stays, what the motors can reach.");
  if (!points || points->kind != PSDMP_DOCUMENT_LIST || !points->count) {
    psdmp_report_page_paragraph(page, "The result has no points.");
    return;
  }
  points_table(page, points);
  draw_modes(page, result->root);
  modes_tables(page, points);
}
