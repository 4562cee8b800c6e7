/* test_sections_figures.c: the sections about smaller models, cost against n and benchmarks: they draw the result's
 * numbers, whatever the result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page_priv.h"
#include "support.h"

static const char reduce_text[] =
    "{\"command\": \"reduce\", \"psdm\": \"0\", \"name\": \"arm\", \"profile\": \"slow\", \"forward\": false, "
    "\"error_wanted\": 0.01, \"confidence\": 0.95, \"reached\": true, \"error\": 0.008,"
    " \"digits\": 2.09691, \"error_half\": 0.003, \"error_999\": 0.02, \"samples\": 2000, \"p\": 25, \"p_before\": "
    "100, \"l\": 5, \"l_before\": 8,"
    " \"full\": {\"mult\": 60, \"add\": 40, \"div\": 0}, \"reduced\": {\"mult\": 12, \"add\": 8, \"div\": 0}, "
    "\"recursion\": {\"mult\": 30, \"add\": 20, \"div\": 0}, \"wins\": \"reduced\","
    " \"table\": [{\"profile\": \"slow\", \"error_wanted\": 0.01, \"confidence\": 0.95, \"reached\": true, \"error\": "
    "0.008, \"functions\": 25, \"parameters\": 5, \"operations\": 20}],"
    " \"figures\": [{\"profile\": \"slow\", \"functions\": 100, \"contributions\": {\"log10_edges\": [-6, -5.75, -5.5, "
    "-5.25], \"median\": [70, 0, 30], \"maximum\": [10, 20, 65], \"median_below\": 0,"
    " \"maximum_below\": 5}, \"sizes\": [{\"functions\": 16, \"left_out_percent\": 84, \"error_95\": 0.1, "
    "\"error_999\": 0.2, \"digits_95\": 1, \"digits_999\": 0.69897, \"operations\": 15},"
    " {\"functions\": 100, \"left_out_percent\": 0, \"error_95\": 1e-15, \"error_999\": 2e-15, \"digits_95\": 15, "
    "\"digits_999\": 14.69897, \"operations\": 100}]}]}";

static const char script_text[] =
    "{\"command\": \"bench/derive\", \"psdm\": \"0\", \"processor\": \"<b>chip\", \"date\": \"2026-01-02\", \"how\": "
    "\"best of 20\", \"quick\": true, \"notes\": [\"a note\"],"
    " \"curves\": [{\"title\": \"Derivation\", \"x\": \"joints n\", \"y\": \"seconds\", \"x_log\": false, \"y_log\": "
    "true, \"figure\": \"Figure 4\", \"series\": ["
    "{\"name\": \"ours\", \"x\": [1, 2, 4], \"y\": [1e-5, 3e-5, 2e-4]}, {\"name\": \"theirs\", \"x\": [4], \"y\": "
    "[0.5], \"published\": true}]}],"
    " \"bars\": [{\"title\": \"Whole robots\", \"unit\": \"ns\", \"of\": [\"one\", \"two\"], \"figure\": null, "
    "\"series\": [{\"name\": \"ours\", \"values\": [10, 20]}, {\"name\": \"peer\", \"values\": [25, 160]},"
    " {\"name\": \"other\", \"values\": [null, 40]}]}, {\"title\": \"Single\", \"unit\": \"ns\", \"of\": [\"one\"], "
    "\"series\": [{\"name\": \"ours\", \"values\": [10]}, {\"name\": \"peer\", \"values\": [12345]}]}]}";

static const char bench_text[] =
    "{\"command\": \"bench\", \"psdm\": \"0\", \"name\": \"arm\", \"n\": 2, \"l\": 4, \"processor\": \"chip\", "
    "\"date\": \"2026-01-02\", \"compiler\": \"cc\", \"states\": 64, \"repeat\": 50, \"error\": 1e-16,"
    " \"functions\": {\"inverse\": {\"method\": \"recursive\", \"mult\": 7, \"add\": 5, \"div\": 0, \"sqrt\": 0, "
    "\"sincos\": 2, \"depth\": 9, \"bytes\": 300, \"ns\": 20, \"ns_batch\": 5, \"error\": 1e-16,"
    " \"library_ns\": 80, \"others\": [{\"method\": \"expanded\", \"mult\": 9, \"add\": 6, \"div\": 0, \"sqrt\": 0, "
    "\"sincos\": 2, \"depth\": 8, \"bytes\": 400, \"ns\": 30, \"ns_batch\": 8, \"error\": 1e-16}]},"
    " \"pose\": {\"method\": \"recursive\", \"mult\": 3, \"add\": 2, \"div\": 0, \"sqrt\": 0, \"sincos\": 2, "
    "\"depth\": 4, \"bytes\": 100, \"ns\": 10, \"ns_batch\": 3, \"error\": 0, \"library_ns\": 50,"
    " \"others\": []}}, \"baseline\": {\"inverse\": {\"name\": \"library's recursion\", \"ns\": 80}}}";

/* ---- pages ---- */

