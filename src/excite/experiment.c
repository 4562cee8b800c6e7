/* experiment.c: the motor, gravity and friction experiments of Lloyd, Irani, Ahmadi (2022), sections 3.1 to 3.3, as
 * motions by rule. */
#include <math.h>
#include <string.h>

#include "excite/experiment_priv.h"
#include "robot/robot.h"

/* the joint behind q_i, for messages */
static const char *name_of(const psdm_robot *robot, int i) {
  for (int j = 0; j < robot->joints; j++)
    if (robot->joint[j].q == i) return robot->joint[j].name;
  return "";
}

static psdm_status check(const psdm_robot *robot, const psdm_excite_options *o, const psdmp_excite_limits *l,
                         psdm_error *error) {
  if (robot->closure)
    return psdmp_base_fail(error, PSDM_E_ROBOT, robot->file, 0, 0, "experiments are not planned for closed loops");
  if (!(o->seconds >= 0) || !isfinite(o->seconds) || !(o->speed >= 0) || o->speed > 1 || !(o->mass >= 0) ||
      !isfinite(o->mass) || o->levels < 0 || o->levels > 1000 || !isfinite(o->com[0]) || !isfinite(o->com[1]) ||
      !isfinite(o->com[2]))
    return psdmp_base_fail(
        error, PSDM_E_ARGUMENT, "", 0, 0,
        "seconds, speed (at most 1), mass, its centre and levels (at most 1000) must be finite and not negative");
  for (int i = 0; i < robot->n; i++) {
    char name[80];
    if (isfinite(l->lower[i]) && isfinite(l->upper[i]) && l->lower[i] < l->upper[i] && l->velocity[i] > 0 &&
        isfinite(l->velocity[i]) && l->acceleration[i] > 0 && isfinite(l->acceleration[i]))
      continue;
    const char *joint = name_of(robot, i);
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "the limits of joint '%s' leave it no room to move",
                           psdmp_base_quote(joint, strlen(joint), name, sizeof name));
  }
  return PSDM_OK;
}

/* ---- how far points may move ---- */

static double length_of(const double x[3]) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

/* upper bound from any joint's axis to any point of a capsule: the sum of all lengths of the robot */
static double farthest_point(const psdm_robot *r, const psdmp_excite_limits *l) {
  double sum = 0, capsule = 0;
  for (int b = 0; b < r->bodies; b++) {
    double slide = fabs(r->c[b]);
    for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++)
      slide += fabs(r->g_val[g]) * fmax(fabs(l->lower[r->g_col[g]]), fabs(l->upper[r->g_col[g]]));
    sum += length_of(r->body[b].joint.p) + (r->body[b].prismatic ? slide : 0);
  }
  for (int k = 0; k < psdm_collision_capsules(r); k++) {
    const psdm_capsule *c = psdm_collision_capsule(r, k);
    double frame = c->joint < 0 ? 0 : length_of(r->link[c->joint].frame.p);
    capsule = fmax(capsule, frame + fmax(length_of(c->from), length_of(c->to)));
  }
  return sum + capsule;
}

static void set_reach(psdmp_excite_track *track) {
  const psdm_robot *r = track->robot;
  double farthest = farthest_point(r, track->limits);
  for (int b = 0; b < r->bodies; b++)
    for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++)
      track->reach[r->g_col[g]] += fabs(r->g_val[g]) * (r->body[b].prismatic ? 1 : farthest);
}

/* ---- start and end ---- */

/* the robot with the known mass as a point on its last link, whose torques are limited too */
static psdm_status load_mass(psdmp_excite_track *track, const psdm_allocator *allocator) {
  const psdm_robot *r = track->robot;
  const double none[6] = {0};
  int last = r->last, body = r->link[last].body, count = psdm_robot_parameter_count(r);
  if (!track->limits->torques || track->options->step != PSDM_STEP_MOTOR || body < 0) return PSDM_OK;
  psdm_status status = psdm_robot_clone(r, allocator, &track->loaded_owned);
  double *pi = status ? NULL : psdmp_excite_track_numbers(track, (size_t)count), mass[10], moved[10];
  if (!pi) return PSDM_E_MEMORY;
  psdmp_robot_standard_from_body(track->options->mass > 0 ? track->options->mass : 3, track->options->com, none, mass);
  int carrier = r->body[body].index;
  psdmp_robot_pose home = psdmp_robot_pose_inverse(&r->link[carrier].frame),
                   frame = psdmp_robot_pose_product(&home, &r->link[last].frame);
  psdmp_robot_standard_move(&frame, mass, moved);
  psdm_robot_parameters(r, pi);
  for (int i = 0; i < 10; i++) pi[10 * r->joint[carrier].link + i] += moved[i];
  psdm_robot_set_parameters(track->loaded_owned, pi);
  track->loaded = track->loaded_owned;
  return PSDM_OK;
}

/* ---- obstacles at every pose ---- */

static const char *link_name(const psdm_robot *r, int capsule) {
  int joint = psdm_collision_capsule(r, capsule)->joint;
  return joint < 0 ? r->base_name : r->link[joint].name;
}

