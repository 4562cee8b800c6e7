/* test_sections_results.c: sections about results: the numbers they show, the rows they find, and pages that stay valid
 * whatever is in a result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page_priv.h"
#include "report/section_calibration_priv.h"
#include "support.h"
#include "whole.h"

/* ---- results of every kind, as small as possible ---- */

static const char calibration[] =
    "{\"command\": \"calibrate\", \"name\": \"arm\", \"n\": 2, \"route\": \"oneshot\", \"estimator\": \"consistent\","
    " \"joints\": [{\"name\": \"lift\", \"type\": \"prismatic\", \"limits\": {\"lower\": 0, \"upper\": 1, "
    "\"velocity\": 2, \"acceleration\": null, \"effort\": 300}}, {\"name\": \"<img src=x>\", \"type\": \"revolute\"}],"
    " \"train\": {\"joints\": [{\"name\": \"lift\", \"rows\": 90, \"rmse\": 1.25, \"rel\": 0.0123, \"nrmse\": 0.01, "
    "\"r2\": 0.9991}, {\"name\": \"<img src=x>\", \"rows\": 90, \"rmse\": 0.5, \"rel\": 0.02, \"nrmse\": 0.01, \"r2\": "
    "0.998}], \"global_rel\": 0.0321, \"rows\": 180,"
    "  \"all\": {\"global_rel\": 0.04}, \"rest\": {\"global_rel\": 0.5}, \"raw\": {\"global_rel\": 0.06}},"
    " \"heldout\": {\"joints\": [{\"rmse\": 1.5, \"rel\": 0.013, \"r2\": 0.9987}, {\"rmse\": 0.6, \"rel\": 0.021, "
    "\"r2\": 0.997}], \"global_rel\": 0.0456, \"rows\": 60},"
    " \"parameters\": [{\"name\": \"ZZ1\", \"value\": 1, \"sd\": 0.1}],"
    " \"friction\": [{\"joint\": \"lift\", \"columns\": [{\"text\": \"v\", \"column\": \"v\", \"width\": 0, \"load\": "
    "0, \"gain\": 4, \"sd\": 0.1}, {\"text\": \"sign(v)\", \"column\": \"sign(v)\", \"width\": 0, \"load\": 0, "
    "\"gain\": 2, \"sd\": 0.2}],"
    "  \"covariance\": [[0.01, -0.01], [-0.01, 0.04]], \"sigma\": 1, \"speed\": 1.5, \"mean_load\": 3}, {\"joint\": "
    "\"b\", \"columns\": [{\"column\": \"tanh(v/w)\", \"width\": 0.1, \"load\": 1, \"gain\": 1, \"sd\": 0.1}, "
    "{\"column\": \"x\", \"gain\": 1, \"sd\": 1}], \"speed\": 2, \"mean_load\": 2}],"
    " \"choices\": {\"kinematics\": \"q\", \"cutoff\": 5, \"delay\": 0, \"lambda\": 0.1, \"rest\": 0.01, \"stride\": "
    "4}, \"reasons\": [\"filter: 5 Hz\"], \"logs\": [\"a.csv\"], \"rows\": 400, \"used\": 90, \"rate\": 200, "
    "\"fault_lines\": [\"a.csv:3: garbage\"],"
    " \"cost_ratio\": 1.01, \"condition\": 42, \"singular_values\": [3, 2, 0.5, 0.01], \"blind\": [\"ZZ1 - m2\"], "
    "\"folds\": [{\"rmse\": [1, 2]}, {\"rmse\": [1.1, 2.2]}], \"durbin_watson\": 1.5, \"correlation\": 4, \"seconds\": "
    "0.3, \"stopped\": true,"
    " \"compare\": {\"part\": \"heldout\", \"joints\": [{\"rmse\": 1, \"rmse_compared\": 2}], \"global_rel\": 0.1, "
    "\"global_rel_compared\": 0.2}, \"doubts\": [\"</script><script>alert(1)</script>\"],"
    " \"verdict\": {\"good\": false, \"asked\": true, \"failures\": [\"too bad\"]}, \"settings\": {\"predict\": "
    "\"out/rows.csv\", \"holdout\": \"0.3\"}}";

