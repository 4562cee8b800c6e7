/* peer_kdl.cpp: KDL, Debian's build of it, on chains. */
#include <kdl/chain.hpp>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/config.h>

#define PEER_COMPILER "the binary of Debian's package"
extern "C" {
#include "peer_table.h"
}

namespace {
KDL::Frame frame(const psdmp_robot_pose &pose) {
  const double *R = pose.R, *p = pose.p;
  return KDL::Frame(KDL::Rotation(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]), KDL::Vector(p[0], p[1], p[2]));
}

/* inertia about the centre of mass, as their constructor wants it */
KDL::RigidBodyInertia body(const double pi[10]) {
  const double m = pi[0], x = m ? pi[1] / m : 0, y = m ? pi[2] / m : 0, z = m ? pi[3] / m : 0;
  return KDL::RigidBodyInertia(
      m, KDL::Vector(x, y, z),
      KDL::RotationalInertia(pi[4] - m * (y * y + z * z), pi[7] - m * (x * x + z * z), pi[9] - m * (x * x + y * y),
                             pi[5] + m * x * y, pi[6] + m * x * z, pi[8] + m * y * z));
}

KDL::Chain chain(const psdm_robot *r) {
  KDL::Chain out;
  for (int b = 0; b < r->bodies; b++) {
    const KDL::Frame at = frame(r->body[b].joint);
    const KDL::Joint joint("", at.p, at.M.UnitZ(), r->body[b].prismatic ? KDL::Joint::TransAxis : KDL::Joint::RotAxis,
                           1, 0, r->body_drive[b]);
    out.addSegment(KDL::Segment(joint, at, body(r->body[b].pi)));
  }
  return out;
}

struct Own {
  KDL::Chain chain;
  KDL::ChainIdSolver_RNE newton_euler;
  KDL::ChainDynParam dynamics;
  KDL::JntArray q, qd, qdd, tau;
  KDL::JntSpaceInertiaMatrix M;
  KDL::Wrenches none;
  explicit Own(const psdm_robot *r)
      : chain(::chain(r)),
        newton_euler(chain, gravity(r)),
        dynamics(chain, gravity(r)),
        q(r->n),
        qd(r->n),
        qdd(r->n),
        tau(r->n),
        M(r->n),
        none(r->bodies) {}
  static KDL::Vector gravity(const psdm_robot *r) { return KDL::Vector(r->gravity[0], r->gravity[1], r->gravity[2]); }
};

const char *name() { return "KDL " KDL_VERSION_STRING; }

const char *refusal(const psdm_robot *robot) {
  for (int b = 0; b < robot->bodies; b++)
    if (robot->body[b].parent != b - 1) return "a tree; its solvers take chains";
  return refuse_coupled(robot);
}

void *open_robot(const psdm_robot *robot) { return new Own(robot); }
void close_robot(void *own) { delete static_cast<Own *>(own); }

void inverse(peer *p, const double *x, double *tau) {
  Own &own = *static_cast<Own *>(p->own);
  for (int i = 0; i < p->n; i++) own.q(i) = x[i], own.qd(i) = x[p->n + i], own.qdd(i) = x[2 * p->n + i];
  own.newton_euler.CartToJnt(own.q, own.qd, own.qdd, own.none, own.tau);
  for (int i = 0; i < p->n; i++) tau[i] = own.tau(i);
}

void mass(peer *p, const double *x, double *M) {
  Own &own = *static_cast<Own *>(p->own);
  for (int i = 0; i < p->n; i++) own.q(i) = x[i];
  own.dynamics.JntToMass(own.q, own.M);
  for (int i = 0; i < p->n * p->n; i++) M[i] = own.M.data.data()[i];
}

const way ways[FUNCTIONS][MOST_WAYS] = {
    /* in the order of recursion */
    {{"ChainIdSolver_RNE", inverse, NULL}},
    {},
    {},
    {{"ChainDynParam::JntToMass", mass, NULL}},
};
} // namespace

extern "C" {
PEER_FACE
}
