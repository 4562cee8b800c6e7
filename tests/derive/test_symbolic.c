/* test_symbolic.c: formulas in the link lengths: against derivations at other lengths, word by word where they are
 * short enough to check by hand, with numbers where they are not polynomials, names, and refusals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/psdm.h"
#include "support.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* a robot, its base parameters and their formulas */
typedef struct subject {
  psdm_robot *robot;
  psdm_model *model;
  psdm_symbolic *symbolic;
} subject;

static subject begin(psdm_robot *robot, int assume_count, const char *const *assume) {
  subject s = {.robot = robot};
  psdm_error error;
  const psdm_derive_options derive = {.assume_count = assume_count, .assume = assume};
  const psdm_symbolic_options symbolic = {.assume_count = assume_count, .assume = assume};
  if (psdm_base_parameters_derive(robot, &derive, NULL, &s.model, NULL, &error) ||
      psdm_symbolic_derive(robot, s.model, &symbolic, NULL, &s.symbolic, &error))
    fail_msg("%s", error.text);
  return s;
}

static void end(subject *s) {
  psdm_symbolic_free(s->symbolic);
  psdm_model_free(s->model);
  psdm_robot_free(s->robot);
}

/* the largest difference between formula j at these lengths and the same base parameter of another model, relative
 * to its largest coefficient */
static double difference(const subject *s, int j, const double *lengths, const psdm_model *other) {
  double row[256] = {0}, largest = 1;
  int k;
  assert_true(psdm_model_standard_count(other) <= COUNT(row));
  for (int t = 0; t < psdm_symbolic_terms(s->symbolic, j); t++) {
    double value = psdm_symbolic_term(s->symbolic, j, t, lengths, &k);
    row[k] = value;
  }
  for (int t = 0; t < psdm_model_base_terms(other, j); t++) {
    double value = psdm_model_base_term(other, j, t, &k);
    row[k] -= value;
    largest = fmax(largest, fabs(value));
  }
  return max_absolute(row, COUNT(row)) / largest;
}

/* at the robot's own lengths every formula is the model's, and has both texts */
static void expect_own_lengths(const subject *s, double tolerance) {
  double lengths[256];
  assert_true(psdm_symbolic_lengths(s->symbolic) <= COUNT(lengths));
  for (int i = 0; i < psdm_symbolic_lengths(s->symbolic); i++) psdm_symbolic_length(s->symbolic, i, &lengths[i]);
  for (int j = 0; j < psdm_model_l(s->model); j++) {
    int own, first;
    double worst = difference(s, j, lengths, s->model);
    if (!(worst <= tolerance))
      fail_msg("%s is off by %g at the robot's own lengths", psdm_symbolic_text(s->symbolic, j, PSDM_FORMULA_TEXT),
               worst);
    psdm_symbolic_term(s->symbolic, j, 0, lengths, &first);
    psdm_model_base_term(s->model, j, 0, &own);
    assert_int_equal(first, own);
    assert_non_null(psdm_symbolic_text(s->symbolic, j, PSDM_FORMULA_LATEX));
  }
}

TEST(shipped_robots_have_symbols) {
  for (int i = 0; shipped_robots[i]; i++) {
    subject s = begin(load_shipped(shipped_robots[i]), 0, NULL);
    for (int j = 0; j < psdm_model_l(s.model); j++) assert_true(psdm_symbolic_holds(s.symbolic, j));
    assert_true(psdm_symbolic_error(s.symbolic) <= 1e-12);
    expect_own_lengths(&s, 1e-12);
    end(&s);
  }
}

TEST(random_robots) {
  static char text[40000];
  rng g = rng_start("random_robots");
#if defined(__SANITIZE_ADDRESS__) /* which looks for other things and takes long */
  enum { ROBOTS = 30 };
#else
  enum { ROBOTS = 100 };
#endif
  for (int i = 0; i < ROBOTS; i++) {
    const random_options o = random_kinds(i, 6);
    subject s = begin(parse_robot(random_robot_text(&g, &o, text, sizeof text)), 0, NULL);
    expect_own_lengths(&s, 1e-8);
    end(&s);
  }
}

