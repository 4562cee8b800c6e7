/* pinocchio_model.hpp: libpsdm's canonical tree as a Pinocchio model, joint by joint: JointModelRZ or PZ at the same
 * placement, the same ten parameters, drive inertias as armature. Pinocchio's joints must be numbered depth first:
 * joint k + 1 is body depth_first()[k]. */
#ifndef BENCH_PINOCCHIO_MODEL_HPP
#define BENCH_PINOCCHIO_MODEL_HPP

#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>

extern "C" {
#include "robot/robot.h"
}

namespace bench {
inline pinocchio::SE3 placement(const psdmp_robot_pose &pose) {
  typedef Eigen::Matrix<double, 3, 3, Eigen::RowMajor> Matrix3r;
  return pinocchio::SE3(Eigen::Map<const Matrix3r>(pose.R), Eigen::Map<const Eigen::Vector3d>(pose.p));
}

/* ours: ... XX XY XZ YY YZ ZZ; theirs: ... XX XY YY XZ YZ ZZ */
const int to_theirs[PSDMP_ROBOT_STANDARD] = {0, 1, 2, 3, 4, 5, 7, 6, 8, 9};

inline pinocchio::Inertia inertia(const double pi[PSDMP_ROBOT_STANDARD]) {
  Eigen::Matrix<double, PSDMP_ROBOT_STANDARD, 1> theirs;
  for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++) theirs[i] = pi[to_theirs[i]];
  return pi[0] == 0 ? pinocchio::Inertia::Zero() : pinocchio::Inertia::FromDynamicParameters(theirs);
}

inline void visit_children(const psdm_robot *r, int parent, std::vector<int> &order) {
  for (int b = 0; b < r->bodies; b++)
    if (r->body[b].parent == parent) order.push_back(b), visit_children(r, b, order);
}

inline std::vector<int> depth_first(const psdm_robot *r) {
  std::vector<int> order;
  visit_children(r, -1, order);
  return order;
}

inline pinocchio::Model build(const psdm_robot *r) {
  pinocchio::Model model;
  std::vector<pinocchio::JointIndex> index(r->bodies);
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(r->gravity);
  for (int b : depth_first(r)) {
    const psdmp_robot_body &body = r->body[b];
    pinocchio::JointIndex parent = body.parent < 0 ? 0 : index[body.parent], joint; /* joint 0 is their universe */
    std::string name = "joint" + std::to_string(b);
    if (body.prismatic) joint = model.addJoint(parent, pinocchio::JointModelPZ(), placement(body.joint), name);
    else joint = model.addJoint(parent, pinocchio::JointModelRZ(), placement(body.joint), name);
    model.appendBodyToJoint(joint, inertia(body.pi));
    model.armature[joint - 1] = r->body_drive[b];
    index[b] = joint;
  }
  return model;
}
} // namespace bench
#endif
