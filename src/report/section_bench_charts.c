/* section_bench_charts.c: curves and groups of bars of a benchmark on logarithmic axes, and tables of their numbers. */
#include "report/section_bench_charts_priv.h"

#include <math.h>
#include <string.h>

/* ---- texts ---- */

void psdmp_report_bench_place(psdmp_report_page *page, const psdmp_document_node *root) {
  const char *how = psdmp_report_text(root, "how"), *processor = psdmp_report_text(root, "processor"),
             *date = psdmp_report_text(root, "date");
  psdmp_report_page_raw(page, "<p class=\"muted\">");
  psdmp_report_page_print(page, "Measured on %s%s%s%s%s%s.", processor[0] ? processor : "an unnamed processor",
                          date[0] ? ", " : "", date, psdmp_report_truth(root, "quick") ? ", a quick run" : "",
                          how[0] ? ": " : "", how);
  psdmp_report_page_raw(page, "</p>\n");
}

void psdmp_report_bench_notes(psdmp_report_page *page, const psdmp_document_node *root) {
  psdmp_report_notes(page, psdmp_report_node(root, "notes"));
  psdmp_report_notes(page, psdmp_report_node(root, "skipped"));
}

/* "Derivation time (as Figure 4 of the PSDM paper)" */
static const char *chart_title(psdmp_report_page *page, const psdmp_document_node *chart) {
  const char *title = psdmp_report_text(chart, "title"), *figure = psdmp_report_text(chart, "figure");
  return figure[0] ? psdmp_report_words(page, "%.300s (as %.60s of the PSDM paper)", title, figure) : title;
}

/* ---- groups of bars ---- */

static double times_first(const psdmp_report_groups *g, int kind, int group) {
  return g->value[kind][group] / g->value[0][group];
}

/* two digits, and never a power of ten: 0.45, 7.1, 12000 */
static const char *ratio_words(psdmp_report_page *page, double ratio) {
  if (ratio < 10 || !isfinite(ratio) || ratio > 1e9) return psdmp_report_words_number(page, ratio, 2);
  double unit = pow(10, floor(log10(ratio)) - 1);
  return psdmp_report_words(page, "%.0f", unit * round(ratio / unit));
}

/* "Pinocchio (5.4x to 7.9x)": multiples of the first kind */
static const char *kind_title(psdmp_report_page *page, const psdmp_report_groups *g, int kind) {
  double least = INFINITY, most = 0;
  for (int i = 0; i < g->groups; i++) {
    double ratio = times_first(g, kind, i);
    if (isfinite(ratio) && ratio > 0) least = fmin(least, ratio), most = fmax(most, ratio);
  }
  if (!kind || !(most > 0)) return g->kind[kind];
  const char *from = ratio_words(page, least), *to = ratio_words(page, most);
  if (strcmp(from, to) == 0) return psdmp_report_words(page, "%.200s (%s\xC3\x97)", g->kind[kind], from);
  return psdmp_report_words(page, "%.200s (%s\xC3\x97 to %s\xC3\x97)", g->kind[kind], from, to);
}

/* eight colours, then muted; published figures are muted too */
static int kind_colour(const psdmp_report_groups *g, int kind) { return g->published[kind] || kind > 7 ? -1 : kind; }

/* half of the smallest value: an invisible point, so that no bar ends where the axis starts */
static double floor_of(const psdmp_report_groups *g) {
  double least = INFINITY;
  for (int k = 0; k < g->kinds; k++)
    for (int i = 0; i < g->groups; i++)
      if (g->value[k][i] > 0) least = fmin(least, g->value[k][i]);
  return least / 2;
}

/* one group: each kind is a bar with its name below; several: their names below, the kinds' in the legend */
void psdmp_report_groups_plot(psdmp_report_page *page, const psdmp_report_groups *g) {
  static const double filled = 0.84; /* of the distance between groups */
  const char *title[PSDMP_REPORT_MOST_KINDS];
  bool single = g->groups == 1;
  if (g->groups <= 0 || g->kinds <= 0) return;
  double least = floor_of(g),
         *x = psdmp_report_page_memory(page, sizeof(double) * (size_t)g->kinds * (size_t)g->groups);
  if (!x) return;
  psdmp_report_drawing d = psdmp_report_drawing_of(page, g->title, single ? g->group[0] : g->label, g->unit);
  d.plot.y_log = d.plot.tall = true;
  d.plot.tick = single ? title : g->group, d.plot.ticks = single ? g->kinds : g->groups;
  for (int k = 0; k < g->kinds; k++) {
    double *at = x + k * g->groups;
    title[k] = kind_title(page, g, k);
    for (int i = 0; i < g->groups; i++) at[i] = single ? k : i + (k - (g->kinds - 1) / 2.0) * filled / g->kinds;
    psdmp_report_draw_xy(&d, PSDMP_REPORT_BARS, single ? NULL : title[k], at, g->value[k], (size_t)g->groups,
                         kind_colour(g, k));
  }
  psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, NULL, x, &least, 1, -1);
  psdmp_report_draw(&d);
}