static const char steps[] =
    "{\"command\": \"calibrate\", \"name\": \"arm\", \"n\": 2, \"route\": \"steps\", \"currents\": true,"
    " \"steps\": {\"motor\": {\"done\": true, \"joints\": [{\"name\": \"a\", \"constant\": 36.1, \"sd\": 0.02, "
    "\"from\": \"log\", \"r2\": 0.99}, {\"constant\": null, \"sd\": null}]}, \"gravity\": {\"done\": true, \"joints\": "
    "[{\"r2\": 0.98}]}, \"friction\": {\"joints\": []}, \"inertia\": {\"done\": false}},"
    " \"train\": {\"joints\": [{\"rmse\": 1, \"rel\": 0.1, \"r2\": 0.9}], \"global_rel\": 0.1}, \"heldout\": "
    "{\"joints\": [], \"global_rel\": null}, \"all\": [{\"r2\": 0.9, \"rmse\": 1}],"
    " \"friction\": [{\"joint\": \"a\", \"coulomb\": 6, \"static\": 8, \"stribeck\": 0.03, \"viscous\": 9, "
    "\"exponent\": 0.7, \"sigma0\": 20000, \"sigma1\": 40, \"offset\": 0, \"sd\": {\"coulomb\": 0.1, \"static\": 0.2, "
    "\"stribeck\": 0.001, \"viscous\": 0.3, \"exponent\": 0.01, \"sigma0\": 90, \"sigma1\": 2, \"offset\": 0}, "
    "\"speed\": 1.8}],"
    " \"remarks\": [\"the second motor is unobservable\"], \"logs\": [{\"path\": \"m.csv\", \"step\": \"motor\"}], "
    "\"settings\": {\"predict\": \"steps.csv\"}}";

static const char file[] = "format: psdm-parameters-1\nrobot: {name: other, kinematics: x}\nestimator: wls\ntheta: "
                           "{ZZ1: {value: 1, sd: 0.1}}\n"
                           "friction:\n  - - {column: v, gain: 4, sd: 0.1}\n    - {column: 'stop(x/w)', width: 0.001, "
                           "load: 1, gain: 0.5, sd: 0.01}\nspeed: [1.5]\nmean_load: [3]\nsigma: [0.1]\n"
                           "choices: {kinematics: q, cutoff: .inf, rate: 100}\nerrors:\n  train: {global_rel: 0.02, "
                           "rows: [10], rmse: [0.4], rel: [0.01], nrmse: [0.01], r2: [0.99]}\n  heldout: {global_rel: "
                           ".nan, rows: [0], rmse: [.nan], rel: [.nan], nrmse: [.nan], r2: [.nan]}\n";

static const char payload[] =
    "{\"command\": \"payload\", \"name\": \"arm\", \"n\": 2, \"link\": \"flange\", \"load\": {\"mass\": 2.01, \"com\": "
    "[0.1, 0, 0.2], \"inertia\": {\"xx\": 0.1, \"zz\": 0.3}, \"mass_sd\": 0.012, \"com_sd\": [0.01, 0.01, 0.02], "
    "\"inertia_sd\": {\"xx\": 0.01}},"
    " \"pi\": {\"m\": 2.01, \"mx\": 0.2}, \"pi_sd\": {\"m\": 0.012}, \"prior_share\": {\"m\": 0.01}, \"theta\": "
    "[{\"name\": \"ZZ1\", \"empty\": 1, \"loaded\": 2, \"loaded_sd\": 0.1}], \"before\": {\"joints\": [{\"rmse\": 3, "
    "\"r2\": 0.5}], \"global_rel\": 0.2}, \"after\": {\"joints\": [{\"rmse\": 0.3, \"r2\": 0.99}], \"global_rel\": "
    "0.01}, \"remarks\": [\"drift\"], \"settings\": {\"predict\": \"load.csv\"}}";

static const char excite[] =
    "{\"command\": \"excite\", \"robot\": \"arm\", \"n\": 2, \"settings\": {\"out\": \"motion.csv\"}, \"for\": "
    "\"inertia\", \"seconds\": 5, \"rows\": 120,"
    " \"joints\": [{\"name\": \"a\", \"type\": \"revolute\", \"lower\": -1, \"upper\": 0.5, \"velocity\": 1.9, "
    "\"acceleration\": 5, \"effort\": 20, \"limits\": {\"lower\": -2, \"upper\": 2, \"velocity\": 2, \"acceleration\": "
    "8, \"effort\": 40}}, {\"name\": \"b\", \"lower\": 0, \"upper\": 1, \"velocity\": 1, \"limits\": {\"velocity\": "
    "4}}],"
    " \"gap\": null, \"worst\": 0.95, \"shape\": \"fourier\", \"goal\": \"condition\", \"parameters\": 12, "
    "\"condition\": 7.5, \"condition_plain\": 6.9, \"logdet\": -15, \"random\": {\"best\": 18, \"median\": 52}, "
    "\"times_better\": {\"median\": 6.9}, \"starts\": [7.5, 7.6], \"evaluations\": 3261, \"wall_seconds\": 0.2,"
    " \"parts\": [{\"begin\": 0, \"end\": 1, \"joint\": \"a\", \"direction\": 1, \"amplitude\": 0.1, \"frequency\": "
    "2}, {\"begin\": 1, \"end\": 2, \"joint\": null}]}";

