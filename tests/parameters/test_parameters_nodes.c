/* test_parameters_nodes.c: parameter files with each node in turn missing, of the wrong type or absurd: refused with a
 * line and a clean message, or parameters that can be written and used. */
#include "../identify/test_calibrate_log.h"
#include "../payload/test_payload_file.h"

#include "nodes.h"
#include "psdm/predictor.h"

typedef struct visitor {
  const psdm_robot *robot;
  nodes_tally tally;
} visitor;

static void visit(void *user, const char *text, nodes_change change, const char *where) {
  visitor *v = user;
  counting c;
  counting_init(&c, 0);
  psdm_parameters *p = (psdm_parameters *)&p;
  psdm_error error = {0};
  psdm_status status = psdm_parameters_parse(text, strlen(text), "p.yaml", v->robot, &c.allocator, &p, &error);
  if (nodes_accepted(&v->tally, status, p, &error, text, where)) {
    psdm_output *out;
    psdm_predictor *predictor;
    if (change == NODES_KIND) nodes_wrongly(&v->tally, "another kind", where);
    assert_int_equal(psdm_output_open("/dev/null", NULL, &out, &error), PSDM_OK);
    psdm_parameters_write(p, out);
    assert_int_equal(psdm_output_commit(&out, &error), PSDM_OK);
    if (!psdm_predictor_new(p, v->robot, &c.allocator, &predictor, &error)) psdm_predictor_free(predictor);
    psdm_parameters_free(p);
  }
  assert_int_equal(c.live, 0);
}

TEST(every_node) {
  static char text[TEXT];
  psdm_robot *robot = load_shipped("two_link");
  double pi[STANDARD];
  psdm_robot_parameters(robot, pi);
  visitor v = {.robot = robot};
  for (int kind = 0; kind < 2; kind++) {
    if (kind) steps_text(robot, pi, true, text, sizeof text);
    else
      parameter_text(
          &(parameter_file){
              .robot = robot, .pi = pi, .viscous = 1, .coulomb = 0.001, .stop = 0.01, .load = 1, .covariance = true},
          text, sizeof text);
    psdm_parameters_free(parse_parameters(robot, text));
    nodes_each(text, visit, &v);
  }
  nodes_judge(&v.tally);
  psdm_robot_free(robot);
}

TEST_MAIN(every_node)