/* numbers and multiples of the first kind */
static void groups_table(psdmp_report_page *page, const psdmp_report_groups *g) {
  const char *header[PSDMP_REPORT_MOST_KINDS + 1] = {g->label};
  char numeric[PSDMP_REPORT_MOST_KINDS + 2] = "t";
  if (g->groups <= 0 || g->kinds <= 0) return;
  for (int k = 0; k < g->kinds; k++) {
    header[k + 1] = psdmp_report_words(page, "%.200s, %.40s", g->kind[k], g->unit);
    numeric[k + 1] = 'n';
  }
  psdmp_report_page_table(page, header, g->kinds + 1, numeric);
  for (int i = 0; i < g->groups; i++) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", g->group[i]);
    for (int k = 0; k < g->kinds; k++) {
      double ratio = times_first(g, k, i);
      const char *number = psdmp_report_words_number(page, g->value[k][i], 3);
      if (k && isfinite(ratio)) psdmp_report_page_cell(page, "%s (%s\xC3\x97)", number, ratio_words(page, ratio));
      else psdmp_report_page_cell(page, "%s", number);
    }
  }
  psdmp_report_page_table_end(page);
}

/* a benchmark's bars */
static void draw_bars(psdmp_report_page *page, const psdmp_document_node *chart) {
  psdmp_report_groups *g = psdmp_report_page_memory(page, sizeof *g);
  const psdmp_document_node *name = psdmp_report_first(psdmp_report_node(chart, "of")),
                            *kind = psdmp_report_first(psdmp_report_node(chart, "series"));
  if (!g || !name || !kind) return;
  *g = (psdmp_report_groups){.title = chart_title(page, chart),
                             .unit = psdmp_report_text(chart, "unit"),
                             .label = psdmp_report_text(chart, "x")};
  if (!g->label[0]) g->label = "compared";
  for (; name && g->groups < PSDMP_REPORT_MOST_GROUPS; name = name->next)
    g->group[g->groups++] = psdmp_report_own_text(name);
  for (; kind && g->kinds < PSDMP_REPORT_MOST_KINDS; kind = kind->next) {
    double *value = g->value[g->kinds];
    for (int i = psdmp_report_numbers(psdmp_report_node(kind, "values"), value, g->groups); i < g->groups; i++)
      value[i] = NAN;
    g->published[g->kinds] = psdmp_report_truth(kind, "published");
    g->kind[g->kinds++] = psdmp_report_text(kind, "name");
  }
  psdmp_report_groups_plot(page, g);
  psdmp_report_page_raw(page, "<details><summary>Numbers</summary>\n");
  groups_table(page, g);
  psdmp_report_page_raw(page, "</details>\n");
}

/* ---- curves ---- */

/* the curves of one plot */
typedef struct curves {
  int count;
  const char *name[PSDMP_REPORT_MOST_KINDS];
  bool published[PSDMP_REPORT_MOST_KINDS];
  int points[PSDMP_REPORT_MOST_KINDS];
  double *x[PSDMP_REPORT_MOST_KINDS], *y[PSDMP_REPORT_MOST_KINDS];
} curves;

static bool read_curve(psdmp_report_page *page, const psdmp_document_node *node, curves *c) {
  int k = c->count;
  const psdmp_document_node *list = psdmp_report_node(node, "x");
  int room = list && list->kind == PSDMP_DOCUMENT_LIST
                 ? list->count < PSDMP_REPORT_MOST_POINTS ? list->count : PSDMP_REPORT_MOST_POINTS
                 : 0;
  if (!room) return true;
  c->x[k] = psdmp_report_page_memory(page, sizeof(double) * (size_t)room);
  c->y[k] = psdmp_report_page_memory(page, sizeof(double) * (size_t)room);
  if (!c->x[k] || !c->y[k]) return false;
  int given = psdmp_report_numbers(list, c->x[k], room),
      known = psdmp_report_numbers(psdmp_report_node(node, "y"), c->y[k], room);
  c->points[k] = given < known ? given : known;
  c->name[k] = psdmp_report_text(node, "name");
  c->published[k] = psdmp_report_truth(node, "published");
  c->count += c->points[k] > 0;
  return true;
}

