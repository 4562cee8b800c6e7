/* linearize_out.c: the points of a linearization in files, in the document, or given to the caller one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/linearize_priv.h"

bool psdmp_study_linearize_ends(const char *path, const char *ending) {
  size_t n = path ? strlen(path) : 0, m = strlen(ending);
  return n >= m && m && strcmp(path + n - m, ending) == 0;
}

/* ---- numbers by name ---- */

static int numbers_of(const psdmp_study_linearize_shown *s) { return (s->rows ? s->rows : 1) * s->columns; }

static void show(psdmp_study_linearize *j, const char *name, int rows, int columns, double *value) {
  j->shown[j->shown_count++] = (psdmp_study_linearize_shown){name, rows, columns, value, NULL};
}

/* what files have of a point, in their order */
static void show_all(psdmp_study_linearize *j) {
  int n = j->n, N = j->states, m = j->inputs;
  bool sampled = j->set.dt > 0;
  if (j->given[POINT_T]) show(j, "t", 0, 1, &j->t);
  show(j, "q", 0, n, j->q);
  show(j, "qd", 0, n, j->qd);
  show(j, "qdd", 0, n, j->qdd);
  show(j, "tau", 0, n, j->tau);
  if (j->second_order) {
    show(j, "M", n, n, j->matrix[MATRIX_M]);
    show(j, "C2", n, n, j->matrix[MATRIX_C2]);
    show(j, "D", n, n, j->matrix[MATRIX_D]);
    show(j, "G", n, n, j->matrix[MATRIX_G]);
  } else {
    show(j, sampled ? "Ad" : "A", N, N, sampled ? j->Ad : j->matrix[MATRIX_A]);
    show(j, sampled ? "Bd" : "B", N, m, sampled ? j->Bd : j->matrix[MATRIX_B]);
  }
  if (j->set.lqr) show(j, "K", m, N, j->matrix[MATRIX_K]);
}

/* "A1_1", "A1_2", ... */
static bool name_numbers(psdmp_study_linearize *j, psdmp_study_linearize_shown *s) {
  enum { NAME = 32 };
  int count = numbers_of(s);
  const char **word = psdmp_job_array(&j->job, (size_t)count, sizeof *word);
  char *text = psdmp_job_array(&j->job, (size_t)count, NAME);
  if (!word || !text) return false;
  for (int i = 0; i < count; i++, text += NAME) {
    snprintf(text, NAME, "%s%d_%d", s->name, i / s->columns + 1, i % s->columns + 1);
    word[i] = text;
  }
  s->words = word;
  return true;
}

/* ---- files ---- */

/* all but the points, which are written as they come */
static psdm_status begin_document(psdmp_study_linearize *j) {
  psdm_error error;
  if (psdm_result_new(&psdm_linearize_result_type, NULL, &j->head, &error)) return psdmp_job_fail(&j->job, &error);
  psdm_linearize_result *r = (psdm_linearize_result *)j->head;
  psdm_result_name_robot(j->head, j->job.robot, &r->robot, &r->fingerprint);
  r->n = j->n;
  PSDM_RESULT_SET(r->joints, psdm_result_joints(j->head, j->job.robot, NULL), j->n);
  r->settings.item = psdmp_job_settings(&j->job, j->head, &r->settings.rows);
  r->form = j->set.form;
  r->dt = j->set.dt;
  if (!psdm_result_complete(j->head, &error)) return PSDM_OK;
  j->head = NULL;
  return psdmp_job_fail(&j->job, &error);
}

static psdm_status open_rows(psdmp_study_linearize *j) {
  const char *path = psdmp_study_linearize_ends(j->set.out, ".csv") ? j->set.out : NULL;
  psdm_status status = psdmp_job_rows_open(&j->job, "out", path, &j->rows);
  for (int k = 0; k < j->shown_count && j->rows && !status; k++)
    if (j->shown[k].rows && !name_numbers(j, &j->shown[k])) status = psdmp_job_memory(&j->job);
  return status;
}

/* a MATLAB file holds all points at once: about ten matrices of 2 n by 2 n, in room that doubles, sorted and
 * compressed */
