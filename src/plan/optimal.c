/* optimal.c: optimal motions from rest to rest: limits, initial guess, solution, refined grids, answer. */
#include "psdm/optimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linalg/linalg.h"
#include "plan/optimal_priv.h"

enum {
  NODES = 20,
  MOST_NODES = 10000,
  PARTS = 64, /* cubic pieces of the answer per piece of the program, */
  /* and quintic ones in total: fewer are too coarse for the fourth derivative, more lose it to rounding */
  ROWS_ELASTIC = 640,
  /* parts of a piece where the answer is checked: the ends of its cubic pieces, where accelerations are largest, and
   * midpoints */
  FINE = 2 * PARTS,
  GUESS_POINTS = 40,
  ITERATIONS = 1000,
  STILL = 8,
  REFINEMENTS = 3,
  TIGHTENINGS = 2,
  EASE = 64,    /* initial factor on the width of dry friction, */
  EASE_STEP = 4 /* divided by this in each round */
};

static const double seconds_allowed = 300, tolerance_asked = 1e-8;
/* of a torque limit between the points where it is enforced; above it, points are added */
static const double broken_allowed = 1e-3;
static const double worthwhile = 1e-4; /* least relative gain of the objective from another grid */
/* of a torque limit from one piece to the next: a switch that needs its own node */
static const double swing = 0.3;
static const double aligned = 0.001; /* of a piece: a switch this close to a node is at it */

struct psdmp_plan_optimal {
  psdm_optimal p;
  psdmp_base_arena arena;
  psdmp_plan_torques torques;
  psdm_motion *motion;
  double *z; /* (orders x n) */
};

typedef struct job {
  const psdm_robot *robot;
  psdm_optimal_options options;
  const psdm_allocator *allocator;
  psdm_error *error;
  struct psdmp_plan_optimal *answer;
  psdmp_base_arena scratch; /* limits, and data of all rounds */
  psdmp_base_arena round;   /* one program */
  int n;
  double *lower, *upper, *velocity, *acceleration, *effort, *weight; /* (n) */
  double *width;                                                     /* (n) */
  double *tight;                                                     /* (n) effort limits in the program */
  double *worst;                                                     /* (n) largest share of them on the fine grid */
  double *z, *tau;                                                   /* (PSDM_MOTION_ORDERS x n), (n) */
  bool limited;                                                      /* some limit bounds speeds or torques */
  psdm_motion *motion;                                               /* the best so far; initially the guess */
  double longest;
  int pieces;
  double *share; /* (pieces) */
  int *level;    /* (pieces) */
  double *over;  /* (pieces) largest share of a torque limit within each, on the fine grid */
  psdmp_plan_solve solve;
  int iterations; /* remaining for all rounds */
  double begun;
} job;

static psdm_status refuse(const job *j, const char *text) {
  return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0, "%s", text);
}

static double *numbers(psdmp_base_arena *arena, size_t count) {
  return psdmp_base_arena_alloc(arena, (count ? count : 1) * sizeof(double));
}

/* ---- options and limits ---- */

static psdm_status check_options(job *j) {
  psdm_optimal_options *o = &j->options;
  if (!o->from || !o->to) return refuse(j, "both ends of the motion are needed");
  if ((unsigned)o->friction >= PSDM_FRICTION_KINDS) return refuse(j, "unknown friction model");
  const double numbers_given[] = {o->time, o->energy, o->duration, o->longest, o->tolerance, o->wall};
  for (size_t k = 0; k < sizeof numbers_given / sizeof *numbers_given; k++)
    if (!(numbers_given[k] >= 0) || !isfinite(numbers_given[k]))
      return refuse(j, "weights, times and tolerances are finite and not negative");
  if (o->nodes < 0 || o->nodes == 1 || o->nodes > MOST_NODES)
    return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0, "%d intervals; 2 to %d were expected", o->nodes,
                           MOST_NODES);
  if (o->iterations < 0) return refuse(j, "a negative number of iterations");
  if (o->time == 0 && o->energy == 0) o->time = 1;
  if (o->time == 0 && o->duration == 0)
    return refuse(j, "only energy counts, so the motion would take forever; give a duration");
  if (o->guess && psdm_motion_n(o->guess) != j->n)
    return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0, "an initial guess of %d joints; the robot has %d",
                           psdm_motion_n(o->guess), j->n);
  if (o->guess && !(psdm_motion_end(o->guess) > psdm_motion_begin(o->guess)))
    return refuse(j, "the initial guess has no duration");
  for (int i = 0; i < j->n; i++)
    if (!isfinite(o->from[i]) || !isfinite(o->to[i])) return refuse(j, "the ends of the motion must be finite");
  return PSDM_OK;
}

