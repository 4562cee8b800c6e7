/* test_scene.h: a run without a calibration: drives with friction columns that have memory or depend on load. N, the
 * drives, and BASE, the most base parameters, are defined before. */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

typedef struct scene {
  psdmp_identify_run run;
  psdm_calibrate_options options;
  psdmp_base_arena arena;
  psdmp_identify_dictionary dictionary[N];
  psdmp_identify_choice choice[N];
  double speed[N], span[N], centre[N], sigma[N], load[BASE];
  char reason[8][160];
  unsigned char reached[N * BASE];
  bool coupled; /* drives move several joints */
} scene;

/* the robot's run, with the robot; every drive has seven columns to choose from, and chooses none */
static inline void scene_begin(scene *s, psdm_robot *robot, bool couples, long rows, double still) {
  static const psdmp_parameters_column columns[7] = {
      {PSDM_COLUMN_VISCOUS, 0, 0}, {PSDM_COLUMN_TANH, 0.3, 0}, {PSDM_COLUMN_STOP, 0.2, 1}, {PSDM_COLUMN_OFFSET, 0, 0},
      {PSDM_COLUMN_STOP, 0.05, 0}, {PSDM_COLUMN_TANH, 0.8, 2}, {PSDM_COLUMN_SIGN, 0, 0}};
  memset(s, 0, sizeof *s);
  s->coupled = couples, s->options.threads = 1;
  psdmp_identify_run *r = &s->run;
  r->robot = robot, r->options = &s->options, r->n = N, r->rows = rows, r->still = still;
  r->interval = 0.01, r->rest = 0.05;
  r->speed = s->speed, r->span = s->span, r->centre = s->centre, r->reason = s->reason;
  r->dictionary = s->dictionary, r->choice = s->choice, r->reached = s->reached, r->theta_load = s->load;
  r->band = (psdmp_identify_band){.kinematics = PSDM_KINEMATICS_ACCELERATION, .cutoff = INFINITY, .wide = INFINITY};
  assert_int_equal(psdmp_parameters_model(robot, NULL, &r->model, NULL, NULL), PSDM_OK);
  assert_true(psdmp_identify_run_transmission(r, &s->arena) && psdmp_identify_run_formulas(r, &s->arena));
  assert_int_equal(psdm_work_new(robot, NULL, &r->work), PSDM_OK);
  assert_true(r->l <= BASE && !r->T == !couples);
  for (int i = 0; i < N; i++) {
    s->dictionary[i].count = 7, s->speed[i] = 1 + i, s->sigma[i] = 1;
    memcpy(s->dictionary[i].column, columns, sizeof columns);
  }
}

static inline void scene_free(scene *s) {
  psdmp_base_arena_free(&s->arena);
  psdm_work_free(s->run.work, NULL);
  psdm_model_free(s->run.model);
  psdm_robot_free((psdm_robot *)(size_t)s->run.robot);
}

#endif
