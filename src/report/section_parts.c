/* section_parts.c: words and axes of the sections about results. */
#include "report/section_parts_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- words ---- */

const char *psdmp_words(psdmp_page *page, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  int length = psdmp_vprint(text, sizeof text, format, args);
  va_end(args);
  if (length < 0) return "";
  char *copy = psdmp_page_memory(page, sizeof text < (size_t)length + 1 ? sizeof text : (size_t)length + 1);
  return copy ? strcpy(copy, text) : "";
}

/* U+2070 and its kin for an exponent */
static void superscript(int exponent, char *out) {
  static const char *const digit[] = {"\xE2\x81\xB0", "\xC2\xB9", "\xC2\xB2", "\xC2\xB3", "\xE2\x81\xB4", "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7", "\xE2\x81\xB8", "\xE2\x81\xB9"};
  char text[16];
  snprintf(text, sizeof text, "%d", exponent < 0 ? -exponent : exponent);
  *out = '\0';
  if (exponent < 0) strcat(out, "\xE2\x81\xBB");
  for (const char *c = text; *c; c++) strcat(out, digit[*c - '0']);
}

const char *psdmp_words_number(psdmp_page *page, double value, int digits) {
  char text[48], power[48];
  int exponent = 0;
  if (!isfinite(value)) return "\xE2\x80\x93";
  psdmp_print(text, sizeof text, "%.*g", digits, value + 0.0);
  const char *sign = text[0] == '-' ? "\xE2\x88\x92" : "", *plain = text + (text[0] == '-');
  char *e = strchr(text, 'e');
  if (!e) return psdmp_words(page, "%s%s", sign, plain);
  sscanf(e + 1, "%d", &exponent);
  *e = '\0';
  superscript(exponent, power);
  return psdmp_words(page, "%s%s\xC2\xA0\xC3\x97\xC2\xA0" "10%s", sign, plain, power);
}

const char *psdmp_words_percent(psdmp_page *page, double share) {
  if (!isfinite(share)) return "\xE2\x80\x93";
  if (fabs(share) >= 10 || (share != 0 && fabs(share) < 1e-6)) return psdmp_words(page, "%s\xC2\xA0%%", psdmp_words_number(page, 100 * share, 3));
  double size = fabs(100 * share);
  return psdmp_words(page, "%s%.*f\xC2\xA0%%", share < 0 ? "\xE2\x88\x92" : "", size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 || size == 0 ? 2 : size >= 0.0995 ? 3 : 4, size);
}

const char *psdmp_words_doubt(psdmp_page *page, double value, double sd) {
  if (!isfinite(value) || !(sd > 0) || !isfinite(sd)) return psdmp_words_number(page, value, 4);
  /* two digits of the sd, and the value to the same place; powers of ten where that is long, or nothing of the value is left */
  int place = 1 - (int)floor(log10(sd)), lead = value != 0 ? (int)floor(log10(fabs(value))) : 0;
  double digits = round(sd * pow(10, place));
  if (digits >= 100) digits = 10, place--;
  const char *sign = value < 0 ? "\xE2\x88\x92" : "";
  if (place < 0 || place > 9 || lead > 6)
    return psdmp_words(page, "%s \xC2\xB1 %s", psdmp_words_number(page, value, 4), psdmp_words_number(page, sd, 2));
  return psdmp_words(page, "%s%.*f(%g)", sign, place, fabs(value), digits);
}

