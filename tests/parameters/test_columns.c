/* Friction columns one by one against their formulas, with memory and load, and the dictionary that a drive chooses
 * from. */
#include <math.h>
#include <string.h>

#include "identify/identify.h"
#include "support.h"

static double value_of(psdm_column_kind kind, double width, int load, double x, double v, double f) {
  const psdmp_parameters_column column = {kind, width, load};
  psdmp_parameters_column_state state = {0};
  double value;
  psdmp_parameters_columns_at(&column, 1, x, v, f, &state, &value);
  return value;
}

static void test_formulas(void **unused) {
  (void)unused;
  rng g = rng_start("columns");
  for (int k = 0; k < 200; k++) {
    double x = rng_uniform(&g, -3, 3), v = rng_uniform(&g, -2, 2), w = rng_uniform(&g, 0.01, 2), sign = v > 0 ? 1 : -1;
    assert_true(value_of(PSDM_COLUMN_VISCOUS, w, 0, x, v, 0) == v);
    assert_true(value_of(PSDM_COLUMN_OFFSET, w, 0, x, v, 0) == 1);
    assert_true(value_of(PSDM_COLUMN_SIGN, w, 0, x, v, 0) == sign);
    assert_true(value_of(PSDM_COLUMN_ABSOLUTE, w, 0, x, v, 0) == v * sign);
    assert_true(value_of(PSDM_COLUMN_LINEAR, w, 0, x, v, 0) == x);
    assert_true(fabs(value_of(PSDM_COLUMN_TANH, w, 0, x, v, 0) - (1 - 2 / (exp(2 * v / w) + 1))) < 1e-14);
    assert_true(fabs(value_of(PSDM_COLUMN_STRIBECK, w, 0, x, v, 0) -
                     (1 - 2 / (exp(6 * v / w) + 1)) * exp(-v * v / (w * w))) < 1e-14);
    assert_true(fabs(value_of(PSDM_COLUMN_POWER, w, 0, x, v, 0) - sign * exp(w * log(fabs(v)))) < 1e-14);
    assert_true(fabs(value_of(PSDM_COLUMN_SINE, w, 0, x, v, 0) - sin(w * x)) < 1e-15 &&
                fabs(value_of(PSDM_COLUMN_COSINE, w, 0, x, v, 0) - cos(w * x)) < 1e-15);
    double f = rng_uniform(&g, 0, 50); /* times |f|, times f^2 */
    assert_true(value_of(PSDM_COLUMN_VISCOUS, w, 1, x, v, f) == v * f);
    assert_true(value_of(PSDM_COLUMN_VISCOUS, w, 2, x, v, f) == v * (f * f));
  }
  assert_true(value_of(PSDM_COLUMN_SIGN, 0, 0, 1, 0, 0) == 0);
  assert_true(value_of(PSDM_COLUMN_POWER, 0.5, 0, 1, 0, 0) == 0);
  assert_true(value_of(PSDM_COLUMN_KINDS, 0, 0, 1, 1, 0) == 0);
}

/* z <- clip(z + dx / w, -1, 1): nothing at the first row, slip at one, memory of the way back */
static void test_stop_remembers(void **unused) {
  (void)unused;
  const psdmp_parameters_column column = {PSDM_COLUMN_STOP, 0.5, 0};
  psdmp_parameters_column_state state = {0};
  static const double x[] = {7, 7.25, 8, 7.75, 7.5, 7, 3, 3}, z[] = {0, 0.5, 1, 0.5, 0, -1, -1, -1};
  for (int k = 0; k < 8; k++) {
    double value;
    psdmp_parameters_columns_at(&column, 1, x[k], 0, 0, &state, &value);
    assert_true(value == z[k]);
  }
}

/* several at once equal each alone, and nothing is written beyond them */
static void test_side_by_side(void **unused) {
  (void)unused;
  rng g = rng_start("side_by_side");
  static const psdmp_parameters_column columns[] = {{PSDM_COLUMN_STOP, 0.5, 0},  {PSDM_COLUMN_TANH, 0.3, 1},
                                                    {PSDM_COLUMN_STOP, 0.07, 2}, {PSDM_COLUMN_OFFSET, 0, 1},
                                                    {PSDM_COLUMN_STOP, 0.2, 1},  {PSDM_COLUMN_LINEAR, 0, 2}};
  enum { COUNT = sizeof columns / sizeof *columns };
  psdmp_parameters_column_state all = {0}, alone[COUNT] = {{0}};
  for (int k = 0; k < 200; k++) {
    double x = rng_uniform(&g, -0.5, 0.5), v = rng_uniform(&g, -2, 2), load = rng_uniform(&g, 0.1, 3), value[COUNT + 1],
           one;
    value[COUNT] = 77;
    psdmp_parameters_columns_at(columns, COUNT, x, v, load, &all, value);
    for (int c = 0; c < COUNT; c++) {
      psdmp_parameters_columns_at(&columns[c], 1, x, v, load, &alone[c], &one);
      assert_true(value[c] == one && all.z[c] == alone[c].z[0]);
    }
    assert_true(value[COUNT] == 77 && all.z[COUNT] == 0 && all.last == x && all.any);
  }
  /* zero columns also remember where the drive was */
  psdmp_parameters_columns_at(columns, 0, 9, 0, 0, &all, NULL);
  assert_true(all.last == 9);
}