static void take_limits(job *j) {
  const psdm_optimal_options *o = &j->options;
  for (int k = 0; k < psdm_robot_joints(j->robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(j->robot, k);
    int i = joint->q;
    if (i < 0) continue;
    j->lower[i] = o->lower ? o->lower[i] : joint->limits.lower;
    j->upper[i] = o->upper ? o->upper[i] : joint->limits.upper;
    j->velocity[i] = o->velocity ? o->velocity[i] : joint->limits.velocity;
    j->acceleration[i] = o->acceleration ? o->acceleration[i] : joint->limits.acceleration;
    j->effort[i] = o->effort ? o->effort[i] : joint->limits.effort;
    /* joints without a limit count in Nm or N */
    j->weight[i] = isfinite(j->effort[i]) ? 1 / (j->effort[i] * j->effort[i]) : 1;
    j->width[i] = 0.01 * (isfinite(j->velocity[i]) ? j->velocity[i] : 1);
    j->tight[i] = j->effort[i];
  }
}

static psdm_status check_limits(job *j) {
  bool moves = false;
  for (int i = 0; i < j->n; i++) {
    double from = j->options.from[i], to = j->options.to[i];
    if (!(j->velocity[i] > 0) || !(j->acceleration[i] > 0) || !(j->effort[i] > 0))
      return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0, "limits of joint %d: positive numbers were expected",
                             i + 1);
    if (!(from >= j->lower[i] && from <= j->upper[i] && to >= j->lower[i] && to <= j->upper[i]))
      return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0,
                             "joint %d: the motion goes from %.6g to %.6g, its limits are %.6g and %.6g", i + 1, from,
                             to, j->lower[i], j->upper[i]);
    moves |= from != to;
    j->limited |= isfinite(j->velocity[i]) || isfinite(j->acceleration[i]) || isfinite(j->effort[i]);
  }
  if (!moves) return refuse(j, "the motion ends where it begins");
  if (!j->limited && j->options.energy == 0 && j->options.duration == 0)
    return refuse(j, "nothing limits the motion; a velocity, acceleration or torque limit is needed");
  return PSDM_OK;
}

static psdm_status prepare(job *j) {
  size_t n = (size_t)j->n;
  double **const part[] = {&j->lower,  &j->upper, &j->velocity, &j->acceleration, &j->effort,
                           &j->weight, &j->width, &j->tight,    &j->worst,        &j->tau};
  size_t parts = sizeof part / sizeof *part;
  double *memory = numbers(&j->scratch, (parts + PSDM_MOTION_ORDERS) * n);
  if (!memory) return psdmp_base_no_memory("", j->error);
  for (size_t k = 0; k < parts; k++) *part[k] = memory + k * n;
  j->z = memory + parts * n;
  take_limits(j);
  return check_limits(j);
}

/* ---- a motion on a grid ---- */

/* Worst values of a motion. */
typedef struct measure {
  double effort;   /* share of a torque limit; of each joint in j->worst */
  double broken;   /* largest share of any limit, minus one; 0 where all are kept */
  double energy;   /* integral of sum tau^2 */
  double weighted; /* of sum w tau^2 */
} measure;

static void measure_limits(const job *j, measure *m) {
  for (int i = 0; i < j->n; i++) {
    double q = j->z[i], room = fmax(1, j->upper[i] - j->lower[i]), over = fmax(j->lower[i] - q, q - j->upper[i]);
    double share = fabs(j->tau[i]) / j->effort[i];
    m->effort = fmax(m->effort, share);
    j->worst[i] = fmax(j->worst[i], share);
    if (over > 0) m->broken = fmax(m->broken, isfinite(room) ? over / room : over);
    m->broken = fmax(m->broken, share - 1);
    m->broken = fmax(m->broken, fabs(j->z[j->n + i]) / j->velocity[i] - 1);
    m->broken = fmax(m->broken, fabs(j->z[2 * j->n + i]) / j->acceleration[i] - 1);
  }
}