static const char simulation[] =
    "{\"command\": \"simulate\", \"robot\": \"arm\", \"n\": 2, \"joints\": [{\"name\": \"a\", \"type\": "
    "\"revolute\"}], \"settings\": {\"out\": \"sim.csv\"}, \"control\": \"pd\", \"end\": \"time\", \"end_text\": "
    "\"reached the end\", \"time\": 20,"
    " \"final_state\": {\"t\": 20, \"q\": [1, 2], \"qd\": [0, 0], \"qdd\": [0, 0], \"tau\": [3, 4]}, \"energy_drift\": "
    "1e-11, \"energy_balance\": 1e-12, \"energy\": {\"start\": 5, \"end\": 4, \"kinetic\": 1, \"potential\": 3, "
    "\"elastic\": 0, \"supplied\": 0, \"dissipated\": 0},"
    " \"tracking\": {\"rms\": [0.1, 0.2], \"rms_last_quarter\": [0.1, 0.2], \"peak\": [0.3, 0.4], \"final\": [0, 0]}, "
    "\"events\": {\"reversals\": 3, \"sticks\": 1, \"limits\": 0}, \"integrator\": \"adams\", \"evaluations\": 1000, "
    "\"speed\": 20, \"rows\": 120}";

static const char inverse[] =
    "{\"command\": \"simulate\", \"robot\": \"arm\", \"n\": 2, \"settings\": {\"inverse\": true}, \"begin\": 0, "
    "\"end\": 5, \"rows\": 99, \"peak_speed\": [1, 2], \"peak_torque\": [3, 4], \"rms_torque\": [1, 1]}";

static const char plan[] =
    "{\"command\": \"plan\", \"name\": \"arm\", \"n\": 2, \"joints\": [{\"name\": \"a\", \"type\": \"revolute\", "
    "\"limits\": {\"lower\": -3, \"upper\": 3, \"velocity\": 8, \"acceleration\": null, \"effort\": 120}}], \"what\": "
    "\"time\", \"seconds\": 0.5, \"energy\": 1000, \"limit_used\": 0.999,"
    " \"peak_velocity\": [6, 7], \"peak_acceleration\": [60, 70], \"peak_torque\": [119, 40], \"points\": 3, \"path\": "
    "{\"s\": [0, 0.5, 1], \"t\": [0, 0.2, 0.5], \"speed\": [0, 2, 0], \"usage\": [1, 1, 0.9]}, \"converged\": false, "
    "\"solver\": \"ok\", \"rows\": 120, \"settings\": {\"out\": \"plan.csv\"}}";

static const char analysis[] =
    "{\"command\": \"analyze\", \"name\": \"arm\", \"n\": 2, \"masses\": \"own\", \"M\": [[{\"zero\": false, "
    "\"depends\": [2]}, {\"zero\": true, \"depends\": []}], [{\"zero\": true}, {\"zero\": false, \"depends\": []}]], "
    "\"g\": [{\"zero\": false, \"depends\": [1, 2]}, {\"zero\": true}], \"c\": [[1, 1, 2], [1, 2, 2], [2, 1, 1]],"
    " \"constant_mass\": false, \"diagonal_mass\": true, \"linear\": false, \"conditions\": {\"constant_mass\": [\"mx2 "
    "= 0\"], \"springs\": []}, \"bounds\": {\"k\": [1, 2], \"mass\": {\"bound\": 4.3, \"found\": 4.2, \"q\": [1, 2]}, "
    "\"gravity\": {\"bound\": 24, \"found\": 23, \"q\": [0, 0], \"samples\": {\"least\": 1, \"half\": 12.345, "
    "\"at_95\": 20, \"at_999\": 22, \"largest\": 22.9, \"beyond\": 3}}, \"samples\": 777000, \"beyond\": 3}, \"path\": "
    "{\"positions\": 3, \"least\": {\"manipulability\": 0.1, \"t\": 1}, \"most\": {\"manipulability\": 1}}}";

