/* test_urdf_bad.c: wrong URDF files, each with the message that its author gets. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bad_cases.h"

#define FILE_NAME "test.urdf"

/* a robot of two links; the joint begins on line 4 */
#define LINKS "<robot name='r'>\n<link name='base'/>\n<link name='arm'/>\n"
#define ENDS "<parent link='base'/><child link='arm'/>"
#define JOINT "<joint name='j1' type='revolute'>" ENDS "</joint>\n"
#define END "</robot>\n"
#define GOOD LINKS JOINT END
#define WITH(inside) LINKS "<joint name='j1' type='revolute'>" ENDS "\n" inside "</joint>\n" END /* inside: line 5 */
#define INERTIAL(inside) \
  "<robot>\n<link name='base'/><link name='arm'>\n" inside "</link>\n" JOINT END /* inside: line 3 */
#define XACRO "this is a xacro file; run 'xacro FILE > robot.urdf' and read that"

/* the templates of the cases below are themselves good */
static void the_template_is_good(void **state) {
  (void)state;
  static const bad_case cases[] = {
      {GOOD, PSDM_OK, ""},
      {WITH("<axis xyz='0 0 1'/>"), PSDM_OK, ""},
      {INERTIAL("<inertial><mass value='1'/></inertial>"), PSDM_OK, ""},
  };
  CHECK(cases);
}

/* ---- XML ---- */

/* libxml2's messages differ between versions: the line and our words are checked */
static void malformed_xml(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
  } cases[] = {
      {"<", 1},
      {"<robot", 1},
      {"<?xml version='1.0'?>\n", 2},
      {"<robot>\n<link name='a'>\n</robot>\n", 3},         /* unclosed */
      {"<robot>\n<link name='a'/>\n", 3},                  /* cut off */
      {"<robot>\n<link name='a'>\n</lnk>\n</robot>\n", 3}, /* the first error is reported, not the last */
      {LINKS JOINT END "<robot/>\n", 6},                   /* two roots */
      {GOOD "and more\n", 6},
      {"<robot name='&what;'/>\n", 1},                     /* unknown entity */
      {"<robot>\n<link name='R&D'/>\n</robot>\n", 2},      /* bad entity */
      {"<robot>\n<link name='a&#0;b'/>\n</robot>\n", 2},   /* NUL by reference */
      {"<robot>\n<link name='a&#x1F;b'/>\n</robot>\n", 2}, /* control character by reference */
      {"<robot>\n<link name='a<b'/>\n</robot>\n", 2},
      {"<robot>\n<link name='a\x01z'/>\n</robot>\n", 2},
      {"<robot>\n<link name=arm/>\n</robot>\n", 2},
      {"<robot>\n<link name='a' name='b'/>\n</robot>\n", 2},
      {"<robot>\n<!-- a -- b --->\n</robot>\n", 2},
      {"<robot>\n<![CDATA[ no end\n</robot>\n", 4},
      /* the declaration comes first, except for blanks, or is missing */
      {"<!-- a -->\n<?xml version='1.0'?>\n" GOOD, 2},
      {"<?xml version='0.0'\n" GOOD, 1}, /* it must end */
      {"<?xml version='none'?>\n" GOOD, 1},
      {"<?xml version='0.0'?>\n<?xml version='1.0'?>\n" GOOD, 2},
      {"\n<?xml version='0.0'?>\n<robot>\n<link name='a'>\n</robot>\n", 5}, /* lines keep their numbers */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    psdm_error error;
    psdm_status status = try_bytes(cases[i].text, strlen(cases[i].text), FILE_NAME, &error);
    if (status != PSDM_E_PARSE || error.line != cases[i].line || strncmp(error.text, "malformed XML: ", 15) != 0 ||
        strlen(error.text) < 20)
      fail_msg("%s\n says (%d): line %d: %s\n expected: line %d", cases[i].text, status, error.line, error.text,
               cases[i].line);
    for (const char *c = error.text; *c; c++) assert_true((unsigned char)*c >= 0x20);
  }
}

