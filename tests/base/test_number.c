/* test_number.c: decimal text in and out; the whole list runs again under a decimal-comma locale. */
#define _GNU_SOURCE /* strtod_l, mkdtemp, setenv */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support.h"

static const double PI = 3.14159265358979323846;

static bool same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* the C library's answer in the C locale, whatever the test's own locale */
static double reference(const char *text) {
  static locale_t c;
  if (!c) c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  return strtod_l(text, NULL, c);
}

/* ---- parse_number ---- */

static void numbers_are_read_exactly(void **state) {
  (void)state;
  static const char *const good[] = {"0",
                                     "-0",
                                     "+0",
                                     "1",
                                     "-1",
                                     "+1",
                                     "1.5",
                                     ".5",
                                     "5.",
                                     "-.5",
                                     "00012",
                                     "0.0001",
                                     "1e5",
                                     "1E5",
                                     "1e+5",
                                     "1e-05",
                                     "1e-5",
                                     "1e00005",
                                     "1e22",
                                     "1e23",
                                     "123456789012345678e-10",
                                     "9007199254740992",
                                     "9007199254740993",
                                     "9007199254740993e-1",
                                     "0.1",
                                     "0.30000000000000004",
                                     "1.7976931348623157e308",
                                     "-1.7976931348623157e308",
                                     "179769313486231570e291",
                                     "2.2250738585072014e-308",
                                     "2.2250738585072011e-308",
                                     "4.9406564584124654e-324",
                                     "2.5e-324",
                                     "1e-400",
                                     "-1e-400",
                                     "0e400",
                                     "0e999999999999",
                                     "1e-999999999999",
                                     "0.000000000000000000000000000000000000000000001e45",
                                     "1000000000000000000000000000000000000000e-39",
                                     "8.41e21",
                                     "9214843084008499",
                                     "5708990770823839524233143877797980545530986496"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    double value = -7;
    if (!psdmp_base_parse_number(good[i], strlen(good[i]), &value)) fail_msg("'%s' is refused", good[i]);
    if (!same(value, reference(good[i]))) fail_msg("'%s' is read as %a, not %a", good[i], value, reference(good[i]));
  }
}

static void anything_else_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    " ",
                                    "+",
                                    "-",
                                    ".",
                                    "-.",
                                    "e",
                                    "e5",
                                    ".e5",
                                    "1e",
                                    "1e+",
                                    "1e-",
                                    "1e 5",
                                    " 1",
                                    "1 ",
                                    "\t1",
                                    "1\n",
                                    "1,5",
                                    "1,000",
                                    "1_000",
                                    "1.2.3",
                                    "1..2",
                                    "--1",
                                    "+-1",
                                    "1-",
                                    "1e5.0",
                                    "1e5e5",
                                    "0x10",
                                    "0X1p3",
                                    "1p3",
                                    "1f",
                                    "1d0",
                                    "1L",
                                    "nan",
                                    "NaN",
                                    "-nan",
                                    "nan(1)",
                                    "inf",
                                    "-inf",
                                    "Inf",
                                    "INFINITY",
                                    ".inf",
                                    ".nan",
                                    "1e400",
                                    "-1e400",
                                    "1e309",
                                    "1.7976931348623159e308",
                                    "1e999999999999",
                                    "one",
                                    "1 2",
                                    "pi",
                                    "\xD9\xA1" /* an Arabic one */,
                                    ("\xE2\x88\x92"
                                     "1") /* a typographic minus */,
                                    "1\xC2\xA0"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double value = -7;
    if (psdmp_base_parse_number(bad[i], strlen(bad[i]), &value)) fail_msg("'%s' is read as %g", bad[i], value);
    assert_true(value == -7); /* a refusal does not change the target */
  }
  /* a NUL inside does not end the text */
  double value;
  assert_false(psdmp_base_parse_number("1\0002", 3, &value));
}

static void the_length_is_respected(void **state) {
  (void)state;
  double value;
  assert_true(psdmp_base_parse_number("1234", 2, &value) && value == 12);
  assert_true(psdmp_base_parse_number("1e99", 3, &value) && value == 1e9);
  assert_false(psdmp_base_parse_number("1e5", 2, &value));
}

static void long_numbers_end_at_400_characters(void **state) {
  (void)state;
  char text[500];
  double value;
  memset(text, '0', sizeof text);
  text[1] = '.';
  text[399] = '1';
  assert_true(psdmp_base_parse_number(text, 400, &value)); /* 0.00...01 underflows like strtod */
  assert_true(value == 0);
  text[340] = '9'; /* 9e-339 */
  assert_true(psdmp_base_parse_number(text, 400, &value) && value == 0);
  text[310] = '9';
  char copy[401];
  memcpy(copy, text, 400);
  copy[400] = '\0';
  assert_true(psdmp_base_parse_number(text, 400, &value) && same(value, reference(copy)) && value > 0);
  assert_false(psdmp_base_parse_number(text, 401, &value));
  memset(text, '3', sizeof text);
  assert_false(psdmp_base_parse_number(text, 400, &value)); /* 3.3e399 overflows */
  assert_true(psdmp_base_parse_number(text, 308, &value) && isfinite(value));
}

