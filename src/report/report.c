/* report.c: takes results, writes one page. */
#define _POSIX_C_SOURCE 200809L /* uselocale */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "report/page_priv.h"
#include "report/section_parts_priv.h"

enum { MOST_RESULTS = 1024 };

struct psdm_report {
  const psdm_allocator *allocator;
  psdmp_base_arena arena; /* owns the results and the options' texts */
  const char *title, *gnuplot;
  psdm_progress progress;
  void *progress_user;
  psdmp_report_result *item[MOST_RESULTS];
  psdmp_base_arena memory[MOST_RESULTS]; /* of each result */
  int count;

  /* of the last page written */
  int sections, plots;
  char missing[512];
};

/* the order of the sections on the page */
static const struct {
  psdmp_report_section *section;
  const char *command; /* or one for each result of this */
  psdmp_report_show *show;
} sections[] = {{psdmp_report_section_robot, NULL, NULL},       {psdmp_report_section_model, NULL, NULL},
                {psdmp_report_section_calibration, NULL, NULL}, {NULL, "payload", psdmp_report_show_payload},
                {NULL, "excite", psdmp_report_show_excite},     {psdmp_report_section_simulate, NULL, NULL},
                {NULL, "plan", psdmp_report_show_plan},         {psdmp_report_section_analyze, NULL, NULL},
                {psdmp_report_section_reduce, NULL, NULL},      {psdmp_report_section_scaling, NULL, NULL},
                {psdmp_report_section_bench, NULL, NULL}};

/* ---- creating and filling ---- */

static bool copy_text(psdmp_base_arena *arena, const char *text, const char **copy) {
  *copy = text ? psdmp_base_arena_text(arena, text, strlen(text)) : NULL;
  return !text || *copy;
}

psdm_status psdm_report_new(const psdm_report_options *options, const psdm_allocator *allocator, psdm_report **made,
                            psdm_error *error) {
  *made = NULL;
  psdm_report *report = psdmp_base_alloc(allocator, sizeof *report);
  if (!report) return psdmp_base_no_memory("", error);
  report->allocator = report->arena.allocator = allocator;
  if (options && (!copy_text(&report->arena, options->title, &report->title) ||
                  !copy_text(&report->arena, options->gnuplot, &report->gnuplot))) {
    psdm_report_free(report);
    return psdmp_base_no_memory("", error);
  }
  if (options) report->progress = options->progress, report->progress_user = options->progress_user;
  *made = report;
  return PSDM_OK;
}

void psdm_report_free(psdm_report *report) {
  if (!report) return;
  for (int i = 0; i < report->count; i++) psdmp_base_arena_free(&report->memory[i]);
  psdmp_base_arena_free(&report->arena);
  psdmp_base_free(report->allocator, report);
}

static psdm_status no_room(const psdm_report *report, const char *name, psdm_error *error) {
  return report->count < MOST_RESULTS ? PSDM_OK
                                      : psdmp_base_fail(error, PSDM_E_LIMIT, name, 0, 0,
                                                        "too many results: a page holds at most %d", MOST_RESULTS);
}

/* a result that was made in this memory, unless making it failed */
static psdm_status take(psdm_report *report, psdmp_base_arena *arena, psdm_status status) {
  if (status) psdmp_base_arena_free(arena);
  else report->memory[report->count++] = *arena;
  return status;
}

psdm_status psdm_report_add(psdm_report *report, const char *path, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = report->allocator};
  psdm_status status = no_room(report, path, error);
  if (!status) status = psdmp_report_result_read(&arena, path, &report->item[report->count], error);
  return take(report, &arena, status);
}

psdm_status psdm_report_add_text(psdm_report *report, const char *text, size_t length, const char *name,
                                 psdm_error *error) {
  psdmp_base_arena arena = {.allocator = report->allocator};
  psdm_status status = no_room(report, name, error);
  char *copy = status ? NULL : psdmp_base_arena_text(&arena, text, length);
  if (copy) status = psdmp_report_result_parse(&arena, name, copy, length, &report->item[report->count], error);
  else if (!status) status = psdmp_base_no_memory(name, error);
  return take(report, &arena, status);
}

psdm_status psdm_report_add_rows(psdm_report *report, const psdm_log_table *rows, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = report->allocator};
  psdm_status status = no_room(report, rows->name, error);
  if (!status) status = psdmp_report_result_rows(&arena, rows, &report->item[report->count], error);
  return take(report, &arena, status);
}