static const char linear[] =
    "{\"command\": \"linearize\", \"robot\": \"arm\", \"n\": 2, \"form\": \"state-space\", \"dt\": 0, \"points\": "
    "[{\"q\": [1, 2], \"eigenvalues\": [{\"re\": 2.5, \"im\": 0, \"frequency\": 2.5, \"damping\": -1}, {\"re\": 0, "
    "\"im\": 2.6, \"frequency\": 2.6, \"damping\": 0}, {\"re\": 0, \"im\": -2.6, \"frequency\": 2.6, \"damping\": 0}], "
    "\"stability\": \"unstable\", \"controllable\": true, \"lqr\": {\"closed_loop\": [{\"re\": -3, \"im\": 1, "
    "\"frequency\": 3, \"damping\": 0.9}]}}]}";

typedef struct fixture {
  const char *path, *text;
} fixture;

static const fixture trees[] = {{"calibrate.json", calibration}, {"steps.json", steps},   {"params.yaml", file},
                                {"payload.json", payload},       {"excite.json", excite}, {"simulate.json", simulation},
                                {"inverse.json", inverse},       {"plan.json", plan},     {"analyze.json", analysis},
                                {"linearize.json", linear}};

enum { TREES = sizeof trees / sizeof *trees, ROWS = 6, ALL = TREES + ROWS };

/* header lines of the rows that belong to them; values are made up */
static const fixture tables[ROWS] = {
    {"rows.csv", "t,segment,heldout,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2,raw1,raw2,predicted1,predicted2,band1,band2,"
                 "friction1,friction2"},
    {"steps.csv", "t,step,drive,heldout,q,qd,measured,predicted"},
    {"load.csv", "t,segment,loaded,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2,raw1,raw2,empty1,empty2,with1,with2"},
    {"motion.csv", "t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2"},
    {"sim.csv",
     "t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2,friction1,friction2,T,U,supplied,dissipated,external,error1,error2"},
    {"plan.csv", "t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2"}};

static char *rows_text(rng *g, const char *header, int rows, bool hostile) {
  static const char *const odd[] = {"", "nan", "0", "1e300", "-1e300", "1e-300"};
  size_t columns = 1, used = strlen(header);
  for (const char *c = header; *c; c++) columns += *c == ',';
  char *text = malloc(used + 2 + (size_t)rows * columns * 32);
  assert_non_null(text);
  used = (size_t)sprintf(text, "%s\n", header);
  for (int r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) {
      bool step = strstr(header, "t,step,") == header;
      const char *end = c + 1 < columns ? "," : "\n";
      if (hostile && r > 0 && !rng_int(g, 0, 6)) /* rows without any number are refused before */
        used += (size_t)sprintf(text + used, "%s%s", odd[rng_int(g, 0, 5)], end);
      else if (c == 0) used += (size_t)sprintf(text + used, "%.3f%s", 0.01 * r, end);
      else if (step && c == 1) used += (size_t)sprintf(text + used, "%s%s", r % 3 ? "inertia" : "friction", end);
      else if (c < 3) used += (size_t)sprintf(text + used, "%d%s", step ? 1 + r % 2 : r > rows / 2, end);
      else used += (size_t)sprintf(text + used, "%.6f%s", sin(0.1 * r + (double)c) + rng_uniform(g, -0.1, 0.1), end);
    }
  return text;
}

static psdmp_report_result *result_of(psdmp_base_arena *arena, const char *path, const char *text) {
  psdmp_report_result *result;
  psdm_error error = {0};
  char *copy = psdmp_base_arena_text(arena, text, strlen(text));
  assert_non_null(copy);
  if (psdmp_report_result_parse(arena, path, copy, strlen(copy), &result, &error))
    fail_msg("%s:%d: %s", path, error.line, error.text);
  return result;
}

/* ---- numbers and plots of whole results ---- */

static void collect(psdmp_base_arena *arena, rng *g, int rows, bool hostile, psdmp_report_result **item) {
  for (int k = 0; k < TREES; k++) item[k] = result_of(arena, trees[k].path, trees[k].text);
  for (int k = 0; k < ROWS; k++) {
    char *text = rows_text(g, tables[k].text, rows, hostile);
    item[TREES + k] = result_of(arena, tables[k].path, text);
    free(text);
  }
}

