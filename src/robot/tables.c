/* tables.c: the tables of the PSDM MATLAB toolbox (Lloyd, Irani, Ahmadi 2021): DH rows [a alpha d theta (type)
 * (sign)] and X rows [m rx ry rz Ixx Iyy Izz Ixy Ixz Iyz (Im)]. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "table/table.h"
#include "robot/spec_priv.h"

static psdm_status check_shape(const psdmp_table_matrix *m, const char *file, int rows, int least, int most,
                               psdm_error *error) {
  if (m->columns < least || m->columns > most)
    return psdmp_base_fail(error, PSDM_E_PARSE, file, 1, 0, "rows of %d numbers; %d to %d were expected", m->columns,
                           least, most);
  if (rows && m->rows != rows)
    return psdmp_base_fail(error, PSDM_E_PARSE, file, 0, 0, "%d rows for %d joints", m->rows, rows);
  if (m->rows > PSDM_MAX_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, file, 0, 0, "%d joints; at most %d are accepted", m->rows,
                           PSDM_MAX_JOINTS);
  return PSDM_OK;
}

/* one DH row. A negative sign reverses q: Rz(theta - q) Tz(d) = Rx(pi) Rz(q - theta) Tz(-d) Rx(pi), so the joint is
 * turned over. */
static psdm_status fill_row(psdmp_robot_spec *spec, psdmp_base_arena *arena, const psdmp_table_matrix *dh, int j,
                            bool snap, psdm_error *error) {
  const double *v = dh->value + (long)j * dh->columns;
  double a = v[0], alpha = v[1], d = v[2], theta = v[3], type = dh->columns > 4 ? v[4] : 0,
         sign = dh->columns > 5 ? v[5] : 1;
  psdmp_robot_spec_joint *joint = &spec->joint[j];
  char name[32], where[48];
  if ((type != 0 && type != 1) || (sign != 1 && sign != -1))
    return psdmp_base_fail(error, PSDM_E_PARSE, spec->file, j + 1, 0,
                           "row %d: type is %g and sign %g; 0 or 1 and 1 or -1 were expected", j + 1, type, sign);
  snprintf(where, sizeof where, "row %d", j + 1);
  if (snap && (psdmp_robot_spec_snap(spec, arena, &alpha, j + 1, where, "alpha") ||
               psdmp_robot_spec_snap(spec, arena, &theta, j + 1, where, "theta")))
    return psdmp_base_no_memory(spec->file, error);
  psdmp_robot_spec_joint_init(joint);
  snprintf(name, sizeof name, "joint%d", j + 1);
  joint->name = psdmp_base_arena_text(arena, name, strlen(name));
  snprintf(name, sizeof name, "link%d", j + 1);
  joint->link_name = psdmp_base_arena_text(arena, name, strlen(name));
  if (!joint->name || !joint->link_name) return psdmp_base_no_memory(spec->file, error);
  joint->line = joint->link_line = j + 1;
  joint->parent = j - 1;
  joint->type = type == 1 ? PSDM_PRISMATIC : PSDM_REVOLUTE;
  psdmp_robot_pose over = psdmp_robot_pose_rotation(0, sign < 0 ? 3.14159265358979323846 : 0);
  psdmp_robot_pose z = psdmp_robot_pose_rotation(2, theta), x = psdmp_robot_pose_rotation(0, alpha);
  z.p[2] = d;
  x.p[0] = a;
  joint->before = psdmp_robot_pose_product(&z, &over);
  joint->after = psdmp_robot_pose_product(&over, &x);
  psdmp_robot_spec_add_length(joint, 'a', a, over.R, 0, true);
  psdmp_robot_spec_add_length(joint, 'd', d, z.R, 2, false);
  return PSDM_OK;
}

static psdm_status fill_link(psdmp_robot_spec *spec, psdmp_base_arena *arena, const psdmp_table_matrix *x, int j) {
  const double *v = x->value + (long)j * x->columns;
  const double inertia[6] = {v[4], v[7], v[8], v[5], v[9], v[6]};
  psdmp_robot_spec_joint *joint = &spec->joint[j];
  psdmp_robot_standard_from_body(v[0], v + 1, inertia, joint->pi);
  joint->known = true;
  joint->has_drive = x->columns > 10 && v[10] != 0;
  joint->drive_inertia = joint->has_drive ? v[10] : 0;
  return psdmp_robot_spec_check_link(spec, arena, joint->link_name, joint->pi);
}

