/* What code costs, as counts that may only go down: multiplications, additions, divisions. Where a count falls, a
 * note asks for the table to be brought down too. test_codegen_instructions.sh holds what is counted against machine
 * instructions. */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <time.h>

#include "psdm/codegen.h"
#include "support.h"

typedef struct count {
  const char *robot;
  psdm_function function;
  long mult, add, div;
} count;

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static psdm_cost cost_of(const count *c, psdm_code_method method, bool theta) {
  psdm_robot *robot = load_shipped(c->robot);
  psdm_code_options options = {.functions = 1u << c->function, .method = method, .theta_argument = theta};
  psdm_code *code;
  psdm_error error;
  psdm_cost cost;
  if (psdm_code_build(robot, &options, NULL, &code, &error)) fail_msg("%s: %s", c->robot, error.text);
  assert_int_equal(psdm_code_count(code), 1);
  assert_int_equal(psdm_code_at(code, 0, &cost, NULL), c->function);
  psdm_code_free(code);
  psdm_robot_free(robot);
  return cost;
}

static void check_counts(const count *table, size_t rows, psdm_code_method method, bool theta) {
  int above = 0;
  for (size_t k = 0; k < rows; k++) {
    const count *c = &table[k];
#ifdef SLOW_BUILD /* counts are the same there; the small robots show that the search is clean */
    if (strcmp(c->robot, "two_link") != 0 && strcmp(c->robot, "fanuc_sr6ia") != 0) continue;
#endif
    double start = seconds();
    psdm_cost cost = cost_of(c, method, theta);
    bool more = cost.mult > c->mult || cost.add > c->add || cost.div > c->div;
    bool less = !more && (cost.mult < c->mult || cost.add < c->add || cost.div < c->div);
    printf("%-12s %-10s %5ld+%-5ld %ld div, %4.1f s%s\n", c->robot, psdm_function_name(c->function), cost.mult,
           cost.add, cost.div, seconds() - start,
           more   ? "  MORE"
           : less ? "  fewer: bring the table down"
                  : "");
    if (more)
      print_error("%s, %s: %ld+%ld+%ld is above %ld+%ld+%ld\n", c->robot, psdm_function_name(c->function), cost.mult,
                  cost.add, cost.div, c->mult, c->add, c->div);
    above += more;
  }
  assert_int_equal(above, 0);
}

#define CHECK(table, method, theta) check_counts(table, sizeof table / sizeof *table, method, theta)

TEST(test_baked) {
  static const count table[] = {
      {"two_link", PSDM_F_INVERSE, 13, 10, 0},      {"fanuc_sr6ia", PSDM_F_INVERSE, 30, 24, 0},
      {"kuka_kr6", PSDM_F_INVERSE, 215, 206, 0},    {"kuka_lbr7", PSDM_F_INVERSE, 243, 235, 0},
      {"puma560", PSDM_F_INVERSE, 188, 202, 0},     {"kuka_kr6", PSDM_F_MASS, 105, 112, 0},
      {"kuka_lbr7", PSDM_F_MASS, 121, 128, 0},      {"kuka_kr6", PSDM_F_FORWARD, 374, 352, 6},
      {"kuka_lbr7", PSDM_F_FORWARD, 468, 448, 7},   {"kuka_kr6", PSDM_F_REGRESSOR, 379, 289, 0},
      {"kuka_lbr7", PSDM_F_REGRESSOR, 606, 437, 0},
  };
  CHECK(table, PSDM_CODE_RECURSIVE, false);
}

/* derivatives and M^-1 */
TEST(test_linear) {
  static const count table[] = {
      {"kuka_kr6", PSDM_F_LINEARIZE_INVERSE, 807, 784, 0},   {"kuka_lbr7", PSDM_F_LINEARIZE_INVERSE, 1014, 1005, 0},
      {"kuka_kr6", PSDM_F_LINEARIZE_FORWARD, 1406, 1271, 6}, {"kuka_lbr7", PSDM_F_LINEARIZE_FORWARD, 1960, 1797, 7},
      {"kuka_kr6", PSDM_F_INVERSE_MASS, 225, 202, 5},        {"kuka_lbr7", PSDM_F_INVERSE_MASS, 310, 275, 6},
  };
  CHECK(table, PSDM_CODE_RECURSIVE, false);
}

/* wanted: 19+15, 40+30, 225+221, 246+253 */
TEST(test_theta) {
  static const count table[] = {
      {"two_link", PSDM_F_INVERSE, 21, 15, 0},
      {"fanuc_sr6ia", PSDM_F_INVERSE, 37, 28, 0},
      {"kuka_kr6", PSDM_F_INVERSE, 235, 231, 0},
      {"kuka_lbr7", PSDM_F_INVERSE, 267, 257, 0},
  };
  CHECK(table, PSDM_CODE_RECURSIVE, true);
}

/* the closed form alone; the paper's Table 2 has 23+12, 126+84, 6043+4142, 18387+13981 */
TEST(test_expanded) {
  static const count table[] = {
      {"two_link", PSDM_F_INVERSE, 14, 13, 0},
      {"fanuc_sr6ia", PSDM_F_INVERSE, 48, 35, 0},
      {"kuka_kr6", PSDM_F_INVERSE, 668, 542, 0},
      {"kuka_lbr7", PSDM_F_INVERSE, 813, 698, 0},
  };
  CHECK(table, PSDM_CODE_EXPANDED, false);
}

TEST_MAIN(test_expanded, test_theta, test_baked, test_linear)