static bool has_plot(const psdmp_report_page *page, const char *title) {
  for (const psdmp_report_figure *f = page->figure; f; f = f->next)
    if (strcmp(f->title, title) == 0) return f->x_label[0] && f->y_label[0];
  return false;
}

static void test_whole_results(void **state) {
  (void)state;
  static const char *const words[] = {"4.56\xC2\xA0%",
                                      "3.21\xC2\xA0%",
                                      "0.9987",
                                      "5\xC2\xA0Hz",
                                      "too bad",
                                      "&lt;img src=x&gt;",
                                      "1.01",
                                      "filter: 5 Hz",
                                      "a.csv:3: garbage",
                                      "36.100",
                                      "0.020",
                                      "unobservable",
                                      "2.01",
                                      "\xC2\xB1\xC2\xA0"
                                      "0.012",
                                      "7.5",
                                      "6.9",
                                      "95.0\xC2\xA0%",
                                      "reached the end",
                                      "adams",
                                      "99.9",
                                      "m11(q2)",
                                      "g1(q1, q2)",
                                      "qd1 qd2, qd2\xC2\xB2",
                                      "24.000",
                                      "At 777000 random positions",
                                      "12.345",
                                      "3 samples violate proven bounds",
                                      "\xC2\xB1 2.6 i",
                                      "unstable"};
  static const char *const plots[] = {"lift: measured and predicted force",
                                      "<img src=x>: measured and predicted torque",
                                      "lift: spectrum of the residuals",
                                      "lift: residuals against velocity",
                                      "lift: friction at steady speed",
                                      "a: position",
                                      "How much of each limit is used",
                                      "Energy in the robot",
                                      "Reference less position",
                                      "Speed along the path",
                                      "Rigorous bounds, and the extremes found",
                                      "Eigenvalues",
                                      "Condition number that each search found",
                                      "Singular values of the scaled regressor",
                                      "joint 1: torque with the load",
                                      "The nearest limit at each time"};
  rng g = rng_start("test_whole_results");
  psdmp_base_arena arena = {0};
  psdmp_report_page page = {0};
  psdmp_report_result *item[ALL];
  collect(&arena, &g, 120, false, item);
  /* rows are matched by their names; the excited and planned motions have as many as stated only when named */
  psdmp_report_page_compose(&page, &(psdmp_report_results){item, ALL});
  assert_int_equal(page.status, PSDM_OK);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (!strstr(page.text, words[k])) fail_msg("the page lacks '%s'", words[k]);
  for (size_t k = 0; k < sizeof plots / sizeof *plots; k++)
    if (!has_plot(&page, plots[k])) fail_msg("there is no plot '%s'", plots[k]);
  for (int k = 0; k < ALL; k++)
    if (!item[k]->used) fail_msg("%s is not shown", item[k]->path);
  expect_whole(&page);
  psdmp_report_page_free(&page);
  psdmp_base_arena_free(&arena);
}

/* labels of a joint that slides */
static void test_units(void **state) {
  (void)state;
  rng g = rng_start("test_units");
  psdmp_base_arena arena = {0};
  psdmp_report_page page = {0};
  char *text = rows_text(&g, tables[0].text, 200, false);
  psdmp_report_result *item[] = {result_of(&arena, "calibrate.json", calibration), result_of(&arena, "rows.csv", text)};
  free(text);
  psdmp_report_rows_match(&(psdmp_report_results){item, 2});
  psdmp_report_section_calibration(&page, &(psdmp_report_results){item, 2});
  int found = 0;
  for (const psdmp_report_figure *f = page.figure; f; f = f->next) {
    if (strcmp(f->title, "lift: measured and predicted force") == 0)
      assert_string_equal(f->y_label, "force (N)"), found++;
    if (strcmp(f->title, "<img src=x>: measured and predicted torque") == 0)
      assert_string_equal(f->y_label, "torque (Nm)"), found++;
    if (strcmp(f->title, "lift: friction at steady speed") == 0)
      assert_string_equal(f->x_label, "velocity (m/s)"), found++;
  }
  assert_int_equal(found, 3);
  psdmp_report_page_free(&page);
  psdmp_base_arena_free(&arena);
}

/* ---- hostile results ---- */

static int nodes_below(const psdmp_document_node *node) {
  int count = 1;
  for (const psdmp_document_node *child = node->child; child; child = child->next) count += nodes_below(child);
  return count;
}

static psdmp_document_node *nth(psdmp_document_node *node, int *left) {
  if ((*left)-- == 0) return node;
  for (psdmp_document_node *child = node->child; child; child = child->next) {
    psdmp_document_node *found = nth(child, left);
    if (found) return found;
  }
  return NULL;
}