/* torques in j->tau of a motion slowed down by stretch, at the original time `at` */
static psdm_status torques_at(job *j, const psdm_motion *motion, double at, double stretch) {
  psdmp_plan_torques *t = &j->answer->torques;
  double power = 1;
  psdm_motion_at(motion, at, t->orders, j->z);
  for (int o = 0; o < t->orders; o++, power /= stretch)
    for (int i = 0; i < j->n; i++) j->z[o * j->n + i] *= power;
  return psdmp_plan_torques_at(t, j->z, j->tau);
}

/* over one interval, both ends included, by Simpson's rule on every two parts: the motion may jump at its ends */
static psdm_status measure_interval(job *j, const psdm_motion *motion, double begin, double end, int parts,
                                    double stretch, measure *m) {
  double h = end - begin;
  for (int k = 0; k <= parts; k++) {
    /* the time just after a node belongs to the next piece: evaluate slightly before it */
    double at = k < parts ? begin + h * k / parts : end - 1e-10 * h, weight = stretch * h / (3 * parts) *
                                                                              (k == 0 || k == parts ? 1
                                                                               : k % 2              ? 4
                                                                                                    : 2);
    psdm_status status = torques_at(j, motion, at, stretch);
    if (status) return status;
    measure_limits(j, m);
    for (int i = 0; i < j->n; i++) {
      m->energy += weight * j->tau[i] * j->tau[i];
      m->weighted += weight * j->weight[i] * j->tau[i] * j->tau[i];
    }
  }
  return PSDM_OK;
}

static psdm_status fail_torques(const job *j, psdm_status status) {
  return psdmp_base_fail(j->error, status, "", 0, 0, "no torques along the motion: %s", psdm_status_text(status));
}

/* FINE parts in every piece of the program's grid */
static psdm_status measure_fine(job *j, const psdm_motion *motion, measure *m) {
  double begin = psdm_motion_begin(motion), length = psdm_motion_end(motion) - begin, s = 0;
  psdm_status status = PSDM_OK;
  *m = (measure){0};
  memset(j->worst, 0, sizeof *j->worst * (size_t)j->n);
  for (int k = 0; k < j->pieces && !status; k++) {
    double next = k + 1 < j->pieces ? s + j->share[k] : 1, before = m->effort;
    m->effort = 0;
    status = measure_interval(j, motion, begin + s * length, begin + next * length, FINE, 1, m);
    j->over[k] = m->effort;
    m->effort = fmax(m->effort, before);
    s = next;
  }
  return status ? fail_torques(j, status) : PSDM_OK;
}

/* ---- initial guess ---- */

static psdm_status measure_stretched(job *j, const psdm_motion *motion, double stretch, measure *m) {
  *m = (measure){0};
  return measure_interval(j, motion, psdm_motion_begin(motion), psdm_motion_end(motion), GUESS_POINTS, stretch, m);
}

/* the shortest duration of a one-second motion within its limits, to 1 %; if gravity alone violates them, one at which
 * slowing down hardly helps */
static psdm_status least_stretch(job *j, const psdm_motion *motion, double *stretch) {
  measure m;
  double k = 1, before = INFINITY;
  psdm_status status = measure_stretched(j, motion, k, &m);
  while (!status && m.broken > 1e-9 && m.broken < 0.99 * before && k < 1e6) {
    before = m.broken;
    k *= 2;
    status = measure_stretched(j, motion, k, &m);
  }
  double low = k / 2, high = k;
  if (!status && !(m.broken > 1e-9)) {
    for (status = measure_stretched(j, motion, low, &m); !status && !(m.broken > 1e-9) && low > 1e-6;
         status = measure_stretched(j, motion, low, &m))
      high = low, low /= 2;
    while (!status && high / low > 1.01) {
      double middle = sqrt(low * high);
      status = measure_stretched(j, motion, middle, &m);
      *(m.broken > 1e-9 ? &low : &high) = middle;
    }
  }
  *stretch = high;
  return status;
}

