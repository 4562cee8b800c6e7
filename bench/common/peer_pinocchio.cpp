/* peer_pinocchio.cpp: Pinocchio as the peer.
 *
 * This measures Pinocchio's own functions with dynamic-size Eigen vectors, called from a loop in this file so that the
 * compiler sees everything, as in a user's program. The model is that of pinocchio_model.hpp. Robots with coupled
 * joints or drives behind a transmission have no such model and are refused. */
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "harness.h"
#include "peer.h"
#include "pinocchio_model.hpp"

namespace pin = pinocchio;
namespace {
struct State {
  Eigen::VectorXd q, qd, qdd, tau;
};

/* the link after the last joint, as for libpsdm's Jacobian */
pin::FrameIndex add_link(const psdm_robot *r, pin::Model &model) {
  const psdmp_robot_link &link = r->link[r->last];
  return model.addFrame(pin::Frame("link", link.body + 1, bench::placement(link.frame), pin::OP_FRAME));
}
} // namespace

struct peer {
  const psdm_robot *robot;
  pin::Model model;
  pin::FrameIndex link;
  pin::Data data;
  std::vector<State> states;
  Eigen::VectorXd qdd;
  Eigen::MatrixXd J;

  peer(const psdm_robot *r, const double *x, int count)
      : robot(r),
        model(bench::build(r)),
        link(add_link(r, model)),
        data(model),
        qdd(r->n),
        J(Eigen::MatrixXd::Zero(6, r->n)) {
    auto part = [&](int s, int k) {
      return Eigen::Map<const Eigen::VectorXd>(x + (long)(STATE_VECTORS * s + k) * r->n, r->n);
    };
    for (int s = 0; s < count; s++) states.push_back({part(s, 0), part(s, 1), part(s, 2), part(s, 3)});
  }
};

/* ---- the functions, each returns one number of its result ---- */

namespace {
typedef double (*Call)(peer &, const State &);

double inverse(peer &p, const State &s) { return pin::rnea(p.model, p.data, s.q, s.qd, s.qdd)[0]; }
double gravity(peer &p, const State &s) { return pin::computeGeneralizedGravity(p.model, p.data, s.q)[0]; }
double bias(peer &p, const State &s) { return pin::nonLinearEffects(p.model, p.data, s.q, s.qd)[0]; }

template <pin::Convention convention>
double mass(peer &p, const State &s) {
  return pin::crba(p.model, p.data, s.q, convention)(0, 0);
}

template <pin::Convention convention>
double forward(peer &p, const State &s) {
  return pin::aba(p.model, p.data, s.q, s.qd, s.tau, convention)[0];
}

template <pin::Convention convention>
double forward_cholesky(peer &p, const State &s) {
  p.qdd = s.tau - pin::nonLinearEffects(p.model, p.data, s.q, s.qd);
  pin::crba(p.model, p.data, s.q, convention);
  pin::cholesky::decompose(p.model, p.data);
  return pin::cholesky::solve(p.model, p.data, p.qdd)[0];
}

double regressor(peer &p, const State &s) {
  return pin::computeJointTorqueRegressor(p.model, p.data, s.q, s.qd, s.qdd)(0, 0);
}

double energy(peer &p, const State &s) { return pin::computeMechanicalEnergy(p.model, p.data, s.q, s.qd); }

double jacobian(peer &p, const State &s) {
  pin::computeFrameJacobian(p.model, p.data, s.q, p.link, pin::LOCAL_WORLD_ALIGNED, p.J);
  return p.J(0, 0);
}

double linearize_inverse(peer &p, const State &s) {
  pin::computeRNEADerivatives(p.model, p.data, s.q, s.qd, s.qdd);
  return p.data.dtau_dq(0, 0);
}

double linearize_forward(peer &p, const State &s) {
  pin::computeABADerivatives(p.model, p.data, s.q, s.qd, s.tau);
  return p.data.ddq_dq(0, 0);
}

double inverse_mass(peer &p, const State &s) { return pin::computeMinverse(p.model, p.data, s.q)(0, 0); }

/* in the order of recursion */
struct Way {
  Call call;
  const char *name;
};

const Way ways[FUNCTIONS][2] = {
    {{inverse, "rnea"}},
    {{gravity, "computeGeneralizedGravity"}},
    {{bias, "nonLinearEffects"}},
    {{mass<pin::Convention::LOCAL>, "crba"}, {mass<pin::Convention::WORLD>, "crba (world)"}},
    {{forward<pin::Convention::LOCAL>, "aba"}, {forward<pin::Convention::WORLD>, "aba (world)"}},
    {{forward_cholesky<pin::Convention::LOCAL>, "crba + nle + cholesky"},
     {forward_cholesky<pin::Convention::WORLD>, "crba (world) + nle + cholesky"}},
    {{regressor, "computeJointTorqueRegressor"}},
    {{energy, "computeMechanicalEnergy"}},
    {{jacobian, "computeFrameJacobian"}},
    {},
    {{linearize_inverse, "computeRNEADerivatives"}},
    {{linearize_forward, "computeABADerivatives"}},
    {{inverse_mass, "computeMinverse"}},
};

/* ---- results in libpsdm's layout ---- */

void copy(const Eigen::VectorXd &v, double *out) { Eigen::Map<Eigen::VectorXd>(out, v.size()) = v; }

void copy_rows(const Eigen::MatrixXd &A, double *out) {
  for (long i = 0; i < A.rows(); i++)
    for (long j = 0; j < A.cols(); j++) *out++ = A(i, j);
}

/* a symmetric C, of which they fill the upper triangle */
void copy_three(const Eigen::MatrixXd &A, const Eigen::MatrixXd &B, const Eigen::MatrixXd &C, double *out) {
  copy_rows(A, out), copy_rows(B, out + A.size()), copy_rows(C.selfadjointView<Eigen::Upper>(), out + 2 * A.size());
}

/* their regressor is about the joint frames, with another order of parameters */
void copy_regressor(const peer &p, double *out) {
  const Eigen::MatrixXd &Y = p.data.jointTorqueRegressor;
  std::vector<double> bodies(Y.size());
  for (long i = 0; i < Y.rows(); i++)
    for (long j = 0; j < Y.cols(); j++)
      bodies[i * Y.cols() + j] =
          Y(i, j / PSDMP_ROBOT_STANDARD * PSDMP_ROBOT_STANDARD + bench::to_theirs[j % PSDMP_ROBOT_STANDARD]);
  bench_regressor_to_links(p.robot, bodies.data(), out);
}
} // namespace