static void test_texts(void **unused) {
  (void)unused;
#define TEXT(id, text) text,
  static const char *const texts[] = {PSDM_COLUMN_LIST(TEXT)};
  for (int k = 0; k < PSDM_COLUMN_KINDS; k++) assert_string_equal(psdm_column_text((psdm_column_kind)k), texts[k]);
  assert_null(psdm_column_text(PSDM_COLUMN_KINDS));
  assert_null(psdm_column_text((psdm_column_kind)-1));
}

/* ---- the dictionary ---- */

typedef struct counts {
  int of[PSDM_COLUMN_KINDS], all, loaded[3];
} counts;

static counts fill(bool springs, bool plain, double span, bool prismatic, bool basic, bool loads,
                   psdmp_identify_dictionary *d, int *always) {
  psdm_robot *robot =
      parse_robot(prismatic ? "convention: dh\njoints: [{type: prismatic}]\n" : "convention: dh\njoints: [{}]\n");
  psdm_calibrate_options options = {.springs = springs, .plain_friction = plain};
  double speed = 2;
  psdmp_identify_run run = {.robot = robot, .options = &options, .speed = &speed, .span = &span};
  counts c = {{0}, 0, {0}};
  psdmp_identify_dictionary_fill(&run, 0, basic, loads, d);
  *always = psdmp_identify_columns_always(&run, 0);
  for (int k = 0; k < d->count; k++, c.all++) c.of[d->column[k].kind]++, c.loaded[d->column[k].load]++;
  psdm_robot_free(robot);
  return c;
}

static void test_dictionary(void **unused) {
  (void)unused;
  psdmp_identify_dictionary d;
  int always;
  for (int springs = 0; springs < 2; springs++)
    for (int slides = 0; slides < 2; slides++) {
      /* plain: v, sign v, 1, and the springs */
      counts c = fill(springs, true, 3, slides, false, true, &d, &always);
      assert_int_equal(c.all, !springs ? 3 : slides ? 4 : 6);
      assert_int_equal(always, c.all);
      assert_true(c.of[PSDM_COLUMN_VISCOUS] == 1 && c.of[PSDM_COLUMN_SIGN] == 1 && c.of[PSDM_COLUMN_OFFSET] == 1 &&
                  c.of[PSDM_COLUMN_LINEAR] == springs);
      /* basic: ten Coulomb and ten Maxwell elements */
      c = fill(springs, false, 3, slides, true, true, &d, &always);
      assert_true(c.of[PSDM_COLUMN_TANH] == 10 && c.of[PSDM_COLUMN_STOP] == 10 && c.of[PSDM_COLUMN_POWER] == 0 &&
                  c.loaded[1] == 0);
      assert_int_equal(always, !springs ? 3 : slides ? 4 : 6);
      /* all: two loads of both, three Stribeck curves, five powers, |v|; two waves where the joint turns far */
      c = fill(springs, false, 3, slides, false, true, &d, &always);
      assert_true(c.of[PSDM_COLUMN_TANH] == 30 && c.of[PSDM_COLUMN_STOP] == 30 && c.of[PSDM_COLUMN_STRIBECK] == 3 &&
                  c.of[PSDM_COLUMN_POWER] == 5 && c.of[PSDM_COLUMN_ABSOLUTE] == 1);
      assert_true(c.loaded[1] == 20 && c.loaded[2] == 20);
      assert_int_equal(c.of[PSDM_COLUMN_SINE], slides ? 0 : 2);
      assert_int_equal(c.of[PSDM_COLUMN_COSINE], slides ? 0 : 2);
      assert_int_equal(c.of[PSDM_COLUMN_LINEAR], slides ? springs : 1);
      /* no load known; and a joint that hardly turns gets no waves but those of its springs */
      c = fill(springs, false, 2, slides, false, false, &d, &always);
      assert_true(c.loaded[1] == 0 && c.loaded[2] == 0 && c.of[PSDM_COLUMN_TANH] == 10);
      assert_int_equal(c.of[PSDM_COLUMN_SINE], springs && !slides);
    }
}