/* from there on, the duration with the best objective */
static psdm_status best_stretch(job *j, const psdm_motion *motion, double *stretch) {
  measure m;
  double best = INFINITY, least = *stretch;
  psdm_status status = PSDM_OK;
  for (double k = least; j->options.energy > 0 && k < 1e6; k *= 1.25) {
    if ((status = measure_stretched(j, motion, k, &m))) break;
    double objective = j->options.time * k + j->options.energy * m.weighted;
    if (objective < best) best = objective, *stretch = k;
    else if (objective > 100 * best) break;
  }
  return status;
}

/* the initial motion, unless the caller gives one */
static psdm_status take_guess(job *j, double seconds, double *guess_seconds) {
  const psdm_optimal_options *o = &j->options;
  *guess_seconds = o->duration > 0 ? o->duration : seconds;
  if (o->guess) return PSDM_OK;
  return psdm_motion_polynomial(j->n, j->answer->torques.orders == 5 ? 9 : 5, o->from, o->to, 0, *guess_seconds,
                                j->allocator, &j->motion, j->error);
}

/* dry friction reverses within 1 % of a joint's velocity limit; without one, of the largest speed of a quintic at any
 * joint: 15/8 of the mean */
static void set_widths(job *j, double seconds) {
  double most = 0;
  for (int i = 0; i < j->n; i++) most = fmax(most, 15 / 8. * fabs(j->options.to[i] - j->options.from[i]) / seconds);
  for (int i = 0; i < j->n; i++)
    j->answer->torques.width[i] = 0.01 * (isfinite(j->velocity[i]) ? j->velocity[i] : most);
}

static psdm_status begin(job *j) {
  const psdm_optimal_options *o = &j->options;
  psdm_motion *unit = NULL;
  double least = 0, stretch;
  psdm_status status = psdm_motion_polynomial(j->n, j->answer->torques.orders == 5 ? 9 : 5, o->from, o->to, 0, 1,
                                              j->allocator, &unit, j->error);
  if (status) return status;
  status = least_stretch(j, unit, &least);
  stretch = least;
  if (!status && !(o->duration > 0)) status = best_stretch(j, unit, &stretch);
  psdm_motion_free(unit);
  if (status) return fail_torques(j, status);
  if (o->guess) stretch = psdm_motion_end(o->guess) - psdm_motion_begin(o->guess);
  j->longest = o->longest > 0 ? o->longest : 10 * fmax(stretch, least);
  set_widths(j, o->duration > 0 ? o->duration : stretch);
  return take_guess(j, fmin(stretch, j->longest), &j->answer->p.guess_seconds);
}

/* ---- one program ---- */

typedef struct watch {
  psdmp_plan_program program; /* first: the solver's user is the program */
  job *j;
  bool late;
  double before; /* objective of the previous iteration, */
  int still;     /* and iterations that did not change it */
} watch;

/* fourth derivatives lose digits, so that a slope may stay above any tolerance while the objective is constant to the
 * last digits */
static bool stands_still(watch *w, double objective, double infeasibility, double barrier) {
  bool same = fabs(objective - w->before) <= 1e-11 * fabs(objective) && infeasibility <= 1e-8 &&
              (barrier <= 1e-6 || w->program.rows == 0);
  w->still = same ? w->still + 1 : 0;
  w->before = objective;
  return w->still >= STILL;
}

static bool progress(void *user, int iteration, double objective, double infeasibility, double barrier) {
  watch *w = user;
  const psdm_optimal_options *o = &w->j->options;
  w->late = psdmp_base_clock() - w->j->begun > (o->wall > 0 ? o->wall : seconds_allowed);
  char text[64];
  psdmp_base_print(text, sizeof text, "iteration %d, %.5g", iteration, objective);
  if (!w->late && o->iterated) o->iterated(o->iterated_user, iteration, objective, infeasibility);
  bool on = !w->late && (!o->progress || o->progress(o->progress_user, text, -1));
  return on && !stands_still(w, objective, infeasibility, barrier);
}

static psdmp_plan_program describe(const job *j) {
  const psdm_optimal_options *o = &j->options;
  return (psdmp_plan_program){.torques = &j->answer->torques,
                              .pieces = j->pieces,
                              .share = j->share,
                              .level = j->level,
                              .from = o->from,
                              .to = o->to,
                              .lower = j->lower,
                              .upper = j->upper,
                              .velocity = j->velocity,
                              .acceleration = j->acceleration,
                              .effort = j->tight,
                              .weight = j->weight,
                              .time = o->time,
                              .energy = o->energy,
                              .duration = o->duration,
                              .shortest = 1e-3 * j->answer->p.guess_seconds,
                              .longest = j->longest};
}