static void drop_child(rng *g, psdmp_document_node *node) {
  psdmp_document_node **link = &node->child;
  for (int k = rng_int(g, 0, node->count - 1); k > 0; k--) link = &(*link)->next;
  *link = (*link)->next;
  node->count--;
}

/* one fault: a missing key, an empty list, words for numbers and the other way round, absurd numbers */
static void mutate(rng *g, psdmp_document_node *root) {
  static const char *const texts[] = {
      "null", "1e308", "-1e308",      "0",    "-1",      "1e-320", "true", "<img src=x onerror=y>",
      "",     "nan",   "99999999999", "'\"&", "\x01\xFF"};
  int place = rng_int(g, 1, nodes_below(root) - 1);
  psdmp_document_node *node = nth(root, &place);
  if (node->kind != PSDMP_DOCUMENT_SCALAR && node->count && rng_int(g, 0, 2)) {
    drop_child(g, node);
    return;
  }
  if (node->kind != PSDMP_DOCUMENT_SCALAR && rng_int(g, 0, 1)) {
    node->child = NULL;
    node->count = 0;
    return;
  }
  const char *text = texts[rng_int(g, 0, (int)(sizeof texts / sizeof *texts) - 1)];
  *node = (psdmp_document_node){.kind = PSDMP_DOCUMENT_SCALAR,
                                .text = text,
                                .length = strlen(text),
                                .key = node->key,
                                .next = node->next,
                                .quoted = rng_int(g, 0, 1)};
}

static void test_mutated(void **state) {
  (void)state;
  rng g = rng_start("test_mutated");
  int shown = 0;
  for (int round = 0; round < 400; round++) {
    static const int sizes[] = {1, 2, 3, 17, 40};
    psdmp_base_arena arena = {0};
    psdmp_report_page page = {0};
    psdmp_report_result *item[ALL];
    collect(&arena, &g, sizes[rng_int(&g, 0, 4)], true, item);
    for (int k = 0; k < TREES; k++)
      for (int times = rng_int(&g, 0, 6); times > 0 && item[k]->root->count; times--) mutate(&g, item[k]->root);
    /* some left out, some in another order */
    int count = rng_int(&g, 1, ALL);
    for (int k = 0; k < count; k++) {
      int other = rng_int(&g, k, ALL - 1);
      psdmp_report_result *keep = item[k];
      item[k] = item[other], item[other] = keep;
    }
    psdmp_report_page_compose(&page, &(psdmp_report_results){item, count});
    assert_int_equal(page.status, PSDM_OK);
    expect_whole(&page);
    shown += page.sections;
    psdmp_report_page_free(&page);
    psdmp_base_arena_free(&arena);
  }
  assert_true(shown > 1000);
}

/* every allocation fails once: the status says so, and nothing is written twice or leaks */
static void test_memory(void **state) {
  (void)state;
  rng g = rng_start("test_memory");
  psdmp_base_arena arena = {0};
  psdmp_report_result *item[ALL];
  collect(&arena, &g, 30, false, item);
  long n = 1;
  for (;; n++) {
    counting c;
    counting_init(&c, n);
    psdmp_report_page page = {.arena = {.allocator = &c.allocator}};
    psdmp_report_page_compose(&page, &(psdmp_report_results){item, ALL});
    bool reached = c.calls >= n;
    assert_int_equal(page.status, reached ? PSDM_E_MEMORY : PSDM_OK);
    psdmp_report_page_free(&page);
    assert_int_equal(c.live, 0);
    if (!reached) break;
  }
  assert_true(n > 10);
  psdmp_base_arena_free(&arena);
}

/* ---- whose rows ---- */

static psdmp_report_result *rows_of(psdmp_report_results results, const psdmp_report_result *json) {
  psdmp_report_rows_match(&results);
  return json->matched;
}

