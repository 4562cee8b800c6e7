/* section_model.c: derive and params: facts, classes of functions, base parameters with formulas, values and calibrated
 * uncertainties. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/section_parts_priv.h"

enum { MOST_PARAMETERS = 1000 }; /* shown */

/* a calibration's result for a parameter */
typedef struct known {
  const char *name;
  double value, sd;
  size_t place; /* in its list: of two with the same name the first counts */
} known;

/* results of one robot; any may be NULL */
typedef struct model {
  const char *robot;
  psdmp_report_result *derive, *params, *calibration, *file; /* file: parameters as YAML */
  known *known;                                              /* (knowns) by name */
  size_t knowns;
  bool apart; /* there is a calibration with this name, but of another model */
} model;

/* ---- finding ---- */

static bool is_command(const psdmp_report_result *r, const char *command) {
  return r->kind != PSDMP_REPORT_RESULT_CSV && strcmp(r->command, command) == 0;
}

static psdmp_report_result *find(const psdmp_report_results *results, const char *command,
                                 const psdmp_report_result *like) {
  for (int i = 0; i < results->count; i++)
    if (is_command(results->item[i], command) && psdmp_report_result_same_robot(results->item[i], like))
      return results->item[i];
  return NULL;
}

/* a nonempty list of parameters */
static const psdmp_document_node *list_at(const psdmp_report_result *r, const char *path, psdmp_document_kind kind) {
  const psdmp_document_node *node = r ? psdmp_report_node(r->root, "%s", path) : NULL;
  return node && node->kind == kind && node->count ? node : NULL;
}

static int by_name(const void *a, const void *b) {
  const known *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->place > y->place) - (x->place < y->place);
}

static const char *name_of(const psdmp_document_node *parameter) {
  const char *name = psdmp_report_text(parameter, "name");
  return name[0] || !parameter->key ? name : parameter->key;
}

/* the same sum of standard parameters, to rounding; a file without formulas is compared by name only */
static bool same_formula(const psdmp_document_node *a, const psdmp_document_node *b) {
  const psdmp_document_node *x = psdmp_report_node(a, "formula"), *y = psdmp_report_node(b, "formula");
  if (!x || !y || x->kind != PSDMP_DOCUMENT_MAP || y->kind != PSDMP_DOCUMENT_MAP) return true;
  if (x->count != y->count) return false;
  for (x = x->child, y = y->child; x && y; x = x->next, y = y->next) {
    double u = psdmp_report_own_number(x), v = psdmp_report_own_number(y);
    if (!x->key || !y->key || strcmp(x->key, y->key) != 0 || !(fabs(u - v) <= 1e-9 * (fabs(u) + fabs(v)))) return false;
  }
  return true;
}

/* two robots may have the same name */
static bool same_parameters(const psdmp_document_node *a, const psdmp_document_node *b) {
  if (a->count != b->count) return false;
  for (a = a->child, b = b->child; a && b; a = a->next, b = b->next)
    if (strcmp(name_of(a), name_of(b)) != 0 || !same_formula(a, b)) return false;
  return true;
}

/* the parameters of the calibration, else of the file */
static void find_known(psdmp_report_page *page, model *m) {
  const psdmp_document_node *list = list_at(m->calibration, "parameters", PSDMP_DOCUMENT_LIST),
                            *own = list_at(m->params, "base_parameters", PSDMP_DOCUMENT_LIST);
  if (!list) list = list_at(m->file, "theta", PSDMP_DOCUMENT_MAP);
  m->apart = list && own && !same_parameters(own, list);
  if (m->apart) return;
  m->known = list ? psdmp_report_page_memory(page, (size_t)list->count * sizeof *m->known) : NULL;
  for (const psdmp_document_node *p = m->known ? list->child : NULL; p; p = p->next, m->knowns++)
    m->known[m->knowns] = (known){name_of(p), psdmp_report_number(p, "value"), psdmp_report_number(p, "sd"), m->knowns};
  if (m->knowns) qsort(m->known, m->knowns, sizeof *m->known, by_name);
}

/* NAN if unknown */
static void identified(const model *m, const char *name, double *value, double *sd) {
  size_t low = 0, high = m->knowns;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(m->known[middle].name, name) < 0) low = middle + 1;
    else high = middle;
  }
  bool found = low < m->knowns && strcmp(m->known[low].name, name) == 0;
  *value = found ? m->known[low].value : NAN;
  *sd = found ? m->known[low].sd : NAN;
}

