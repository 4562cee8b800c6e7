/* save_io.c: the model in a file: JSON, or MATLAB's. */
#include <string.h>

#include "table/table.h"
#include "model/model.h"
#include "robot/robot.h"

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* one file being written */
typedef struct saver {
  psdm_output *out;
  const psdm_model *m;
  double *data; /* room for the largest variable */
} saver;

static psdm_status add(const saver *s, const char *name, size_t rows, size_t columns) {
  return psdmp_table_mat_put(
      s->out, &(psdmp_table_mat_array){.name = name, .rank = 2, .dims = {rows, columns}, .number = s->data},
      s->m->arena.allocator);
}

static psdm_status add_text(const saver *s, const char *name, size_t rows, size_t columns, const char *text) {
  return psdmp_table_mat_put(
      s->out, &(psdmp_table_mat_array){.name = name, .rank = 2, .dims = {rows, columns}, .character = text},
      s->m->arena.allocator);
}

/* E, 5n x p */
static psdm_status add_exponents(const saver *s) {
  const psdm_model *m = s->m;
  unsigned char e[5 * 64];
  for (long f = 0; f < m->p; f++) {
    psdm_model_exponents(m, f, e);
    for (int i = 0; i < 5 * m->n; i++) s->data[f * 5 * m->n + i] = e[i];
  }
  return add(s, "E", (size_t)(5 * m->n), (size_t)m->p);
}

/* P, p x l x n, dense as in the toolbox; stored by columns */
static psdm_status add_matrix(const saver *s) {
  const psdm_model *m = s->m;
  memset(s->data, 0, sizeof *s->data * (size_t)m->p * (size_t)m->l * (size_t)m->n);
  for (long f = 0; f < m->p; f++)
    for (long i = m->P_start[f]; i < m->P_start[f + 1]; i++)
      s->data[f + m->p * (m->P[i].parameter + (long)m->l * m->P[i].joint)] = m->P[i].value;
  return psdmp_table_mat_put(
      s->out,
      &(psdmp_table_mat_array){
          .name = "P", .rank = 3, .dims = {(size_t)m->p, (size_t)m->l, (size_t)m->n}, .number = s->data},
      m->arena.allocator);
}

/* names of the base parameters as rows of text, and their values where known */
static psdm_status add_parameters(const saver *s, const psdm_robot *robot) {
  enum { WIDTH = 12 };
  const psdm_model *m = s->m;
  char *names = (char *)s->data;
  memset(names, ' ', (size_t)m->l * WIDTH);
  for (int j = 0; j < m->l; j++) {
    const char *name = psdm_model_base_name(m, j);
    for (size_t i = 0; name[i] && i < WIDTH; i++) names[i * (size_t)m->l + (size_t)j] = name[i];
  }
  psdm_status status = add_text(s, "names", (size_t)m->l, WIDTH, names);
  if (status || !robot || psdm_robot_ready(robot, NULL)) return status;
  double *pi = psdmp_base_alloc_raw(m->arena.allocator, (size_t)psdm_robot_parameter_count(robot) * sizeof *pi);
  if (!pi) return PSDM_E_MEMORY;
  psdm_robot_parameters(robot, pi);
  psdm_model_theta(m, pi, s->data);
  psdmp_base_free(m->arena.allocator, pi);
  return add(s, "theta", (size_t)m->l, 1);
}

/* size of the gravity vector, a factor of every function of positions alone; and the robot's identity */
static psdm_status add_robot(const saver *s) {
  char text[PSDMP_ROBOT_FINGERPRINT];
  s->data[0] = s->m->gravity;
  psdm_status status = add(s, "gravity", 1, 1);
  if (!status && s->m->robot.kinematics)
    status = add_text(s, "kinematics", 1, PSDMP_ROBOT_FINGERPRINT - 1,
                      psdmp_robot_fingerprint_text(s->m->robot.kinematics, text));
  return status;
}

static psdm_status add_all(const saver *s, const psdm_robot *robot) {
  psdmp_table_mat_begin(s->out);
  psdm_status status = add_exponents(s);
  if (!status) status = add_matrix(s);
  if (!status) status = add_parameters(s, robot);
  return status ? status : add_robot(s);
}

static psdm_status save_mat(const psdm_model *m, const psdm_robot *robot, const char *path, psdm_error *error) {
  size_t size = (size_t)m->p * (size_t)m->l * (size_t)m->n, exponents = (size_t)(5 * m->n) * (size_t)m->p;
  if (size > (size_t)1 << 28)
    return psdmp_base_fail(error, PSDM_E_LIMIT, path, 0, 0, "P would have %zu entries when written in full; use .json",
                           size);
  saver s = {.m = m};
  psdm_status status = psdm_output_open(path, m->arena.allocator, &s.out, error);
  if (status) return status;
  s.data = psdmp_base_alloc_raw(m->arena.allocator,
                                sizeof *s.data * ((size > exponents ? size : exponents) + 16 * (size_t)m->l + 16));
  status = s.data ? add_all(&s, robot) : PSDM_E_MEMORY;
  psdmp_base_free(m->arena.allocator, s.data);
  if (!status) return psdm_output_commit(&s.out, error);
  psdm_output_abort(&s.out);
  return psdmp_base_fail(error, status, path, 0, 0, "%s", psdm_status_text(status));
}

psdm_status psdm_model_save(const psdm_model *m, const psdm_robot *robot, const char *path, psdm_error *error) {
  if (ends_with(path, ".mat")) return save_mat(m, robot, path, error);
  psdm_output *out;
  psdm_status status = psdm_output_open(path, m->arena.allocator, &out, error);
  if (status) return status;
  psdmp_model_write(m, robot, out);
  return psdm_output_commit(&out, error);
}
