/* fuzz_report.c: any bytes as a result and as gnuplot's picture. A refused result gets a clean message; for an accepted
 * one all sections are written, and every tag on the page is one of the report's own. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/page_priv.h"

static void check(int holds) {
  if (!holds) abort();
}

static const char *const tags[] = {"section", "h2",         "h3",   "h4",      "p",       "div",  "span",   "table",
                                   "thead",   "tbody",      "tr",   "th",      "td",      "dl",   "dt",     "dd",
                                   "figure",  "figcaption", "svg",  "path",    "g",       "text", "title",  "circle",
                                   "ellipse", "rect",       "line", "details", "summary", "code", "ul",     "ol",
                                   "li",      "sup",        "sub",  "i",       "b",       "em",   "strong", "br"};

static void check_tags(const char *html) {
  for (const char *at = strchr(html, '<'); at; at = strchr(at, '<')) {
    int known = 0;
    at += 1 + (at[1] == '/');
    size_t length = strcspn(at, " />\n");
    for (size_t k = 0; k < sizeof tags / sizeof *tags; k++)
      known |= strlen(tags[k]) == length && memcmp(at, tags[k], length) == 0;
    check(known);
    /* no handler, no style, no address outside the page */
    for (const char *in = at; *in && *in != '>'; in++)
      check(strncmp(in, " on", 3) != 0 && strncmp(in, " style=", 7) != 0 && strncmp(in, " src=", 5) != 0);
  }
}

static void check_error(const psdm_error *error, psdm_status status) {
  check(error->status == status && error->line >= 0 && error->text[0]);
  for (const unsigned char *c = (const unsigned char *)error->text; *c; c++) check(*c >= 0x20 && *c != 0x7F);
}

static void read_result(const uint8_t *data, size_t size) {
  psdmp_base_arena arena = {0};
  psdm_error error = {0};
  psdmp_report_result *result;
  char *text = psdmp_base_arena_text(&arena, (const char *)data, size);
  psdm_status status = psdmp_report_result_parse(&arena, "fuzz.json", text, size, &result, &error);
  check(!status == !!result);
  if (status) {
    check_error(&error, status);
  } else {
    psdmp_report_page page = {0};
    psdmp_report_page_compose(&page, &(psdmp_report_results){&result, 1});
    check(!page.status);
    if (page.text) check_tags(page.text);
    for (const psdmp_report_figure *f = page.figure; f; f = f->next) {
      psdmp_report_page script = {0};
      psdmp_report_plot_script(&script, f, PSDMP_REPORT_NARROW);
      check(!script.status && f->at <= page.used && f->range[0] < f->range[1] && f->range[2] < f->range[3]);
      psdmp_report_page_free(&script);
    }
    psdmp_report_page_free(&page);
  }
  psdmp_base_arena_free(&arena);
}

static void read_picture(const uint8_t *data, size_t size) {
  static const double x[] = {0, 1}, box[4] = {40, 480, 10, 280};
  psdmp_report_series series[] = {{.kind = PSDMP_REPORT_LINE, .x = x, .y = x, .count = 2},
                                  {.kind = PSDMP_REPORT_DOTS, .x = x, .y = x, .count = 2}};
  psdmp_report_plot plot = {.title = "a", .x_label = "b", .y_label = "c", .series = series, .count = 2};
  psdmp_report_page page = {0};
  psdmp_report_page_plot(&page, &plot);
  check(page.figure != NULL);
  char *svg = psdmp_report_plot_distil(&page, page.figure, PSDMP_REPORT_WIDE, (const char *)data, size, box);
  check(svg != NULL);
  check_tags(svg);
  psdmp_report_page_free(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read_result(data, size);
  read_picture(data, size);
  return 0;
}