/* widths one by one: ten, a decade apart by thirds, of the speed 2 and of a tenth of the span 3; curves, powers,
 * waves */
static void test_widths(void **unused) {
  (void)unused;
  static const double stribeck[] = {0.02, 0.06, 0.2}, power[] = {0.3, 0.5, 0.7, 1.5, 2};
  psdmp_identify_dictionary d;
  int always, seen[PSDM_COLUMN_KINDS] = {0};
  fill(false, false, 3, false, false, true, &d, &always);
  for (int k = 0; k < d.count; k++) {
    const psdmp_parameters_column *c = &d.column[k];
    int at = seen[c->kind]++;
    double thirds = log10(c->width / (c->kind == PSDM_COLUMN_STOP ? 0.3 : 2)) * 3 + 9;
    if (c->kind == PSDM_COLUMN_TANH || c->kind == PSDM_COLUMN_STOP) {
      /* the middle one of the plain elements comes first */
      int expected = c->kind == PSDM_COLUMN_STOP || at >= 10 ? at % 10 : at == 0 ? 4 : at <= 4 ? at - 1 : at;
      if (!(fabs(thirds - expected) < 1e-9)) fail_msg("column %d: %.17g", k, c->width);
      assert_int_equal(c->load, at / 10);
    } else {
      assert_int_equal(c->load, 0);
    }
    if (c->kind == PSDM_COLUMN_STRIBECK) assert_true(fabs(c->width - stribeck[at]) < 1e-15);
    if (c->kind == PSDM_COLUMN_POWER) assert_true(c->width == power[at]);
    if (c->kind == PSDM_COLUMN_SINE || c->kind == PSDM_COLUMN_COSINE) assert_true(c->width == at + 1);
  }
  assert_true(seen[PSDM_COLUMN_TANH] == 30 && seen[PSDM_COLUMN_STOP] == 30 && seen[PSDM_COLUMN_STRIBECK] == 3 &&
              seen[PSDM_COLUMN_POWER] == 5);
}

/* no column twice, and every width a positive share of the speed or the span */
static void test_dictionary_has_no_duplicates(void **unused) {
  (void)unused;
  psdmp_identify_dictionary d;
  int always;
  for (int springs = 0; springs < 2; springs++) {
    fill(springs, false, 3, false, false, true, &d, &always);
    for (int k = 0; k < d.count; k++) {
      const psdmp_parameters_column *a = &d.column[k];
      bool wide = a->kind == PSDM_COLUMN_TANH || a->kind == PSDM_COLUMN_STOP || a->kind == PSDM_COLUMN_STRIBECK;
      if (wide) assert_true(a->width > 0 && a->width <= (a->kind == PSDM_COLUMN_STOP ? 0.1 * 3 : 2) * (1 + 1e-15));
      for (int j = 0; j < k; j++)
        if (d.column[j].kind == a->kind && d.column[j].load == a->load &&
            fabs(d.column[j].width - a->width) <= 1e-9 * a->width)
          fail_msg("columns %d and %d are the same", j, k);
    }
  }
}

