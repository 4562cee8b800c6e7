/* test_report.c: the frame of the report: escaping, numbers, results, thinning, conversion of gnuplot's pictures, and
 * pages without memory. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/page_priv.h"
#include "support.h"

/* ---- texts ---- */

static char *written(psdmp_report_page *page) { return page->text ? page->text : ""; }

/* escaped text as a browser shows it; fails on anything that is not text */
static size_t unescape(const char *html, char *out) {
  static const struct {
    const char *name;
    const char *text;
  } known[] = {{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&#39;", "'"}};
  size_t used = 0;
  while (*html) {
    size_t step = 0;
    assert_null(strchr("<>\"'", *html));
    for (size_t k = 0; *html == '&' && k < sizeof known / sizeof *known; k++)
      if (strncmp(html, known[k].name, strlen(known[k].name)) == 0)
        out[used++] = known[k].text[0], step = strlen(known[k].name);
    if (*html == '&') assert_true(step > 0);
    if (!step) out[used++] = *html, step = 1;
    html += step;
  }
  out[used] = '\0';
  return used;
}

/* random bytes, many of them special: the output is text, and valid text is restored */
TEST(test_escaping) {
  static const char special[] = "<>&\"'/= \x80\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\x01\x7F";
  rng g = rng_start("test_escaping");
  for (int round = 0; round < 2000; round++) {
    char text[64], back[400];
    int length = rng_int(&g, 0, 60);
    bool good = true;
    for (int i = 0; i < length; i++)
      text[i] = rng_int(&g, 0, 2) ? special[rng_int(&g, 0, (int)sizeof special - 2)] : (char)rng_int(&g, 1, 126);
    text[length] = '\0';
    for (int i = 0; i < length;) {
      size_t step = psdmp_base_utf8_length(text + i, (size_t)(length - i));
      good &= step > 0 &&
              !(step == 1 && ((unsigned char)text[i] < 0x20 || text[i] == 0x7F) && text[i] != '\n' && text[i] != '\t');
      i += step ? (int)step : 1;
    }
    psdmp_report_page page = {0};
    psdmp_report_page_text(&page, text);
    unescape(written(&page), back);
    for (const char *at = back; *at;) {
      size_t step = psdmp_base_utf8_length(at, strlen(at));
      assert_true(step > 0);
      at += step;
    }
    if (good) assert_string_equal(back, text);
    psdmp_report_page_free(&page);
  }
}

static void expect_number(double value, int digits, const char *want) {
  psdmp_report_page page = {0};
  psdmp_report_page_number(&page, value, digits);
  assert_string_equal(written(&page), want);
  psdmp_report_page_free(&page);
}

TEST(test_numbers) {
  expect_number(0, 3, "0");
  expect_number(1.5, 3, "1.50");
  expect_number(-0.0123456, 3, "\u22120.0123");
  expect_number(9.9996, 4, "10.00");
  expect_number(123456, 3, "123456");
  expect_number(1.23456e-5, 3, "1.23\u00a0\u00d7\u00a010<sup>\u22125</sup>");
  expect_number(-6.02214e23, 4, "\u22126.022\u00a0\u00d7\u00a010<sup>23</sup>");
  expect_number(NAN, 3, "<span class=\"muted\">\u2013</span>");
  expect_number(INFINITY, 3, "<span class=\"muted\">\u2013</span>");
}

/* every number reads back to within half of its last digit */
TEST(test_numbers_read_back) {
  rng g = rng_start("test_numbers_read_back");
  for (int round = 0; round < 5000; round++) {
    double value = rng_uniform(&g, -1, 1) * pow(10, rng_int(&g, -30, 30));
    int digits = rng_int(&g, 1, 8), power = 0;
    psdmp_report_page page = {0};
    psdmp_report_page_number(&page, value, digits);
    char text[128], *out = text;
    for (const char *at = page.text; *at && *at != '<' && strncmp(at, "\u00a0", 2) != 0; at++) {
      if (strncmp(at, "\u2212", 3) == 0) *out++ = '-', at += 2;
      else *out++ = *at;
    }
    *out = '\0';
    const char *raised = strstr(page.text, "<sup>");
    if (raised) power = strncmp(raised + 5, "\u2212", 3) == 0 ? -atoi(raised + 8) : atoi(raised + 5);
    double back = atof(text) * pow(10, power), last = pow(10, floor(log10(fabs(value))) + 1 - digits);
    /* half a digit, and the rounding of the powers above */
    assert_true(fabs(back - value) <= 0.5 * last * (1 + 1e-9) + 1e-12 * fabs(value));
    psdmp_report_page_free(&page);
  }
}

/* ---- results ---- */

static psdm_status parse(const char *text, psdmp_base_arena *arena, psdmp_report_result **result, char *sentence,
                         size_t size) {
  psdm_error error = {0};
  size_t length = strlen(text);
  char *copy = psdmp_base_arena_text(arena, text, length);
  psdm_status status = psdmp_report_result_parse(arena, "result", copy, length, result, &error);
  assert_int_equal(status == PSDM_OK, *result != NULL);
  sentence[0] = '\0';
  if (status) psdm_error_format(&error, sentence, size);
  return status;
}

static void expect_result(const char *text, psdmp_report_result_kind kind, const char *command, const char *robot) {
  psdmp_base_arena arena = {0};
  psdmp_report_result *result;
  char sentence[900];
  if (parse(text, &arena, &result, sentence, sizeof sentence)) fail_msg("%s: %s", text, sentence);
  assert_int_equal(result->kind, kind);
  assert_string_equal(result->command, command);
  assert_string_equal(result->robot, robot);
  psdmp_base_arena_free(&arena);
}

static void expect_refusal(const char *text, psdm_status status, const char *want) {
  psdmp_base_arena arena = {0};
  psdmp_report_result *result;
  char sentence[900];
  assert_int_equal(parse(text, &arena, &result, sentence, sizeof sentence), status);
  if (!strstr(sentence, want)) fail_msg("'%s' lacks '%s'", sentence, want);
  psdmp_base_arena_free(&arena);
}

TEST(test_results) {
  expect_result("{\"command\": \"derive\", \"name\": \"arm\", \"n\": 2}", PSDMP_REPORT_RESULT_JSON, "derive", "arm");
  expect_result("\xEF\xBB\xBF\n {\"command\": \"bench/derive\", \"n\": 1}", PSDMP_REPORT_RESULT_JSON, "bench/derive",
                "");
  expect_result("format: psdm-parameters-1\nrobot: {name: arm}\ntheta: {}\n", PSDMP_REPORT_RESULT_YAML, "parameters",
                "arm");
  expect_result("t,q1,predicted1\n0,1,2\n", PSDMP_REPORT_RESULT_CSV, "predict", "");
  expect_result("t,q1,T,U\n0,1,2,3\n", PSDMP_REPORT_RESULT_CSV, "states", "");
  expect_result("# words\nt, q1\r\n0, 1\r\n\n1,\n", PSDMP_REPORT_RESULT_CSV, "trajectory", "");
}

TEST(test_refusals) {
  expect_refusal("", PSDM_E_PARSE, "result:1:1: ");
  expect_refusal("{\"name\": \"arm\"}", PSDM_E_PARSE, "result:1:1: not a result, it has no \"command\"");
  expect_refusal("[1, 2]", PSDM_E_PARSE, "result:1:1: not a result");
  expect_refusal("{\"command\": \"derive\", \"n\": [1, 2}", PSDM_E_PARSE, "result:1:");
  expect_refusal("a,b\n1,2\n", PSDM_E_PARSE, "result:1:1: the columns are of no known result");
  expect_refusal("t,q1\n0,1\n1,x\n", PSDM_E_PARSE,
                 "result:3:3: column 'q1' has 'x'; a finite decimal number was expected");
  expect_refusal("t,q1\n0\n", PSDM_E_PARSE, "result:2:2: 1 values; the header on line 1 names 2 columns");
  expect_refusal("t,q1\n0,1,2\n", PSDM_E_PARSE,
                 "result:2:5: more values than the 2 columns that the header on line 1 names");
  expect_refusal("name: arm\njoints: []\n", PSDM_E_ROBOT, "a robot file, not a result");
  expect_refusal("<?xml version='1.0'?><robot/>", PSDM_E_ROBOT, "a robot file");
  /* the message names what was expected */
  expect_refusal("{\"command\": \"derive\", \"n\": [1,", PSDM_E_PARSE,
                 "not a result: JSON that a psdm command wrote with `json`, CSV rows, a parameter file or a robot file "
                 "was expected (malformed YAML: ");
  expect_refusal("<!doctype html><html></html>", PSDM_E_PARSE,
                 "result:1:1: not a result: JSON that a psdm command wrote");
  expect_refusal("# A page\nwith words, and more\n", PSDM_E_PARSE, "or JSON that a psdm command wrote");
  /* an empty result */
  expect_refusal("{\"command\": \"simulate\", \"robot\": \"arm\"}", PSDM_E_PARSE,
                 "result:1:1: a result without content");
  expect_refusal("t,q1\n", PSDM_E_PARSE, "result:1: a header without rows");
  expect_refusal("t,q1\n0,nan\n1,1e308\n2,-1e308\n", PSDM_E_PARSE, "result:1: rows without content");
}

TEST(test_result_values) {
  psdmp_base_arena arena = {0};
  psdmp_report_result *tree, *rows;
  char sentence[900];
  double list[4] = {0};
  assert_int_equal(parse("{\"command\": \"x\", \"a\": {\"b\": [1, {\"c\": -2.5e-3}, \"3\", null, 4]}}", &arena, &tree,
                         sentence, sizeof sentence),
                   PSDM_OK);
  assert_true(psdmp_report_number(tree->root, "a.b.1.c") == -2.5e-3);
  assert_true(isnan(psdmp_report_number(tree->root, "a.b.2")) && isnan(psdmp_report_number(tree->root, "a.b.3")) &&
              isnan(psdmp_report_number(tree->root, "a.b.9")) && isnan(psdmp_report_number(tree->root, "a.x.y")));
  assert_string_equal(psdmp_report_text(tree->root, "a.b.2"), "3");
  assert_string_equal(psdmp_report_text(tree->root, "a.b.3"), "");
  assert_int_equal(psdmp_report_numbers(psdmp_report_node(tree->root, "a.b"), list, 4), 4);
  assert_true(list[0] == 1 && isnan(list[1]) && isnan(list[3]));
  assert_int_equal(parse("t,q1,q2\n0,1,2\n1,,3\n2,nan,4\n", &arena, &rows, sentence, sizeof sentence), PSDM_OK);
  assert_int_equal(rows->rows, 3);
  assert_int_equal(psdmp_report_result_column(rows, "q2"), 2);
  assert_int_equal(psdmp_report_result_column(rows, "q3"), -1);
  assert_true(rows->value[2][2] == 4 && rows->value[0][1] == 1 && isnan(rows->value[1][1]) && isnan(rows->value[1][2]));
  psdmp_base_arena_free(&arena);
}

/* ---- thinning ---- */

/* no value between two kept neighbours exceeds them, and gaps stay gaps */
TEST(test_thinning) {
  enum { COUNT = 5000 };
  rng g = rng_start("test_thinning");
  static double y[COUNT];
  for (int round = 0; round < 60; round++) {
    size_t count = (size_t)rng_int(&g, 1, COUNT), most = (size_t)rng_int(&g, 5, 600), kept[COUNT + 5],
           buckets = most / 5;
    for (size_t i = 0; i < count; i++) y[i] = rng_int(&g, 0, 40) ? rng_uniform(&g, -1, 1) : NAN;
    /* peaks of one sample */
    for (size_t i = 0; i < 3; i++) y[rng_int(&g, 0, (int)count - 1)] = rng_uniform(&g, 10, 20);
    size_t used = psdmp_report_plot_thin(y, y, count, most, kept);
    assert_true(used <= most || count <= most);
    if (count <= most) {
      assert_int_equal(used, count);
      continue;
    }
    for (size_t i = 1; i < used; i++) assert_true(kept[i] > kept[i - 1] && kept[i] < count);
    assert_int_equal(kept[0], 0);
    assert_int_equal(kept[used - 1], count - 1);
    /* the plain twin: every bucket, value by value */
    size_t size = count / buckets, more = count % buckets, at = 0, from = 0;
    for (size_t b = 0; b < buckets; b++) {
      size_t to = from + size + (b < more);
      double low = INFINITY, high = -INFINITY, kept_low = INFINITY, kept_high = -INFINITY;
      bool gap = false, kept_gap = false;
      for (size_t i = from; i < to; i++)
        gap |= isnan(y[i]), low = fmin(low, isnan(y[i]) ? low : y[i]), high = fmax(high, isnan(y[i]) ? high : y[i]);
      for (; at < used && kept[at] < to; at++)
        kept_gap |= isnan(y[kept[at]]), kept_low = fmin(kept_low, isnan(y[kept[at]]) ? kept_low : y[kept[at]]),
                                        kept_high = fmax(kept_high, isnan(y[kept[at]]) ? kept_high : y[kept[at]]);
      assert_true(low == kept_low && high == kept_high && gap == kept_gap);
      from = to;
    }
    assert_int_equal(from, count);
  }
}

/* ---- gnuplot ---- */

/* a figure with one line, for the tests below */
static psdmp_report_figure *some_figure(psdmp_report_page *page, const char *label) {
  static const double x[] = {0, 1, 2}, y[] = {1, NAN, 3};
  psdmp_report_series series = {.kind = PSDMP_REPORT_LINE, .title = label, .x = x, .y = y, .count = 3};
  psdmp_report_plot plot = {
      .title = label, .x_label = label, .y_label = label, .series = &series, .count = 1, .zoom = true};
  psdmp_report_page_plot(page, &plot);
  assert_non_null(page->figure);
  return page->figure;
}

/* every figure has a range, whatever is drawn: numbers whose tenth rounds to zero, bars with negligible width */
TEST(test_ranges) {
  static const double values[] = {0, 5e-324, -5e-324, 2e-308, 1, 1e17, -1e99};
  for (int log = 0; log < 2; log++)
    for (psdmp_report_series_kind kind = PSDMP_REPORT_LINE; kind <= PSDMP_REPORT_BARS;
         kind = kind == PSDMP_REPORT_LINE ? PSDMP_REPORT_BARS : PSDMP_REPORT_BARS + 1)
      for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        const double x[] = {values[k], values[k]};
        psdmp_report_series series = {.kind = kind, .x = x, .y = x, .count = 2};
        psdmp_report_page page = {0};
        psdmp_report_page_plot(&page, &(psdmp_report_plot){.title = "a",
                                                           .x_label = "b",
                                                           .y_label = "c",
                                                           .series = &series,
                                                           .count = 1,
                                                           .x_log = log,
                                                           .y_log = log});
        const psdmp_report_figure *f = page.figure;
        assert_true(f || (log && values[k] <= 0));
        assert_true(!f || (f->range[0] < f->range[1] && f->range[2] < f->range[3]));
        psdmp_report_page_free(&page);
      }
}

/* whatever the label, its line of the script is words, one quoted text, words */
TEST(test_quoting) {
  static const char *const labels[] = {
      "plain", "it's", "'; system 'rm x", "a\nb", "`date`", "@macro \"x\" \\' {/:Bold}", "''", "\xFF\xFE", "%d %s"};
  for (size_t k = 0; k < sizeof labels / sizeof *labels; k++) {
    psdmp_report_page page = {0}, script = {0};
    psdmp_report_plot_script(&script, some_figure(&page, labels[k]), PSDMP_REPORT_WIDE);
    char *at = strstr(script.text, "set ylabel ");
    assert_non_null(at);
    at += strlen("set ylabel ");
    assert_int_equal(*at++, '\'');
    while (*at != '\'' || at[1] == '\'') {
      assert_true(*at && *at != '\n');
      at += *at == '\'' ? 2 : 1;
    }
    static const char rest[] = "' noenhanced textcolor rgb '#f00004'\n";
    assert_memory_equal(at, rest, strlen(rest));
    psdmp_report_page_free(&page);
    psdmp_report_page_free(&script);
  }
}

static const double some_box[4] = {40, 480, 10, 280};

static const char some_svg[] =
    "<?xml version=\"1.0\"?>\n<svg viewBox=\"0 0 1000 340\">\n<title>Gnuplot</title>\n<g id=\"gnuplot_canvas\">\n"
    "<path stroke='rgb(240,   0,   1)' class=\"gridline\"  d='M55.75,262.40 L694.82,262.40  '/>\n"
    "<g transform=\"translate(47.36,266.30)\" stroke=\"none\" fill=\"rgb(240,0,3)\" "
    "text-anchor=\"end\">\n<text>-1e-06</text>\n</g>\n"
    "<g transform=\"translate(55.75,284.30)\" stroke=\"none\" fill=\"rgb(240,0,2)\" text-anchor=\"middle\">\n<text> "
    "0.5</text>\n</g>\n"
    "<g transform=\"translate(19.18,115.21) rotate(270)\" fill=\"rgb(240,0,4)\" text-anchor=\"middle\">\n<text>a "
    "&lt;b> &amp;amp; c</text>\n</g>\n"
    "<g id=\"gnuplot_plot_1\" ><title>x</title>\n<path stroke='rgb(240, 0, 16)' d='M492.24,18.00 L534.80,18.04 M55,238 "
    "Z'/></g>\n"
    "<use xlink:href='#gpPt6' transform='translate(1,2) scale(3)' color='rgb(240, 0, "
    "16)'/>\n<script>alert(1)</script><image href=\"http://x\"/>\n</g>\n</svg>\n";

TEST(test_distil) {
  psdmp_report_page page = {0};
  char *svg = psdmp_report_plot_distil(&page, some_figure(&page, "a <b> &amp; c"), PSDMP_REPORT_WIDE, some_svg,
                                       strlen(some_svg), some_box);
  assert_non_null(svg);
  assert_non_null(strstr(svg, "<path class=\"grid\" d=\"M55.8 262.4L694.8 262.4\"/>"));
  assert_non_null(
      strstr(svg, "<text class=\"tick y\" text-anchor=\"end\" x=\"47.4\" y=\"266.3\">\u221210\u207b\u2076</text>"));
  assert_non_null(strstr(svg, "<text class=\"tick x\" text-anchor=\"middle\" x=\"55.8\" y=\"284.3\">0.5</text>"));
  assert_non_null(strstr(svg, "rotate(-90)\">a &lt;b&gt; &amp;amp; c</text>"));
  assert_non_null(strstr(svg, "<g class=\"series line c0\" data-i=\"0\"><path d=\"M492.2 18L534.8 18M55 238Z\"/>"));
  assert_null(strstr(svg, "script"));
  assert_null(strstr(svg, "image"));
  psdmp_report_page_free(&page);
}

/* every tag and attribute of a picture is one of ours */
static void expect_ours(const char *svg) {
  static const char *const tags[] = {"svg", "/svg", "title", "/title", "g", "/g", "path", "text", "/text"};
  static const char *const attributes[] = {"class",     "viewBox", "role", "aria-labelledby", "data-box", "data-range",
                                           "data-log",  "id",      "d",    "text-anchor",     "x",        "y",
                                           "transform", "data-i"};
  for (const char *at = strchr(svg, '<'); at; at = strchr(at, '<')) {
    at++;
    size_t length = *at == '/' ? 1 + strcspn(at + 1, " />") : strcspn(at, " />");
    bool known = false;
    for (size_t k = 0; k < sizeof tags / sizeof *tags; k++)
      known |= strlen(tags[k]) == length && memcmp(at, tags[k], length) == 0;
    if (!known) fail_msg("tag <%.*s>", (int)length, at);
    for (at += length; *at == ' ';) {
      size_t name = strcspn(++at, "=");
      known = false;
      for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
        known |= strlen(attributes[k]) == name && memcmp(at, attributes[k], name) == 0;
      if (!known) fail_msg("attribute %.*s", (int)name, at);
      at += name + 2;
      at += strcspn(at, "\"<>") + 1;
      assert_true(at[-1] == '"');
    }
  }
}

TEST(test_distil_anything) {
  rng g = rng_start("test_distil_anything");
  for (int round = 0; round < 3000; round++) {
    char bytes[sizeof some_svg];
    size_t length = strlen(some_svg);
    memcpy(bytes, some_svg, sizeof bytes);
    for (int k = rng_int(&g, 1, 30); k; k--)
      bytes[rng_int(&g, 0, (int)length - 1)] =
          rng_int(&g, 0, 1) ? "<>\"'=/ &;\n"[rng_int(&g, 0, 9)] : (char)rng_int(&g, 0, 255);
    if (rng_int(&g, 0, 3) == 0) length = (size_t)rng_int(&g, 0, (int)length);
    psdmp_report_page page = {0};
    char *svg =
        psdmp_report_plot_distil(&page, some_figure(&page, "<script>"), PSDMP_REPORT_NARROW, bytes, length, some_box);
    assert_non_null(svg);
    expect_ours(svg);
    psdmp_report_page_free(&page);
  }
}

/* ---- whole pages ---- */

static const char evil[] = "</script><img src=x onerror=alert(1)>'\\\"&";

static char folder[] = "/tmp/psdm-test-report-XXXXXX";

static const char *file_in_folder(const char *name) {
  static char path[4][128];
  static int next;
  char *out = path[next++ % 4];
  snprintf(out, sizeof path[0], "%s/%s", folder, name);
  return out;
}

static int make_files(void **state) {
  (void)state;
  char text[2000];
  if (!mkdtemp(folder)) return -1;
  psdm_output *out;
  assert_int_equal(psdm_output_open(file_in_folder("derive.json"), NULL, &out, NULL), PSDM_OK);
  psdm_json_object(out, NULL);
  psdm_json_string(out, "command", "derive");
  psdm_json_string(out, "name", evil);
  psdm_json_integer(out, "n", 2);
  psdm_json_object(out, "classes");
  psdm_json_integer(out, "gravity", 3);
  psdm_json_close(out);
  psdm_json_close(out);
  assert_int_equal(psdm_output_commit(&out, NULL), PSDM_OK);
  snprintf(
      text, sizeof text,
      "{\"command\": \"inspect\", \"name\": \"a\", \"joints\": [{\"name\": \"<b>\", \"type\": \"revolute\", "
      "\"parent\": \"base\", \"at\": {\"carried_by\": 0, \"point\": [0,0,0], \"axis\": [0,0,1], \"link\": [1,0,0]}}, "
      "{\"name\": \"s\", \"type\": \"prismatic\", \"at\": {\"carried_by\": 1, \"point\": [1,0,0], \"axis\": [0,1,0], "
      "\"link\": [1,1,0], \"mass\": 2, \"com\": [1,0.5,0]}}], \"warnings\": [\"<i>\"]}");
  file_write(file_in_folder("inspect.json"), text);
  return 0;
}

static int remove_files(void **state) {
  (void)state;
  static const char *const names[] = {"derive.json", "inspect.json", "a.html", "b.html", "none.csv"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(file_in_folder(names[i]));
  return rmdir(folder);
}

/* ---- results in memory ---- */

static const char motion_text[] = "{\"command\": \"simulate\", \"robot\": \"arm\", \"n\": 1, \"rows\": 4}";
static const char motion_rows[] = "t,q1,T,U\n0,0.1,1,2\n0.5,0.30000000000000004,1.5,1.5\n1,-0.2,2,1\n1.5,,2,1\n";

static psdm_status add_motion(psdm_report *report, bool files, psdm_error *error) {
  static const double values[4][4] = {
      {0, 0.1, 1, 2}, {0.5, 0.30000000000000004, 1.5, 1.5}, {1, -0.2, 2, 1}, {1.5, INFINITY, 2, 1}};
  static const char *const names[] = {"t", "q1", "T", "U"};
  static const double *const column[] = {&values[0][0], &values[0][1], &values[0][2], &values[0][3]};
  static const long stride[] = {4, 4, 4, 4};
  const psdm_log_table table = {"motion.csv", 4, 4, names, column, stride};
  psdm_status status = files ? psdm_report_add(report, file_in_folder("motion.json"), error)
                             : psdm_report_add_text(report, motion_text, strlen(motion_text), "motion.json", error);
  if (status) return status;
  return files ? psdm_report_add(report, file_in_folder("motion.csv"), error)
               : psdm_report_add_rows(report, &table, error);
}

static psdm_status write_motion(const psdm_allocator *allocator, bool files, const char *name, psdm_error *error) {
  psdm_report *report = NULL;
  psdm_status status =
      psdm_report_new(&(psdm_report_options){.gnuplot = "/nowhere/gnuplot"}, allocator, &report, error);
  if (!status) status = add_motion(report, files, error);
  if (!status) status = psdm_report_write(report, file_in_folder(name), error);
  if (!status) assert_null(psdm_report_unused(report, 0));
  psdm_report_free(report);
  return status;
}

/* text and rows give the page of files with the same content; without memory they say so */
TEST(test_memory_as_files) {
  psdm_error error;
  file_write(file_in_folder("motion.json"), motion_text);
  file_write(file_in_folder("motion.csv"), motion_rows);
  if (write_motion(NULL, true, "a.html", &error)) fail_msg("%s", error.text);
  if (write_motion(NULL, false, "b.html", &error)) fail_msg("%s", error.text);
  char *files = file_read(file_in_folder("a.html")), *memory = file_read(file_in_folder("b.html"));
  assert_non_null(strstr(files, "arm"));
  assert_string_equal(files, memory);
  free(files);
  free(memory);
  long calls = 1;
  for (long at = 0; at <= calls; at++) {
    counting c;
    counting_init(&c, at);
    assert_int_equal(write_motion(&c.allocator, false, "b.html", &error), at ? PSDM_E_MEMORY : PSDM_OK);
    assert_int_equal(c.live, 0);
    if (!at) calls = c.calls;
  }
  assert_true(calls > 5);
  unlink(file_in_folder("motion.json"));
  unlink(file_in_folder("motion.csv"));
}

/* what is no result is none in memory either, and the report stays as it was */
TEST(test_memory_refused) {
  static const char *const names[] = {"t", "x1"};
  static const double values[] = {0, 1};
  static const double *const column[] = {&values[0], &values[1]};
  static const long stride[] = {1, 1};
  psdm_report *report;
  psdm_error error;
  assert_int_equal(psdm_report_new(NULL, NULL, &report, &error), PSDM_OK);
  assert_int_equal(psdm_report_add_text(report, "{\"n\": 1}", 8, "none.json", &error), PSDM_E_PARSE);
  assert_string_equal(error.file, "none.json");
  assert_int_equal(psdm_report_add_rows(report, &(psdm_log_table){"x.csv", 1, 2, names, column, stride}, &error),
                   PSDM_E_PARSE);
  assert_non_null(strstr(error.text, "the columns are of no known result"));
  const char *const motion[] = {"t", "q1"};
  assert_int_equal(psdm_report_add_rows(report, &(psdm_log_table){"x.csv", 0, 2, motion, column, stride}, &error),
                   PSDM_E_PARSE);
  assert_non_null(strstr(error.text, "a header without rows"));
  assert_int_equal(psdm_report_write(report, file_in_folder("empty.html"), &error), PSDM_E_ARGUMENT);
  psdm_report_free(report);
}

static psdm_status write_page(const psdm_allocator *allocator, const char *gnuplot, const char *name, int *sections,
                              char *missing, psdm_error *error) {
  psdm_report *report = NULL;
  psdm_status status =
      psdm_report_new(&(psdm_report_options){.title = evil, .gnuplot = gnuplot}, allocator, &report, error);
  if (!status) status = psdm_report_add(report, file_in_folder("derive.json"), error);
  if (!status) status = psdm_report_add(report, file_in_folder("inspect.json"), error);
  if (!status) status = psdm_report_write(report, file_in_folder(name), error);
  if (!status) {
    *sections = psdm_report_sections(report);
    const char *why = psdm_report_missing(report);
    snprintf(missing, 600, "%s", why ? why : "");
    assert_null(psdm_report_unused(report, 0));
  }
  psdm_report_free(report);
  return status;
}

/* no name in a result is markup, the page reports a missing gnuplot, and the same results give the same bytes */
TEST(test_page) {
  psdm_error error;
  char missing[600];
  int sections = 0;
  assert_int_equal(write_page(NULL, "/nowhere/gnuplot", "a.html", &sections, missing, &error), PSDM_OK);
  assert_int_equal(sections, 2);
  assert_non_null(strstr(missing, "'/nowhere/gnuplot' cannot be run"));
  assert_int_equal(write_page(NULL, "/nowhere/gnuplot", "b.html", &sections, missing, &error), PSDM_OK);
  char *page = file_read(file_in_folder("a.html")), *again = file_read(file_in_folder("b.html"));
  assert_string_equal(page, again);
  assert_null(strstr(page, "<img"));
  assert_null(strstr(page, "<b>"));
  assert_non_null(strstr(page, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&#39;\\&quot;&amp;"));
  assert_non_null(strstr(page, "could not be drawn"));
  assert_non_null(strstr(page, "Content-Security-Policy"));
  assert_null(strstr(page, "unsafe-inline"));
  /* one script, ours, and after it only the end */
  char *script = strstr(page, "<script");
  assert_non_null(script);
  assert_null(strstr(script + 1, "<script"));
  free(page);
  free(again);
}

/* a program that draws nothing, one that fails at once: the page is still written */
TEST(test_odd_gnuplots) {
  static const char *const programs[] = {"true", "false"};
  psdm_error error;
  char missing[600];
  int sections = 0;
  for (size_t k = 0; k < 2; k++) {
    assert_int_equal(write_page(NULL, programs[k], "a.html", &sections, missing, &error), PSDM_OK);
    assert_non_null(strstr(missing, "1 of 1 plots are missing"));
  }
}

TEST(test_errors) {
  psdm_report *report;
  psdm_error error;
  assert_int_equal(psdm_report_new(NULL, NULL, &report, &error), PSDM_OK);
  assert_int_equal(psdm_report_add(report, file_in_folder("absent.json"), &error), PSDM_E_IO);
  file_write(file_in_folder("none.csv"), "a,b\n");
  assert_int_equal(psdm_report_add(report, file_in_folder("none.csv"), &error), PSDM_E_PARSE);
  assert_int_equal(psdm_report_write(report, file_in_folder("empty.html"), &error), PSDM_E_ARGUMENT);
  assert_int_equal(access(file_in_folder("empty.html"), F_OK), -1);
  assert_int_equal(psdm_report_add(report, file_in_folder("derive.json"), &error), PSDM_OK);
  assert_int_equal(psdm_report_write(report, "/nowhere/at/all.html", &error), PSDM_E_IO);
  psdm_report_free(report);
}

/* whichever allocation fails, the status says so, and nothing leaks */
TEST(test_no_memory) {
  long calls = 1;
  for (long at = 1; at <= calls; at++) {
    counting c;
    psdm_error error;
    char missing[600];
    int sections;
    if (at == 1) {
      counting_init(&c, 0);
      assert_int_equal(write_page(&c.allocator, "/nowhere/gnuplot", "a.html", &sections, missing, &error), PSDM_OK);
      calls = c.calls;
      assert_int_equal(c.live, 0);
      assert_true(calls > 10);
    }
    counting_init(&c, at);
    psdm_status status = write_page(&c.allocator, "/nowhere/gnuplot", "b.html", &sections, missing, &error);
    if (status != PSDM_E_MEMORY) fail_msg("allocation %ld of %ld fails: status %d", at, calls, status);
    assert_int_equal(c.live, 0);
  }
}

TEST_MAIN_IN(make_files, remove_files, test_escaping, test_numbers, test_numbers_read_back, test_results, test_refusals,
             test_result_values, test_thinning, test_ranges, test_quoting, test_distil, test_distil_anything, test_page,
             test_odd_gnuplots, test_errors, test_memory_as_files, test_memory_refused, test_no_memory)