/* x of a motion: derivatives in units of its mean piece do not depend on its duration. Values that jump at a node are
 * taken slightly inside the piece */
static void sample(const job *j, const psdmp_plan_program *p, const psdm_motion *motion, double *x) {
  double begin_time = psdm_motion_begin(motion), length = psdm_motion_end(motion) - begin_time, s = 0;
  for (int piece = 0; piece < p->pieces; piece++) {
    for (int end = 0; end < 2; end++) {
      double power = 1;
      psdm_motion_at(motion, begin_time + (s + p->share[piece] * (end ? 1 - 1e-9 : 1e-9)) * length, p->held, j->z);
      for (int r = 0; r < p->held; r++, power *= length / p->pieces)
        for (int i = 0; i < j->n; i++) {
          int place = psdmp_plan_program_place(p, piece, end, r, i);
          if (place >= 0) x[place] = power * j->z[r * j->n + i];
        }
    }
    s += p->share[piece];
  }
  if (!(p->duration > 0)) x[p->unknowns - 1] = fmin(fmax(length, p->shortest), p->longest);
}

/* the motion of x: tables hold pieces of degree three (five with elastic joints), several per piece of the program */
static psdm_status to_motion(job *j, const psdmp_plan_program *p, const double *x, psdm_motion **motion) {
  int parts = p->orders == 5 ? (ROWS_ELASTIC + p->pieces - 1) / p->pieces : PARTS, orders = p->orders == 5 ? 3 : 2;
  size_t rows = (size_t)(p->pieces * parts) + 1, n = (size_t)j->n;
  double *t = numbers(&j->round, rows), *part = numbers(&j->round, 3 * rows * n),
         seconds = psdmp_plan_program_seconds(p, x), s = 0;
  if (!t || !part) return psdmp_base_no_memory("", j->error);
  for (int piece = 0; piece < p->pieces; piece++) {
    for (int k = 0; k <= parts; k++) {
      size_t row = (size_t)(piece * parts + k);
      double power = 1;
      t[row] = (s + p->share[piece] * k / parts) * seconds;
      for (int r = 0; r < orders; r++, power *= p->pieces / seconds)
        for (int i = 0; i < j->n; i++)
          part[((size_t)r * rows + row) * n + (size_t)i] =
              power * psdmp_plan_program_at(p, x, piece, (double)k / parts, r, i);
    }
    s += p->share[piece];
  }
  t[rows - 1] = seconds;
  return psdm_motion_table(j->n, (long)rows, t, part, part + rows * n, orders == 3 ? part + 2 * rows * n : NULL,
                           j->allocator, motion, j->error);
}

/* solves on the present grid and under the present limits, starting at j->motion; NULL on failure */
static psdm_status solve_round(job *j, psdmp_plan_solver_answer *verdict, psdm_motion **motion) {
  watch w = {.program = describe(j), .j = j};
  psdmp_plan_solver_problem problem;
  *motion = NULL;
  psdm_status status =
      psdmp_base_memory_ask("", "the program of the optimal motion", psdmp_plan_program_bytes(&w.program),
                            psdm_robot_memory(j->robot), "; fewer nodes need less", j->error);
  if (status) return status;
  status = psdmp_plan_program_init(&w.program, &j->round);
  if (status)
    return psdmp_base_fail(
        j->error, status, "", 0, 0, "%s",
        status == PSDM_E_MEMORY ? "out of memory" : "the program is too large: fewer nodes would do");
  psdmp_plan_program_problem(&w.program, &problem);
  problem.progress = progress;
  problem.tolerance = j->options.tolerance > 0 ? j->options.tolerance : tolerance_asked;
  problem.iterations = j->iterations;
  double *x = numbers(&j->round, (size_t)w.program.unknowns);
  if (!x) return psdmp_base_no_memory("", j->error);
  sample(j, &w.program, j->motion ? j->motion : j->options.guess, x);
  status = j->solve(&problem, x, verdict);
  if (status == PSDM_E_MEMORY)
    return psdmp_base_fail(j->error, status, "", 0, 0, "out of memory: IPOPT could not do its work");
  if (status) return psdmp_base_fail(j->error, status, "", 0, 0, "%s", verdict->words);
  j->iterations -= verdict->iterations;
  if (w.late) snprintf(verdict->words, sizeof verdict->words, "the time limit was reached");
  if (w.still >= STILL) {
    verdict->converged = true;
    verdict->stopped = false;
    snprintf(verdict->words, sizeof verdict->words, "solved to rounding");
  }
  return to_motion(j, &w.program, x, motion);
}