/* ---- the interface ---- */

const char *peer_name(void) { return "Pinocchio " PINOCCHIO_VERSION; }

const char *peer_compiler(void) {
#ifdef __clang__
  return __VERSION__ " " PEER_FLAGS;
#else
  return "g++ " __VERSION__ " " PEER_FLAGS;
#endif
}

const char *peer_refusal(const psdm_robot *robot) {
  if (!robot->direct) return "coupled joints";
  for (int k = 0; k < robot->bodies; k++)
    if (bench::depth_first(robot)[k] != k) return "joints that are not in depth-first order";
  return robot->drive_mass ? "drives behind a transmission" : nullptr;
}

peer *peer_new(const psdm_robot *robot, const double *states, int count) {
  if (peer_refusal(robot)) return nullptr;
  return new peer(robot, states, count);
}

void peer_free(peer *p) { delete p; }

int peer_ways(recursion which) { return ways[which][1].call ? 2 : ways[which][0].call ? 1 : 0; }
const char *peer_function(recursion which, int way) { return ways[which][way].name; }

double peer_sweep(peer *p, recursion which, int way) {
  Call call = ways[which][way].call;
  double sum = 0;
  for (const State &s : p->states) sum += call(*p, s);
  return sum;
}

void peer_result(peer *p, recursion which, int way, int state, double *out) {
  const State &s = p->states[state];
  ways[which][way].call(*p, s);
  switch (which) {
    case INVERSE: return copy(p->data.tau, out);
    case GRAVITY: return copy(p->data.g, out);
    case BIAS: return copy(p->data.nle, out);
    case MASS: return copy_rows(p->data.M.selfadjointView<Eigen::Upper>(), out);
    case FORWARD: return copy(p->data.ddq, out);
    case FORWARD_CHOLESKY: return copy(p->qdd, out);
    case REGRESSOR: return copy_regressor(*p, out);
    case ENERGY: out[0] = p->data.kinetic_energy, out[1] = p->data.potential_energy; return;
    case JACOBIAN: return copy_rows(p->J, out);
    case LINEARIZE_INVERSE: return copy_three(p->data.dtau_dq, p->data.dtau_dv, p->data.M, out);
    case LINEARIZE_FORWARD: return copy_three(p->data.ddq_dq, p->data.ddq_dv, p->data.Minv, out);
    case INVERSE_MASS: return copy_rows(p->data.Minv.selfadjointView<Eigen::Upper>(), out);
    default: return;
  }
}
