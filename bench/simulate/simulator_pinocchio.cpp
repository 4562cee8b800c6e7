/* simulator_pinocchio.cpp: Pinocchio's aba in integrators written by hand, with vectors allocated once. The model is
 * that of pinocchio_model.hpp. */
#include <pinocchio/algorithm/aba.hpp>

#include "pinocchio_model.hpp"
#include "simulator.h"

namespace pin = pinocchio;
namespace {
struct Own {
  pin::Model model;
  pin::Data data;
  scheme which;
  double step;
  Eigen::VectorXd q, qd, tau, at_q, at_qd, k1, k2, k3, k4, v2, v3;

  Own(const psdm_robot *r, scheme s, double h) : model(bench::build(r)), data(model), which(s), step(h) {
    tau = Eigen::VectorXd::Zero(r->n);
    for (Eigen::VectorXd *x : {&q, &qd, &at_q, &at_qd, &k1, &k2, &k3, &k4, &v2, &v3}) x->resize(r->n);
  }
};

template <pin::Convention convention>
void euler(Own &o) {
  o.qd.noalias() += o.step * pin::aba(o.model, o.data, o.q, o.qd, o.tau, convention);
  o.q.noalias() += o.step * o.qd;
}

template <pin::Convention convention>
void rk4(Own &o) {
  const double h = o.step;
  o.k1 = pin::aba(o.model, o.data, o.q, o.qd, o.tau, convention);
  o.at_q.noalias() = o.q + h / 2 * o.qd;
  o.v2.noalias() = o.qd + h / 2 * o.k1;
  o.k2 = pin::aba(o.model, o.data, o.at_q, o.v2, o.tau, convention);
  o.at_q.noalias() = o.q + h / 2 * o.v2;
  o.v3.noalias() = o.qd + h / 2 * o.k2;
  o.k3 = pin::aba(o.model, o.data, o.at_q, o.v3, o.tau, convention);
  o.at_q.noalias() = o.q + h * o.v3;
  o.at_qd.noalias() = o.qd + h * o.k3;
  o.k4 = pin::aba(o.model, o.data, o.at_q, o.at_qd, o.tau, convention);
  o.q.noalias() += h / 6 * (o.qd + 2 * (o.v2 + o.v3) + o.at_qd);
  o.qd.noalias() += h / 6 * (o.k1 + 2 * (o.k2 + o.k3) + o.k4);
}

template <pin::Convention convention>
void run(void *own, int steps) {
  Own &o = *static_cast<Own *>(own);
  if (o.which == RK4)
    for (int k = 0; k < steps; k++) rk4<convention>(o);
  else
    for (int k = 0; k < steps; k++) euler<convention>(o);
}

const char *refusal(const psdm_robot *robot) {
  if (!robot->direct) return "coupled joints";
  for (int k = 0; k < robot->bodies; k++)
    if (bench::depth_first(robot)[k] != k) return "joints that are not in depth-first order";
  return robot->drive_mass ? "drives behind a transmission" : nullptr;
}

void *open_model(const psdm_robot *robot, scheme which, double step) { return new Own(robot, which, step); }

void place(void *own, const double *x) {
  Own &o = *static_cast<Own *>(own);
  o.q = Eigen::Map<const Eigen::VectorXd>(x, o.q.size());
  o.qd = Eigen::Map<const Eigen::VectorXd>(x + o.q.size(), o.q.size());
}

void look(void *own, double *x) {
  const Own &o = *static_cast<Own *>(own);
  Eigen::Map<Eigen::VectorXd>(x, o.q.size()) = o.q;
  Eigen::Map<Eigen::VectorXd>(x + o.q.size(), o.q.size()) = o.qd;
}

void close_model(void *own) { delete static_cast<Own *>(own); }

#ifdef __clang__
#define COMPILER __VERSION__ " " PEER_FLAGS
#else
#define COMPILER "g++ " __VERSION__ " " PEER_FLAGS
#endif
} // namespace

const simulator *simulators(void) {
  static const simulator list[] = {{"Pinocchio", "aba of " PINOCCHIO_VERSION ", " COMPILER, refusal, open_model, place,
                                    run<pin::Convention::LOCAL>, look, close_model},
                                   {"Pinocchio", "aba (world) of " PINOCCHIO_VERSION ", " COMPILER, refusal, open_model,
                                    place, run<pin::Convention::WORLD>, look, close_model},
                                   {}};
  return list;
}