/* ---- grids ---- */

/* allocates the arrays for a number of pieces */
static psdm_status new_grid(job *j, int pieces) {
  j->pieces = pieces;
  j->share = numbers(&j->scratch, (size_t)pieces);
  j->over = numbers(&j->scratch, (size_t)pieces);
  j->level = psdmp_base_arena_alloc(&j->scratch, (size_t)pieces * sizeof *j->level);
  return j->share && j->over && j->level ? PSDM_OK : psdmp_base_no_memory("", j->error);
}

static psdm_status uniform_grid(job *j) {
  psdm_status status = new_grid(j, j->options.nodes ? j->options.nodes : NODES);
  for (int k = 0; k < j->pieces && !status; k++) j->share[k] = 1.0 / j->pieces;
  return status;
}

/* shares of the torque limits at the points of every piece: (pieces x points x n) */
static psdm_status piece_shares(job *j, double *shares) {
  double length = psdm_motion_end(j->motion), s = 0;
  psdm_status status = PSDM_OK;
  for (int k = 0; k < j->pieces; k++) {
    for (int point = 0; point < PSDMP_PLAN_POINTS && !status; point++, shares += j->n) {
      status = torques_at(j, j->motion, (s + j->share[k] * fmin(psdmp_plan_point[point], 1 - 1e-10)) * length, 1);
      for (int i = 0; i < j->n; i++) shares[i] = j->tau[i] / j->effort[i];
    }
    s += j->share[k];
  }
  return status;
}

/* where within piece k a joint's torque would jump from its value before to that after, with the same mean; false where
 * it hardly changes, or at an end */
static bool jump_within(const job *j, const double *shares, int k, int joint, double *sigma) {
  const double *own = shares + (long)k * PSDMP_PLAN_POINTS * j->n + joint;
  int n = j->n, last = (PSDMP_PLAN_POINTS - 1) * n;
  double before = k > 0 ? own[-n] : own[0], behind = k + 1 < j->pieces ? own[last + n] : own[last], mean = 0;
  for (int point = 0; point < PSDMP_PLAN_POINTS; point++) mean += psdmp_plan_point_weight[point] * own[point * n];
  if (!(fabs(before - behind) > swing)) return false;
  *sigma = (mean - behind) / (before - behind);
  return *sigma > aligned && *sigma < 1 - aligned;
}

/* inserts a node at s, replacing those too close to it; (count) nodes ascend from 0 to 1 */
static int insert_node(double *node, int count, double s, double near) {
  int kept = 0, at;
  for (int k = 0; k < count; k++)
    if (k == 0 || k == count - 1 || fabs(node[k] - s) > near) node[kept++] = node[k];
  for (at = kept; node[at - 1] > s; at--) node[at] = node[at - 1];
  node[at] = s;
  return kept + 1;
}

/* puts nodes where torques switch: a jump does not fit in a piece, and the time lost decreases with the square of its
 * length. False: nothing to gain */
static psdm_status refine(job *j, bool *finer) {
  size_t most = (size_t)j->pieces * (size_t)(j->n + 1) + 2;
  double *node = numbers(&j->round, most),
         *shares = numbers(&j->round, (size_t)j->pieces * PSDMP_PLAN_POINTS * (size_t)j->n), s = 0;
  /* a third of a piece: the rest beside a switch is no shorter */
  double near = 0.35 / (j->options.nodes ? j->options.nodes : NODES);
  if (!node || !shares) return psdmp_base_no_memory("", j->error);
  psdm_status status = piece_shares(j, shares);
  if (status) return fail_torques(j, status);
  int count = j->pieces + 1;
  for (int k = 0; k < j->pieces; k++) node[k + 1] = node[k] + j->share[k];
  node[count - 1] = 1;
  *finer = false;
  for (int k = 0; k < j->pieces; k++) {
    for (int i = 0; i < j->n; i++) {
      double sigma;
      if (!jump_within(j, shares, k, i, &sigma)) continue;
      double at = s + sigma * j->share[k];
      if (at < near / 4 || at > 1 - near / 4) continue; /* the ends are fixed, and a piece must have some length */
      count = insert_node(node, count, at, near);
      *finer = true;
    }
    s += j->share[k];
  }
  if (!*finer) return PSDM_OK;
  status = new_grid(j, count - 1);
  for (int k = 0; k < j->pieces && !status; k++) j->share[k] = node[k + 1] - node[k];
  return status;
}