static psdm_status fits(const psdmp_study_linearize *j) {
  psdm_error error;
  size_t n = (size_t)j->n, bytes = 4 * sizeof(double) * (5 * n + 10 * 4 * n * n);
  return psdm_csv_fits(j->csv, bytes, psdm_robot_memory(j->job.robot), &error) ? psdmp_job_fail(&j->job, &error)
                                                                               : PSDM_OK;
}

psdm_status psdmp_study_linearize_open(psdmp_study_linearize *j) {
  const char *out = j->set.out;
  show_all(j);
  psdm_status status = psdmp_study_linearize_ends(out, ".mat") ? fits(j) : PSDM_OK;
  if (!status) status = begin_document(j);
  if (!status) status = open_rows(j);
  if (!status && psdmp_study_linearize_ends(out, ".json")) status = psdmp_job_open(&j->job, out, &j->json);
  if (!status && j->json) psdm_result_write_begin(j->head, j->json);
  return status;
}

/* ---- a point as a document has it ---- */

static const char *const verdicts[PSDM_STABILITY_COUNT] = {"stable", "oscillating", "drifting", "unstable"};
static const char *const outcomes[PSDM_LQR_COUNT] = {"ok", "weight", "unreachable", "boundary", "failed", "lacking"};

/* numbers, row by row; they stay the job's */
#define PUT_MATRIX(to, from, r, c) ((to).item = (from), (to).rows = (r), (to).columns = (c))

static void put_matrices(const psdmp_study_linearize *j, psdm_linear_point *p) {
  int n = j->n, N = j->states, m = j->inputs;
  if (j->second_order) {
    PUT_MATRIX(p->M, j->matrix[MATRIX_M], n, n);
    PUT_MATRIX(p->C2, j->matrix[MATRIX_C2], n, n);
    PUT_MATRIX(p->D, j->matrix[MATRIX_D], n, n);
    PUT_MATRIX(p->G, j->matrix[MATRIX_G], n, n);
  } else if (j->set.dt > 0) {
    PUT_MATRIX(p->Ad, j->Ad, N, N);
    PUT_MATRIX(p->Bd, j->Bd, N, m);
  } else {
    PUT_MATRIX(p->A, j->matrix[MATRIX_A], N, N);
    PUT_MATRIX(p->B, j->matrix[MATRIX_B], N, m);
  }
  if (psdmp_study_linearize_gains(j)) PUT_MATRIX(p->K, j->matrix[MATRIX_K], m, N);
}

static void put_facts(const psdmp_study_linearize *j, psdm_linear_point *p, psdm_lqr_result *lqr) {
  const psdm_system_facts *f = j->set.dt > 0 ? &j->sampled_facts : &j->facts;
  PSDM_RESULT_SET(p->eigenvalues, j->set.dt > 0 ? j->sampled : j->modes, j->states);
  p->stability = verdicts[j->facts.stability];
  p->growth = j->facts.growth;
  p->controllable = f->controllable, p->reachable = f->reachable, p->reach_margin = f->reach_margin;
  if (!j->set.lqr) return;
  *lqr = (psdm_lqr_result){.outcome = outcomes[j->lqr.outcome], .residual = j->lqr.residual};
  if (psdmp_study_linearize_gains(j)) PSDM_RESULT_SET(lqr->closed_loop, j->closed, j->states);
  p->lqr = lqr;
}

/* the parts that a point has */
typedef struct parts {
  psdm_linear_point point;
  psdm_equilibrium_result equilibrium;
  psdm_lqr_result lqr;
} parts;

static void fill(const psdmp_study_linearize *j, bool facts, parts *to) {
  const psdm_equilibrium_info *e = &j->equilibrium;
  psdm_linear_point *p = &to->point;
  *to = (parts){.equilibrium = {e->found, e->residual, e->rank, e->starts}};
  p->t = j->given[POINT_T] ? j->t : NAN;
  PSDM_RESULT_SET(p->q, j->q, j->n);
  PSDM_RESULT_SET(p->qd, j->qd, j->n);
  PSDM_RESULT_SET(p->qdd, j->qdd, j->n);
  PSDM_RESULT_SET(p->tau, j->tau, j->n);
  if (j->set.equilibrium && j->given[POINT_TAU]) p->equilibrium = &to->equilibrium;
  if (facts) put_matrices(j, p), put_facts(j, p, &to->lqr);
}