static void test_rows(void **state) {
  (void)state;
  rng g = rng_start("test_rows");
  psdmp_base_arena arena = {0};
  char *all = rows_text(&g, tables[3].text, 120, false), *fewer = rows_text(&g, tables[3].text, 110, false);
  psdmp_report_result *json = result_of(&arena, "excite.json", excite),
                      *named = result_of(&arena, "elsewhere/motion.csv", all),
                      *fits = result_of(&arena, "any.csv", all), *also = result_of(&arena, "also.csv", all);
  psdmp_report_result *old = result_of(&arena, "elsewhere/motion.csv", fewer);
  psdmp_report_result *other = result_of(&arena, "plan.json", plan);
  free(all), free(fewer);
  psdmp_report_result *list[] = {also, fits, named, json, other};
  /* by name, wherever the file is; by axes and rows, if only one fits and no other result names it */
  assert_ptr_equal(rows_of((psdmp_report_results){list, 5}, json), named);
  /* a file of that name with other rows belongs to another run */
  list[2] = old;
  assert_null(rows_of((psdmp_report_results){list + 2, 2}, json));
  list[2] = json;
  assert_null(rows_of((psdmp_report_results){list, 3}, json));
  assert_ptr_equal(rows_of((psdmp_report_results){list + 1, 2}, json), fits);
  assert_true(fits->taken && !also->taken);
  fits->path = "plan.csv";
  list[0] = other;
  assert_null(rows_of((psdmp_report_results){list, 3}, json));
  assert_ptr_equal(rows_of((psdmp_report_results){list, 3}, other), fits);
  psdmp_base_arena_free(&arena);
}

static void test_timeline(void **state) {
  (void)state;
  psdmp_base_arena arena = {0};
  psdmp_report_page page = {0};
  psdmp_report_timeline line;
  /* one step, a jump, a clock that restarts */
  psdmp_report_result *csv = result_of(&arena, "a.csv", "t,q1\n0,1\n0.1,2\n0.2,3\n0.5,4\n0.6,5\n0,6\n0.1,7\n");
  assert_true(psdmp_report_timeline_of(&page, csv, &line));
  static const long rows[] = {0, 1, 2, -1, 3, 4, -1, 5, 6};
  static const double times[] = {0, 0.1, 0.2, NAN, 0.5, 0.6, NAN, 0.7, 0.8};
  assert_int_equal(line.points, 9);
  assert_true(line.shifted && fabs(line.rate - 10) < 1e-9);
  double *q = psdmp_report_along(&page, &line, psdmp_report_rows_group(csv, "q", 0));
  for (int k = 0; k < 9; k++) {
    assert_int_equal(line.row[k], rows[k]);
    assert_true(isnan(times[k]) ? isnan(line.t[k]) && isnan(q[k])
                                : fabs(line.t[k] - times[k]) < 1e-12 && q[k] == (double)rows[k] + 1);
  }
  assert_true(psdmp_report_timeline_of(&page, result_of(&arena, "b.csv", "t,q1\n5,1\n"), &line) && line.points == 1 &&
              isnan(line.rate));
  assert_false(psdmp_report_timeline_of(&page,
                                        &(psdmp_report_result){.kind = PSDMP_REPORT_RESULT_CSV,
                                                               .path = "c.csv",
                                                               .columns = csv->columns,
                                                               .column = csv->column,
                                                               .value = csv->value},
                                        &line));
  psdmp_report_page_free(&page);
  psdmp_base_arena_free(&arena);
}

/* ---- friction ---- */

/* LuGre's steady curve is the library's, and its uncertainty follows from derivatives */
static void test_lugre(void **state) {
  (void)state;
  rng g = rng_start("test_lugre");
  for (int round = 0; round < 300; round++) {
    psdmp_report_friction_view f = {.bristles = true, .correlated = true};
    double numbers[PSDMP_REPORT_LUGRE] = {rng_uniform(&g, 0.1, 9),
                                          rng_uniform(&g, 0.1, 9),
                                          rng_uniform(&g, 0.02, 0.5),
                                          rng_uniform(&g, 0.1, 9),
                                          rng_uniform(&g, 0.3, 1.5),
                                          1e4,
                                          10,
                                          rng_uniform(&g, -1, 1)};
    psdm_friction own = {.coulomb = numbers[0],
                         .stat = numbers[1],
                         .stribeck = numbers[2],
                         .viscous = numbers[3],
                         .exponent = numbers[4],
                         .offset = numbers[7],
                         .given = true};
    double v = rng_uniform(&g, 0.01, 2) * (rng_int(&g, 0, 1) ? 1 : -1), sd;
    int which = rng_int(&g, 0, PSDMP_REPORT_LUGRE - 1);
    memcpy(f.lugre, numbers, sizeof numbers);
    f.covariance[which * PSDMP_REPORT_LUGRE + which] = 1;
    double torque = psdmp_report_friction_steady(&f, v, &sd), want = psdm_friction_steady(&own, PSDM_FRICTION_POWER, v);
    assert_true(fabs(torque - want) <= 1e-13 * (1 + fabs(want)));
    /* a standard deviation of one in one number: the slope by it */
    double step = 1e-6 * fmax(1e-2, fabs(numbers[which])), ends[2];
    for (int k = 0; k < 2; k++)
      f.lugre[which] = numbers[which] + (k ? step : -step), ends[k] = psdmp_report_friction_steady(&f, v, NULL);
    assert_true(fabs(sd - fabs(ends[1] - ends[0]) / (2 * step)) <= 1e-5 * (1 + sd));
  }
}