/* ---- all rounds ---- */

static bool has_dry(const psdmp_plan_torques *t) {
  bool dry = false;
  for (int i = 0; i < t->n; i++) dry |= t->friction[i] && psdm_friction_most(t->friction[i], t->kind) > 0;
  return dry;
}

/* from the guess. Dry friction is steep, behind springs even in the fourth derivative: it is made steeper step by
 * step */
static psdm_status solve_first(job *j, psdmp_plan_solver_answer *verdict) {
  psdmp_plan_torques *t = &j->answer->torques;
  psdm_status status = PSDM_OK;
  for (int ease = has_dry(t) ? EASE : 1; ease >= 1 && !status && !verdict->stopped; ease /= EASE_STEP) {
    psdm_motion *motion;
    for (int i = 0; i < j->n; i++) t->width[i] *= ease;
    status = solve_round(j, verdict, &motion);
    for (int i = 0; i < j->n; i++) t->width[i] /= ease;
    psdm_motion_free(j->motion);
    j->motion = motion;
    psdmp_base_arena_free(&j->round);
  }
  return status;
}

static double objective_of(const job *j, const measure *m) {
  return j->options.time * psdm_motion_end(j->motion) + j->options.energy * m->weighted;
}

static void take_measure(job *j, const measure *m) {
  psdm_optimal *p = &j->answer->p;
  p->seconds = psdm_motion_end(j->motion);
  p->energy = m->energy;
  p->objective = objective_of(j, m);
  p->infeasibility = m->broken;
  p->worst_effort = m->effort;
}

/* solves again from the last solution; *better: successful, else everything is unchanged */
static psdm_status solve_again(job *j, psdmp_plan_solver_answer *verdict, bool *better) {
  psdmp_plan_solver_answer own = {0};
  psdm_motion *motion;
  psdm_status status = solve_round(j, &own, &motion);
  verdict->stopped |= own.stopped;
  if (own.stopped) memcpy(verdict->words, own.words, sizeof verdict->words);
  *better = !status && own.converged;
  if (*better) {
    psdm_motion_free(j->motion);
    j->motion = motion;
  } else {
    psdm_motion_free(motion);
  }
  psdmp_base_arena_free(&j->round);
  return status;
}

static psdm_status refine_rounds(job *j, measure *m, psdmp_plan_solver_answer *verdict) {
  bool finer = j->options.time > 0, better = true;
  psdm_status status = PSDM_OK;
  for (int k = 0; k < REFINEMENTS && finer && better && !status && !verdict->stopped && j->iterations > 0; k++) {
    job before = *j;
    double objective = objective_of(j, m);
    status = refine(j, &finer);
    if (!status && finer) status = solve_again(j, verdict, &better);
    if (!better) j->share = before.share, j->level = before.level, j->over = before.over, j->pieces = before.pieces;
    if (!status && finer && better) status = measure_fine(j, j->motion, m);
    finer &= objective - objective_of(j, m) > worthwhile * objective;
  }
  return status;
}

