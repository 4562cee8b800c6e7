/* section_parts.c: texts and axes of the sections about results. */
#include "report/section_parts_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- texts ---- */

const char *psdmp_report_words(psdmp_report_page *page, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  int length = psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  if (length < 0) return "";
  char *copy = psdmp_report_page_memory(page, sizeof text < (size_t)length + 1 ? sizeof text : (size_t)length + 1);
  return copy ? strcpy(copy, text) : "";
}

/* U+2070 and following, for an exponent */
static void superscript(int exponent, char *out) {
  static const char *const digit[] = {"\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",     "\xE2\x81\xB4",
                                      "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7", "\xE2\x81\xB8", "\xE2\x81\xB9"};
  char text[16];
  snprintf(text, sizeof text, "%d", exponent < 0 ? -exponent : exponent);
  *out = '\0';
  if (exponent < 0) strcat(out, "\xE2\x81\xBB");
  for (const char *c = text; *c; c++) strcat(out, digit[*c - '0']);
}

const char *psdmp_report_words_number(psdmp_report_page *page, double value, int digits) {
  char text[48], power[48];
  int exponent = 0;
  if (!isfinite(value)) return "\xE2\x80\x93";
  psdmp_base_print(text, sizeof text, "%.*g", digits, value + 0.0);
  const char *sign = text[0] == '-' ? "\xE2\x88\x92" : "", *plain = text + (text[0] == '-');
  char *e = strchr(text, 'e');
  if (!e) return psdmp_report_words(page, "%s%s", sign, plain);
  sscanf(e + 1, "%d", &exponent);
  *e = '\0';
  superscript(exponent, power);
  return psdmp_report_words(page,
                            "%s%s\xC2\xA0\xC3\x97\xC2\xA0"
                            "10%s",
                            sign, plain, power);
}

const char *psdmp_report_words_percent(psdmp_report_page *page, double share) {
  if (!isfinite(share)) return "\xE2\x80\x93";
  if (fabs(share) >= 10 || (share != 0 && fabs(share) < 1e-6))
    return psdmp_report_words(page, "%s\xC2\xA0%%", psdmp_report_words_number(page, 100 * share, 3));
  double size = fabs(100 * share);
  return psdmp_report_words(page, "%s%.*f\xC2\xA0%%", share < 0 ? "\xE2\x88\x92" : "",
                            size >= 99.95                 ? 0
                            : size >= 9.995               ? 1
                            : size >= 0.9995 || size == 0 ? 2
                            : size >= 0.0995              ? 3
                                                          : 4,
                            size);
}

const char *psdmp_report_words_doubt(psdmp_report_page *page, double value, double sd) {
  if (!isfinite(value) || !(sd > 0) || !isfinite(sd)) return psdmp_report_words_number(page, value, 4);
  /* two digits of the sd, and the value to the same place; powers of ten if that is long, or no digit of the value
   * would remain */
  int place = 1 - (int)floor(log10(sd)), lead = value != 0 ? (int)floor(log10(fabs(value))) : 0;
  double digits = round(sd * pow(10, place));
  if (digits >= 100) digits = 10, place--;
  const char *sign = value < 0 ? "\xE2\x88\x92" : "";
  if (place < 0 || place > 9 || lead > 6)
    return psdmp_report_words(page, "%s \xC2\xB1 %s", psdmp_report_words_number(page, value, 4),
                              psdmp_report_words_number(page, sd, 2));
  return psdmp_report_words(page, "%s%.*f(%g)", sign, place, fabs(value), digits);
}

const char *psdmp_report_words_vector(psdmp_report_page *page, const psdmp_document_node *list, int digits) {
  enum { MOST = 8 };
  double value[MOST];
  int count = psdmp_report_numbers(list, value, MOST);
  const char *text = "";
  for (int i = 0; i < count; i++)
    text = psdmp_report_words(page, "%s%s%s", text, i ? ", " : "", psdmp_report_words_number(page, value[i], digits));
  return list && list->count > MOST ? psdmp_report_words(page, "%s, \xE2\x80\xA6", text) : text;
}