/* every column of the library: those of the position are omitted, the others follow their text */
static void test_columns(void **state) {
  (void)state;
  rng g = rng_start("test_columns");
  for (int round = 0; round < 200; round++) {
    double v = rng_uniform(&g, -2, 2), w = rng_uniform(&g, 0.05, 1), s = v > 0 ? 1 : -1, load = rng_uniform(&g, 0, 5);
    for (int kind = 0; kind < PSDM_COLUMN_KINDS; kind++) {
      const double want[PSDM_COLUMN_KINDS] = {[PSDM_COLUMN_VISCOUS] = v,
                                              [PSDM_COLUMN_OFFSET] = 1,
                                              [PSDM_COLUMN_SIGN] = s,
                                              [PSDM_COLUMN_TANH] = tanh(v / w),
                                              [PSDM_COLUMN_STOP] = s,
                                              [PSDM_COLUMN_STRIBECK] = tanh(3 * v / w) * exp(-v * v / (w * w)),
                                              [PSDM_COLUMN_POWER] = pow(fabs(v), w) * s,
                                              [PSDM_COLUMN_ABSOLUTE] = fabs(v)};
      int power = rng_int(&g, 0, 2);
      psdmp_report_friction_view f = {
          .terms = 1,
          .load = load,
          .term = {
              {.kind = psdm_column_text((psdm_column_kind)kind), .width = w, .load = power, .gain = 3, .sd = 0.5}}};
      double sd, torque = psdmp_report_friction_steady(&f, v, &sd), factor = pow(load, power);
      assert_true(fabs(torque - 3 * want[kind] * factor) <= 1e-12 * (1 + factor));
      assert_true(fabs(sd - 0.5 * fabs(want[kind]) * factor) <= 1e-12 * (1 + factor));
    }
  }
}

/* ---- words ---- */

static void test_words(void **state) {
  (void)state;
  psdmp_report_page page = {0};
  assert_string_equal(psdmp_report_words_doubt(&page, 6.00401, 0.00264), "6.0040(26)");
  assert_string_equal(psdmp_report_words_doubt(&page, -0.029948, 5.1e-5), "\xE2\x88\x92"
                                                                          "0.029948(51)");
  assert_string_equal(psdmp_report_words_doubt(&page, 20008.5, 6.96), "20008.5(70)");
  assert_string_equal(psdmp_report_words_doubt(&page, 1, 0.0996), "1.00(10)");
  assert_string_equal(psdmp_report_words_doubt(&page, 2.5, NAN), "2.5");
  assert_string_equal(psdmp_report_words_doubt(&page, NAN, 1), "\xE2\x80\x93");
  assert_string_equal(psdmp_report_words_number(&page, 1.25e-7, 3), "1.25\xC2\xA0\xC3\x97\xC2\xA0"
                                                                    "10\xE2\x81\xBB\xE2\x81\xB7");
  assert_string_equal(psdmp_report_words_number(&page, -12, 3), "\xE2\x88\x92"
                                                                "12");
  assert_string_equal(psdmp_report_words_number(&page, -0.0, 3), "0");
  assert_string_equal(psdmp_report_words_percent(&page, 0.02), "2.00\xC2\xA0%");
  assert_string_equal(psdmp_report_words_percent(&page, 1), "100\xC2\xA0%");
  assert_string_equal(psdmp_report_words_percent(&page, 0.0009999), "0.100\xC2\xA0%");
  assert_string_equal(psdmp_report_words_percent(&page, NAN), "\xE2\x80\x93");
  assert_string_equal(psdmp_report_words_file("a/b/c.csv"), "c.csv");
  psdmp_report_page_free(&page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_results), cmocka_unit_test(test_units),   cmocka_unit_test(test_mutated),
      cmocka_unit_test(test_memory),        cmocka_unit_test(test_rows),    cmocka_unit_test(test_timeline),
      cmocka_unit_test(test_lugre),         cmocka_unit_test(test_columns), cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