/* ---- facts and classes ---- */

static void put_facts(psdmp_report_page *page, const psdmp_document_node *derive) {
  static const struct {
    const char *label, *path, *format;
  } list[] = {{"degrees of freedom, n", "n", "%.0f"},
              {"functions of motion, p", "p", "%.0f"},
              {"base parameters, l", "l", "%.0f"},
              {"to derive it", "seconds", "%.3g s"},
              {"largest difference to the Newton\u2013Euler recursion", "residual", "%.1e"}};
  psdmp_report_page_facts(page);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    double value = psdmp_report_number(derive, "%s", list[k].path);
    bool quick = strcmp(list[k].path, "seconds") == 0 && value < 1;
    if (quick) psdmp_report_page_fact(page, list[k].label, "%.3g ms", 1000 * value);
    else if (isfinite(value)) psdmp_report_page_fact(page, list[k].label, list[k].format, value);
  }
  psdmp_report_page_facts_end(page);
}

enum { MOST_CLASSES = 200, NAME = 24 };

typedef struct classes {
  int count;
  double x[MOST_CLASSES], size[MOST_CLASSES];
  char text[MOST_CLASSES][NAME];
  const char *name[MOST_CLASSES];
} classes;

static void add_class(classes *c, double size, const char *format, int joint) {
  if (c->count == MOST_CLASSES || !(size >= 0)) return;
  c->x[c->count] = c->count;
  c->size[c->count] = size > 0 ? size : NAN;
  if (joint) snprintf(c->text[c->count], NAME, "%s %d", format, joint);
  else snprintf(c->text[c->count], NAME, "%s", format);
  c->name[c->count] = c->text[c->count];
  c->count++;
}

static void add_classes(classes *c, const psdmp_document_node *list, const char *name) {
  int joint = 1;
  for (const psdmp_document_node *node = psdmp_report_first(list); node; node = node->next)
    add_class(c, psdmp_report_own_number(node), name, joint++);
}

static void put_classes(psdmp_report_page *page, const psdmp_document_node *derive) {
  classes *c = psdmp_report_page_memory(page, sizeof *c);
  if (!c) return;
  add_class(c, psdmp_report_number(derive, "classes.gravity"), "gravity", 0);
  add_classes(c, psdmp_report_node(derive, "classes.acceleration"), "acceleration");
  add_classes(c, psdmp_report_node(derive, "classes.centrifugal"), "centrifugal");
  add_class(c, psdmp_report_number(derive, "classes.coriolis"), "Coriolis", 0);
  if (!c->count) return;
  psdmp_report_drawing d =
      psdmp_report_drawing_of(page, "Functions by class", "class of functions, joint", "functions");
  d.plot.y_log = true, d.plot.tick = c->name, d.plot.ticks = c->count;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_BARS, NULL, c->x, c->size, (size_t)c->count, 0);
  psdmp_report_draw(&d);
}

/* ---- formulas ---- */

/* "+ 0.05 mx1": a coefficient for readers, and a name */
static void put_term(psdmp_report_page *page, bool first, double coefficient, const char *name) {
  bool negative = coefficient < 0;
  psdmp_report_page_raw(page, first ? (negative ? "\u2212" : "") : negative ? " \u2212 " : " + ");
  if (fabs(coefficient) != 1) psdmp_report_page_print(page, "%.4g\u00b7", fabs(coefficient));
  psdmp_report_page_text(page, name);
}

static void put_formula(psdmp_report_page *page, const psdmp_document_node *parameter) {
  const char *symbolic = psdmp_report_text(parameter, "symbolic");
  const psdmp_document_node *formula = psdmp_report_node(parameter, "formula");
  psdmp_report_page_cell_begin(page);
  psdmp_report_page_raw(page, "<code>");
  if (symbolic[0]) {
    psdmp_report_page_text(page, symbolic);
  } else if (formula && formula->kind == PSDMP_DOCUMENT_MAP) {
    for (const psdmp_document_node *term = formula->child; term; term = term->next)
      put_term(page, term == formula->child, psdmp_report_own_number(term), term->key ? term->key : "?");
  } else {
    psdmp_report_page_text(page, psdmp_report_text(parameter, "formula"));
  }
  psdmp_report_page_raw(page, "</code>");
  psdmp_report_page_cell_end(page);
}