static void other_encodings(void **state) {
  (void)state;
  static const bad_case cases[] = {
      {"<robot>\n<link name='caf\xE9'/>\n</robot>\n", PSDM_E_PARSE,
       "test.urdf:2: a byte that is not UTF-8; save the file in that encoding"},
      {"<?xml version='1.0' encoding='ISO-8859-1'?>\n<robot name='caf\xE9'/>\n", PSDM_E_PARSE,
       "test.urdf:2: a byte that is not UTF-8; save the file in that encoding"},
      /* overlong */
      {"<robot name='\xC0\xAF'/>\n", PSDM_E_PARSE,
       "test.urdf:1: a byte that is not UTF-8; save the file in that encoding"},
      /* surrogate */
      {"<robot name='\xED\xA0\x80'/>\n", PSDM_E_PARSE,
       "test.urdf:1: a byte that is not UTF-8; save the file in that encoding"},
      /* cut */
      {"<robot name='\xE2\x82", PSDM_E_PARSE, "test.urdf:1: a byte that is not UTF-8; save the file in that encoding"},
      /* the declared encoding does not matter as long as the bytes are UTF-8 */
      {"<?xml version='1.0' encoding='klingon'?>\n" GOOD, PSDM_OK, ""},
      {"<?xml version='1.0' encoding='UTF-7'?>\n" GOOD, PSDM_OK, ""},
      {"\xEF\xBB\xBF" GOOD, PSDM_OK, ""},
  };
  CHECK(cases);

  /* NUL bytes, wherever they stand; UTF-16 is full of them */
  static const struct {
    const char *text;
    size_t length;
    int line;
  } nul[] = {
      {GOOD "\0", sizeof GOOD, 6},
      {GOOD "\0<robot/>", sizeof GOOD + 8, 6},
      {LINKS "\0" JOINT END, sizeof(LINKS JOINT END), 4},
      {"<robot name='a\0b'/>", 20, 1},
      {"<\0r\0o\0b\0o\0t\0/\0>\0", 16, 1},
  };
  for (size_t i = 0; i < sizeof nul / sizeof *nul; i++) {
    psdm_error error;
    assert_int_equal(try_bytes(nul[i].text, nul[i].length, FILE_NAME, &error), PSDM_E_PARSE);
    assert_int_equal(error.line, nul[i].line);
    assert_string_equal(error.text, "a NUL byte; this is not a text file");
  }
}

/* refused at its line: nothing is expanded, fetched or opened */
static void document_types(void **state) {
  (void)state;
  char path[] = "/tmp/psdm-urdf-XXXXXX", text[1200], sentence[900];
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, "secret", 6), 6);
  close(file);
#define TEN(entity) entity entity entity entity entity entity entity entity entity entity
  static const char *const frames[] = {
      "<!DOCTYPE robot>\n",
      "<!DOCTYPE robot SYSTEM 'file://%s'>\n",
      "<!DOCTYPE robot PUBLIC '-//x//y' 'http://192.0.2.1/x.dtd'>\n",
      "<!DOCTYPE robot [<!ENTITY x SYSTEM 'file://%s'>]>\n",
      "<!DOCTYPE robot [<!ENTITY x SYSTEM 'http://192.0.2.1/x'>]>\n",
      "<!DOCTYPE robot [<!ENTITY %% p SYSTEM 'file://%s'> %%p; <!ENTITY x 'y'>]>\n",
      "<!DOCTYPE robot [<!ENTITY %% a '<!ENTITY x \"y\">'> %%a;]>\n",
      ("<!DOCTYPE robot [<!ENTITY a 'ha'><!ENTITY b '" TEN("&a;") "'><!ENTITY c '" TEN("&b;") "'><!ENTITY d '" TEN(
          "&c;") "'>"
                 "<!ENTITY e '" TEN("&d;") "'><!ENTITY f '" TEN("&e;") "'><!ENTITY x '" TEN("&f;") "'>]>\n"),
      "<!DOCTYPE robot [<!ATTLIST robot name CDATA 'r'>]>\n",
  };
#undef TEN
  clock_t start = clock();
  for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
    snprintf(text, sizeof text - 200, frames[i], path);
    strcat(text, "<robot name='&x;'>\n<link name='&x;'/></robot>\n");
    assert_int_equal(try_text(text, FILE_NAME, sentence, sizeof sentence), PSDM_E_PARSE);
    assert_string_equal(sentence, "test.urdf:1: a document type declaration (<!DOCTYPE>) is not supported");
    /* after a declaration and a comment too */
    char later[1400];
    snprintf(later, sizeof later, "<?xml version='1.0'?>\n<!-- x -->\n%s", text);
    assert_int_equal(try_text(later, FILE_NAME, sentence, sizeof sentence), PSDM_E_PARSE);
    assert_string_equal(sentence, "test.urdf:3: a document type declaration (<!DOCTYPE>) is not supported");
  }
  assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
  unlink(path);

  /* XInclude is an unknown element like any other */
  strcpy(text,
         "<robot xmlns:xi='http://www.w3.org/2001/XInclude'>\n<xi:include href='file:///etc/passwd' parse='text'/>\n"
         "<link name='base'/><link name='arm'/>" JOINT END);
  assert_int_equal(try_text(text, FILE_NAME, sentence, sizeof sentence), PSDM_OK);
}