/* templates of files with lengths as numbers: each is written twice, with different ones */
static const struct template {
  int count;
  const char *names; /* blank-separated, in the order of the numbers */
  const char *text;
}
templates[] = {
    {4, "a3 d3 a4 d4",
     "convention: modified-dh\njoints:\n  - {drive_inertia: unknown}\n  - {alpha: -pi/2, drive_inertia: unknown}\n"
     "  - {a: %.17g, d: %.17g}\n  - {alpha: -pi/2, a: %.17g, d: %.17g}\n  - {alpha: pi/2}\n  - {alpha: -pi/2}\n"},
    {6, "a1 a2 a3 d4 d5 a6",
     "convention: dh\ngravity: [1, 2, -9]\njoints:\n  - {a: %.17g, alpha: 45 deg}\n  - {a: %.17g, alpha: -pi/2}\n  - "
     "{a: %.17g, alpha: 30 deg}\n"
     "  - {type: prismatic, d: %.17g, alpha: pi/2}\n  - {d: %.17g, alpha: 0.7}\n  - {a: %.17g}\n"},
    {7, "y2 a2 a3 x4 z4 d5 a5",
     "convention: dh\nbase: {rpy: [0, 20 deg, 0]}\njoints:\n  - {name: torso}\n  - {origin: {xyz: [0, %.17g, 0], rpy: "
     "[-pi/2, 0, 0]}, a: %.17g}\n"
     "  - {a: %.17g, alpha: pi/2}\n  - {parent: torso, type: prismatic, origin: {xyz: [%.17g, 0, %.17g], rpy: [0, "
     "pi/2, 0]}, alpha: -pi/2}\n"
     "  - {d: %.17g, a: %.17g}\n"},
    {5, "a2 d2 x3 y4 z4", /* a fixed joint in between */
     "convention: modified-dh\njoints:\n  - {}\n  - {alpha: pi/2, a: %.17g, d: %.17g}\n  - {type: fixed, origin: {xyz: "
     "[%.17g, 0, 0], rpy: [0.3, 0, 0]}}\n"
     "  - {origin: {xyz: [0, %.17g, %.17g], rpy: [0, pi/2, 0]}}\n"},
    {3, "a2 a4 a5", /* a parallelogram on a turning column */
     "convention: modified-dh\njoints:\n  - {name: q0}\n  - {name: q1, a: %.17g, alpha: pi/2}\n  - {name: q2, parent: "
     "q0, alpha: pi/2}\n"
     "  - {name: q3, parent: q2, a: %.17g, couple: {q1: 1, q2: -1}}\n"
     "  - {name: q4, parent: q1, a: %.17g, couple: {q2: 1, q1: -1, offset: -pi}}\n"}};

static psdm_robot *from_template(const struct template *t, const double *x) {
  char text[2000];
  switch (t->count) {
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
    case 3: snprintf(text, sizeof text, t->text, x[0], x[1], x[2]); break;
    case 4: snprintf(text, sizeof text, t->text, x[0], x[1], x[2], x[3]); break;
    case 5: snprintf(text, sizeof text, t->text, x[0], x[1], x[2], x[3], x[4]); break;
    case 6: snprintf(text, sizeof text, t->text, x[0], x[1], x[2], x[3], x[4], x[5]); break;
    default: snprintf(text, sizeof text, t->text, x[0], x[1], x[2], x[3], x[4], x[5], x[6]); break;
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
  }
  return parse_robot(text);
}

/* the name's place in the template's list */
static int place_of(const struct template *t, const char *name) {
  int at = 0;
  for (const char *p = t->names; *p; at++) {
    size_t length = strcspn(p, " ");
    if (strlen(name) == length && memcmp(p, name, length) == 0) return at;
    p += length + (p[length] == ' ');
  }
  fail_msg("no length %s", name);
  return -1;
}

