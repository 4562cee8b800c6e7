/* model_save_io.c: the model in a file: JSON, or MATLAB through matio. */
#define _POSIX_C_SOURCE 200809L /* rename */
#include <errno.h>
#include <matio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model_priv.h"

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static bool add(mat_t *file, const char *name, enum matio_classes kind, enum matio_types type, int rank, size_t *dims, void *data) {
  matvar_t *var = Mat_VarCreate(name, kind, type, rank, dims, data, MAT_F_DONT_COPY_DATA);
  bool ok = var && Mat_VarWrite(file, var, MAT_COMPRESSION_ZLIB) == 0;
  Mat_VarFree(var);
  return ok;
}

/* E, 5n x p */
static bool add_exponents(mat_t *file, const psdm_model *m, double *data) {
  unsigned char e[5 * 64];
  for (long f = 0; f < m->p; f++) {
    psdm_model_exponents(m, f, e);
    for (int i = 0; i < 5 * m->n; i++) data[f * 5 * m->n + i] = e[i];
  }
  return add(file, "E", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){(size_t)(5 * m->n), (size_t)m->p}, data);
}

/* P, p x l x n, full as the toolbox has it; stored by columns */
static bool add_matrix(mat_t *file, const psdm_model *m, double *data) {
  memset(data, 0, sizeof *data * (size_t)m->p * (size_t)m->l * (size_t)m->n);
  for (long f = 0; f < m->p; f++)
    for (long i = m->P_start[f]; i < m->P_start[f + 1]; i++) data[f + m->p * (m->P[i].parameter + (long)m->l * m->P[i].joint)] = m->P[i].value;
  return add(file, "P", MAT_C_DOUBLE, MAT_T_DOUBLE, 3, (size_t[]){(size_t)m->p, (size_t)m->l, (size_t)m->n}, data);
}

/* names of the base parameters as rows of text, and their values where the robot knows them */
static bool add_parameters(mat_t *file, const psdm_model *m, const psdm_robot *robot, double *data) {
  enum { WIDTH = 12 };
  char *names = (char *)data;
  memset(names, ' ', (size_t)m->l * WIDTH);
  for (int j = 0; j < m->l; j++) {
    const char *name = psdm_model_base_name(m, j);
    for (size_t i = 0; name[i] && i < WIDTH; i++) names[i * (size_t)m->l + (size_t)j] = name[i];
  }
  if (!add(file, "names", MAT_C_CHAR, MAT_T_UINT8, 2, (size_t[]){(size_t)m->l, WIDTH}, names)) return false;
  if (!robot || psdm_robot_ready(robot, NULL)) return true;
  double *pi = psdmp_alloc_raw(m->arena.allocator, (size_t)psdm_robot_parameter_count(robot) * sizeof *pi);
  if (!pi) return errno = ENOMEM, false;
  psdm_robot_parameters(robot, pi);
  psdm_model_theta(m, pi, data);
  psdmp_free(m->arena.allocator, pi);
  return add(file, "theta", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){(size_t)m->l, 1}, data);
}

/* size of the gravity vector: a factor of every function of positions alone */
static bool add_gravity(mat_t *file, const psdm_model *m, double *data) {
  data[0] = m->gravity;
  return add(file, "gravity", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, (size_t[]){1, 1}, data);
}

static psdm_status save_mat(const psdm_model *m, const psdm_robot *robot, const char *path, psdm_error *error) {
  char part[4096];
  size_t size = (size_t)m->p * (size_t)m->l * (size_t)m->n, exponents = (size_t)(5 * m->n) * (size_t)m->p;
  if (snprintf(part, sizeof part, "%s.part-%ld", path, (long)getpid()) >= (int)sizeof part) return psdmp_fail(error, PSDM_E_ARGUMENT, path, 0, 0, "the name is too long");
  if (size > (size_t)1 << 28) return psdmp_fail(error, PSDM_E_LIMIT, path, 0, 0, "P would have %zu entries when written in full; use .json", size);
  double *data = psdmp_alloc_raw(m->arena.allocator, sizeof *data * ((size > exponents ? size : exponents) + 16 * (size_t)m->l + 16));
  if (!data) return psdmp_fail(error, PSDM_E_MEMORY, path, 0, 0, "out of memory");
  mat_t *file = Mat_CreateVer(part, NULL, MAT_FT_MAT5);
  bool ok = file && add_exponents(file, m, data) && add_matrix(file, m, data) && add_parameters(file, m, robot, data) && add_gravity(file, m, data);
  if (file) ok = Mat_Close(file) == 0 && ok;
  ok = ok && rename(part, path) == 0;
  if (!ok) unlink(part);
  psdmp_free(m->arena.allocator, data);
  return ok ? PSDM_OK : psdmp_fail(error, PSDM_E_IO, path, 0, 0, "cannot be written: %s", errno ? strerror(errno) : "matio failed");
}

psdm_status psdm_model_save(const psdm_model *m, const psdm_robot *robot, const char *path, psdm_error *error) {
  if (ends_with(path, ".mat")) return save_mat(m, robot, path, error);
  psdm_output *out;
  psdm_status status = psdm_output_open(path, m->arena.allocator, &out, error);
  if (status) return status;
  psdm_model_write(m, robot, out);
  return psdm_output_commit(&out, error);
}