/* ---- base parameters ---- */

/* value and twice its standard deviation beside zero, each row on its own scale: does it differ from zero? */
static void put_whisker(psdmp_report_page *page, double value, double sd) {
  double reach = fabs(value) + 2 * sd, at = 50 + 46 * value / reach, half = 46 * 2 * sd / reach;
  psdmp_report_page_cell_begin(page);
  if (isfinite(at) && isfinite(half))
    psdmp_report_page_markup(page,
                             "<svg class=\"whisker%s\" viewBox=\"0 0 100 16\" role=\"img\"><title>%s</title><path "
                             "class=\"zero\" d=\"M50 0V16\"/><path class=\"bar\" d=\"M%.1f 8H%.1fM%.1f 4V12M%.1f "
                             "4V12\"/><circle cx=\"%.1f\" cy=\"8\" r=\"3\"/></svg>",
                             fabs(value) > 2 * sd ? "" : " weak",
                             fabs(value) > 2 * sd ? "differs from zero" : "cannot be distinguished from zero",
                             at - half, at + half, at - half, at + half, at);
  psdmp_report_page_cell_end(page);
}

static void put_row(psdmp_report_page *page, const model *m, const psdmp_document_node *parameter, bool with_values,
                    bool with_doubt) {
  const char *name = name_of(parameter);
  double value, sd;
  psdmp_report_page_row(page);
  psdmp_report_page_cell(page, "%s", name);
  put_formula(page, parameter);
  if (with_values) psdmp_report_page_cell_number(page, psdmp_report_number(parameter, "value"), 5);
  if (!with_doubt) return;
  identified(m, name, &value, &sd);
  psdmp_report_page_cell_number(page, value, 5);
  psdmp_report_page_cell_number(page, sd, 2);
  double percent = 100 * sd / fabs(value);
  if (isfinite(percent))
    psdmp_report_page_cell(page, percent < 100 ? "%.2g %%" : percent < 1e4 ? "%.0f %%" : "> 9999 %%", percent);
  else psdmp_report_page_cell(page, "\u2013");
  put_whisker(page, value, sd);
}

/* relative standard deviation of every parameter: shows which ones the log determines */
static void put_doubts(psdmp_report_page *page, const model *m, const psdmp_document_node *list) {
  size_t room = list->count < MOST_PARAMETERS ? (size_t)list->count : MOST_PARAMETERS, count = 0;
  double *x = psdmp_report_page_memory(page, room * sizeof *x), *y = psdmp_report_page_memory(page, room * sizeof *y);
  const char **name = psdmp_report_page_memory(page, room * sizeof *name);
  if (!x || !y || !name) return;
  for (const psdmp_document_node *p = list->child; p && count < room; p = p->next) {
    double value, sd;
    name[count] = name_of(p);
    identified(m, name[count], &value, &sd);
    x[count] = (double)count;
    y[count++] = 100 * sd / fabs(value);
  }
  psdmp_report_drawing d = psdmp_report_drawing_of(page, "How well each base parameter is known", "base parameter",
                                                   "standard deviation / value, %");
  d.plot.y_log = true, d.plot.tick = name, d.plot.ticks = (int)count;
  psdmp_report_draw_xy(&d, PSDMP_REPORT_BARS, "standard deviation of the value", x, y, count, 0);
  psdmp_report_draw_level(&d, "as large as the value itself", 100, 1);
  psdmp_report_draw(&d);
}

static bool any_value(const psdmp_document_node *list) {
  for (const psdmp_document_node *p = list->child; p; p = p->next)
    if (isfinite(psdmp_report_number(p, "value"))) return true;
  return false;
}