/* ---- points that are kept: in the document, and for a MATLAB file ---- */

static const psdm_mode *copy_modes(psdm_result *head, const psdm_mode *from, long count) {
  psdm_mode *to = from ? psdm_result_memory(head, count, sizeof *to) : NULL;
  if (to) memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

/* its numbers become the document's */
static void copy_point(psdm_result *head, const parts *from, psdm_linear_point *to) {
  *to = from->point;
  for (int k = 0; k < psdm_linear_point_type.count; k++) {
    const psdm_result_field *field = &psdm_linear_point_type.field[k];
    psdm_result_list *list = (psdm_result_list *)((char *)to + field->offset);
    if (field->kind == PSDM_FIELD_numbers && list->item)
      list->item = psdm_result_numbers(head, list->item, list->rows * (list->columns ? list->columns : 1));
  }
  to->eigenvalues.item = copy_modes(head, to->eigenvalues.item, to->eigenvalues.rows);
  psdm_equilibrium_result *e = to->equilibrium ? psdm_result_memory(head, 1, sizeof *e) : NULL;
  if (e) *e = from->equilibrium;
  to->equilibrium = e;
  psdm_lqr_result *lqr = to->lqr ? psdm_result_memory(head, 1, sizeof *lqr) : NULL;
  if (lqr) {
    *lqr = from->lqr;
    lqr->closed_loop.item = copy_modes(head, lqr->closed_loop.item, lqr->closed_loop.rows);
  }
  to->lqr = lqr;
}

static psdm_status keep_point(psdmp_study_linearize *j, const parts *p) {
  if (!psdmp_base_room(NULL, &j->found, j->points, 1, &j->found_room, sizeof *j->found))
    return psdmp_job_memory(&j->job);
  copy_point(j->head, p, &j->found[j->points]);
  return PSDM_OK;
}

static size_t record_size(const psdmp_study_linearize *j) {
  size_t size = 0;
  for (int k = 0; k < j->shown_count; k++) size += (size_t)numbers_of(&j->shown[k]);
  return size;
}

/* a point's numbers behind those of the points before */
static psdm_status keep_record(psdmp_study_linearize *j) {
  if (!psdmp_base_room(NULL, &j->kept, j->points, 1, &j->kept_room, record_size(j) * sizeof *j->kept))
    return psdmp_job_memory(&j->job);
  double *at = j->kept + (size_t)j->points * record_size(j);
  for (int k = 0; k < j->shown_count; k++) {
    memcpy(at, j->shown[k].value, (size_t)numbers_of(&j->shown[k]) * sizeof *at);
    at += numbers_of(&j->shown[k]);
  }
  return PSDM_OK;
}

/* points to pages: each matrix of all points, one after the other */
static psdm_status save_mat(const psdmp_study_linearize *j) {
  psdm_matrix pages[2 + LINEARIZE_SHOWN];
  char kinematics[32];
  const char *out = j->set.out;
  psdm_error error;
  int count = j->shown_count;
  size_t size = record_size(j), before = 0;
  double *sorted = malloc(size * (size_t)j->points * sizeof *sorted), *at = sorted;
  if (!sorted) return psdmp_job_memory(&j->job);
  for (int k = 0; k < count; k++) {
    const psdmp_study_linearize_shown *s = &j->shown[k];
    size_t part = (size_t)numbers_of(s);
    /* vectors: (points x n) rather than pages */
    pages[k] = s->rows ? (psdm_matrix){s->name, s->rows, s->columns, j->points, at, NULL}
                       : (psdm_matrix){s->name, (int)j->points, s->columns, 1, at, NULL};
    for (long p = 0; p < j->points; p++, at += part) memcpy(at, j->kept + (size_t)p * size + before, part * sizeof *at);
    before += part;
  }
  snprintf(kinematics, sizeof kinematics, "%s", ((const psdm_linearize_result *)j->head)->fingerprint);
  pages[count++] = (psdm_matrix){.name = "robot", .text = psdm_robot_name(j->job.robot)};
  pages[count++] = (psdm_matrix){.name = "kinematics", .text = kinematics};
  psdm_status status = psdmp_job_writes(&j->job, out, false);
  if (!status && psdm_matrices_save(count, pages, out, NULL, &error)) status = psdmp_job_fail(&j->job, &error);
  free(sorted);
  return status ? status : psdmp_job_writes(&j->job, out, true);
}

/* ---- writing ---- */

/* what is missing is NaN in files */
static void blank(psdmp_study_linearize *j) {
  bool lost = psdmp_study_linearize_lost(j), gains = psdmp_study_linearize_gains(j);
  for (int k = 0; k < j->shown_count; k++) {
    const psdmp_study_linearize_shown *s = &j->shown[k];
    bool missing = s->rows && (lost || (s->value == j->matrix[MATRIX_K] && !gains));
    for (int i = 0; missing && i < numbers_of(s); i++) s->value[i] = NAN;
  }
}

static void add_row(psdmp_study_linearize *j) {
  psdmp_job_group group[LINEARIZE_SHOWN];
  for (int k = 0; k < j->shown_count; k++) {
    const psdmp_study_linearize_shown *s = &j->shown[k];
    int count = s->value == &j->t ? 0 : numbers_of(s);
    group[k] = (psdmp_job_group){.name = s->name, .count = count, .value = s->value, .words = s->words};
  }
  psdmp_job_rows_add(j->rows, group, j->shown_count);
}

static bool give(const psdmp_study_linearize *j, bool facts, const parts *p) {
  const psdm_linearization found = {
      .head = (const psdm_linearize_result *)j->head,
      .point = &p->point,
      .line = psdm_csv_line(j->csv),
      .rates = j->given[POINT_QD],
      .accelerations = j->given[POINT_QDD] || (j->given[POINT_TAU] && !j->set.equilibrium),
      .facts = facts ? &j->facts : NULL,
      .lqr = facts && j->set.lqr ? &j->lqr : NULL};
  return j->take(j->user, &found);
}

psdm_status psdmp_study_linearize_write(psdmp_study_linearize *j, bool facts) {
  parts p;
  blank(j);
  fill(j, facts, &p);
  if (j->json) psdm_result_write_item(&psdm_linear_point_type, &p.point, j->json);
  if (j->rows) add_row(j);
  if (j->take && !give(j, facts, &p)) j->enough = true;
  psdm_status status = j->take ? PSDM_OK : keep_point(j, &p);
  return status || !psdmp_study_linearize_ends(j->set.out, ".mat") ? status : keep_record(j);
}

bool psdmp_study_linearize_failed(const psdmp_study_linearize *j) {
  return j->enough || (j->json && psdm_output_failed(j->json)) || psdmp_job_rows_failed(j->rows);
}

psdm_status psdmp_study_linearize_close(psdmp_study_linearize *j) {
  psdm_job *job = &j->job;
  psdm_linearize_result *r = (psdm_linearize_result *)j->head;
  psdm_error error;
  psdm_status status = psdmp_study_linearize_ends(j->set.out, ".mat") ? save_mat(j) : PSDM_OK;
  if (!status && j->json) psdm_result_write_end(j->json), status = psdmp_job_close(job, &j->json, true);
  if (!status) status = psdmp_job_rows_commit(job, &j->rows);
  if (status) return status;
  if (!j->take) {
    psdm_linear_point *point = psdm_result_memory(j->head, j->points, sizeof *point);
    if (point) memcpy(point, j->found, (size_t)j->points * sizeof *point);
    PSDM_RESULT_SET(r->points, point, j->points);
  }
  status = psdm_result_complete(j->head, &error);
  if (!status) job->answer = j->head;
  j->head = NULL;
  return status ? psdmp_job_fail(job, &error) : PSDM_OK;
}

void psdmp_study_linearize_abort(psdmp_study_linearize *j) {
  psdmp_job_close(&j->job, &j->json, false);
  psdmp_job_rows_abort(&j->job, &j->rows);
  psdm_result_free(j->head);
  free(j->kept);
  free(j->found);
}