typedef struct sheet {
  psdmp_report_page page;
  psdmp_base_arena arena; /* of the result */
  psdmp_report_result *result;
} sheet;

/* the three sections over one result; false when the text is not a result */
static bool open_sheet(sheet *s, const char *text, size_t length, const psdm_allocator *allocator) {
  *s = (sheet){.page.arena.allocator = allocator};
  char *copy = malloc(length + 1);
  psdm_error error;
  assert_non_null(copy);
  memcpy(copy, text, length);
  copy[length] = '\0';
  psdm_status status = psdmp_report_result_parse(&s->arena, "result.json", copy, length, &s->result, &error);
  psdmp_report_results results = {.item = &s->result, .count = 1};
  if (!status) {
    psdmp_report_section_reduce(&s->page, &results);
    psdmp_report_section_scaling(&s->page, &results);
    psdmp_report_section_bench(&s->page, &results);
    psdmp_report_page_end(&s->page);
  }
  free(copy);
  return !status;
}

static void close_sheet(sheet *s) {
  psdmp_report_page_free(&s->page);
  psdmp_base_arena_free(&s->arena);
}

static const psdmp_report_figure *figure_called(const sheet *s, const char *title) {
  for (const psdmp_report_figure *f = s->page.figure; f; f = f->next)
    if (strstr(f->title, title)) return f;
  fail_msg("no figure is called %s", title);
  return NULL;
}

static void expect_text(const sheet *s, const char *text) {
  if (!s->page.text || !strstr(s->page.text, text)) fail_msg("the page lacks '%s'", text);
}

static void expect_values(const double *found, const double *want, size_t count) {
  for (size_t i = 0; i < count; i++) assert_true(found[i] == want[i] || (isnan(found[i]) && isnan(want[i])));
}

/* ---- drawings ---- */

static void test_reduce(void **state) {
  (void)state;
  sheet s;
  assert_true(open_sheet(&s, reduce_text, strlen(reduce_text), NULL));
  assert_true(s.result->used);
  assert_int_equal(s.page.figures, 3);
  /* the histogram's outline: the counts at their lower edges, and back to the axis */
  const psdmp_report_figure *f = figure_called(&s, "Contributions of the functions, slow profile");
  assert_int_equal(f->curves, 2);
  assert_int_equal(f->curve[0].count, 4);
  expect_values(f->curve[0].x, (double[]){-6, -5.75, -5.5, -5.25}, 4);
  expect_values(f->curve[0].y, (double[]){70, 0, 30, 0}, 4);
  expect_values(f->curve[1].y, (double[]){10, 20, 65, 0}, 4);
  /* two confidences and the chosen point; the full model's digits are rounding and not drawn */
  f = figure_called(&s, "Accuracy");
  assert_int_equal(f->curves, 3);
  expect_values(f->curve[0].y, (double[]){1, NAN}, 2);
  expect_values(f->curve[2].x, (double[]){75}, 1);
  expect_values(f->curve[2].y, (double[]){2.09691}, 1);
  f = figure_called(&s, "Operations");
  expect_values(f->curve[0].y, (double[]){15, 100}, 2);
  expect_values(f->curve[1].y, (double[]){20}, 1);
  assert_true(f->curve[2].kind == PSDMP_REPORT_LEVEL && f->curve[2].y[0] == 100 && f->curve[3].y[0] == 50);
  expect_text(&s, "25 of 100");
  expect_text(&s, "Reduced model of arm");
  close_sheet(&s);
}

/* bars of one group are side by side: as wide as the distance allows, and centred on the group's name */
static void expect_side_by_side(const psdmp_report_figure *f, int kinds, int groups) {
  for (int i = 0; i < groups; i++) {
    double sum = 0;
    for (int k = 0; k < kinds; k++) {
      sum += f->curve[k].x[i];
      if (k) assert_true(f->curve[k].x[i] - f->curve[k - 1].x[i] > f->box);
    }
    assert_true(fabs(sum / kinds - i) < 1e-12);
    if (i) assert_true(f->curve[0].x[i] - f->curve[kinds - 1].x[i - 1] > f->box);
  }
}