/* a gap that is closed at every pose is an error in the file; this sentence says so */
static psdm_status check_gaps(psdmp_excite_track *track) {
  enum { POSES = 300 };
  const psdm_robot *r = track->robot;
  int gaps = psdm_collision_gaps(r), a, b;
  double *best = psdmp_excite_track_numbers(track, (size_t)gaps), *q = track->state;
  if (!best) return psdmp_base_no_memory("", track->error);
  for (int g = 0; g < gaps; g++) best[g] = -INFINITY;
  for (int k = 0; k < POSES && gaps; k++) {
    psdmp_excite_track_random_pose(track, q);
    psdm_status status = psdm_collision_at(r, track->work, q, track->gap, NULL);
    if (status)
      return psdmp_base_fail(track->error, status, r->file, 0, 0, "the gaps between capsules cannot be computed");
    for (int g = 0; g < gaps; g++) best[g] = fmax(best[g], track->gap[g]);
  }
  track->random = track->options->seed;
  for (int g = 0; g < gaps; g++) {
    char first[80], second[80];
    if (best[g] >= track->limits->clearance || !psdm_collision_pair(r, g, &a, &b)) continue;
    psdmp_base_quote(link_name(r, a), strlen(link_name(r, a)), first, sizeof first);
    if (b < 0)
      return psdmp_base_fail(track->error, PSDM_E_ARGUMENT, r->file, 0, 0,
                             "capsule %d of link '%s' is too near to the floor in every pose that was tried", a + 1,
                             first);
    psdmp_base_quote(link_name(r, b), strlen(link_name(r, b)), second, sizeof second);
    return psdmp_base_fail(track->error, PSDM_E_ARGUMENT, r->file, 0, 0,
                           "capsules %d and %d, of links '%s' and '%s', are too near to each other in every pose that "
                           "was tried; 'apart' in the robot file exempts a pair",
                           a + 1, b + 1, first, second);
  }
  return PSDM_OK;
}

static psdm_status begin(psdmp_excite_track *track, const psdm_allocator *allocator) {
  size_t n = (size_t)track->n;
  track->gap = psdmp_excite_track_numbers(track, (size_t)psdm_collision_gaps(track->robot));
  track->reach = psdmp_excite_track_numbers(track, n);
  track->control = psdmp_excite_track_numbers(track, 6 * n);
  track->state = psdmp_excite_track_numbers(track, 5 * n);
  if (track->no_memory || psdm_work_new(track->robot, allocator, &track->work))
    return psdmp_base_no_memory("", track->error);
  set_reach(track);
  psdm_status status = check_gaps(track);
  if (status) return status;
  return load_mass(track, allocator) ? psdmp_base_no_memory("", track->error) : PSDM_OK;
}

static psdm_status finish(psdmp_excite_track *track, psdmp_base_arena *arena, const psdm_allocator *allocator,
                          psdm_excitation *out, psdm_motion **motion) {
  psdm_excite_part *part = psdmp_base_arena_alloc(arena, (size_t)(track->parts + 1) * sizeof *part);
  if (!part) return psdmp_base_no_memory("", track->error);
  if (track->parts) memcpy(part, track->part, (size_t)track->parts * sizeof *part);
  out->parts = track->parts;
  out->part = part;
  return psdm_motion_table(track->n, track->rows, track->t, track->x[0], track->x[1], track->x[2], allocator, motion,
                           track->error);
}

psdm_status psdmp_excite_experiment(const psdm_robot *robot, const psdm_excite_options *options,
                                    const psdmp_excite_limits *limits, psdmp_base_arena *arena,
                                    const psdm_allocator *allocator, psdm_excitation *out, psdm_motion **motion,
                                    psdm_error *error) {
  *motion = NULL;
  psdm_status status = check(robot, options, limits, error);
  if (status) return status;
  psdmp_excite_track track = {.robot = robot,
                              .options = options,
                              .limits = limits,
                              .error = error,
                              .scratch.allocator = allocator,
                              .n = robot->n,
                              .random = options->seed};
  status = begin(&track, allocator);
  if (!status) switch (options->step) {
      case PSDM_STEP_MOTOR: status = psdmp_excite_experiment_motor(&track, arena, out); break;
      case PSDM_STEP_GRAVITY: status = psdmp_excite_experiment_gravity(&track); break;
      case PSDM_STEP_FRICTION: status = psdmp_excite_experiment_friction(&track); break;
      default: status = psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "this step has no standard experiment");
    }
  if (track.no_memory) status = psdmp_base_no_memory("", error); /* replaces any error caused by it */
  if (track.too_long)
    status = psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                             "the experiment takes more than six hours; less time, or higher limits of velocity and "
                             "acceleration, were expected");
  if (!status) status = finish(&track, arena, allocator, out, motion);
  psdm_robot_free(track.loaded_owned);
  psdm_work_free(track.work, allocator);
  psdmp_base_arena_free(&track.scratch);
  return status;
}
