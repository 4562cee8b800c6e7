/* test_payload_shortage.c: memory runs out at every place that reads and uses parameters, identifies a load or plans a
 * motion. */
#include "../identify/test_calibrate_log.h"
#include "test_payload_file.h"

#include "psdm/excite.h"
#include "psdm/predictor.h"
#include "shortage.h"

/* ---- parameters and loads ---- */

typedef struct carried {
  const psdm_robot *robot;
  const char *text;
  const char *path[2];
} carried;

static psdm_status try_payload(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const carried *w = what;
  psdm_parameters *p = (psdm_parameters *)&p, *loaded = NULL;
  psdm_predictor *predictor = NULL;
  psdm_payload_answer *a = NULL;
  psdm_model *model = NULL;
  psdm_status status = psdm_parameters_parse(w->text, strlen(w->text), "p.yaml", w->robot, allocator, &p, error);
  if (status) {
    assert_null(p);
    return status;
  }
  status = psdm_predictor_new(p, w->robot, allocator, &predictor, error);
  if (!status) status = psdm_parameters_model(w->robot, allocator, &model, error);
  if (!status)
    status = psdm_payload_identify(
        w->robot, p, &(psdm_payload_options){.files = 1, .path = w->path, .empty_files = 1, .empty_path = w->path + 1},
        allocator, &a, error);
  if (!status)
    status = psdm_payload_parameters(w->robot, p, psdm_robot_default_link(w->robot, NULL), (const double[10]){1}, NULL,
                                     allocator, &loaded, error);
  psdm_parameters_free(loaded);
  if (a) psdm_payload_free(a);
  psdm_model_free(model);
  psdm_predictor_free(predictor);
  psdm_parameters_free(p);
  return status;
}

TEST(loads) {
  static char text[TEXT];
  rng g = rng_start("loads");
  psdm_robot *robot = load_shipped("two_link");
  double pi[STANDARD];
  psdm_robot_parameters(robot, pi);
  parameter_text(
      &(parameter_file){
          .robot = robot, .pi = pi, .viscous = 1, .coulomb = 0.001, .stop = 0.01, .load = 1, .covariance = true},
      text, sizeof text);
  char log[2][64];
  carried w = {robot, text, {log_path(log[0]), log_path(log[1])}};
  const truth logged = full_log_of(robot, 120, 0.005, 0);
  for (int k = 0; k < 2; k++) write_log(w.path[k], &logged, &g);
  shortage_everywhere("payload", try_payload, &w);
  unlink(w.path[0]), unlink(w.path[1]);
  psdm_robot_free(robot);
}

/* ---- exciting motions ---- */

static const char one_link[] = "name: one\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: a, a: 0.4, "
                               "limits: {lower: -3, upper: 3, velocity: 5, effort: 100}}\nlinks:\n"
                               "  - {mass: 2, com: [0.1, 0.05, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n";

static psdm_status try_excite(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_status status = PSDM_OK;
  for (int step = 0; step < PSDM_STEPS && !status; step++) {
    const psdm_excite_options o = {
        .step = (psdm_step)step, .starts = 1, .evaluations = 6, .harmonics = 2, .threads = 1};
    psdm_excitation *e = (psdm_excitation *)&e;
    status = psdm_excite(what, &o, allocator, &e, error);
    if (status) assert_null(e);
    if (!status) psdm_excitation_free(e);
  }
  return status;
}

TEST(excitation) {
  psdm_robot *robot = parse_robot(one_link);
  shortage_everywhere("excite", try_excite, robot);
  psdm_robot_free(robot);
}

TEST_MAIN(loads, excitation)