static void test_script(void **state) {
  (void)state;
  sheet s;
  assert_true(open_sheet(&s, script_text, strlen(script_text), NULL));
  assert_int_equal(s.page.sections, 1);
  assert_int_equal(s.page.figures, 3);
  const psdmp_report_figure *f = figure_called(&s, "Derivation (as Figure 4 of the PSDM paper)");
  assert_int_equal(f->curves, 3); /* a line, its dots, published values */
  assert_true(f->y_log && !f->x_log);
  expect_values(f->curve[0].x, (double[]){1, 2, 4}, 3);
  expect_values(f->curve[1].y, (double[]){1e-5, 3e-5, 2e-4}, 3);
  assert_true(f->curve[2].kind == PSDMP_REPORT_DOTS && f->curve[2].colour == 8 && f->curve[2].y[0] == 0.5);
  assert_int_equal(f->ticks, 5);
  assert_string_equal(f->tick[4], "4");
  f = figure_called(&s, "Whole robots");
  assert_int_equal(f->curves, 4); /* and what keeps the smallest bar, 10, off the end of the axis */
  assert_true(f->range[2] == 1 && f->range[3] == 1000);
  expect_values(f->curve[1].y, (double[]){25, 160}, 2);
  expect_values(f->curve[2].y, (double[]){NAN, 40}, 2);
  expect_side_by_side(f, 3, 2);
  /* 25/10 and 160/20; 40/20 alone */
  assert_string_equal(f->curve[1].title, "peer (2.5\xC3\x97 to 8\xC3\x97)");
  assert_string_equal(f->curve[2].title, "other (2\xC3\x97)");
  f = figure_called(&s, "Single");
  assert_int_equal(f->ticks, 2);
  assert_string_equal(f->tick[1], "peer (1200\xC3\x97)");
  expect_text(&s, "&lt;b&gt;chip, 2026-01-02, a quick run: best of 20.");
  expect_text(&s, "a note");
  close_sheet(&s);
}

static void test_bench(void **state) {
  (void)state;
  sheet s;
  assert_true(open_sheet(&s, bench_text, strlen(bench_text), NULL));
  assert_int_equal(s.page.figures, 1);
  const psdmp_report_figure *f = figure_called(&s, "Time per call on chip, best of 50 rounds");
  assert_int_equal(f->curves, 5);
  expect_values(f->curve[0].y, (double[]){20, 10}, 2);
  expect_values(f->curve[1].y, (double[]){5, 3}, 2);
  expect_values(f->curve[2].y, (double[]){30, NAN}, 2);
  expect_values(f->curve[3].y, (double[]){80, 50}, 2);
  expect_side_by_side(f, 4, 2);
  expect_text(&s, "4\xC3\x97"); /* times the recursion */
  close_sheet(&s);
}

/* ---- damaged results ---- */

static const char *const all_texts[] = {reduce_text, script_text, bench_text};
enum { TEXTS = sizeof all_texts / sizeof *all_texts };

/* a value, or a name, is replaced by something else */
static size_t spoil(rng *g, char *text, size_t length, size_t room) {
  static const char *const junk[] = {"null",
                                     "-1",
                                     "0",
                                     "1e308",
                                     "-1e-308",
                                     "\"\"",
                                     "\"<img src=x>\"",
                                     "[]",
                                     "{}",
                                     "[[], {}]",
                                     "true",
                                     "[1, null, \"x\", -3, 1e300]",
                                     "{\"x\": 1}"};
  size_t from = (size_t)rng_int(g, 20, (int)length - 2);
  while (from < length && !strchr(":[,", text[from])) from++;
  if (from + 1 >= length) return length;
  size_t to = ++from;
  while (to < length && !strchr(",]}[{", text[to])) to++;
  const char *word = junk[rng_int(g, 0, (int)(sizeof junk / sizeof *junk) - 1)];
  size_t size = strlen(word);
  if (length - (to - from) + size + 1 > room) return length;
  memmove(text + from + size, text + to, length - to);
  memcpy(text + from, word, size);
  return length - (to - from) + size;
}

static void test_spoilt(void **state) {
  (void)state;
  rng g = rng_start("test_spoilt");
  int accepted = 0;
  for (int round = 0; round < 3000; round++) {
    char text[8192];
    const char *from = all_texts[round % TEXTS];
    size_t length = strlen(from);
    sheet s;
    memcpy(text, from, length + 1);
    for (int k = rng_int(&g, 1, 6); k; k--) length = spoil(&g, text, length, sizeof text);
    if (open_sheet(&s, text, length, NULL)) {
      accepted++;
      assert_int_equal(s.page.status, PSDM_OK);
      if (s.page.text) assert_null(strstr(s.page.text, "<img"));
    }
    close_sheet(&s);
  }
  assert_true(accepted > 500); /* otherwise the sections were not reached */
}

static void test_no_memory(void **state) {
  (void)state;
  for (int k = 0; k < TEXTS; k++) {
    bool done = false;
    for (long at = 1; !done; at++) {
      counting c;
      sheet s;
      counting_init(&c, at);
      assert_true(open_sheet(&s, all_texts[k], strlen(all_texts[k]), &c.allocator));
      done = c.calls < at;
      if (done) assert_int_equal(s.page.status, PSDM_OK);
      else assert_int_equal(s.page.status, PSDM_E_MEMORY);
      close_sheet(&s);
      assert_int_equal(c.live, 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reduce), cmocka_unit_test(test_script),
                                     cmocka_unit_test(test_bench), cmocka_unit_test(test_spoilt),
                                     cmocka_unit_test(test_no_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
