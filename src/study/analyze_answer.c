/* analyze_answer.c: what was found, as a document. */
#include "study/analyze_priv.h"

static void put_entry(psdm_result *head, int present, const unsigned char *depends, int n, psdm_structure_entry *to) {
  long *joint = psdm_result_memory(head, n, sizeof *joint), count = 0;
  for (int j = 0; joint && j < n; j++)
    if (depends[j]) joint[count++] = j + 1;
  to->zero = !present;
  PSDM_RESULT_SET(to->depends, joint, count);
}

/* [joint, velocity, velocity] of the terms that are there */
static void put_coriolis(const psdmp_study_analyze *a, psdm_analyze_result *r) {
  long count = 0, n = a->n, most = n * n * (n + 1) / 2;
  long *term = psdm_result_memory(&r->head, 3 * most, sizeof *term);
  for (int i = 0; term && i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = j; k < n; k++) {
        if (!psdm_structure_coriolis(a->structure, i, j, k, NULL)) continue;
        term[3 * count] = i + 1, term[3 * count + 1] = j + 1, term[3 * count + 2] = k + 1;
        count++;
      }
  PSDM_RESULT_SET(r->c, term, count);
  r->c.columns = 3;
}

static void put_structure(const psdmp_study_analyze *a, psdm_analyze_result *r) {
  unsigned char depends[PSDM_MAX_JOINTS];
  int n = a->n;
  psdm_structure_entry *M = psdm_result_items(&r->head, &psdm_structure_entry_type, (long)n * n),
                       *g = psdm_result_items(&r->head, &psdm_structure_entry_type, n);
  if (!M || !g) return;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      int present = psdm_structure_mass(a->structure, i, j, depends);
      put_entry(&r->head, present, depends, n, &M[i * n + j]);
    }
    int present = psdm_structure_gravity(a->structure, i, depends);
    put_entry(&r->head, present, depends, n, &g[i]);
  }
  r->masses = a->numeric && !a->set.any ? "own" : "any";
  PSDM_RESULT_SET(r->M, M, n);
  r->M.columns = n;
  PSDM_RESULT_SET(r->g, g, n);
  put_coriolis(a, r);
  r->constant_mass = psdm_structure_constant_mass(a->structure);
  r->diagonal_mass = psdm_structure_diagonal_mass(a->structure);
  r->linear = psdm_structure_linear(a->structure);
}

static const char *constant_at(const void *from, int k) {
  return psdm_structure_condition(from, PSDM_WISH_CONSTANT_MASS, k);
}
static const char *diagonal_at(const void *from, int k) {
  return psdm_structure_condition(from, PSDM_WISH_DIAGONAL_MASS, k);
}
static const char *gravity_at(const void *from, int k) {
  return psdm_structure_condition(from, PSDM_WISH_NO_GRAVITY, k);
}
static const char *springs_at(const void *from, int k) { return psdm_structure_condition(from, PSDM_WISH_SPRINGS, k); }

static void put_conditions(psdm_result *head, const psdm_structure *s, psdm_conditions *to) {
  to->constant_mass.item = psdmp_job_texts(head, constant_at, s, &to->constant_mass.rows);
  to->diagonal_mass.item = psdmp_job_texts(head, diagonal_at, s, &to->diagonal_mass.rows);
  to->no_gravity.item = psdmp_job_texts(head, gravity_at, s, &to->no_gravity.rows);
  to->springs.item = psdmp_job_texts(head, springs_at, s, &to->springs.rows);
}

static void put_bound(psdm_result *head, const psdm_bound *b, const psdm_bounds *all, psdm_bound_result *to) {
  const psdm_samples *s = &b->at_samples;
  to->bound = b->bound, to->found = b->found;
  PSDM_RESULT_SET(to->q, psdm_result_numbers(head, b->q, all->n), all->n);
  if (b->qd) PSDM_RESULT_SET(to->qd, psdm_result_numbers(head, b->qd, all->n), all->n);
  psdm_sampled *sampled = all->samples ? psdm_result_items(head, &psdm_sampled_type, 1) : NULL;
  if (sampled) *sampled = (psdm_sampled){s->least, s->half, s->most, s->nearly_all, s->largest, s->beyond};
  to->samples = sampled;
}

long psdmp_study_analyze_beyond(const psdm_bounds *b) {
  return b->mass.at_samples.beyond + b->mass_small.at_samples.beyond + b->mass_least.at_samples.beyond +
         b->coriolis.at_samples.beyond + b->gravity.at_samples.beyond;
}

static void put_bounds(const psdmp_study_analyze *a, psdm_analyze_result *r) {
  const psdm_bounds *b = a->bounds;
  psdm_bounds_result *to = b ? psdm_result_items(&r->head, &psdm_bounds_result_type, 1) : NULL;
  if (!to) return;
  for (int k = 0; k < 8; k++) to->k[k] = b->k[k];
  to->coriolis_square = b->coriolis_square;
  put_bound(&r->head, &b->mass, b, &to->mass);
  put_bound(&r->head, &b->mass_small, b, &to->mass_small);
  put_bound(&r->head, &b->mass_least, b, &to->mass_least);
  put_bound(&r->head, &b->coriolis, b, &to->coriolis);
  put_bound(&r->head, &b->gravity, b, &to->gravity);
  to->samples = b->samples;
  to->device = a->set.device;
  to->samples_seconds = b->samples_seconds;
  to->beyond = psdmp_study_analyze_beyond(b);
  to->seconds = b->seconds;
  r->bounds = to;
}

static void put_path_point(const psdmp_study_analyze *a, psdm_result *head, long row, psdm_path_point *to) {
  to->manipulability = psdmp_study_analyze_measure(a, row);
  if (a->path.timed) to->t = a->path.t[row];
  PSDM_RESULT_SET(to->q, psdm_result_numbers(head, a->path.q + row * a->n, a->n), a->n);
}

static void put_path(const psdmp_study_analyze *a, psdm_analyze_result *r) {
  const psdmp_study_path *p = &a->path;
  psdm_path_result *to = a->set.path ? psdm_result_items(&r->head, &psdm_path_result_type, 1) : NULL;
  if (!to) return;
  to->positions = p->count;
  to->link = psdm_result_text(&r->head, psdm_robot_link_name(a->job.robot, a->link));
  to->dimensions = p->dimensions;
  put_path_point(a, &r->head, p->least, &to->least);
  put_path_point(a, &r->head, p->most, &to->most);
  r->path = to;
}

static void fill(psdm_job *job, psdm_result *head) {
  const psdmp_study_analyze *a = (psdmp_study_analyze *)job;
  psdm_analyze_result *r = (psdm_analyze_result *)head;
  psdm_result_name_robot(head, job->robot, &r->name, &r->fingerprint);
  r->n = a->n;
  PSDM_RESULT_SET(r->joints, psdm_result_joints(head, job->robot, NULL), a->n);
  put_structure(a, r);
  put_conditions(head, a->structure, &r->conditions);
  put_bounds(a, r);
  put_path(a, r);
}

psdm_status psdmp_study_analyze_answer(psdmp_study_analyze *a) {
  return psdmp_job_answer(&a->job, &psdm_analyze_result_type, fill);
}