const char *psdmp_words_file(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *psdmp_title(psdmp_page *page, const psdmp_results *results, const psdmp_result *result, const char *what) {
  const char *file = psdmp_words_file(result->path);
  int count = 0;
  for (int k = 0; k < results->count; k++) count += strcmp(results->item[k]->command, result->command) == 0 && psdmp_result_same_robot(results->item[k], result);
  if (!result->robot[0]) return psdmp_words(page, "%s: %s", what, file);
  return count > 1 ? psdmp_words(page, "%s of %s: %s", what, result->robot, file) : psdmp_words(page, "%s of %s", what, result->robot);
}

bool psdmp_truth(const psdmp_node *root, const char *path) { return strcmp(psdmp_result_text(root, path), "true") == 0; }

void psdmp_fact_number(psdmp_page *page, const char *label, double value, int digits, const char *unit) {
  if (isfinite(value)) psdmp_page_fact(page, label, "%s%s%s", psdmp_words_number(page, value, digits), unit[0] ? "\xC2\xA0" : "", unit);
}

void psdmp_fact_percent(psdmp_page *page, const char *label, double share) {
  if (isfinite(share)) psdmp_page_fact(page, label, "%s", psdmp_words_percent(page, share));
}

void psdmp_fact_text(psdmp_page *page, const char *label, const char *text) {
  if (text[0]) psdmp_page_fact(page, label, "%s", text);
}

static bool says_something(const psdmp_node *node) { return node->kind == PSDMP_SCALAR && node->text[0]; }

void psdmp_sentences(psdmp_page *page, const psdmp_node *list, const char *heading) {
  bool begun = false;
  if (!list || list->kind != PSDMP_LIST) return;
  for (const psdmp_node *child = list->child; child; child = child->next) {
    if (!says_something(child)) continue;
    if (!begun && heading) psdmp_page_heading(page, heading);
    if (!begun) psdmp_page_raw(page, "<ul>\n");
    begun = true;
    psdmp_page_raw(page, "<li>");
    psdmp_page_text(page, child->text);
    psdmp_page_raw(page, "</li>\n");
  }
  if (begun) psdmp_page_raw(page, "</ul>\n");
}

void psdmp_notes(psdmp_page *page, const psdmp_node *list) {
  for (const psdmp_node *child = list && list->kind == PSDMP_LIST ? list->child : NULL; child; child = child->next) {
    if (!says_something(child)) continue;
    psdmp_page_raw(page, "<p class=\"note\">");
    psdmp_page_text(page, child->text);
    psdmp_page_raw(page, "</p>\n");
  }
}

void psdmp_named_number(psdmp_page *page, const char *label, double value, int digits, const char *unit) {
  if (!isfinite(value)) return;
  psdmp_page_row(page);
  psdmp_page_cell(page, "%s", label);
  psdmp_page_cell(page, "%s%s%s", psdmp_words_number(page, value, digits), unit[0] ? "\xC2\xA0" : "", unit);
}

/* ---- axes ---- */

const char *const psdmp_group[PSDMP_QUANTITIES] = {"q", "qd", "qdd", "tau"};

static const char *const limit_keys[PSDMP_QUANTITIES] = {"", "velocity", "acceleration", "effort"};

/* limits stand in the joint itself, or under "limits" where it has peaks of the same name */
static void read_limits(const psdmp_node *joint, psdmp_axis *axis) {
  const psdmp_node *own = psdmp_result_node(joint, "limits"), *from = own ? own : joint;
  axis->lower = psdmp_result_number(from, "lower");
  axis->upper = psdmp_result_number(from, "upper");
  for (int k = PSDMP_VELOCITY; k < PSDMP_QUANTITIES; k++) axis->most[k] = psdmp_result_number(from, limit_keys[k]);
}

static void read_axis(const psdmp_node *joint, psdmp_axis *axis) {
  const char *name = psdmp_result_text(joint, "name"), *type = psdmp_result_text(joint, "type");
  if (name[0]) axis->name = name;
  if (type[0]) axis->sliding = strcmp(type, "prismatic") == 0;
  read_limits(joint, axis);
}

/* a robot's list has its fixed and coupled joints too: "q" counts the independent ones from 1 */
static void read_axes(const psdmp_node *list, psdmp_axes *axes) {
  int at = 0;
  if (!list || list->kind != PSDMP_LIST) return;
  for (const psdmp_node *joint = list->child; joint; joint = joint->next, at++) {
    double q = psdmp_result_number(joint, "q");
    bool counted = psdmp_result_node(joint, "q") != NULL;
    int axis = counted ? (q >= 1 && q <= axes->n ? (int)q - 1 : -1) : at;
    if (axis >= 0 && axis < axes->n) read_axis(joint, &axes->axis[axis]);
  }
}

static int count_axes(const psdmp_result *result) {
  if (result->kind == PSDMP_RESULT_CSV) return psdmp_rows_axes(result, "q");
  double n = psdmp_result_number(result->root, "n");
  const psdmp_node *joints = psdmp_result_node(result->root, "joints");
  if (!(n >= 0)) n = joints && joints->kind == PSDMP_LIST ? joints->count : 0;
  return n < PSDMP_MOST_AXES ? (int)n : PSDMP_MOST_AXES;
}

psdmp_axes psdmp_axes_of(psdmp_page *page, const psdmp_results *results, const psdmp_result *result) {
  psdmp_axes axes = {.n = count_axes(result)};
  axes.axis = psdmp_page_memory(page, (size_t)(axes.n ? axes.n : 1) * sizeof *axes.axis);
  if (!axes.axis) return (psdmp_axes){0};
  for (int i = 0; i < axes.n; i++)
    axes.axis[i] = (psdmp_axis){.name = psdmp_words(page, "joint %d", i + 1), .lower = NAN, .upper = NAN, .most = {NAN, NAN, NAN, NAN}};
  for (int k = 0; k < results->count && result->robot[0]; k++) {
    const psdmp_result *other = results->item[k];
    if (other->root && strcmp(other->command, "inspect") == 0 && psdmp_result_same_robot(other, result)) read_axes(psdmp_result_node(other->root, "joints"), &axes);
  }
  if (result->root) read_axes(psdmp_result_node(result->root, "joints"), &axes);
  return axes;
}

int psdmp_axes_drawn(psdmp_page *page, const psdmp_axes *axes) {
  if (axes->n <= PSDMP_MOST_DRAWN) return axes->n;
  psdmp_page_paragraph(page, "The first %d of %d joints are drawn.", PSDMP_MOST_DRAWN, axes->n);
  return PSDMP_MOST_DRAWN;
}

const char *psdmp_unit(const psdmp_axis *axis, int quantity) {
  static const char *const units[2][PSDMP_QUANTITIES] = {{"rad", "rad/s", "rad/s\xC2\xB2", "Nm"}, {"m", "m/s", "m/s\xC2\xB2", "N"}};
  return units[axis->sliding][quantity];
}

const char *psdmp_unit_of_all(psdmp_page *page, const psdmp_axes *axes, int quantity) {
  bool turning = !axes->n, sliding = false;
  for (int i = 0; i < axes->n; i++) turning |= !axes->axis[i].sliding, sliding |= axes->axis[i].sliding;
  const psdmp_axis kinds[2] = {{.sliding = false}, {.sliding = true}};
  if (turning && sliding) return psdmp_words(page, "%s, %s", psdmp_unit(&kinds[0], quantity), psdmp_unit(&kinds[1], quantity));
  return psdmp_unit(&kinds[sliding], quantity);
}

const char *psdmp_quantity(const psdmp_axis *axis, int quantity) {
  static const char *const names[PSDMP_QUANTITIES] = {"position", "velocity", "acceleration", "torque"};
  return quantity == PSDMP_TORQUE && axis->sliding ? "force" : names[quantity];
}

/* ---- drawings ---- */

psdmp_drawing psdmp_drawing_of(psdmp_page *page, const char *title, const char *x_label, const char *y_label) {
  return (psdmp_drawing){.page = page, .plot = {.title = title, .x_label = x_label, .y_label = y_label}};
}

static psdmp_series *next_series(psdmp_drawing *drawing, psdmp_series_kind kind, const char *title, size_t count, int colour) {
  if (drawing->plot.count == PSDMP_MOST_SERIES) return NULL;
  psdmp_series *series = &drawing->series[drawing->plot.count++];
  *series = (psdmp_series){.kind = kind, .title = title, .count = count, .colour = colour};
  return series;
}

void psdmp_draw_xy(psdmp_drawing *drawing, psdmp_series_kind kind, const char *title, const double *x, const double *y, size_t count, int colour) {
  psdmp_series *series = x && y && count ? next_series(drawing, kind, title, count, colour) : NULL;
  if (series) series->x = x, series->y = y;
}

void psdmp_draw_between(psdmp_drawing *drawing, psdmp_series_kind kind, const char *title, const double *x, const double *y, const double *low, const double *high,
                        size_t count, int colour) {
  psdmp_series *series = x && low && high && count ? next_series(drawing, kind, title, count, colour) : NULL;
  if (series) series->x = x, series->y = y, series->low = low, series->high = high;
}

void psdmp_draw_level(psdmp_drawing *drawing, const char *title, double value, int colour) {
  psdmp_series *series = isfinite(value) ? next_series(drawing, PSDMP_LEVEL, title, 1, colour) : NULL;
  if (!series) return;
  /* the drawing may be copied before it is drawn: psdmp_draw points at its own levels */
  drawing->level[series - drawing->series] = value;
}

void psdmp_draw(psdmp_drawing *drawing) {
  for (int k = 0; k < drawing->plot.count; k++)
    if (drawing->series[k].kind == PSDMP_LEVEL) drawing->series[k].y = &drawing->level[k];
  drawing->plot.series = drawing->series;
  if (drawing->plot.count) psdmp_page_plot(drawing->page, &drawing->plot);
}
