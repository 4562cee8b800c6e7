/* pinocchio_model.hpp: libpsdm's canonical tree as a Pinocchio model, joint by joint: JointModelRZ or PZ at the same placement, the same
 * ten parameters, drive inertias as armature. */
#ifndef BENCH_PINOCCHIO_MODEL_HPP
#define BENCH_PINOCCHIO_MODEL_HPP

#include <string>

#include <pinocchio/multibody.hpp>

extern "C" {
#include "robot/robot_priv.h"
}

namespace bench {
inline pinocchio::SE3 placement(const psdmp_pose &pose) {
  typedef Eigen::Matrix<double, 3, 3, Eigen::RowMajor> Matrix3r;
  return pinocchio::SE3(Eigen::Map<const Matrix3r>(pose.R), Eigen::Map<const Eigen::Vector3d>(pose.p));
}

/* ours: ... XX XY XZ YY YZ ZZ; theirs: ... XX XY YY XZ YZ ZZ */
const int to_theirs[PSDMP_STANDARD] = {0, 1, 2, 3, 4, 5, 7, 6, 8, 9};

inline pinocchio::Inertia inertia(const double pi[PSDMP_STANDARD]) {
  Eigen::Matrix<double, PSDMP_STANDARD, 1> theirs;
  for (int i = 0; i < PSDMP_STANDARD; i++) theirs[i] = pi[to_theirs[i]];
  return pi[0] == 0 ? pinocchio::Inertia::Zero() : pinocchio::Inertia::FromDynamicParameters(theirs);
}

inline pinocchio::Model build(const psdm_robot *r) {
  pinocchio::Model model;
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(r->gravity);
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_body &body = r->body[b];
    pinocchio::JointIndex parent = body.parent + 1, joint; /* joint 0 is their universe */
    std::string name = "joint" + std::to_string(b);
    if (body.prismatic)
      joint = model.addJoint(parent, pinocchio::JointModelPZ(), placement(body.joint), name);
    else
      joint = model.addJoint(parent, pinocchio::JointModelRZ(), placement(body.joint), name);
    model.appendBodyToJoint(joint, inertia(body.pi));
    model.armature[b] = r->body_drive[b];
  }
  return model;
}
} // namespace bench
#endif