/* names 0, 1, ... for an axis of integers; returns how many, 0 for other axes */
static int count_ticks(psdmp_report_page *page, const curves *c, const char *tick[PSDMP_REPORT_MOST_GROUPS]) {
  double most = 0;
  for (int k = 0; k < c->count; k++)
    for (int i = 0; i < c->points[k]; i++) {
      double x = c->x[k][i];
      if (!(x >= 0 && x < PSDMP_REPORT_MOST_GROUPS - 1) || x != floor(x)) return 0;
      most = fmax(most, x);
    }
  for (int i = 0; i <= (int)most; i++) tick[i] = psdmp_report_words(page, "%d", i);
  return (int)most + 1;
}

static void plot_curves(psdmp_report_page *page, const psdmp_document_node *chart, const curves *c) {
  const char *tick[PSDMP_REPORT_MOST_GROUPS];
  psdmp_report_drawing d = psdmp_report_drawing_of(page, chart_title(page, chart), psdmp_report_text(chart, "x"),
                                                   psdmp_report_text(chart, "y"));
  d.plot.x_log = psdmp_report_truth(chart, "x_log"), d.plot.y_log = psdmp_report_truth(chart, "y_log");
  d.plot.ticks = d.plot.x_log ? 0 : count_ticks(page, c, tick);
  d.plot.tick = d.plot.ticks ? tick : NULL;
  for (int k = 0; k < c->count; k++) {
    /* published numbers and single ones are dots, measured ones a line with dots */
    bool line = !c->published[k] && c->points[k] > 1;
    int colour = c->published[k] || k > 7 ? -1 : k;
    if (line) psdmp_report_draw_xy(&d, PSDMP_REPORT_LINE, c->name[k], c->x[k], c->y[k], (size_t)c->points[k], colour);
    psdmp_report_draw_xy(&d, PSDMP_REPORT_DOTS, line ? NULL : c->name[k], c->x[k], c->y[k], (size_t)c->points[k],
                         colour);
  }
  psdmp_report_draw(&d);
}

/* the next larger x of all curves; NAN: none */
static double next_x(const curves *c, double after) {
  double next = NAN;
  for (int k = 0; k < c->count; k++)
    for (int i = 0; i < c->points[k]; i++)
      if (isfinite(c->x[k][i]) && (isnan(after) || c->x[k][i] > after) && !(c->x[k][i] >= next)) next = c->x[k][i];
  return next;
}

static double y_at(const curves *c, int k, double x) {
  for (int i = 0; i < c->points[k]; i++)
    if (c->x[k][i] == x) return c->y[k][i];
  return NAN;
}

static void table_of_curves(psdmp_report_page *page, const psdmp_document_node *chart, const curves *c) {
  const char *header[PSDMP_REPORT_MOST_KINDS + 1] = {psdmp_report_text(chart, "x")};
  char numeric[PSDMP_REPORT_MOST_KINDS + 2] = "n";
  for (int k = 0; k < c->count; k++) header[k + 1] = c->name[k], numeric[k + 1] = 'n';
  psdmp_report_page_raw(page, "<details><summary>Numbers</summary>\n");
  psdmp_report_page_paragraph(page, "%s", psdmp_report_text(chart, "y"));
  psdmp_report_page_table(page, header, c->count + 1, numeric);
  double x = next_x(c, NAN);
  for (int row = 0; isfinite(x) && row < PSDMP_REPORT_MOST_GROUPS; row++, x = next_x(c, x)) {
    psdmp_report_page_row(page);
    psdmp_report_page_cell(page, "%s", psdmp_report_words_number(page, x, 4));
    for (int k = 0; k < c->count; k++) psdmp_report_page_cell_number(page, y_at(c, k, x), 3);
  }
  psdmp_report_page_table_end(page);
  psdmp_report_page_raw(page, "</details>\n");
}

static void draw_curves(psdmp_report_page *page, const psdmp_document_node *chart) {
  curves c = {0};
  const psdmp_document_node *s = psdmp_report_first(psdmp_report_node(chart, "series"));
  for (; s && c.count < PSDMP_REPORT_MOST_KINDS; s = s->next)
    if (!read_curve(page, s, &c)) return;
  if (!c.count) return;
  plot_curves(page, chart, &c);
  table_of_curves(page, chart, &c);
}

/* ---- a whole result ---- */

void psdmp_report_bench_charts(psdmp_report_page *page, const psdmp_document_node *root) {
  const psdmp_document_node *chart = psdmp_report_first(psdmp_report_node(root, "curves"));
  for (; chart; chart = chart->next) draw_curves(page, chart);
  for (chart = psdmp_report_first(psdmp_report_node(root, "bars")); chart; chart = chart->next) draw_bars(page, chart);
}