/* ---- elements ---- */

static void outermost(void **state) {
  (void)state;
  static const bad_case cases[] = {
      {"<html><body/></html>\n", PSDM_E_PARSE, "test.urdf:1: the root element is <html>; <robot> was expected"},
      {"<?xml version='1.0'?>\n<sdf version='1.7'/>\n", PSDM_E_PARSE,
       "test.urdf:2: the root element is <sdf>; <robot> was expected"},
      {"<Robot/>\n", PSDM_E_PARSE, "test.urdf:1: the root element is <Robot>; <robot> was expected"},
      {"<x:robot xmlns:x='u'/>\n", PSDM_E_PARSE, "test.urdf:1: the root element is <robot>; <robot> was expected"},
      {"<robot/>\n", PSDM_E_PARSE, "test.urdf:1: <robot> has no <joint>"},
      {"<robot>\n<link name='a'/>\n</robot>\n", PSDM_E_PARSE, "test.urdf:1: <robot> has no <joint>"},
      {"<robot>\n" JOINT END, PSDM_E_PARSE, "test.urdf:2: joint 'j1': its parent 'base' is not a link of this file"},
      {"<robot>\n<group>" JOINT "</group>" END, PSDM_E_PARSE, "test.urdf:1: <robot> has no <joint>"},
      {LINKS "<joint name='j1' type='fixed'>" ENDS "</joint>\n" END, PSDM_E_ROBOT, "test.urdf:1:1: no joint moves"},
  };
  CHECK(cases);
}

static void missing_and_double(void **state) {
  (void)state;
  static const bad_case cases[] = {
      {LINKS "<link/>\n" JOINT END, PSDM_E_PARSE, "test.urdf:4: <link> has no name"},
      {LINKS "<link name=''/>\n" JOINT END, PSDM_E_PARSE, "test.urdf:4: <link> has no name"},
      {LINKS "<joint type='revolute'>" ENDS "</joint>\n" END, PSDM_E_PARSE, "test.urdf:4: <joint> has no name"},
      {LINKS "<joint name='' type='revolute'>" ENDS "</joint>\n" END, PSDM_E_PARSE, "test.urdf:4: <joint> has no name"},
      {LINKS "<joint name='j1'>" ENDS "</joint>\n" END, PSDM_E_PARSE, "test.urdf:4: <joint> has no type"},
      {LINKS "<joint name='j1' type='revolute'><child link='arm'/></joint>\n" END, PSDM_E_PARSE,
       "test.urdf:4: joint 'j1' has no <parent>"},
      {LINKS "<joint name='j1' type='revolute'><parent link='base'/></joint>\n" END, PSDM_E_PARSE,
       "test.urdf:4: joint 'j1' has no <child>"},
      {LINKS "<joint name='j1' type='revolute'>\n<parent/><child link='arm'/></joint>\n" END, PSDM_E_PARSE,
       "test.urdf:5: <parent> has no link"},
      {LINKS "<joint name='j1' type='revolute'>\n<parent link='base'/>\n<child/></joint>\n" END, PSDM_E_PARSE,
       "test.urdf:6: <child> has no link"},
      {LINKS "<joint name='j1' type='revolute'>\n<parent name='base'/><child link='arm'/></joint>\n" END, PSDM_E_PARSE,
       "test.urdf:5: <parent> has no link"},
      {WITH("<parent link='base'/>"), PSDM_E_PARSE, "test.urdf:5: a second <parent>; the first is on line 4"},
      {WITH("<child link='arm'/>"), PSDM_E_PARSE, "test.urdf:5: a second <child>; the first is on line 4"},
      {WITH("<origin/>\n<origin/>"), PSDM_E_PARSE, "test.urdf:6: a second <origin>; the first is on line 5"},
      {WITH("<axis xyz='0 0 1'/>\n<axis xyz='0 0 1'/>"), PSDM_E_PARSE,
       "test.urdf:6: a second <axis>; the first is on line 5"},
      {WITH("<limit/>\n<limit/>"), PSDM_E_PARSE, "test.urdf:6: a second <limit>; the first is on line 5"},
      {WITH("<dynamics/>\n<dynamics/>"), PSDM_E_PARSE, "test.urdf:6: a second <dynamics>; the first is on line 5"},
      {WITH("<mimic joint='j1'/>\n<mimic joint='j1'/>"), PSDM_E_PARSE,
       "test.urdf:6: a second <mimic>; the first is on line 5"},
      {WITH("<mimic/>"), PSDM_E_PARSE, "test.urdf:5: <mimic> has no joint"},
      {INERTIAL("<inertial><mass value='1'/></inertial>\n<inertial/>"), PSDM_E_PARSE,
       "test.urdf:4: a second <inertial>; the first is on line 3"},
      {INERTIAL("<inertial/>"), PSDM_E_PARSE, "test.urdf:3: link 'arm': <inertial> has no <mass>"},
      {INERTIAL("<inertial>\n<mass/></inertial>"), PSDM_E_PARSE, "test.urdf:4: <mass> has no value"},
      {INERTIAL("<inertial>\n<mass value=''/></inertial>"), PSDM_E_PARSE, "test.urdf:4: <mass> has no value"},
      {INERTIAL("<inertial><mass value='1'/>\n<mass value='1'/></inertial>"), PSDM_E_PARSE,
       "test.urdf:4: a second <mass>; the first is on line 3"},
      {INERTIAL("<inertial><mass value='1'/><inertia/>\n<inertia/></inertial>"), PSDM_E_PARSE,
       "test.urdf:4: a second <inertia>; the first is on line 3"},
      {INERTIAL("<inertial><mass value='1'/><origin/>\n<origin/></inertial>"), PSDM_E_PARSE,
       "test.urdf:4: a second <origin>; the first is on line 3"},
  };
  CHECK(cases);
}

