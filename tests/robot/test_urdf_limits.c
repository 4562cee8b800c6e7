/* test_urdf_limits.c: URDF files that are long, wide or deep. Each ends within five seconds, with an answer or a
 * clear refusal. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

/* ---- text by the megabyte ---- */

typedef struct buffer {
  char *text;
  size_t length, room;
} buffer;

static void put(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(buffer *b, const char *format, ...) {
  if (b->room - b->length < 1000) b->text = realloc(b->text, b->room = 2 * b->room + 1000000);
  assert_non_null(b->text);
  va_list args;
  va_start(args, format);
  int n = vsnprintf(b->text + b->length, 1000, format, args);
  va_end(args);
  assert_true(n >= 0 && n < 1000);
  b->length += (size_t)n;
}

static void fill(buffer *b, const char *piece, size_t length) {
  while (b->length + strlen(piece) <= length) put(b, "%s", piece);
}

static void put_joint(buffer *b, int j, const char *type, const char *rest) {
  put(b, "<joint name='j%d' type='%s'><parent link='l%d'/><child link='l%d'/>%s</joint>\n", j, type, j - 1, j, rest);
}

/* a link and a joint, to which everything else is added */
#define GOOD \
  "<link name='l0'/><link name='l1'/><joint name='j1' type='revolute'><parent link='l0'/><child link='l1'/></joint>\n"

/* ---- clocks ---- */

#ifdef SLOW_BUILD
#define SLOWNESS 5
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOWNESS 5
#endif
#endif
#ifndef SLOWNESS
#define SLOWNESS 1
#endif

static double budget(void) {
  const char *preload = getenv("LD_PRELOAD");
  return preload && strstr(preload, "vgpreload") ? 300 : 5 * SLOWNESS; /* valgrind is some fifty times slower */
}

/* Reads and frees the text; expects the message "" if it is accepted. Returns NULL if it is refused. */
static psdm_robot *answer(buffer *b, const psdm_robot_options *options, psdm_status status, const char *sentence) {
  char said[900] = "";
  psdm_robot *robot;
  psdm_error error;
  clock_t start = clock();
  psdm_status got = psdm_robot_parse(b->text, b->length, "big.urdf", options, NULL, &robot, &error);
  double took = (double)(clock() - start) / CLOCKS_PER_SEC;
  free(b->text);
  if (got) psdm_error_format(&error, said, sizeof said);
  if (got != status || strcmp(said, sentence)) fail_msg("says (%d): %s\n expected: %s", got, said, sentence);
  if (took > budget()) fail_msg("%.1f s for %zu bytes: %s", took, b->length, said);
  return robot;
}

static void expect(buffer *b, const psdm_robot_options *options, psdm_status status, const char *sentence) {
  psdm_robot_free(answer(b, options, status, sentence));
}

/* ---- bytes ---- */

static void expect_too_many_bytes(buffer *b, int most) {
  char sentence[100];
  snprintf(sentence, sizeof sentence, "big.urdf: %zu bytes; at most %d are read", b->length, most);
  expect(b, NULL, PSDM_E_LIMIT, sentence);
}

static void fifty_megabytes(void **state) {
  (void)state;
  buffer b = {0};
  put(&b, "<robot>" GOOD);
  fill(&b, "<gazebo/>\n", 50000000);
  put(&b, "</robot>");
  expect_too_many_bytes(&b, 16777216);

  /* from a file it is not even read to the end */
  char path[] = "/tmp/psdm-urdf-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, "<robot>", 7), 7);
  assert_int_equal(ftruncate(file, 50000000), 0);
  close(file);
  psdm_robot *robot;
  psdm_error error;
  assert_int_equal(psdm_robot_load(path, NULL, NULL, &robot, &error), PSDM_E_LIMIT);
  assert_string_equal(error.text, "larger than 16777216 bytes, the most that is read");
  unlink(path);

  b = (buffer){0};
  put(&b, "<robot>" GOOD);
  fill(&b, "<gazebo/>\n", 10000000);
  put(&b, "</robot>");
  expect_too_many_bytes(&b, 10000000);
}

/* ten megabytes of each kind of XML that is skipped */
static void ten_megabytes(void **state) {
  (void)state;
  char tag[2000] = "<gazebo", piece[16];
  for (int i = 0; i < 200; i++) snprintf(piece, sizeof piece, " a%d=''", i), strcat(tag, piece);
  strcat(tag, "/>");
  const char *const pieces[] = {"<gazebo/>", "<visual><origin xyz='1 2 3' rpy='0 0 0'/></visual>",
                                "\n",        "<!-- 1234567890 -->",
                                "some text", "<![CDATA[ <link> ]]>",
                                "<?pi pi?>"};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    buffer b = {0};
    put(&b, "<robot>" GOOD "<gazebo>");
    fill(&b, pieces[i], 9900000);
    put(&b, "</gazebo></robot>");
    expect(&b, NULL, PSDM_OK, "");
  }
  /* tags with the largest number of attributes */
  buffer wide = {0};
  put(&wide, "<robot>" GOOD);
  while (wide.length < 9900000) {
    for (const char *at = tag; *at; at += strlen(at) < 500 ? strlen(at) : 500) put(&wide, "%.500s", at);
  }
  put(&wide, "</robot>");
  expect(&wide, NULL, PSDM_OK, "");
}

