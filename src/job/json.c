/* json.c: what results of all commands begin with. */
#include <stdio.h>

#include "job/job_priv.h"
#include "psdm/component.h"

void psdmp_job_json_begin(const psdm_job *job, psdm_output *out) {
  psdm_json_object(out, NULL);
  psdm_json_string(out, "command", job->kind->command);
  psdm_json_string(out, "psdm", psdm_version());
}

void psdmp_job_json_robot(psdm_output *out, const char *key, const psdm_robot *robot) {
  char text[17];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)psdm_robot_fingerprint(robot));
  psdm_json_string(out, key, psdm_robot_name(robot));
  psdm_json_string(out, "fingerprint", text);
}

void psdmp_job_json_joints(psdm_output *out, const psdm_robot *robot, double *const *limit) {
  static const char *const keys[] = {"lower", "upper", "velocity", "acceleration", "effort"};
  psdm_json_array(out, "joints");
  for (int q = 0; q < psdm_robot_n(robot); q++) {
    const psdm_joint *joint = psdmp_job_joint(robot, q);
    const psdm_limits *own = &joint->limits;
    const double file[] = {own->lower, own->upper, own->velocity, own->acceleration, own->effort};
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", joint->name);
    psdm_json_string(out, "type", joint->type == PSDM_PRISMATIC ? "prismatic" : "revolute");
    psdm_json_object(out, "limits");
    for (int k = 0; k < 5; k++) psdm_json_number(out, keys[k], limit ? limit[k][q] : file[k]);
    psdm_json_close(out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}