/* digits with a point somewhere and perhaps a sign and an exponent */
static char *random_decimal(rng *g, int digits, char *out) {
  char *at = out;
  int point = rng_int(g, -1, digits);
  if (rng_int(g, 0, 1)) *at++ = rng_int(g, 0, 3) ? '-' : '+';
  for (int i = 0; i < digits; i++) {
    if (i == point) *at++ = '.';
    *at++ = (char)('0' + rng_int(g, 0, 9));
  }
  *at = '\0';
  if (rng_int(g, 0, 3))
    sprintf(at, "%c%s%d", rng_int(g, 0, 1) ? 'e' : 'E', rng_int(g, 0, 1) ? "+" : "-",
            rng_int(g, 0, rng_int(g, 0, 3) ? 30 : 345));
  return out;
}

static void random_texts_agree_with_strtod(void **state) {
  (void)state;
  rng g = rng_start("random_texts_agree_with_strtod");
  enum { COUNT = 100000 };
  for (int i = 0; i < COUNT; i++) {
    char text[80];
    random_decimal(&g, i % 4 == 3 ? rng_int(&g, 1, 25) : 17, text);
    double expected = reference(text), value;
    bool read = psdmp_base_parse_number(text, strlen(text), &value);
    if (read != (bool)isfinite(expected)) fail_msg("'%s': read %d, strtod says %g", text, read, expected);
    if (read && !same(value, expected)) fail_msg("'%s' is read as %a, strtod says %a", text, value, expected);
  }
}

/* halfway between two doubles, and one unit of the last place away: at most 19 digits */
static void ties_go_to_even(void **state) {
  (void)state;
  rng g = rng_start("ties_go_to_even");
  for (int i = 0; i < 20000; i++) {
    int halvings = rng_int(&g, -9, 3);
    uint64_t odd = rng_next(&g) >> 11 | UINT64_C(1) << 53 | 1, whole = odd; /* 54 bits */
    for (int k = 0; k < halvings; k++) whole *= 5;
    for (int k = 0; k > halvings; k--) whole *= 2;
    for (uint64_t near = whole - 1; near <= whole + 1; near++) {
      char text[64];
      double value;
      snprintf(text, sizeof text, "%llue%d", (unsigned long long)near, halvings > 0 ? -halvings : 0);
      assert_true(psdmp_base_parse_number(text, strlen(text), &value));
      if (!same(value, reference(text))) fail_msg("'%s' is read as %a, not %a", text, value, reference(text));
    }
  }
}

/* ---- parse_angle ---- */

static void angles_are_read(void **state) {
  (void)state;
  const struct {
    const char *text;
    double value;
  } good[] = {{"0", 0},
              {"1.5", 1.5},
              {"-1.5", -1.5},
              {"+1.5", 1.5},
              {"1e-05", 1e-5},
              {"1e-05 rad", 1e-5},
              {"2e1 deg", PI / 9},
              {"pi", PI},
              {"+pi", PI},
              {"-pi", -PI},
              {"pi/2", PI / 2},
              {"-pi/2", -PI / 2},
              {"- pi / 2", -PI / 2},
              {"3*pi/4", 3 * PI / 4},
              {"3 * pi / 4", 3 * PI / 4},
              {"3pi/4", 3 * PI / 4},
              {"0.5 pi", PI / 2},
              {"0.5*pi", PI / 2},
              {"2pi", 2 * PI},
              {"-2pi", -2 * PI},
              {"1e0 pi", PI},
              {"pi/1.5", PI / 1.5},
              {"pi/2e0", PI / 2},
              {"90 deg", PI / 2},
              {"90deg", PI / 2},
              {"-45 deg", -PI / 4},
              {"180/4 deg", PI / 4},
              {"1/2", 0.5},
              {"1.2 rad", 1.2},
              {"1.2rad", 1.2},
              {" pi ", PI},
              {"\t90 deg\t", PI / 2},
              {"0 deg", 0}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    double value = -7;
    if (!psdmp_base_parse_angle(good[i].text, strlen(good[i].text), &value)) fail_msg("'%s' is refused", good[i].text);
    if (!(fabs(value - good[i].value) <= 2 * DBL_EPSILON * fabs(good[i].value)))
      fail_msg("'%s' is read as %.17g", good[i].text, value);
  }
}