static void ten_megabytes_in_one_piece(void **state) {
  (void)state;
  static const struct {
    const char *before, *after, *sentence;
  } cases[] = {
      {"<robot>" GOOD "<!-- ", " --></robot>", NULL},
      {"<robot>" GOOD, "</robot>", NULL},
      {"<robot>" GOOD "<gazebo a='", "'/></robot>", NULL},
      {"<robot name='", "'>" GOOD "</robot>",
       "big.urdf:1: name of <robot> is 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'; a "
       "name of 1 to 200 characters was expected"},
      {"<robot>\n<link name='a'><inertial><mass value='", "'/></inertial></link>" GOOD "</robot>",
       "big.urdf:2: value of <mass> is 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'; 1 "
       "finite decimal number was expected"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    buffer b = {0};
    put(&b, "%s", cases[i].before);
    fill(&b, "xxxxxxxxxxxxxxxx", 9900000);
    put(&b, "%s", cases[i].after);
    expect(&b, NULL, cases[i].sentence ? PSDM_E_PARSE : PSDM_OK, cases[i].sentence ? cases[i].sentence : "");
  }
  buffer b = {0};
  put(&b, "<robot>" GOOD "<gazebo a='");
  fill(&b, "xxxxxxxxxxxxxxxx", 10485760);
  put(&b, "'/></robot>");
  expect_too_many_bytes(&b, 10000000);
}

/* ---- width and depth ---- */

static void attributes(void **state) {
  (void)state;
  for (int count = 199; count <= 100000; count = count == 199 ? 200 : count == 200 ? 100000 : count + 1) {
    buffer b = {0};
    put(&b, "<robot>\n" GOOD "<gazebo x=''");
    for (int i = 0; i < count; i++) put(&b, " a%d = \"%d\"", i, i);
    put(&b, "/></robot>");
    expect(&b, NULL, count == 199 ? PSDM_OK : PSDM_E_LIMIT,
           count == 199 ? "" : "big.urdf:3: a tag of more than 200 attributes");
  }
  /* this looks like the end of the tag but is not */
  buffer hidden = {0};
  put(&hidden, "<robot>" GOOD "<gazebo x='>'");
  for (int i = 0; i < 100000; i++) put(&hidden, " a%d='>/>-->'", i);
  put(&hidden, "/></robot>");
  expect(&hidden, NULL, PSDM_E_LIMIT, "big.urdf:2: a tag of more than 200 attributes");
  /* and this looks like attributes but is a comment */
  buffer comment = {0};
  put(&comment, "<robot>" GOOD "<!-- ==================== \n");
  for (int i = 0; i < 100000; i++) put(&comment, "=%d= \n", i);
  put(&comment, "--></robot>");
  expect(&comment, NULL, PSDM_OK, "");
}

static void namespaces(void **state) {
  (void)state;
  buffer b = {0};
  put(&b, "<robot>" GOOD "<gazebo>");
  for (int i = 0; i < 100; i++) {
    put(&b, "<a");
    for (int k = 0; k < 100; k++) put(&b, " xmlns:n%d='u'", 100 * i + k);
    put(&b, ">");
  }
  fill(&b, "<n0:x/>", 9000000);
  for (int i = 0; i < 100; i++) put(&b, "</a>");
  put(&b, "</gazebo></robot>");
  expect(&b, NULL, PSDM_E_LIMIT, "big.urdf:2: more than 200 namespaces (xmlns)");
  /* the largest number, and repeated lookups of the farthest */
  buffer many = {0};
  put(&many, "<robot>" GOOD "<gazebo");
  for (int k = 0; k < 190; k++) put(&many, " xmlns:n%d='u'", k);
  put(&many, ">");
  fill(&many, "<n0:x/>", 9900000);
  put(&many, "</gazebo></robot>");
  expect(&many, NULL, PSDM_OK, "");
}

static void nesting(void **state) {
  (void)state;
  static const int depths[] = {200, 1000, 1000000};
  for (int i = 0; i < 3; i++) {
    buffer b = {0};
    put(&b, "<robot>" GOOD);
    for (int k = 0; k < depths[i]; k++) put(&b, "<a>");
    for (int k = 0; k < depths[i]; k++) put(&b, "</a>");
    put(&b, "</robot>");
    expect(&b, NULL, i ? PSDM_E_LIMIT : PSDM_OK, i ? "big.urdf:2: elements are nested more than 256 deep" : "");
  }
}

/* a file of unknown elements only: some are reported, the others counted */
static void unknown_elements(void **state) {
  (void)state;
  buffer b = {0};
  put(&b, "<robot>" GOOD);
  for (int i = 0; i < 2000000; i++) put(&b, "<a/>");
  put(&b, "</robot>");
  psdm_robot *robot = answer(&b, NULL, PSDM_OK, "");
  assert_int_equal(psdm_robot_notes(robot), 21);
  assert_string_equal(psdm_robot_note(robot, 20), "1999980 more elements are not part of URDF and were ignored");
  psdm_robot_free(robot);
}

/* ---- links and joints ---- */

static void put_links(buffer *b, int links) {
  put(b, "<robot>\n");
  for (int l = 0; l < links; l++)
    put(b, "<link name='l%d'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>\n", l);
}

/* a chain of links whose first joint moves and whose others do not; backwards: each child before its parent */
static void put_chain(buffer *b, int links, const char *type, bool backwards) {
  put_links(b, links);
  for (int k = 1; k < links; k++) {
    int j = backwards ? links - k : k;
    put_joint(b, j, j == 1 ? "revolute" : type, "");
  }
  put(b, "</robot>\n");
}

static void thousands_of_links(void **state) {
  (void)state;
  for (int backwards = 0; backwards < 2; backwards++) {
    buffer b = {0};
    put_chain(&b, 10000, "fixed", backwards);
    psdm_robot *robot = answer(&b, NULL, PSDM_OK, "");
    double pi[10];
    assert_int_equal(psdm_robot_n(robot), 1);
    assert_int_equal(psdm_robot_joints(robot), 9999);
    psdm_robot_parameters(robot, pi);
    assert_true(pi[0] == 9999);
    psdm_robot_free(robot);
  }
  buffer thousand = {0}, moving = {0}, most = {0}, more = {0};
  put_chain(&thousand, 1001, "prismatic", true);
  expect(&thousand, NULL, PSDM_OK, "");
  put_chain(&moving, 10000, "continuous", false);
  expect(&moving, NULL, PSDM_E_LIMIT, "big.urdf:1:1: 9999 moving joints; at most 1000 are accepted");
  put_chain(&most, 20000, "fixed", false);
  expect(&most, NULL, PSDM_OK, "");
  put_chain(&more, 20001, "fixed", false);
  expect(&more, NULL, PSDM_E_LIMIT, "big.urdf: 20001 links and 20000 joints; at most 20000 of each are read");
}

/* parts of a large robot, with the joints in the order that asks for the most sweeps */
static void thousands_of_links_cut(void **state) {
  (void)state;
  const psdm_robot_options root = {.root = "l0"}, tip = {.tip = "l9999"}, below = {.root = "l2"};
  buffer a = {0}, b = {0}, c = {0};
  put_chain(&a, 10000, "fixed", true);
  expect(&a, &root, PSDM_OK, "");
  put_chain(&b, 10000, "fixed", true);
  expect(&b, &tip, PSDM_OK, "");
  put_chain(&c, 10000, "fixed", true);
  expect(&c, &below, PSDM_E_ROBOT, "big.urdf:1:1: no joint moves");
}

static void twins(void **state) {
  (void)state;
  buffer b = {0};
  put_links(&b, 10000);
  for (int l = 9999; l >= 0; l--) put(&b, "<link name='l%d'/>\n", l);
  put(&b, GOOD "</robot>");
  expect(&b, NULL, PSDM_E_LIMIT, "big.urdf: 20002 links and 1 joints; at most 20000 of each are read");
  b = (buffer){0};
  put(&b, "<robot>\n");
  for (int l = 0; l < 20000; l++) put(&b, "<link name='same'/>\n");
  put(&b, "<joint name='j' type='revolute'><parent link='same'/><child link='other'/></joint></robot>");
  expect(&b, NULL, PSDM_E_PARSE, "big.urdf:3: link name 'same' is a duplicate (first on line 2)");
}

static void put_mimics(buffer *b, int joints, bool backwards) {
  put_links(b, joints + 1);
  for (int k = 1; k <= joints; k++) {
    int j = backwards ? joints + 1 - k : k;
    char rest[80] = "";
    if (j > 1) snprintf(rest, sizeof rest, "<mimic joint='j%d' multiplier='-1' offset='0.001'/>", j - 1);
    put_joint(b, j, "revolute", rest);
  }
}

static void long_mimic_chains(void **state) {
  (void)state;
  static double G[900], c[900];
  for (int backwards = 0; backwards < 2; backwards++) {
    buffer b = {0};
    put_mimics(&b, 900, backwards);
    put(&b, "</robot>");
    psdm_robot *robot = answer(&b, NULL, PSDM_OK, "");
    assert_int_equal(psdm_robot_n(robot), 1);
    assert_int_equal(psdm_robot_links(robot), 900);
    psdm_robot_coupling(robot, G, c);
    for (int k = 0; k < 900; k++) {
      int j = backwards ? 899 - k : k;
      assert_true(G[k] == (j % 2 ? -1 : 1) && c[k] == (j % 2 ? 0.001 : 0));
    }
    psdm_robot_free(robot);
  }
  /* locking the first locks them all, one after the other */
  const psdm_lock lock = {"j1", 0.5};
  const psdm_robot_options options = {.lock_count = 1, .locks = &lock};
  for (int backwards = 0; backwards < 2; backwards++) {
    buffer b = {0};
    put_mimics(&b, 9000, backwards);
    put(&b, "<link name='z'/><joint name='jz' type='revolute'><parent link='l0'/><child link='z'/></joint></robot>");
    psdm_robot *robot = answer(&b, &options, PSDM_OK, "");
    assert_int_equal(psdm_robot_n(robot), 1);
    assert_int_equal(psdm_robot_links(robot), 1);
    psdm_robot_free(robot);
  }
}

/* libxml2 keeps 16 bits of a line in its nodes and takes larger ones from the text beside them: exact, or one too
 * large */
static void line_numbers(void **state) {
  (void)state;
  buffer b = {0};
  psdm_robot *robot;
  psdm_error error;
  put(&b, "<robot>" GOOD);
  for (int i = 0; i < 99998; i++) put(&b, "\n");
  put(&b, "<link>\n</link>\n</robot>");
  assert_int_equal(psdm_robot_parse(b.text, b.length, "big.urdf", NULL, NULL, &robot, &error), PSDM_E_PARSE);
  free(b.text);
  assert_string_equal(error.text, "<link> has no name");
  assert_in_range(error.line, 100000, 100001);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fifty_megabytes),
      cmocka_unit_test(ten_megabytes),
      cmocka_unit_test(ten_megabytes_in_one_piece),
      cmocka_unit_test(attributes),
      cmocka_unit_test(namespaces),
      cmocka_unit_test(nesting),
      cmocka_unit_test(unknown_elements),
      cmocka_unit_test(thousands_of_links),
      cmocka_unit_test(thousands_of_links_cut),
      cmocka_unit_test(twins),
      cmocka_unit_test(long_mimic_chains),
      cmocka_unit_test(line_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
