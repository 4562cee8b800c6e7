/* trace_casadi.cpp: Pinocchio's generated code: trace_casadi ROBOT.yaml FILE.c [INVERSE.casadi]
 *
 * The wheel of Pinocchio has no CasADi bindings, so its C++ algorithms are run here on casadi::SX, as pinocchio.casadi
 * does, and CasADi writes the C: inverse, mass, mass_world, forward, forward_world, forward_cholesky, regressor,
 * linearize_inverse, linearize_forward, inverse_mass. CasADi's own Jacobians of rnea and aba took 1.3 and 3 times as
 * long as the linearizations and are omitted. Coupled joints: q_tree = G q + c goes in, G' goes out, and there are no
 * forward functions. */
#include <pinocchio/autodiff/casadi.hpp>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "harness.h"
#include "pinocchio_model.hpp"

namespace pin = pinocchio;
using casadi::SX;
typedef pin::ModelTpl<SX> Model;
typedef pin::DataTpl<SX> Data;
typedef Eigen::Matrix<SX, Eigen::Dynamic, 1> Vector;
typedef Eigen::Matrix<SX, Eigen::Dynamic, Eigen::Dynamic> Matrix;

namespace {
/* dense, column by column */
SX from(const Matrix &A) {
  SX out = SX::zeros(A.rows(), A.cols());
  for (long i = 0; i < A.rows(); i++)
    for (long j = 0; j < A.cols(); j++) out(i, j) = A(i, j);
  return out;
}

Vector to(const SX &x) {
  Vector out(x.rows());
  for (long i = 0; i < out.size(); i++) out[i] = x(i);
  return out;
}

/* q_tree = G q + c, in Pinocchio's order of joints */
void coupling(const psdm_robot *r, const std::vector<int> &order, SX &G, SX &c) {
  G = SX(r->bodies, r->n), c = SX(r->bodies, 1);
  for (int joint = 0; joint < r->bodies; joint++) {
    const int b = order[joint];
    c(joint) = r->c[b];
    for (int k = r->g_row[b]; k < r->g_row[b + 1]; k++) G(joint, r->g_col[k]) = r->g_val[k];
  }
}

/* columns from their order of joints to ours of bodies */
SX by_body(const SX &Y, const std::vector<int> &order) {
  SX out = SX::zeros(Y.rows(), Y.columns());
  for (int j = 0; j < Y.columns(); j++)
    for (int i = 0; i < Y.rows(); i++) out(i, 10 * order[j / 10] + j % 10) = Y(i, j);
  return out;
}

SX upper(const Matrix &M) { return triu2symm(triu(from(M))); }

/* G' A G */
SX within(const SX &G, const SX &A) { return mtimes(mtimes(G.T(), A), G); }

/* row by row, one after the other */
SX three(const SX &A, const SX &B, const SX &C) {
  return horzcat(SX::densify(A.T()), SX::densify(B.T()), SX::densify(C.T()));
}
} // namespace

int main(int argc, char **argv) {
  psdm_robot *robot = argc == 3 || argc == 4 ? bench_load(argv[1]) : nullptr;
  if (!robot) return 2;
  const Model model = bench::build(robot).cast<SX>();
  Data data(model);
  const std::vector<int> order = bench::depth_first(robot);
  SX G, c;
  coupling(robot, order, G, c);
  const SX q = SX::sym("q", robot->n), qd = SX::sym("qd", robot->n), qdd = SX::sym("qdd", robot->n),
           tau = SX::sym("tau", robot->n);
  const Vector x = to(mtimes(G, q) + c), v = to(mtimes(G, qd)), a = to(mtimes(G, qdd));

  const std::string path = argv[2];
  const size_t slash = path.rfind('/') + 1;
  casadi::CodeGenerator file(path.substr(slash));
  auto add = [&](const char *name, const std::vector<SX> &in, const SX &out) {
    file.add(casadi::Function(name, in, std::vector<SX>{SX::densify(out)}));
  };

  const SX torque = mtimes(G.T(), from(pin::rnea(model, data, x, v, a)));
  add("inverse", {q, qd, qdd}, torque);
  if (argc == 4) casadi::Function("inverse", {q, qd, qdd}, std::vector<SX>{SX::densify(torque)}).save(argv[3]);
  add("mass", {q}, mtimes(mtimes(G.T(), upper(pin::crba(model, data, x, pin::Convention::LOCAL))), G));
  data = Data(model);
  add("mass_world", {q}, mtimes(mtimes(G.T(), upper(pin::crba(model, data, x, pin::Convention::WORLD))), G));
  data = Data(model);
  add("regressor", {q, qd, qdd},
      by_body(mtimes(G.T(), from(pin::computeJointTorqueRegressor(model, data, x, v, a))), order));
  data = Data(model);
  pin::computeRNEADerivatives(model, data, x, v, a);
  add("linearize_inverse", {q, qd, qdd},
      three(within(G, from(data.dtau_dq)), within(G, from(data.dtau_dv)), within(G, upper(data.M))));
  if (robot->direct) {
    const Vector t = to(mtimes(G, tau));
    data = Data(model);
    add("forward", {q, qd, tau}, from(pin::aba(model, data, x, v, to(tau), pin::Convention::LOCAL)));
    data = Data(model);
    add("forward_world", {q, qd, tau}, from(pin::aba(model, data, x, v, to(tau), pin::Convention::WORLD)));
    data = Data(model);
    Vector rest = to(tau) - pin::nonLinearEffects(model, data, x, v);
    pin::crba(model, data, x, pin::Convention::WORLD);
    pin::cholesky::decompose(model, data);
    pin::cholesky::solve(model, data, rest);
    add("forward_cholesky", {q, qd, tau}, from(rest));
    data = Data(model);
    pin::computeABADerivatives(model, data, x, v, t);
    add("linearize_forward", {q, qd, tau},
        three(within(G, from(data.ddq_dq)), within(G, from(data.ddq_dv)), within(G, upper(data.Minv))));
    data = Data(model);
    add("inverse_mass", {q}, within(G, upper(pin::computeMinverse(model, data, x))));
  }
  file.generate(path.substr(0, slash));
  psdm_robot_free(robot);
  return 0;
}