static void other_angles_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",           " ",         "-",          "+",          "--pi",       "+-pi",   "pi*2",    "pi 2",   "pi2",
      "pipi",       "pi pi",     "deg",        "rad",        "-deg",       "*pi",    "/2",      "pi/0",   "pi/0.0",
      "1/0",        "pi/",       "pi/pi",      "pi/-2",      "2*",         "2*3",    "2**pi",   "2*3*pi", "pi/2/2",
      "pi deg",     "pi/2 rad",  "90 degrees", "90 deg deg", "90 deg rad", "90 DEG", "Pi",      "PI",     "\xCF\x80",
      "90\xC2\xB0", "1,5",       "1,5 deg",    "0x10",       "nan",        "inf",    "inf deg", "1e400",  "1e400 deg",
      "1e308 pi",   "pi/1e-320", "1e pi",      "1.2.3 rad",  "90 deg # c", "(pi)",   "sqrt(2)"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double value = -7;
    if (psdmp_base_parse_angle(bad[i], strlen(bad[i]), &value)) fail_msg("'%s' is read as %g", bad[i], value);
    assert_true(value == -7);
  }
}

/* a plain number is read the same either way */
static void plain_numbers_are_angles_too(void **state) {
  (void)state;
  rng g = rng_start("plain_numbers_are_angles_too");
  for (int i = 0; i < 10000; i++) {
    char text[80];
    double number, angle;
    random_decimal(&g, rng_int(&g, 1, 17), text);
    bool read = psdmp_base_parse_number(text, strlen(text), &number);
    assert_int_equal(psdmp_base_parse_angle(text, strlen(text), &angle), read);
    if (read && !same(number, angle)) fail_msg("'%s': %a as a number, %a as an angle", text, number, angle);
  }
}

/* ---- format ---- */

static double random_double(rng *g) {
  for (;;) {
    uint64_t bits = rng_next(g);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (isfinite(x)) return x;
  }
}

static void check_round_trip(double x) {
  char exact[32], brief[32];
  double back;
  int length = psdmp_base_format_exact(x, exact);
  assert_int_equal(length, strlen(exact));
  if (!psdmp_base_parse_number(exact, (size_t)length, &back) || !same(back, x))
    fail_msg("%a is written as %s", x, exact);
  length = psdmp_base_format_short(x, brief);
  assert_int_equal(length, strlen(brief));
  if (!psdmp_base_parse_number(brief, (size_t)length, &back) || !(back == x))
    fail_msg("%a is written short as %s", x, brief);
}

static void formats_read_back(void **state) {
  (void)state;
  rng g = rng_start("formats_read_back");
  static const double special[] = {0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.1,
                                   1.0 / 3,
                                   DBL_MAX,
                                   -DBL_MAX,
                                   DBL_MIN,
                                   DBL_TRUE_MIN,
                                   -DBL_TRUE_MIN,
                                   DBL_EPSILON,
                                   1e22,
                                   1e23,
                                   9007199254740992.0};
  for (size_t i = 0; i < sizeof special / sizeof *special; i++) check_round_trip(special[i]);
  for (int i = 0; i < 20000; i++) check_round_trip(random_double(&g));
  for (int i = 0; i < 20000; i++) check_round_trip(rng_uniform(&g, -10, 10));
}

static void formats_are_what_users_expect(void **state) {
  (void)state;
  const struct {
    double x;
    const char *exact, *brief;
  } cases[] = {{0.1, "0.10000000000000001", "0.1"},
               {1.5, "1.5", "1.5"},
               {1e-5, "1.0000000000000001e-05", "1e-05"},
               {-9.81, "-9.8100000000000005", "-9.81"},
               {3, "3", "3"},
               {1e300, "1.0000000000000001e+300", "1e+300"},
               {1.0 / 3, "0.33333333333333331", "0.33333333333333331"},
               {1234567.5, "1234567.5", "1234567.5"},
               {-0.0, "-0", "-0"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[32];
    psdmp_base_format_exact(cases[i].x, text);
    assert_string_equal(text, cases[i].exact);
    psdmp_base_format_short(cases[i].x, text);
    assert_string_equal(text, cases[i].brief);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_read_exactly),
      cmocka_unit_test(anything_else_is_refused),
      cmocka_unit_test(the_length_is_respected),
      cmocka_unit_test(long_numbers_end_at_400_characters),
      cmocka_unit_test(random_texts_agree_with_strtod),
      cmocka_unit_test(ties_go_to_even),
      cmocka_unit_test(angles_are_read),
      cmocka_unit_test(other_angles_are_refused),
      cmocka_unit_test(plain_numbers_are_angles_too),
      cmocka_unit_test(formats_read_back),
      cmocka_unit_test(formats_are_what_users_expect),
  };
  int failed = cmocka_run_group_tests_name("number, C locale", tests, NULL, NULL);
  if (comma_locale()) failed += cmocka_run_group_tests_name("number, comma locale", tests, NULL, NULL);
  else printf("no comma-decimal locale is installed, and none could be made: only the C locale was tested\n");
  return failed;
}
