/* tables.c: the tables of the PSDM MATLAB toolbox (Lloyd, Irani, Ahmadi 2021): DH rows [a alpha d theta (type)
 * (sign)] and X rows [m rx ry rz Ixx Iyy Izz Ixy Ixz Iyz (Im)]. */
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

psdm_status psdmp_robot_spec_from_tables(const char *dh_path, const char *x_path, const psdm_robot_options *options,
                                         psdmp_base_arena *arena, psdmp_robot_spec *spec, psdm_error *error) {
  static const char *const dh_names[] = {"DH", "DH_ext", NULL}, *const x_names[] = {"X", NULL};
  psdmp_table_matrix dh, x = {0};
  spec->file = psdmp_base_arena_text(arena, dh_path, strlen(dh_path));
  spec->base = psdmp_robot_pose_identity();
  spec->base_name = "base";
  memcpy(spec->gravity, (const double[3]){0, 0, -9.81}, sizeof spec->gravity);
  if (!spec->file) return psdmp_base_no_memory(spec->file, error);
  psdm_status status = psdmp_table_matrix_read(dh_path, dh_names, arena, &dh, error);
  if (!status) status = check_shape(&dh, dh_path, 0, 4, 6, error);
  if (!status && x_path) status = psdmp_table_matrix_read(x_path, x_names, arena, &x, error);
  if (!status && x_path) status = check_shape(&x, x_path, dh.rows, 10, 11, error);
  if (status) return status;
  spec->joint = psdmp_base_arena_alloc(arena, (size_t)dh.rows * sizeof *spec->joint);
  if (!spec->joint) return psdmp_base_no_memory(spec->file, error);
  spec->joints = dh.rows;
  for (int j = 0; j < dh.rows && !status; j++) {
    status = fill_row(spec, arena, &dh, j, !(options && options->no_snap), error);
    if (!status && x_path && fill_link(spec, arena, &x, j)) status = psdmp_base_no_memory(spec->file, error);
  }
  return status;
}