static void numbers(void **state) {
  (void)state;
#define THREE "; 3 finite decimal numbers were expected"
#define BLANKS ", with blanks between them, not commas"
#define ONE "; 1 finite decimal number was expected"
  static const bad_case cases[] = {
      {WITH("<origin xyz='1 2'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <origin> is '1 2'" THREE},
      {WITH("<origin xyz='1 2 3 4'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <origin> is '1 2 3 4'" THREE},
      {WITH("<origin xyz=''/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <origin> is ''" THREE},
      {WITH("<origin xyz='1, 2, 3'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <origin> is '1, 2, 3'" THREE BLANKS},
      {WITH("<origin rpy='0 0 nan'/>"), PSDM_E_PARSE, "test.urdf:5: rpy of <origin> is '0 0 nan'" THREE},
      {WITH("<origin rpy='0 0 pi'/>"), PSDM_E_PARSE, "test.urdf:5: rpy of <origin> is '0 0 pi'" THREE},
      {WITH("<origin xyz='inf 0 0'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <origin> is 'inf 0 0'" THREE},
      {WITH("<origin xyz='0 -INF 0'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <origin> is '0 -INF 0'" THREE},
      {WITH("<origin xyz='0x1p3 0 0'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <origin> is '0x1p3 0 0'" THREE},
      {WITH("<origin xyz='1e999 0 0'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <origin> is '1e999 0 0'" THREE},
      {WITH("<origin xyz='1,5 0 0'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <origin> is '1,5 0 0'" THREE BLANKS},
      {WITH("<axis xyz='0 1'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <axis> is '0 1'" THREE},
      {WITH("<axis xyz='z'/>"), PSDM_E_PARSE, "test.urdf:5: xyz of <axis> is 'z'" THREE},
      {WITH("<axis xyz='0 0 0'/>"), PSDM_E_PARSE, "test.urdf:5: joint 'j1': its axis has no direction"},
      {WITH("<axis xyz='1e-12 0 0'/>"), PSDM_E_PARSE, "test.urdf:5: joint 'j1': its axis has no direction"},
      {WITH("<axis xyz='1e200 0 0'/>"), PSDM_E_PARSE, "test.urdf:5: joint 'j1': its axis has no direction"},
      {WITH("<limit lower='x'/>"), PSDM_E_PARSE, "test.urdf:5: lower of <limit> is 'x'" ONE},
      {WITH("<limit upper='1 2'/>"), PSDM_E_PARSE, "test.urdf:5: upper of <limit> is '1 2'" ONE},
      {WITH("<limit velocity='fast'/>"), PSDM_E_PARSE, "test.urdf:5: velocity of <limit> is 'fast'" ONE},
      {WITH("<limit effort='inf'/>"), PSDM_E_PARSE, "test.urdf:5: effort of <limit> is 'inf'" ONE},
      {WITH("<limit lower='1' upper='-1'/>"), PSDM_E_PARSE,
       "test.urdf:5: joint 'j1': lower limit 1 is above the upper limit -1"},
      {WITH("<limit lower='1'/>"), PSDM_E_PARSE, "test.urdf:5: joint 'j1': lower limit 1 is above the upper limit 0"},
      {WITH("<dynamics damping='?'/>"), PSDM_E_PARSE, "test.urdf:5: damping of <dynamics> is '?'" ONE},
      {WITH("<dynamics friction=''/>"), PSDM_E_PARSE, "test.urdf:5: friction of <dynamics> is ''" ONE},
      {INERTIAL("<inertial>\n<mass value='1 kg'/></inertial>"), PSDM_E_PARSE,
       "test.urdf:4: value of <mass> is '1 kg'" ONE},
      {INERTIAL("<inertial><mass value='1'/>\n<inertia ixx='nan'/></inertial>"), PSDM_E_PARSE,
       "test.urdf:4: ixx of <inertia> is 'nan'" ONE},
      {INERTIAL("<inertial><mass value='1'/>\n<inertia iyz='1 2'/></inertial>"), PSDM_E_PARSE,
       "test.urdf:4: iyz of <inertia> is '1 2'" ONE},
      {INERTIAL("<inertial><mass value='1'/>\n<origin xyz='0'/></inertial>"), PSDM_E_PARSE,
       "test.urdf:4: xyz of <origin> is '0'" THREE},
  };
#undef ONE
#undef THREE
  CHECK(cases);
}

static void types(void **state) {
  (void)state;
#define TYPE(type) LINKS "<joint name='j1' type='" type "'>" ENDS "</joint>\n" END
#define SUPPORTED "'; supported are revolute, continuous, prismatic and fixed"
  static const bad_case cases[] = {
      {TYPE("floating"), PSDM_E_PARSE, "test.urdf:4: joint 'j1' has type 'floating" SUPPORTED},
      {TYPE("planar"), PSDM_E_PARSE, "test.urdf:4: joint 'j1' has type 'planar" SUPPORTED},
      {TYPE("Revolute"), PSDM_E_PARSE, "test.urdf:4: joint 'j1' has type 'Revolute" SUPPORTED},
      {TYPE(" fixed"), PSDM_E_PARSE, "test.urdf:4: joint 'j1' has type ' fixed" SUPPORTED},
      {TYPE("&#10;x&#x9B;"), PSDM_E_PARSE, "test.urdf:4: joint 'j1' has type '\\x0ax\\xc2\\x9b" SUPPORTED},
  };
  CHECK(cases);
#undef SUPPORTED
#undef TYPE
}

/* ---- the tree ---- */

#define J(name, parent, child) \
  "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/></joint>\n"
#define L(name) "<link name='" name "'/>\n"

static void trees(void **state) {
  (void)state;
  static const bad_case cases[] = {
      {LINKS L("arm") JOINT END, PSDM_E_PARSE, "test.urdf:4: link name 'arm' is a duplicate (first on line 3)"},
      {LINKS L("tool") JOINT J("j1", "arm", "tool") END, PSDM_E_PARSE,
       "test.urdf:6: joint name 'j1' is a duplicate (first on line 5)"},
      {"<robot>\n" L("c") L("a") L("b") L("b") L("a") JOINT END, PSDM_E_PARSE,
       "test.urdf:5: link name 'b' is a duplicate (first on line 4)"},
      {LINKS J("j1", "bas", "arm") END, PSDM_E_PARSE,
       "test.urdf:4: joint 'j1': its parent 'bas' is not a link of this file; did you mean 'base'?"},
      {LINKS J("j1", "base", "amr") END, PSDM_E_PARSE,
       "test.urdf:4: joint 'j1': its child 'amr' is not a link of this file"},
      {"<robot>\n" L("base") L("forearm") J("j1", "base", "foreram") END, PSDM_E_PARSE,
       "test.urdf:4: joint 'j1': its child 'foreram' is not a link of this file; did you mean 'forearm'?"},
      {LINKS J("j1", "base", "completely different") END, PSDM_E_PARSE,
       "test.urdf:4: joint 'j1': its child 'completely different' is not a link of this file"},
      {LINKS L("x") JOINT J("j2", "base", "x") J("j3", "x", "arm") END, PSDM_E_PARSE,
       "test.urdf:7: link 'arm' is the child of two joints, 'j1' and 'j3'; closed loops are not read from URDF"},
      {LINKS L("lost") JOINT END, PSDM_E_ROBOT,
       "test.urdf:4: two links have no parent, 'base' and 'lost'; one root was expected"},
      {"<robot>\n" L("a") L("b") J("j1", "a", "b") J("j2", "b", "a") END, PSDM_E_ROBOT,
       "test.urdf:1: every link has a parent: the joints form a cycle"},
      {LINKS J("j1", "arm", "arm") END, PSDM_E_ROBOT, "test.urdf:4: joint 'j1': its parents form a cycle"},
      {LINKS L("a") L("b") JOINT J("ja", "a", "b") J("jb", "b", "a") END, PSDM_E_ROBOT,
       "test.urdf:7: joint 'ja': its parents form a cycle"},
  };
  CHECK(cases);
}

static void mimics(void **state) {
  (void)state;
#define MIMIC(name, parent, child, other)                                                                             \
  "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/>\n<mimic joint='" other \
  "'/></joint>\n"
#define THREE_LINKS "<robot>\n" L("base") L("arm") L("b") L("c")
  static const bad_case cases[] = {
      {THREE_LINKS JOINT MIMIC("left finger", "arm", "b", "j1") MIMIC("j3", "b", "c", "left fnger") END, PSDM_E_PARSE,
       "test.urdf:10: joint 'j3' mimics 'left fnger', which is not a joint of this file; did you mean 'left finger'?"},
      {LINKS L("b") JOINT MIMIC("j2", "arm", "b", "nothing like it") END, PSDM_E_PARSE,
       "test.urdf:7: joint 'j2' mimics 'nothing like it', which is not a joint of this file"},
      /* a link */
      {LINKS L("b") JOINT MIMIC("j2", "arm", "b", "arm") END, PSDM_E_PARSE,
       "test.urdf:7: joint 'j2' mimics 'arm', which is not a joint of this file"},
      {LINKS L("b") JOINT MIMIC("j2", "arm", "b", "j2") END, PSDM_E_ROBOT,
       "test.urdf:6: joint 'j2': it follows itself through other joints"},
      {THREE_LINKS JOINT MIMIC("j2", "arm", "b", "j3") MIMIC("j3", "b", "c", "j2") END, PSDM_E_ROBOT,
       "test.urdf:7: joint 'j2': it follows itself through other joints"},
      {WITH("<mimic joint='j1'/>"), PSDM_E_ROBOT,
       "test.urdf:1:1: every joint follows another; at least one must be independent"},
      {THREE_LINKS JOINT
       "<joint name='f' type='fixed'><parent link='arm'/><child link='b'/></joint>\n" MIMIC("j3", "b", "c", "f") END,
       PSDM_E_ROBOT, "test.urdf:8: joint 'j3': it follows a fixed joint"},
      {WITH("<mimic joint='j1' multiplier='x'/>"), PSDM_E_PARSE,
       "test.urdf:5: multiplier of <mimic> is 'x'; 1 finite decimal number was expected"},
      {WITH("<mimic joint='j1' offset='1 2'/>"), PSDM_E_PARSE,
       "test.urdf:5: offset of <mimic> is '1 2'; 1 finite decimal number was expected"},
  };
#undef THREE_LINKS
#undef MIMIC
  CHECK(cases);
}

static void xacro(void **state) {
  (void)state;
#define DECLARED "<robot xmlns:xacro='http://ros.org/wiki/xacro'>\n"
  static const bad_case cases[] = {
      {DECLARED "<xacro:property name='w' value='1'/>" END, PSDM_E_PARSE, "test.urdf:2: <xacro:property>: " XACRO},
      {DECLARED L("base") L("arm") JOINT "<xacro:macro name='m'/>" END, PSDM_E_PARSE,
       "test.urdf:5: <xacro:macro>: " XACRO},
      /* the prefix was not declared */
      {"<robot>\n<xacro:include filename='x'/>" END, PSDM_E_PARSE, "test.urdf:2: <xacro:include>: " XACRO},
      {DECLARED L("base") "<link name='arm'>\n<xacro:inertia m='1'/></link>\n" JOINT END, PSDM_E_PARSE,
       "test.urdf:4: <xacro:inertia>: " XACRO},
      {DECLARED L("base") L("arm") "<joint name='j1' type='revolute'>\n<xacro:insert_block name='o'/>" ENDS
                                   "</joint>" END,
       PSDM_E_PARSE, "test.urdf:5: <xacro:insert_block>: " XACRO},
      {WITH("<origin xyz='${w} 0 0'/>"), PSDM_E_PARSE, "test.urdf:5: attribute xyz is '${w} 0 0': " XACRO},
      {"<robot>\n<link name='${prefix}base'/>\n" END, PSDM_E_PARSE, "test.urdf:1: <robot> has no <joint>"},
      {LINKS "<link name='${prefix}tool'/>\n" JOINT END, PSDM_E_PARSE,
       "test.urdf:4: attribute name is '${prefix}tool': " XACRO},
      {"<robot name='$(arg name)'>\n" L("base") L("arm") JOINT END, PSDM_E_PARSE,
       "test.urdf:1: attribute name is '$(arg name)': " XACRO},
      {DECLARED L("base") L("arm") JOINT END, PSDM_OK, ""}, /* leftovers of xacro */
  };
#undef DECLARED
  CHECK(cases);
}

/* ---- names that look like something else ---- */

static void hostile_names_are_only_names(void **state) {
  (void)state;
  static const struct {
    const char *xml, *name, *quoted;
  } cases[] = {
      {"&quot;; system(&quot;id&quot;); //", "\"; system(\"id\"); //", "\"; system(\"id\"); //"},
      {"it's", "it's", "it's"},
      {"&lt;script>alert(1)&lt;/script>", "<script>alert(1)</script>", "<script>alert(1)</script>"},
      {"../../etc/passwd", "../../etc/passwd", "../../etc/passwd"},
      {"%s%n%p", "%s%n%p", "%s%n%p"},
      {"a&#10;b&#9;c", "a\nb\tc", "a\\x0ab\\x09c"},
      {"\x7F\xC2\x85", "\x7F\xC2\x85", "\\x7f\\xc2\\x85"},
      {"\xE2\x82\xAC \xF0\x9F\xA4\x96", "\xE2\x82\xAC \xF0\x9F\xA4\x96", "\xE2\x82\xAC \xF0\x9F\xA4\x96"},
      {" ", " ", " "},
  };
  static const char *const uses[][2] = {
      {"<robot>\n<link name=\"%s\"/>\n<link name=\"%s\"/>\n" JOINT END,
       "test.urdf:3: link name '%s' is a duplicate (first on line 2)"},
      {LINKS "<joint name=\"%s\"/>\n" END, "test.urdf:4: <joint> has no type"},
      {LINKS "<joint name=\"%s\" type='fixed'/>\n" END, "test.urdf:4: joint '%s' has no <parent>"},
      {LINKS "<joint name='j' type=\"%s\"/>\n" END,
       "test.urdf:4: joint 'j' has type '%s'; supported are revolute, continuous, prismatic and fixed"},
      {LINKS "<joint name='j' type='fixed'><parent link=\"%s\"/><child link='arm'/></joint>\n" END,
       "test.urdf:4: joint 'j': its parent '%s' is not a link of this file"},
      {WITH("<mimic joint=\"%s\"/>"), "test.urdf:5: joint 'j1' mimics '%s', which is not a joint of this file"},
      {WITH("<axis xyz=\"%s\"/>"), "test.urdf:5: xyz of <axis> is '%s'; 3 finite decimal numbers were expected"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1200], sentence[900], expected[900];
    const char *xml = cases[i].xml;
    /* as a name it is kept unchanged */
    snprintf(text, sizeof text,
             "<robot name=\"%s\"><link name='base'/><link name=\"%s\"><inertial><mass value='-1'/></inertial></link>"
             "<joint name=\"%s\" type='continuous'><parent link='base'/><child link=\"%s\"/></joint></robot>",
             xml, xml, xml, xml);
    psdm_robot *robot = parse_robot(text);
    assert_string_equal(psdm_robot_name(robot), cases[i].name);
    assert_string_equal(psdm_robot_joint(robot, 0)->name, cases[i].name);
    assert_string_equal(psdm_robot_link_name(robot, 0), cases[i].name);
    assert_int_equal(psdm_robot_find(robot, cases[i].name), 0);
    snprintf(expected, sizeof expected, "link '%s': mass is negative (-1 kg)", cases[i].quoted);
    assert_string_equal(psdm_robot_warning(robot, 0), expected);
    psdm_robot_free(robot);
    /* in a message it is escaped */
    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
      snprintf(text, sizeof text, uses[k][0], xml, xml);
      assert_int_equal(try_text(text, FILE_NAME, sentence, sizeof sentence), PSDM_E_PARSE);
      snprintf(expected, sizeof expected, uses[k][1], cases[i].quoted);
      if (strcmp(sentence, expected)) fail_msg("%s\n says: %s\n expected: %s", text, sentence, expected);
    }
  }
}

/* a name may have 200 bytes, not 201 or 300; in messages it is cut */
static void long_names(void **state) {
  (void)state;
  static const char *const frames[] = {
      "<robot name='%s'><link name='base'/><link name='arm'/>" JOINT END,
      "<robot><link name='base'/><link name='%s'/><joint name='j1' type='revolute'><parent link='base'/><child "
      "link='%s'/></joint>" END,
      "<robot><link name='base'/><link name='arm'/><joint name='%s' type='revolute'>" ENDS "</joint>" END,
  };
  static const char *const elements[] = {"robot", "link", "joint"};
  static const size_t lengths[] = {200, 201, 300};
  char name[301], cut[72], text[1000], sentence[900], expected[300];
  for (size_t f = 0; f < 3; f++)
    for (size_t i = 0; i < 3; i++) {
      memset(name, 'x', lengths[i]);
      name[lengths[i]] = '\0';
      snprintf(text, sizeof text, frames[f], name, name);
      assert_int_equal(try_text(text, FILE_NAME, sentence, sizeof sentence),
                       lengths[i] == 200 ? PSDM_OK : PSDM_E_PARSE);
      if (lengths[i] == 200) continue;
      snprintf(expected, sizeof expected,
               "test.urdf:1: name of <%s> is '%s'; a name of 1 to 200 characters was expected", elements[f],
               psdm_escape(name, cut, sizeof cut));
      assert_string_equal(sentence, expected);
    }
  /* a reference may have any length; it finds nothing */
  snprintf(text, sizeof text, LINKS "<joint name='j' type='fixed'><parent link='%s'/><child link='arm'/></joint>" END,
           name);
  assert_int_equal(try_text(text, FILE_NAME, sentence, sizeof sentence), PSDM_E_PARSE);
  snprintf(expected, sizeof expected, "test.urdf:4: joint 'j': its parent '%s' is not a link of this file",
           psdm_escape(name, cut, sizeof cut));
  assert_string_equal(sentence, expected);
}

/* ---- harmless content that is not URDF is skipped and reported ---- */

static void unknown_elements_are_noted(void **state) {
  (void)state;
  psdm_robot *robot =
      parse_robot("<robot xmlns:x='u'>\n<lnik name='a'/>\n<material name='m'/>\n<gazebo><plugin/></gazebo>\n<x:own/>\n"
                  "<transmission name='t'/>\n" L("base") L("arm") JOINT "<sc\xC3\xA9ne/>" END);
  assert_int_equal(psdm_robot_notes(robot), 2);
  assert_string_equal(psdm_robot_note(robot, 0), "line 2: <lnik> is not an element of URDF and was ignored");
  assert_string_equal(psdm_robot_note(robot, 1), "line 10: <sc\xC3\xA9ne> is not an element of URDF and was ignored");
  psdm_robot_free(robot);

  /* many are counted */
  char text[2000] = "<robot>" L("base") L("arm") JOINT;
  for (int i = 0; i < 23; i++) strcat(text, "<stranger/>\n");
  robot = parse_robot(strcat(text, END));
  assert_int_equal(psdm_robot_notes(robot), 21);
  assert_string_equal(psdm_robot_note(robot, 19), "line 23: <stranger> is not an element of URDF and was ignored");
  assert_string_equal(psdm_robot_note(robot, 20), "3 more elements are not part of URDF and were ignored");
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_template_is_good),
      cmocka_unit_test(malformed_xml),
      cmocka_unit_test(other_encodings),
      cmocka_unit_test(document_types),
      cmocka_unit_test(outermost),
      cmocka_unit_test(missing_and_double),
      cmocka_unit_test(numbers),
      cmocka_unit_test(types),
      cmocka_unit_test(trees),
      cmocka_unit_test(mimics),
      cmocka_unit_test(xacro),
      cmocka_unit_test(hostile_names_are_only_names),
      cmocka_unit_test(long_names),
      cmocka_unit_test(unknown_elements_are_noted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