static void put_parameters(psdmp_report_page *page, const model *m, const psdmp_document_node *list) {
  bool doubt = m->knowns > 0;
  /* values of the robot file; the calibration's have their own columns */
  bool values = m->params && any_value(list);
  static const char *const header[] = {"Parameter",      "Formula",  "Value in the robot file", "Identified",
                                       "Std. deviation", "Relative", "\u00b1 2 sd, beside 0"};
  const char *shown[7], *numeric = values && doubt ? "ttnnnnt" : doubt ? "ttnnnt" : "ttn";
  int columns = 0;
  for (int i = 0; i < 7; i++)
    if (i < 2 || (i == 2 && values) || (i > 2 && doubt)) shown[columns++] = header[i];
  psdmp_report_page_heading(page, "Base parameters");
  psdmp_report_page_paragraph(
      page, "The torques depend on the inertias only through these sums. Names are standard parameters of each link "
            "about its own frame: mass m, first moments mx my mz, inertias XX to ZZ, drive inertia Ia.");
  if (list->count > MOST_PARAMETERS)
    psdmp_report_page_paragraph(page, "There are %d; the first %d are shown.", list->count, MOST_PARAMETERS);
  if (m->apart)
    psdmp_report_page_paragraph(page, "A calibration of a robot of this name has other base parameters: it is not of "
                                      "this model, and its values are not shown here.");
  if (doubt) put_doubts(page, m, list);
  psdmp_report_page_table(page, shown, columns, numeric);
  int shown_rows = 0;
  for (const psdmp_document_node *p = list->child; p && shown_rows < MOST_PARAMETERS; p = p->next, shown_rows++)
    put_row(page, m, p, values, doubt);
  psdmp_report_page_table_end(page);
}

static void put_names(psdmp_report_page *page, const psdmp_document_node *root, const char *path, const char *words) {
  const psdmp_document_node *list = psdmp_report_node(root, "%s", path);
  if (!psdmp_report_first(list)) return;
  psdmp_report_page_raw(page, "<details><summary>");
  psdmp_report_page_print(page, "%d %s", list->count, words);
  psdmp_report_page_raw(page, "</summary><p><code>");
  for (const psdmp_document_node *name = list->child; name; name = name->next) {
    if (name != list->child) psdmp_report_page_raw(page, ", ");
    psdmp_report_page_text(page, psdmp_report_own_text(name));
  }
  psdmp_report_page_raw(page, "</code></p></details>\n");
}

/* ---- the section ---- */

static void show(psdmp_report_page *page, model *m) {
  char title[160];
  const psdmp_document_node *list = list_at(m->params, "base_parameters", PSDMP_DOCUMENT_LIST);
  if (!list) list = list_at(m->calibration, "parameters", PSDMP_DOCUMENT_LIST);
  if (!list) list = list_at(m->file, "theta", PSDMP_DOCUMENT_MAP);
  if (!list && !m->derive) return;
  snprintf(title, sizeof title, "The model%s%.100s", m->robot[0] ? ": " : "", m->robot);
  psdmp_report_page_section(page, title,
                            "Torque as a product of known functions of the motion and constant parameters, \u03c4 = "
                            "Y(q, q\u0307, q\u0308) \u03b8.");
  if (m->derive) {
    put_facts(page, m->derive->root);
    put_classes(page, m->derive->root);
    m->derive->used = true;
  }
  if (!list) return;
  find_known(page, m);
  put_parameters(page, m, list);
  if (m->file) m->file->used = true;
  if (!m->params) return;
  m->params->used = true;
  put_names(page, m->params->root, "regrouped", "standard parameters that are part of others' sums");
  put_names(page, m->params->root, "no_effect", "standard parameters without any effect on the torques");
  put_names(page, m->params->root, "unchanged", "standard parameters that stand alone");
}

void psdmp_report_section_model(psdmp_report_page *page, const psdmp_report_results *results) {
  static const char *const commands[] = {"derive", "params", "calibrate", "parameters"};
  for (int i = 0; i < results->count; i++) {
    const psdmp_report_result *own = results->item[i];
    bool first = false;
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) first |= is_command(results->item[i], commands[k]);
    /* one section for each robot, at its first result */
    for (int before = 0; before < i && first; before++)
      for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
        if (is_command(results->item[before], commands[k]) &&
            psdmp_report_result_same_robot(results->item[before], own))
          first = false;
    if (!first) continue;
    model m = {.robot = own->robot,
               .derive = find(results, "derive", own),
               .params = find(results, "params", own),
               .calibration = find(results, "calibrate", own),
               .file = find(results, "parameters", own)};
    show(page, &m);
  }
}