TEST(formulas_at_fresh_lengths) {
  rng g = rng_start("formulas_at_fresh_lengths");
  for (int i = 0; i < COUNT(templates); i++) {
    const struct template *t = &templates[i];
    double x[8], lengths[8];
    for (int k = 0; k < t->count; k++) x[k] = rng_uniform(&g, 0.1, 0.7);
    subject s = begin(from_template(t, x), 0, NULL);
    assert_true(psdm_symbolic_error(s.symbolic) <= 1e-10);
    for (int k = 0; k < psdm_symbolic_lengths(s.symbolic); k++) {
      const char *name = psdm_symbolic_length(s.symbolic, k, &lengths[k]);
      assert_true(lengths[k] == x[place_of(t, name)]);
    }
    expect_own_lengths(&s, 1e-10);
    for (int round = 0; round < 3; round++) {
      for (int k = 0; k < t->count; k++) x[k] = rng_uniform(&g, -0.9, 0.9);
      for (int k = 0; k < psdm_symbolic_lengths(s.symbolic); k++)
        lengths[k] = x[place_of(t, psdm_symbolic_length(s.symbolic, k, NULL))];
      psdm_robot *robot = from_template(t, x);
      psdm_model *there;
      assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &there, NULL, NULL), PSDM_OK);
      assert_int_equal(psdm_model_l(there), psdm_model_l(s.model));
      for (int j = 0; j < psdm_model_l(s.model); j++) {
        if (!psdm_symbolic_holds(s.symbolic, j))
          fail_msg("template %d: %s holds at some lengths only", i,
                   psdm_symbolic_text(s.symbolic, j, PSDM_FORMULA_TEXT));
        double worst = difference(&s, j, lengths, there);
        if (!(worst < 1e-9))
          fail_msg("template %d: %s at fresh lengths: %g", i, psdm_symbolic_text(s.symbolic, j, PSDM_FORMULA_TEXT),
                   worst);
      }
      psdm_model_free(there);
      psdm_robot_free(robot);
    }
    end(&s);
  }
}

TEST(formulas_as_texts) {
  static const struct {
    const char *robot, *name, *text;
  } cases[] = {{"two_link", "ZZ1", "ZZ1 - a1^2*(m1 + m2)"},
               {"fanuc_sr6ia", "ZZ1", "ZZ1 + 2*a1*mx1 + a1^2*(m1 + m2)"},
               {"fanuc_sr6ia", "m3", "m3 + m4"},
               {"kuka_kr6", "YY1",
                "YY1 + YY2 + ZZ3 + 2*a1*mx1 + a1^2*m1 + (a1^2 - a2^2)*m2 + (a1^2 - a2^2 - a3^2)*(m3 + m4 + m5 + m6)"},
               {"kuka_kr6", "XZ2", "XZ2 - a2*(mz2 + my3)"},
               {"kuka_lbr7", "XX2", "XX2 - ZZ2 + ZZ3 + 2*d3*my3 + d3^2*(m3 + m4 + m5 + m6 + m7)"},
               {"two_branch", "my1", "my1 + mz2 + my3 + y2*(m2 + m3)"},
               {"parallelogram", "mx1", "mx1 + a4*m4 + a4/a3*mx4"},
               {"hitachi_hpr", "mx4", "mx4 - a5/a4*mx5 + a6*(m6 + m7)"}};
  for (int i = 0; i < COUNT(cases); i++) {
    subject s = begin(load_shipped(cases[i].robot), 0, NULL);
    bool found = false;
    for (int j = 0; j < psdm_model_l(s.model); j++) {
      if (strcmp(psdm_model_base_name(s.model, j), cases[i].name) != 0) continue;
      found = true;
      assert_string_equal(psdm_symbolic_text(s.symbolic, j, PSDM_FORMULA_TEXT), cases[i].text);
    }
    assert_true(found);
    end(&s);
  }
}