/* a whole dictionary, in order: the fixed columns first, then both elements width by width, loads, curves */
static void test_order(void **unused) {
  (void)unused;
  for (int bits = 0; bits < 64; bits++) {
    bool springs = bits & 1, plain = bits & 2, slides = bits & 4, basic = bits & 8, loads = bits & 16, far = bits & 32;
    double span = far ? 3 : 2, share[10];
    psdmp_identify_dictionary d;
    psdmp_parameters_column should[100];
    int always, count = 0;
    fill(springs, plain, span, slides, basic, loads, &d, &always);
    for (int k = 0; k < 10; k++) share[k] = pow(10, k / 3.0 - 3);
    should[count++] = (psdmp_parameters_column){PSDM_COLUMN_VISCOUS, 0, 0};
    should[count++] = plain ? (psdmp_parameters_column){PSDM_COLUMN_SIGN, 0, 0}
                            : (psdmp_parameters_column){PSDM_COLUMN_TANH, 2 * share[4], 0};
    should[count++] = (psdmp_parameters_column){PSDM_COLUMN_OFFSET, 0, 0};
    if (springs) should[count++] = (psdmp_parameters_column){PSDM_COLUMN_LINEAR, 0, 0};
    if (springs && !slides)
      should[count++] = (psdmp_parameters_column){PSDM_COLUMN_SINE, 1, 0},
      should[count++] = (psdmp_parameters_column){PSDM_COLUMN_COSINE, 1, 0};
    assert_int_equal(always, count);
    for (int load = 0; load <= 2 && !plain; load++)
      for (int k = 0; k < 10 && (load == 0 || (loads && !basic)); k++) {
        if (load || k != 4) should[count++] = (psdmp_parameters_column){PSDM_COLUMN_TANH, 2 * share[k], load};
        should[count++] = (psdmp_parameters_column){PSDM_COLUMN_STOP, 0.1 * span * share[k], load};
      }
    if (!plain && !basic) {
      static const double stribeck[] = {0.02, 0.06, 0.2}, power[] = {0.3, 0.5, 0.7, 1.5, 2};
      for (int k = 0; k < 3; k++) should[count++] = (psdmp_parameters_column){PSDM_COLUMN_STRIBECK, stribeck[k], 0};
      for (int k = 0; k < 5; k++) should[count++] = (psdmp_parameters_column){PSDM_COLUMN_POWER, power[k], 0};
      should[count++] = (psdmp_parameters_column){PSDM_COLUMN_ABSOLUTE, 0, 0};
      if (far && !slides && !springs) should[count++] = (psdmp_parameters_column){PSDM_COLUMN_LINEAR, 0, 0};
      for (int k = springs ? 2 : 1; k <= 2 && far && !slides; k++)
        should[count++] = (psdmp_parameters_column){PSDM_COLUMN_SINE, k, 0},
        should[count++] = (psdmp_parameters_column){PSDM_COLUMN_COSINE, k, 0};
    }
    assert_int_equal(d.count, count);
    for (int k = 0; k < count; k++) {
      const psdmp_parameters_column *c = &d.column[k];
      if (c->kind != should[k].kind || c->load != should[k].load ||
          !(fabs(c->width - should[k].width) <= 1e-14 * should[k].width))
        fail_msg("case %d, column %d: kind %d width %.17g load %d", bits, k, (int)c->kind, c->width, c->load);
    }
  }
  /* a drive at rest has widths all the same */
  psdmp_identify_dictionary d;
  psdm_robot *robot = parse_robot("name: one\nconvention: dh\njoints:\n  - {name: a, a: 1}\n");
  psdm_calibrate_options options = {0};
  double none = 0;
  psdmp_identify_run run = {.robot = robot, .options = &options, .speed = &none, .span = &none};
  psdmp_identify_dictionary_fill(&run, 0, true, false, &d);
  for (int k = 3; k < d.count; k++) assert_true(d.column[k].width >= 1e-13 && d.column[k].width <= 1.0001e-9);
  assert_true(fabs(d.column[1].width - 1e-9 * pow(10, 4 / 3.0 - 3)) < 1e-22);
  psdm_robot_free(robot);
}

/* each drive has its own speed, span and kind of joint; fixed joints have no drive */
static void test_several_drives(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot("convention: dh\njoints: [{type: fixed, a: 1}, {name: a, type: prismatic}, {name: b, "
                                  "a: 1}, {name: c, type: prismatic, alpha: 1}]\n");
  const double speed[] = {1, 2, 4}, span[] = {5, 6, 7};
  psdm_calibrate_options options = {.springs = true};
  psdmp_identify_run run = {
      .robot = robot, .options = &options, .speed = (double *)(size_t)speed, .span = (double *)(size_t)span};
  assert_int_equal(psdm_robot_n(robot), 3);
  for (int drive = 0; drive < 3; drive++) {
    psdmp_identify_dictionary d;
    int linear = 0, sines = 0;
    psdmp_identify_dictionary_fill(&run, drive, false, true, &d);
    assert_int_equal(psdmp_identify_columns_always(&run, drive), drive == 1 ? 6 : 4);
    for (int k = 0; k < d.count; k++) {
      const psdmp_parameters_column *c = &d.column[k];
      linear += c->kind == PSDM_COLUMN_LINEAR, sines += c->kind == PSDM_COLUMN_SINE;
      if (c->kind == PSDM_COLUMN_TANH)
        assert_true(c->width <= speed[drive] * (1 + 1e-15) && c->width >= 1e-3 * speed[drive] * (1 - 1e-15));
      if (c->kind == PSDM_COLUMN_STOP)
        assert_true(c->width <= 0.1 * span[drive] * (1 + 1e-15) && c->width >= 1e-4 * span[drive] * (1 - 1e-15));
    }
    assert_true(linear == 1 && sines == (drive == 1 ? 2 : 0));
    assert_true(fabs(d.column[1].width - pow(10, 4 / 3.0 - 3) * speed[drive]) < 1e-15 * 4);
  }
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulas),
                                     cmocka_unit_test(test_stop_remembers),
                                     cmocka_unit_test(test_side_by_side),
                                     cmocka_unit_test(test_texts),
                                     cmocka_unit_test(test_several_drives),
                                     cmocka_unit_test(test_dictionary),
                                     cmocka_unit_test(test_widths),
                                     cmocka_unit_test(test_order),
                                     cmocka_unit_test(test_dictionary_has_no_duplicates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