psdm_status psdm_report_add_result(psdm_report *report, const psdm_result *result, const char *name,
                                   psdm_error *error) {
  psdm_output *out;
  if (psdm_output_memory(report->allocator, &out)) return psdmp_base_no_memory(name, error);
  psdm_result_write_json(result, out);
  const char *text = psdm_output_kept(out);
  psdm_status status =
      text ? psdm_report_add_text(report, text, strlen(text), name, error) : psdmp_base_no_memory(name, error);
  psdm_output_abort(&out);
  return status;
}

/* ---- the page ---- */

/* decimal points in numbers, in any process locale */
static locale_t plain_locale(locale_t *before) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (plain != (locale_t)0) *before = uselocale(plain);
  return plain;
}

/* "kuka_kr6 and arm": each robot once, in the order of the results */
static void title_of(const psdm_report *report, char *out, size_t size) {
  size_t used = 0;
  int names = 0;
  out[0] = '\0';
  for (int i = 0; i < report->count && names < 4; i++) {
    bool again = !report->item[i]->robot[0];
    for (int k = 0; k < i; k++) again |= strcmp(report->item[k]->robot, report->item[i]->robot) == 0;
    if (again) continue;
    int length = snprintf(out + used, size - used, "%s%s", names++ ? ", " : "", report->item[i]->robot);
    if (length < 0 || (size_t)length >= size - used) return;
    used += (size_t)length;
  }
  if (!names) snprintf(out, size, "Report");
}

static void show_each(psdmp_report_page *page, const psdmp_report_results *results, const char *command,
                      psdmp_report_show *show) {
  for (int k = 0; k < results->count; k++) {
    psdmp_report_result *result = results->item[k];
    if (!result->root || strcmp(result->command, command) != 0) continue;
    result->used = true;
    show(page, results, result);
  }
}

void psdmp_report_page_compose(psdmp_report_page *page, const psdmp_report_results *results) {
  for (int i = 0; i < results->count; i++) results->item[i]->used = false;
  psdmp_report_rows_match(results);
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    if (sections[i].section) sections[i].section(page, results);
    else show_each(page, results, sections[i].command, sections[i].show);
  psdmp_report_page_end(page);
}

static psdm_status write_page(psdm_report *report, psdmp_report_page *page, const char *path, psdm_error *error) {
  psdm_output *out;
  psdmp_report_results results = {report->item, report->count};
  char title[256];
  title_of(report, title, sizeof title);
  psdm_status status = psdm_output_open(path, report->allocator, &out, error);
  if (status) return status;
  psdmp_report_page_document(page, report->title ? report->title : title, report->missing, &results, out);
  return psdm_output_commit(&out, error);
}

psdm_status psdm_report_write(psdm_report *report, const char *path, psdm_error *error) {
  psdmp_report_page page = {.arena = {.allocator = report->allocator}};
  locale_t before, plain = plain_locale(&before);
  if (plain == (locale_t)0) return psdmp_base_no_memory(path, error);
  psdm_status status = PSDM_OK;
  psdmp_report_page_compose(&page, &(psdmp_report_results){report->item, report->count});
  report->sections = page.sections;
  report->missing[0] = '\0';
  if (!page.sections && !page.status)
    status = psdmp_base_fail(error, PSDM_E_ARGUMENT, path, 0, 0, "none of the results has anything to show");
  if (!status && !page.status)
    status = psdmp_report_plot_draw(&page, report->gnuplot, report->progress, report->progress_user, report->missing,
                                    sizeof report->missing, error);
  if (!status && page.status) status = psdmp_base_fail(error, page.status, path, 0, 0, "out of memory");
  report->plots = 0;
  for (const psdmp_report_figure *f = page.figure; f; f = f->next) report->plots += f->svg[PSDMP_REPORT_WIDE] != NULL;
  if (!status) status = write_page(report, &page, path, error);
  psdmp_report_page_free(&page);
  uselocale(before);
  freelocale(plain);
  return status;
}

int psdm_report_sections(const psdm_report *report) { return report->sections; }
int psdm_report_plots(const psdm_report *report) { return report->plots; }
const char *psdm_report_missing(const psdm_report *report) { return report->missing[0] ? report->missing : NULL; }

const char *psdm_report_unused(const psdm_report *report, int index) {
  for (int i = 0; i < report->count; i++)
    if (!report->item[i]->used && index-- == 0) return report->item[i]->path;
  return NULL;
}