/* every formula of small robots, in both styles; "#" marks those in numbers */
static const struct whole {
  const char *robot, *lengths, *text, *latex;
  int assume_count;
  const char *assume[4];
} wholes[] = {
    /* two links in a plane: (a2 + a4)/a2 of a3 is neither a polynomial nor one product, a3/a2 is */
    {"convention: modified-dh\njoints:\n  - {name: q1}\n  - {name: q2, a: 0.3}\n  - {name: q3, a: 0.5, couple: {q2: "
     "-1}}\n"
     "  - {name: q4, a: 0.7, couple: {q2: -1, q1: -1}}\n  - {name: q5, a: 0.7, couple: {q2: 1, q1: 1}}\n",
     "a2 0.3 a3 0.5 a4 0.7 a5 0.7 ",
     "ZZ1 + ZZ3 + ZZ5 + 2*a2*mx3 + a2^2*(m2 + m3) + (a2^2 + a4^2 + 2*a2*a4)*(m4 + m5)\nZZ2 + a3^2*(m3 + m4 + m5)\n#mx2 "
     "+ 0.5*m3 + 1.66666666667*(mx3 + m4 + m5)\n"
     "my2 - a3/a2*my3\nZZ4 + a5^2*m5\nmx4 + a5*m5\nmy4\nmx5\nmy5\n",
     "\\mathit{ZZ}_{1} + \\mathit{ZZ}_{3} + \\mathit{ZZ}_{5} + 2\\,a_{2}\\,\\mathit{mx}_{3} + a_{2}^{2}\\,(m_{2} + "
     "m_{3}) + (a_{2}^{2} + a_{4}^{2} + 2\\,a_{2}\\,a_{4})\\,(m_{4} + m_{5})\n"
     "\\mathit{ZZ}_{2} + a_{3}^{2}\\,(m_{3} + m_{4} + m_{5})\n#\\mathit{mx}_{2} + 0.5\\,m_{3} + "
     "1.66666666667\\,(\\mathit{mx}_{3} + m_{4} + m_{5})\n"
     "\\mathit{my}_{2} - \\frac{a_{3}}{a_{2}}\\,\\mathit{my}_{3}\n\\mathit{ZZ}_{4} + "
     "a_{5}^{2}\\,m_{5}\n\\mathit{mx}_{4} + a_{5}\\,m_{5}\n\\mathit{my}_{4}\n\\mathit{mx}_{5}\n\\mathit{my}_{5}\n",
     0,
     {0}},
    /* a slide between two offsets that cancel: the third axis falls on the first, which happens at no other lengths;
     * 0.04 - 0.01 of m4 */
    {"convention: dh\njoints:\n  - {a: 0.3}\n  - {type: prismatic, a: -0.3}\n  - {a: 0.2, alpha: pi/2}\n  - {a: 0.1}\n",
     "a1 0.3 a2 -0.3 a4 0.1 ",
     "ZZ1 + ZZ2 + 2*a1*mx1 + (2*a1 + 2*a2)*mx2 + a1^2*m1\nm2 + m3 + m4\n#YY3 + 0.04*m3 + 0.4*mx3 + 0.03*m4 + YY4\nXX4 "
     "- YY4 + a4^2*m4\nXY4\nXZ4 - a4*mz4\nYZ4\nZZ4 - a4^2*m4\n"
     "mx4 + a4*m4\nmy4\n",
     NULL,
     0,
     {0}},
    /* half angles; 1e-15 does not count as a length, 1e-10 does */
    {"convention: dh\njoints:\n  - {a: 0.5, drive_inertia: unknown}\n  - {type: prismatic, d: 0.25, a: 1e-15, alpha: "
     "pi/4, drive_inertia: unknown}\n  - {a: 0.125, d: 1e-10}\n",
     "a1 0.5 a3 0.125 d3 1e-10 ",
     "ZZ1 + 0.5*(YY2 + ZZ2 + YY3) + YZ2 + Ia1 + 2*a1*(mx1 + mx2) + d3*mz3 + a1^2*m1 + (0.5*d3^2 - 0.5*a3^2)*m3\nm2 + "
     "m3\nIa2\nXX3 - YY3 + a3^2*m3\nXY3\nXZ3 - a3*mz3\nYZ3\n"
     "ZZ3 - a3^2*m3\nmx3 + a3*m3\nmy3\n",
     NULL,
     0,
     {0}},
    /* the same with assumptions: rx1 is gone, and m3 goes with m2 */
    {"convention: dh\njoints:\n  - {a: 0.5, drive_inertia: unknown}\n  - {type: prismatic, d: 0.25, a: 1e-15, alpha: "
     "pi/4, drive_inertia: unknown}\n  - {a: 0.125, d: 1e-10}\n",
     "a1 0.5 a3 0.125 d3 1e-10 ",
     "ZZ1 + 0.5*(YY2 + ZZ2 + YY3) + YZ2 + Ia1 + 2*a1*mx2 + d3*mz3 + a1^2*m1\nm2\nIa2\nXX3 - YY3\nXY3\nXZ3 - "
     "a3*mz3\nYZ3\nZZ3\nmx3\nmy3\n",
     NULL,
     3,
     {"Ixx3 = Iyy3", "rx1 = 0", "m2 = m3"}},
    /* sines and cosines of 30 degrees and 0.7: numbers that are neither integers nor halves */
    {"convention: modified-dh\njoints:\n  - {}\n  - {a: 0.3, alpha: 30 deg, drive_inertia: unknown}\n  - {a: 0.2, d: "
     "0.1, alpha: 0.7}\n",
     "a2 0.3 a3 0.2 d3 0.1 ",
     "ZZ1 + 0.25*YY2 + 0.146245892863*YY3 + 0.292491785725*d3*mz3 + a2^2*m2 + (a2^2 + 0.25*a3^2 + "
     "0.146245892863*d3^2)*m3\n"
     "XX2 - YY2 + 0.41501642855*YY3 + 0.8300328571*d3*mz3 + (0.41501642855*d3^2 - a3^2)*m3\nXY2 + "
     "0.644217687238*a3*mz3 + 0.644217687238*a3*d3*m3\n"
     "XZ2 - 0.764842187284*a3*mz3 - 0.764842187284*a3*d3*m3\nYZ2 + 0.492724864994*YY3 + 0.985449729988*d3*mz3 + "
     "0.492724864994*d3^2*m3\n"
     "ZZ2 + 0.41501642855*YY3 + 0.8300328571*d3*mz3 + (a3^2 + 0.41501642855*d3^2)*m3\nmx2 + a3*m3\nmy2 - "
     "0.644217687238*mz3 - 0.644217687238*d3*m3\nIa2\n"
     "XX3 - YY3\nXY3\nXZ3\nYZ3\nZZ3\nmx3\nmy3\n",
     NULL,
     0,
     {0}},
    /* a parallelogram on a turning column: two parameters go with a coefficient of -1 each */
    {"convention: modified-dh\njoints:\n  - {name: q0}\n  - {name: q1, a: 0.2, alpha: pi/2}\n  - {name: q2, parent: "
     "q0, alpha: pi/2}\n"
     "  - {name: q3, parent: q2, a: 0.3, couple: {q1: 1, q2: -1}}\n  - {name: q4, parent: q1, a: 0.4, couple: {q2: 1, "
     "q1: -1, offset: -pi}}\n",
     "a2 0.2 a4 0.3 a5 0.4 ",
     "ZZ1 + YY2 + YY3 + YY4 + YY5 + a2^2*m2 + a4^2*m4 + (a2^2 + a5^2)*m5\nXX2 - YY2 + XX4 - YY4 - a5^2*m5\nXY2 + "
     "XY4\nXZ2 + XZ4 - a5*mz5\nYZ2 + YZ4\nZZ2 + ZZ4 + a5^2*m5\n"
     "mx2 + a5*m5\nmy2\nXX3 - YY3 + XX5 - YY5 - a4^2*m4\nXY3 + XY5\nXZ3 - XZ5 - a4*mz4\nYZ3 - YZ5\nZZ3 + ZZ5 + "
     "a4^2*m4\nmx3 + a4*m4\nmy3\nmx4\nmy4\nmx5\nmy5\n",
     NULL,
     0,
     {0}},
    /* nothing but numbers: no lengths at all */
    {"convention: modified-dh\njoints: [{}, {alpha: pi/2}]\n",
     "",
     "ZZ1 + YY2\nXX2 - YY2\nXY2\nXZ2\nYZ2\nZZ2\nmx2\nmy2\n",
     NULL,
     0,
     {0}},
};

