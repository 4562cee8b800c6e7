/* facts.c: facts about each joint, collected while a log is read: ranges, excess over the robot's limits, whether qd is
 * the rate of q, and the noise of torques. A verdict uses them to name causes with their lines. */
#include <math.h>

#include "feed/feed_priv.h"
#include "robot/robot.h"

/* rows over which motion is compared with qd's integral: more than encoder steps */
enum { SPAN = 10 };

/* rad or m by which limits may be exceeded: encoders and their zeros are off a little */
static const double room = 0.05;
static const double strong = 1.1; /* of an effort limit: peaks of the current may exceed it */

bool psdmp_feed_facts_new(psdmp_feed_facts *facts, const psdm_robot *robot, const psdm_allocator *a) {
  int n = psdm_robot_n(robot);
  facts->n = n;
  facts->joint = psdmp_base_alloc(a, (size_t)n * sizeof *facts->joint);
  facts->last = psdmp_base_alloc(a, 5 * (size_t)n * sizeof *facts->last);
  if (!facts->joint || !facts->last) return false;
  for (int i = 0; i < n; i++) facts->joint[i] = (psdmp_feed_joint_facts){.q_low = INFINITY, .q_high = -INFINITY};
  return true;
}

void psdmp_feed_facts_free(psdmp_feed_facts *facts, const psdm_allocator *a) {
  psdmp_base_free(a, facts->joint);
  psdmp_base_free(a, facts->last);
  *facts = (psdmp_feed_facts){0};
}

static void note_position(psdmp_feed_joint_facts *f, const psdm_limits *limits, double q, long line) {
  f->q_low = fmin(f->q_low, q);
  f->q_high = fmax(f->q_high, q);
  if (q >= limits->lower - room && q <= limits->upper + room) return;
  if (!f->outside++) f->outside_line = (double)line;
}

/* second differences of a smooth signal are small, of white noise 6 times its variance */
static void note_torque(psdmp_feed_joint_facts *f, const psdm_limits *limits, double tau, double *last, long seen,
                        long line) {
  if (fabs(tau) > f->peak) f->peak = fabs(tau), f->peak_line = (double)line;
  if (fabs(tau) > strong * limits->effort && !f->beyond++) f->beyond_line = (double)line;
  f->squares += tau * tau, f->rows++;
  double second = tau - 2 * last[0] + last[1];
  if (seen >= 2) f->noise += second * second, f->noises++;
  last[1] = last[0], last[0] = tau;
}

/* last: q and t at the start of the span, the caller's; way and integral of one span */
static void end_span(psdmp_feed_joint_facts *f, double way, double integral, double seconds, long line) {
  if (!(seconds > 0)) return;
  if (fabs(way) / seconds > f->fast) f->fast = fabs(way) / seconds, f->fast_line = (double)line;
  f->way2 += way * way, f->both += way * integral, f->integral2 += integral * integral;
}

void psdmp_feed_facts_rows(psdmp_feed_facts *facts, const psdm_robot *robot, const psdm_log_rows *rows, bool fresh) {
  int n = facts->n;
  if (fresh) facts->seen = 0;
  for (long k = 0; k < rows->count; k++, facts->seen++) {
    double t = rows->t[k], step = facts->seen ? t - facts->t : 0;
    long since = facts->seen % SPAN;
    for (int i = 0; i < n; i++) {
      psdmp_feed_joint_facts *f = &facts->joint[i];
      double *last = facts->last + 5 * i, q = rows->q[k * n + i], qd = rows->qd ? rows->qd[k * n + i] : 0;
      const psdm_limits *limits = &psdmp_robot_joint_of(robot, i)->limits;
      unsigned char bad = rows->bad[k * n + i];
      if (!(bad & 5)) note_position(f, limits, q, rows->line[k]);
      if (!(bad & 10)) note_torque(f, limits, rows->tau[k * n + i], last, facts->seen, rows->line[k]);
      if (facts->seen) last[3] += (qd + last[4]) / 2 * step;
      if (facts->seen && !since && !(bad & 5)) end_span(f, q - last[2], last[3], t - facts->began, rows->line[k]);
      if (!since) last[2] = q, last[3] = 0;
      last[4] = qd;
    }
    if (!since) facts->began = t;
    facts->t = t;
  }
}