/* adds points where torques exceed their limits between them; if that is not enough, tightens the limits by as much */
static psdm_status keep_rounds(job *j, measure *m, psdmp_plan_solver_answer *verdict) {
  bool better = true;
  psdm_status status = PSDM_OK;
  for (int k = 0; k < PSDMP_PLAN_LEVELS - 1 + TIGHTENINGS && m->effort > 1 + broken_allowed && better && !status &&
                  !verdict->stopped && j->iterations > 0;
       k++) {
    for (int piece = 0; piece < j->pieces && k < PSDMP_PLAN_LEVELS - 1; piece++) {
      int more = (j->over[piece] > 1 + broken_allowed) + (j->over[piece] > 1 + 10 * broken_allowed);
      j->level[piece] = j->level[piece] + more < PSDMP_PLAN_LEVELS ? j->level[piece] + more : PSDMP_PLAN_LEVELS - 1;
    }
    for (int i = 0; i < j->n && k >= PSDMP_PLAN_LEVELS - 1; i++) j->tight[i] /= fmax(1, j->worst[i]);
    status = solve_again(j, verdict, &better);
    if (!status) status = measure_fine(j, j->motion, m);
  }
  return status;
}

static int allowed(const job *j) { return j->options.iterations ? j->options.iterations : ITERATIONS; }

static psdm_status run(job *j) {
  psdm_optimal *p = &j->answer->p;
  j->iterations = allowed(j);
  measure m;
  psdmp_plan_solver_answer verdict = {0};
  psdm_status status = uniform_grid(j);
  if (status) return status;
  status = measure_fine(j, j->motion ? j->motion : j->options.guess, &m);
  if (status) return status;
  p->guess_energy = m.energy;
  status = solve_first(j, &verdict);
  if (!status) status = measure_fine(j, j->motion, &m);
  if (!status && verdict.converged) status = refine_rounds(j, &m, &verdict);
  if (!status && verdict.converged) status = keep_rounds(j, &m, &verdict);
  if (status) return status;
  take_measure(j, &m);
  p->converged = verdict.converged;
  p->stopped = verdict.stopped;
  p->iterations = allowed(j) - j->iterations;
  memcpy(p->words, verdict.words, sizeof p->words);
  p->wall = psdmp_base_clock() - j->begun;
  p->motion = j->answer->motion = j->motion;
  j->motion = NULL;
  return PSDM_OK;
}

/* ---- public ---- */

psdm_status psdm_optimal_new(const psdm_robot *robot, const psdm_optimal_options *options,
                             const psdm_allocator *allocator, psdm_optimal **out, psdm_error *error) {
  job j = {.robot = robot,
           .options = *options,
           .allocator = allocator,
           .error = error,
           .n = psdm_robot_n(robot),
           .begun = psdmp_base_clock()};
  j.scratch.allocator = j.round.allocator = allocator;
  *out = NULL;
  if (psdmp_linalg_blas_room(error)) return PSDM_E_MEMORY;
  j.answer = psdmp_base_alloc(allocator, sizeof *j.answer);
  if (!j.answer) return psdmp_base_no_memory("", j.error);
  j.answer->arena.allocator = allocator;
  j.answer->p = (psdm_optimal){.n = j.n, .internal = j.answer};
  psdm_status status = check_options(&j);
  if (!status) status = prepare(&j);
  if (!status)
    status = psdmp_plan_torques_init(&j.answer->torques, robot, options->friction, options->elastic, j.width,
                                     &j.answer->arena, error);
  if (!status)
    status = (j.answer->z = numbers(&j.answer->arena, PSDM_MOTION_ORDERS * (size_t)j.n))
                 ? PSDM_OK
                 : psdmp_base_no_memory("", j.error);
  if (!status) status = psdmp_plan_solver_load(&j.solve, error);
  if (!status) status = begin(&j);
  if (!status) status = run(&j);
  psdm_motion_free(j.motion);
  psdmp_base_arena_free(&j.round);
  psdmp_base_arena_free(&j.scratch);
  if (status) psdm_optimal_free(&j.answer->p);
  else *out = &j.answer->p;
  return status;
}

void psdm_optimal_free(psdm_optimal *optimal) {
  if (!optimal) return;
  struct psdmp_plan_optimal *answer = optimal->internal;
  psdm_motion_free(answer->motion);
  psdmp_plan_torques_free(&answer->torques);
  psdmp_base_arena_free_owner(&answer->arena, answer);
}

psdm_status psdm_optimal_torque(const psdm_optimal *optimal, const psdm_robot *robot, double t, double *tau) {
  struct psdmp_plan_optimal *answer = optimal->internal;
  (void)robot;
  psdm_motion_at(answer->motion, t, answer->torques.orders, answer->z);
  return psdmp_plan_torques_at(&answer->torques, answer->z, tau);
}