TEST(whole_robots) {
  for (int i = 0; i < COUNT(wholes); i++) {
    const struct whole *w = &wholes[i];
    char lengths[200] = "", text[2][4000] = {"", ""};
    subject s = begin(parse_robot(w->robot), w->assume_count, w->assume);
    text_writer to = {lengths, sizeof lengths}, line[2] = {{text[0], sizeof text[0]}, {text[1], sizeof text[1]}};
    for (int k = 0; k < psdm_symbolic_lengths(s.symbolic); k++) {
      double value;
      const char *name = psdm_symbolic_length(s.symbolic, k, &value);
      text_put(&to, "%s %g ", name, value);
    }
    assert_string_equal(lengths, w->lengths);
    for (int j = 0; j < psdm_model_l(s.model); j++)
      for (int style = 0; style < 2; style++)
        text_put(&line[style], "%s%s\n", psdm_symbolic_holds(s.symbolic, j) ? "" : "#",
                 psdm_symbolic_text(s.symbolic, j, (psdm_formula_style)style));
    assert_string_equal(text[PSDM_FORMULA_TEXT], w->text);
    if (w->latex) assert_string_equal(text[PSDM_FORMULA_LATEX], w->latex);
    if (!w->assume_count) expect_own_lengths(&s, 1e-13);
    assert_true(psdm_symbolic_error(s.symbolic) <= 1e-10);
    end(&s);
  }
}