/* DH and X (NULL: inertias are unknown) under the names of their files */
static psdm_status fill(const psdmp_table_matrix *dh, const char *dh_name, const psdmp_table_matrix *x,
                        const char *x_name, bool snap, psdmp_base_arena *arena, psdmp_robot_spec *spec,
                        psdm_error *error) {
  spec->file = psdmp_base_arena_text(arena, dh_name, strlen(dh_name));
  spec->base = psdmp_robot_pose_identity();
  spec->base_name = "base";
  memcpy(spec->gravity, (const double[3]){0, 0, -9.81}, sizeof spec->gravity);
  if (!spec->file) return psdmp_base_no_memory(dh_name, error);
  psdm_status status = check_shape(dh, dh_name, 0, 4, 6, error);
  if (!status && x) status = check_shape(x, x_name, dh->rows, 10, 11, error);
  if (status) return status;
  spec->joint = psdmp_base_arena_alloc(arena, (size_t)dh->rows * sizeof *spec->joint);
  if (!spec->joint) return psdmp_base_no_memory(spec->file, error);
  spec->joints = dh->rows;
  for (int j = 0; j < dh->rows && !status; j++) {
    status = fill_row(spec, arena, dh, j, snap, error);
    if (!status && x && fill_link(spec, arena, x, j)) status = psdmp_base_no_memory(spec->file, error);
  }
  return status;
}

static bool snaps(const psdm_robot_options *options) { return !(options && options->no_snap); }

psdm_status psdmp_robot_spec_from_tables(const char *dh_path, const char *x_path, const psdm_robot_options *options,
                                         psdmp_base_arena *arena, psdmp_robot_spec *spec, psdm_error *error) {
  static const char *const dh_names[] = {"DH", "DH_ext", NULL}, *const x_names[] = {"X", NULL};
  psdmp_table_matrix dh, x;
  psdm_status status = psdmp_table_matrix_read(dh_path, dh_names, arena, &dh, error);
  if (!status && x_path) status = psdmp_table_matrix_read(x_path, x_names, arena, &x, error);
  return status ? status : fill(&dh, dh_path, x_path ? &x : NULL, x_path, snaps(options), arena, spec, error);
}

/* a table of the caller's, copied */
static psdm_status take(const psdm_matrix *from, psdmp_base_arena *arena, psdmp_table_matrix *to, psdm_error *error) {
  size_t count = from->rows > 0 && from->columns > 0 ? (size_t)from->rows * (size_t)from->columns : 0;
  *to =
      (psdmp_table_matrix){from->rows, from->columns, psdmp_base_arena_array(arena, (ptrdiff_t)count, sizeof(double))};
  if (!count) return psdmp_base_fail(error, PSDM_E_PARSE, from->name, 0, 0, "a table without numbers");
  if (!to->value) return psdmp_base_no_memory(from->name, error);
  memcpy(to->value, from->value, count * sizeof *to->value);
  for (size_t i = 0; i < count; i++)
    if (!isfinite(to->value[i]))
      return psdmp_base_fail(error, PSDM_E_PARSE, from->name, (int)(i / (size_t)from->columns) + 1, 0,
                             "a number is not finite");
  return PSDM_OK;
}

psdm_status psdmp_robot_spec_from_matrices(const psdm_matrix *dh, const psdm_matrix *x,
                                           const psdm_robot_options *options, psdmp_base_arena *arena,
                                           psdmp_robot_spec *spec, psdm_error *error) {
  psdmp_table_matrix own_dh, own_x;
  psdm_status status = take(dh, arena, &own_dh, error);
  if (!status && x) status = take(x, arena, &own_x, error);
  return status ? status
                : fill(&own_dh, dh->name, x ? &own_x : NULL, x ? x->name : NULL, snaps(options), arena, spec, error);
}
