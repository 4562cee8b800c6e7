/* test_parameters_nodes.c: parameter files with each node in turn missing, of the wrong type or absurd: refused with a
 * line and a clean message, or parameters that can be written and used. */
#include "../identify/test_calibrate_log.h"
#include "../payload/test_payload_file.h"

#include "nodes.h"
#include "psdm/predictor.h"

typedef struct tally {
  const psdm_robot *robot;
  int refused, accepted, wrong;
} tally;

static void visit(void *user, const char *text, nodes_change change, const char *where) {
  tally *t = user;
  counting c;
  counting_init(&c, 0);
  psdm_parameters *p = (psdm_parameters *)&p;
  psdm_error error = {0};
  psdm_status status = psdm_parameters_parse(text, strlen(text), "p.yaml", t->robot, &c.allocator, &p, &error);
  if (status) {
    t->refused++;
    assert_null(p);
    t->wrong += !nodes_refused_well(status, &error, text, where);
  } else {
    psdm_output *out;
    psdm_predictor *predictor;
    t->accepted++;
    if (change == NODES_KIND) print_error("%s of another kind is accepted\n", where), t->wrong++;
    assert_int_equal(psdm_output_open("/dev/null", NULL, &out, &error), PSDM_OK);
    psdm_parameters_write(p, out);
    assert_int_equal(psdm_output_commit(&out, &error), PSDM_OK);
    if (!psdm_predictor_new(p, t->robot, &c.allocator, &predictor, &error)) psdm_predictor_free(predictor);
    psdm_parameters_free(p);
  }
  assert_int_equal(c.live, 0);
}

static void every_node(void **state) {
  (void)state;
  static char text[TEXT];
  psdm_robot *robot = load_shipped("two_link");
  double pi[STANDARD];
  psdm_robot_parameters(robot, pi);
  tally t = {.robot = robot};
  for (int kind = 0; kind < 2; kind++) {
    if (kind) steps_text(robot, pi, true, text, sizeof text);
    else
      parameter_text(
          &(parameter_file){
              .robot = robot, .pi = pi, .viscous = 1, .coulomb = 0.001, .stop = 0.01, .load = 1, .covariance = true},
          text, sizeof text);
    psdm_parameters_free(parse_parameters(robot, text));
    nodes_each(text, visit, &t);
  }
  print_message("%d refused, %d accepted\n", t.refused, t.accepted);
  assert_int_equal(t.wrong, 0);
  assert_true(t.refused > 100);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_node)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