/* requests out of range */
TEST(beyond_the_ends) {
  subject s = begin(load_shipped("two_link"), 0, NULL);
  int l = psdm_model_l(s.model), lengths = psdm_symbolic_lengths(s.symbolic);
  double value = 7;
  assert_int_equal(lengths, 2);
  assert_null(psdm_symbolic_length(s.symbolic, -1, &value));
  assert_null(psdm_symbolic_length(s.symbolic, lengths, &value));
  assert_true(value == 7);
  assert_string_equal(psdm_symbolic_length(s.symbolic, 0, NULL), "a1");
  for (int k = 0; k < 2; k++) {
    int j = k ? l : -1;
    assert_false(psdm_symbolic_holds(s.symbolic, j));
    assert_int_equal(psdm_symbolic_terms(s.symbolic, j), 0);
    assert_null(psdm_symbolic_text(s.symbolic, j, PSDM_FORMULA_TEXT));
    assert_null(psdm_symbolic_text(s.symbolic, 0, (psdm_formula_style)(k ? PSDM_FORMULA_LATEX + 1 : -1)));
  }
  assert_true(psdm_symbolic_holds(s.symbolic, 0) && psdm_symbolic_holds(s.symbolic, l - 1) &&
              psdm_symbolic_terms(s.symbolic, l - 1) == 1);
  end(&s);
}

/* other names: up to 30 characters, for every length of the robot, whether a formula uses it or not */
TEST(names) {
  static const char *const rename[] = {"a3=D3", "d3=R_3", "a4=abcdefghijklmnopqrstuvwxyz1234", "d4=d4", "d1=unused"},
                           *const expected[] = {"D3", "R_3", "abcdefghijklmnopqrstuvwxyz1234", "d4"};
  psdm_robot *r = parse_robot("convention: modified-dh\njoints:\n  - {d: 0.4}\n  - {alpha: -pi/2}\n  - {a: 0.3, d: "
                              "0.2}\n  - {alpha: -pi/2, a: 0.1, d: 0.5}\n  - {alpha: pi/2}\n");
  psdm_model *m;
  psdm_symbolic *s;
  psdm_error error;
  assert_int_equal(psdm_base_parameters_derive(r, NULL, NULL, &m, NULL, NULL), PSDM_OK);
  if (psdm_symbolic_derive(r, m, &(psdm_symbolic_options){.rename_count = COUNT(rename), .rename = rename}, NULL, &s,
                           &error))
    fail_msg("%s", error.text);
  assert_int_equal(psdm_symbolic_lengths(s), COUNT(expected));
  for (int k = 0; k < COUNT(expected); k++) assert_string_equal(psdm_symbolic_length(s, k, NULL), expected[k]);
  assert_string_equal(
      psdm_symbolic_text(s, 3, PSDM_FORMULA_LATEX),
      "\\mathit{XZ}_{2} - D_{3}\\,\\mathit{mz}_{3} - D_{3}\\,\\mathit{R\\_}_{3}\\,(m_{3} + m_{4} + m_{5})");
  psdm_symbolic_free(s);
  psdm_model_free(m);
  psdm_robot_free(r);
}