const char *psdmp_report_words_file(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *psdmp_report_title(psdmp_report_page *page, const psdmp_report_results *results,
                               const psdmp_report_result *result, const char *what) {
  const char *file = psdmp_report_words_file(result->path);
  int count = 0;
  for (int k = 0; k < results->count; k++)
    count += strcmp(results->item[k]->command, result->command) == 0 &&
             psdmp_report_result_same_robot(results->item[k], result);
  if (!result->robot[0]) return psdmp_report_words(page, "%s: %s", what, file);
  return count > 1 ? psdmp_report_words(page, "%s of %s: %s", what, result->robot, file)
                   : psdmp_report_words(page, "%s of %s", what, result->robot);
}

void psdmp_report_fact_number(psdmp_report_page *page, const char *label, double value, int digits, const char *unit) {
  if (isfinite(value))
    psdmp_report_page_fact(page, label, "%s%s%s", psdmp_report_words_number(page, value, digits),
                           unit[0] ? "\xC2\xA0" : "", unit);
}

void psdmp_report_fact_percent(psdmp_report_page *page, const char *label, double share) {
  if (isfinite(share)) psdmp_report_page_fact(page, label, "%s", psdmp_report_words_percent(page, share));
}

static void fact_text(psdmp_report_page *page, const char *label, const char *text) {
  if (text[0]) psdmp_report_page_fact(page, label, "%s", text);
}

/* "" if unknown */
static const char *item_text(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_item *item) {
  const char *text = psdmp_report_text(root, "%s", item->path), *unit = item->unit ? item->unit : "";
  double value = psdmp_report_number(root, "%s", item->path);
  if (item->digits == PSDMP_REPORT_WORDS) return text;
  if (item->digits == PSDMP_REPORT_YES_NO)
    return !psdmp_report_node(root, "%s", item->path) ? "" : psdmp_report_truth(root, "%s", item->path) ? "yes" : "no";
  if (!isfinite(value)) return "";
  if (item->digits == PSDMP_REPORT_PERCENT) return psdmp_report_words_percent(page, value);
  return psdmp_report_words(page, "%s%s%s", psdmp_report_words_number(page, value, item->digits > 0 ? item->digits : 9),
                            unit[0] ? "\xC2\xA0" : "", unit);
}

void psdmp_report_fact_list(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_item *list,
                            int count) {
  for (int k = 0; k < count; k++) fact_text(page, list[k].label, item_text(page, root, &list[k]));
}

void psdmp_report_named_list(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_report_item *list,
                             int count) {
  for (int k = 0; k < count; k++) psdmp_report_named_text(page, list[k].label, item_text(page, root, &list[k]));
}

void psdmp_report_table(psdmp_report_page *page, const char *first, const psdmp_report_item *list, int count) {
  enum { MOST = 16 };
  const char *header[MOST + 1] = {first};
  char *numeric = psdmp_report_page_memory(page, MOST + 2);
  if (!numeric) return;
  numeric[0] = 't';
  for (int k = 0; k < count; k++) {
    header[k + 1] = list[k].label;
    numeric[k + 1] = list[k].digits == PSDMP_REPORT_WORDS || list[k].digits == PSDMP_REPORT_YES_NO ? 't' : 'n';
  }
  psdmp_report_page_table(page, header, count + 1, numeric);
}

void psdmp_report_cells(psdmp_report_page *page, const psdmp_document_node *node, const psdmp_report_item *list,
                        int count) {
  for (int k = 0; k < count; k++) {
    double value = psdmp_report_number(node, "%s", list[k].path);
    if (list[k].digits > 0) psdmp_report_page_cell_number(page, value, list[k].digits);
    else if (list[k].digits == PSDMP_REPORT_PERCENT)
      psdmp_report_page_cell(page, "%s", psdmp_report_words_percent(page, value));
    else if (list[k].digits == PSDMP_REPORT_COUNT || list[k].digits == PSDMP_REPORT_PLAIN)
      psdmp_report_page_cell(page, "%s",
                             psdmp_report_words_number(page, value, list[k].digits == PSDMP_REPORT_COUNT ? 9 : 3));
    else psdmp_report_page_cell(page, "%s", item_text(page, node, &list[k]));
  }
}

void psdmp_report_row(psdmp_report_page *page, const char *first, const psdmp_document_node *node,
                      const psdmp_report_item *list, int count) {
  psdmp_report_page_row(page);
  psdmp_report_page_cell(page, "%s", first);
  psdmp_report_cells(page, node, list, count);
}

static bool says_something(const psdmp_document_node *node) {
  return node->kind == PSDMP_DOCUMENT_SCALAR && node->text[0];
}

void psdmp_report_sentences(psdmp_report_page *page, const psdmp_document_node *list, const char *heading) {
  bool begun = false;
  for (const psdmp_document_node *child = psdmp_report_first(list); child; child = child->next) {
    if (!says_something(child)) continue;
    if (!begun && heading) psdmp_report_page_heading(page, heading);
    if (!begun) psdmp_report_page_raw(page, "<ul>\n");
    begun = true;
    psdmp_report_page_sentence(page, "<li>", child->text, "</li>\n");
  }
  if (begun) psdmp_report_page_raw(page, "</ul>\n");
}

void psdmp_report_notes(psdmp_report_page *page, const psdmp_document_node *list) {
  for (const psdmp_document_node *child = psdmp_report_first(list); child; child = child->next)
    if (says_something(child)) psdmp_report_page_sentence(page, "<p class=\"note\">", child->text, "</p>\n");
}

void psdmp_report_named_text(psdmp_report_page *page, const char *label, const char *text) {
  if (!text[0]) return;
  psdmp_report_page_row(page);
  psdmp_report_page_cell(page, "%s", label);
  psdmp_report_page_cell(page, "%s", text);
}

/* ---- axes ---- */

const char *const psdmp_report_group[PSDMP_REPORT_QUANTITIES] = {"q", "qd", "qdd", "tau"};

static const char *const limit_keys[PSDMP_REPORT_QUANTITIES] = {"", "velocity", "acceleration", "effort"};

/* limits are in the joint itself, or under "limits" where it has peaks of the same name */
static void read_limits(const psdmp_document_node *joint, psdmp_report_axis *axis) {
  const psdmp_document_node *own = psdmp_report_node(joint, "limits"), *from = own ? own : joint;
  axis->lower = psdmp_report_number(from, "lower");
  axis->upper = psdmp_report_number(from, "upper");
  for (int k = PSDMP_REPORT_VELOCITY; k < PSDMP_REPORT_QUANTITIES; k++)
    axis->most[k] = psdmp_report_number(from, "%s", limit_keys[k]);
}

static void read_axis(const psdmp_document_node *joint, psdmp_report_axis *axis) {
  const char *name = psdmp_report_text(joint, "name"), *type = psdmp_report_text(joint, "type");
  if (name[0]) axis->name = name;
  if (type[0]) axis->sliding = strcmp(type, "prismatic") == 0;
  read_limits(joint, axis);
}

/* a robot's list includes its fixed and coupled joints: "q" counts the independent ones from 1 */
static void read_axes(const psdmp_document_node *list, psdmp_report_axes *axes) {
  int at = 0;
  for (const psdmp_document_node *joint = psdmp_report_first(list); joint; joint = joint->next, at++) {
    double q = psdmp_report_number(joint, "q");
    bool counted = psdmp_report_node(joint, "q") != NULL;
    int axis = counted ? (q >= 1 && q <= axes->n ? (int)q - 1 : -1) : at;
    if (axis >= 0 && axis < axes->n) read_axis(joint, &axes->axis[axis]);
  }
}

static int count_axes(const psdmp_report_result *result) {
  if (result->kind == PSDMP_REPORT_RESULT_CSV) return psdmp_report_rows_axes(result, "q");
  double n = psdmp_report_number(result->root, "n");
  const psdmp_document_node *joints = psdmp_report_node(result->root, "joints");
  if (!(n >= 0)) n = joints && joints->kind == PSDMP_DOCUMENT_LIST ? joints->count : 0;
  return n < PSDMP_REPORT_MOST_AXES ? (int)n : PSDMP_REPORT_MOST_AXES;
}

psdmp_report_axes psdmp_report_axes_new(psdmp_report_page *page, int n) {
  psdmp_report_axes axes = {.n = n, .axis = psdmp_report_page_memory(page, (size_t)(n ? n : 1) * sizeof *axes.axis)};
  if (!axes.axis) return (psdmp_report_axes){0};
  for (int i = 0; i < n; i++)
    axes.axis[i] = (psdmp_report_axis){
        .name = psdmp_report_words(page, "joint %d", i + 1), .lower = NAN, .upper = NAN, .most = {NAN, NAN, NAN, NAN}};
  return axes;
}

psdmp_report_axes psdmp_report_axes_of(psdmp_report_page *page, const psdmp_report_results *results,
                                       const psdmp_report_result *result) {
  psdmp_report_axes axes = psdmp_report_axes_new(page, count_axes(result));
  for (int k = 0; k < results->count && result->robot[0]; k++) {
    const psdmp_report_result *other = results->item[k];
    if (other->root && strcmp(other->command, "inspect") == 0 && psdmp_report_result_same_robot(other, result))
      read_axes(psdmp_report_node(other->root, "joints"), &axes);
  }
  if (result->root) read_axes(psdmp_report_node(result->root, "joints"), &axes);
  return axes;
}

int psdmp_report_axes_drawn(psdmp_report_page *page, const psdmp_report_axes *axes) {
  if (axes->n <= PSDMP_REPORT_MOST_DRAWN) return axes->n;
  psdmp_report_page_paragraph(page, "The first %d of %d joints are drawn.", PSDMP_REPORT_MOST_DRAWN, axes->n);
  return PSDMP_REPORT_MOST_DRAWN;
}

const char *psdmp_report_unit(const psdmp_report_axis *axis, int quantity) {
  static const char *const units[2][PSDMP_REPORT_QUANTITIES] = {{"rad", "rad/s", "rad/s\xC2\xB2", "Nm"},
                                                                {"m", "m/s", "m/s\xC2\xB2", "N"}};
  return units[axis->sliding][quantity];
}

const char *psdmp_report_unit_of_all(psdmp_report_page *page, const psdmp_report_axes *axes, int quantity) {
  bool turning = !axes->n, sliding = false;
  for (int i = 0; i < axes->n; i++) turning |= !axes->axis[i].sliding, sliding |= axes->axis[i].sliding;
  const psdmp_report_axis kinds[2] = {{.sliding = false}, {.sliding = true}};
  if (turning && sliding)
    return psdmp_report_words(page, "%s, %s", psdmp_report_unit(&kinds[0], quantity),
                              psdmp_report_unit(&kinds[1], quantity));
  return psdmp_report_unit(&kinds[sliding], quantity);
}

const char *psdmp_report_quantity(const psdmp_report_axis *axis, int quantity) {
  static const char *const names[PSDMP_REPORT_QUANTITIES] = {"position", "velocity", "acceleration", "torque"};
  return quantity == PSDMP_REPORT_TORQUE && axis->sliding ? "force" : names[quantity];
}

/* ---- drawings ---- */

psdmp_report_drawing psdmp_report_drawing_of(psdmp_report_page *page, const char *title, const char *x_label,
                                             const char *y_label) {
  return (psdmp_report_drawing){.page = page, .plot = {.title = title, .x_label = x_label, .y_label = y_label}};
}

static psdmp_report_series *next_series(psdmp_report_drawing *drawing, psdmp_report_series_kind kind, const char *title,
                                        size_t count, int colour) {
  if (drawing->plot.count == PSDMP_REPORT_MOST_SERIES) return NULL;
  psdmp_report_series *series = &drawing->series[drawing->plot.count++];
  *series = (psdmp_report_series){.kind = kind, .title = title, .count = count, .colour = colour};
  return series;
}

void psdmp_report_draw_xy(psdmp_report_drawing *drawing, psdmp_report_series_kind kind, const char *title,
                          const double *x, const double *y, size_t count, int colour) {
  psdmp_report_series *series = x && y && count ? next_series(drawing, kind, title, count, colour) : NULL;
  if (series) series->x = x, series->y = y;
}

void psdmp_report_draw_between(psdmp_report_drawing *drawing, psdmp_report_series_kind kind, const char *title,
                               const double *x, const double *y, const double *low, const double *high, size_t count,
                               int colour) {
  psdmp_report_series *series = x && low && high && count ? next_series(drawing, kind, title, count, colour) : NULL;
  if (series) series->x = x, series->y = y, series->low = low, series->high = high;
}

void psdmp_report_draw_level(psdmp_report_drawing *drawing, const char *title, double value, int colour) {
  psdmp_report_series *series = isfinite(value) ? next_series(drawing, PSDMP_REPORT_LEVEL, title, 1, colour) : NULL;
  if (!series) return;
  /* the drawing may be copied before it is drawn: psdmp_report_draw sets pointers to its own levels */
  drawing->level[series - drawing->series] = value;
}

void psdmp_report_draw(psdmp_report_drawing *drawing) {
  for (int k = 0; k < drawing->plot.count; k++)
    if (drawing->series[k].kind == PSDMP_REPORT_LEVEL) drawing->series[k].y = &drawing->level[k];
  drawing->plot.series = drawing->series;
  if (drawing->plot.count) psdmp_report_page_plot(drawing->page, &drawing->plot);
}