TEST(refusals) {
  static char text[4000];
  text_writer w = {text, sizeof text};
  psdm_model *m;
  psdm_symbolic *s = (psdm_symbolic *)&s;
  psdm_error error;
  text_put(&w, "convention: dh\njoints:\n");
  for (int j = 0; j < 24; j++) text_put(&w, "  - {type: prismatic, alpha: pi/2}\n");
  psdm_robot *most = parse_robot(text);
  text_put(&w, "  - {type: prismatic, alpha: pi/2}\n");
  psdm_robot *more = parse_robot(text);
  assert_int_equal(psdm_base_parameters_derive(most, NULL, NULL, &m, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_symbolic_derive(most, m, NULL, NULL, &s, &error), PSDM_OK);
  psdm_symbolic_free(s);
  s = (psdm_symbolic *)&s;
  assert_int_equal(psdm_symbolic_derive(more, m, NULL, NULL, &s, &error), PSDM_E_LIMIT);
  assert_null(s);
  assert_string_equal(error.text, "25 moving joints; formulas in lengths are found for at most 24");
  assert_true(error.line == 0 && error.column == 0);
  psdm_model_free(m);
  psdm_robot_free(more);
  /* a model of another robot */
  subject two = begin(load_shipped("two_link"), 0, NULL);
  s = (psdm_symbolic *)&s;
  assert_int_equal(psdm_symbolic_derive(most, two.model, NULL, NULL, &s, &error), PSDM_E_ROBOT);
  assert_null(s);
  const char *const no_such_link[] = {"Ixx9 = 0"};
  assert_int_equal(
      psdm_symbolic_derive(two.robot, two.model, &(psdm_symbolic_options){.assume_count = 1, .assume = no_such_link},
                           NULL, &s, &error),
      PSDM_E_PARSE);
  assert_null(s);
  psdm_symbolic_free(NULL);
  end(&two);
  psdm_robot_free(most);
}

TEST(bad_names) {
  static const struct {
    const char *name, *sentence;
  } cases[] = {
      {"a3", "name 'a3': 'LENGTH=NAME' was expected, NAME made of letters, digits and _"},
      {"a3=", "name 'a3=': 'LENGTH=NAME' was expected, NAME made of letters, digits and _"},
      {"a3=b c", "name 'a3=b c': 'LENGTH=NAME' was expected, NAME made of letters, digits and _"},
      {"a3=abcdefghijklmnopqrstuvwxyz12345",
       "name 'a3=abcdefghijklmnopqrstuvwxyz12345': 'LENGTH=NAME' was expected, NAME made of letters, digits and _"},
      {"a=L", "name 'a=L': the robot has no such length, or it is zero"},
      {"a33=L", "name 'a33=L': the robot has no such length, or it is zero"},
      {"=L", "name '=L': the robot has no such length, or it is zero"},
      {"a3=m1", "name 'a3=m1': this is the name of a standard parameter"},
      {"a3=Ia6", "name 'a3=Ia6': this is the name of a standard parameter"},
      {"d4=a3", "name 'd4=a3': this is already the name of another length"},
      {"a3=3x", "name 'a3=3x': 'LENGTH=NAME' was expected, NAME made of letters, digits and _"},
      {"a9=L", "name 'a9=L': the robot has no such length, or it is zero"},
      {"a3=mz3", "name 'a3=mz3': this is the name of a standard parameter"},
      {"a3=d3", "name 'a3=d3': this is already the name of another length"}};
  psdm_robot *r = load_shipped("puma560");
  psdm_model *m;
  assert_int_equal(psdm_base_parameters_derive(r, NULL, NULL, &m, NULL, NULL), PSDM_OK);
  for (int i = 0; i < COUNT(cases); i++) {
    psdm_symbolic *s = (psdm_symbolic *)&s;
    psdm_error error;
    const psdm_symbolic_options o = {.rename_count = 1, .rename = &cases[i].name};
    assert_int_equal(psdm_symbolic_derive(r, m, &o, NULL, &s, &error), PSDM_E_PARSE);
    assert_null(s);
    assert_string_equal(error.text, cases[i].sentence);
    assert_true(error.line == 0 && error.column == 0);
  }
  static const char *const twice[] = {"a3=D3", "d3=R3", "a3=L"};
  psdm_symbolic *s = NULL;
  psdm_error error;
  assert_int_equal(psdm_symbolic_derive(r, m, &(psdm_symbolic_options){.rename_count = COUNT(twice), .rename = twice},
                                        NULL, &s, &error),
                   PSDM_E_PARSE);
  assert_string_equal(error.text, "name 'a3=L': this length is already renamed");
  psdm_model_free(m);
  psdm_robot_free(r);
}

TEST_MAIN(whole_robots, beyond_the_ends, names, refusals, bad_names, formulas_as_texts, formulas_at_fresh_lengths,
          shipped_robots_have_symbols, random_robots)
