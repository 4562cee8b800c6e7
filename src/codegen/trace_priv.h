/* trace_priv.h: symbolic three-vectors and the walk along the chain. Private.
 *
 * A "form" is an angle: coefficients of q_1 .. q_n and a constant, (n + 1) numbers. Frames of a group differ by
 * angles about the common z. */
#ifndef PSDMP_CODEGEN_TRACE_H
#define PSDMP_CODEGEN_TRACE_H

#include "codegen/chain_priv.h"

typedef struct psdmp_codegen_sym {
  psdm_ref x, y, z;
} psdmp_codegen_sym;

/* [dw]x + [w]x[w]x of a body: a point at r accelerates by a + U r. And the differences of its diagonal. */
typedef struct psdmp_codegen_spin {
  psdm_ref xx, xy, xz, yx, yy, yz, zx, zy, zz;
  psdm_ref zz_yy, xx_zz, yy_xx;
} psdmp_codegen_spin;

typedef struct psdmp_codegen_trace_body {
  const double *at, *via; /* forms: frame of its wrench and acceleration; frame of the way to its children */
  /* at a group's root, minus frame: w and U's third column, the same for the whole group */
  psdm_ref wx, wy, ux, uy, uz;
  psdm_ref wz, dwz;
  psdm_ref wz0, dwz0;   /* before its own joint adds to them */
  psdm_ref rate, acc;   /* of its joint */
  psdmp_codegen_sym a;  /* acceleration of the origin, in `at` */
  psdmp_codegen_sym a0; /* the same where it came from, in the frame `from` of the group */
  const double *from;
  psdmp_codegen_sym f, n; /* wrench about the origin, in `at` */
  psdm_ref s[10];         /* pseudo-inertia, own frame */
  psdm_ref hx, hy;        /* first moment of all that its joint carries, in the frame of linear.c's joint */
} psdmp_codegen_trace_body;

typedef struct psdmp_codegen_trace {
  psdm_graph *g;
  const psdmp_codegen_chain *chain;
  psdmp_codegen_chain *scaled; /* the same, for psdmp_codegen_rescale */
  const psdmp_codegen_inertia *inertia;
  const psdmp_codegen_choice *choice;
  const psdm_code_options *options;
  const psdmp_codegen_program *program;
  psdm_ref zero;
  bool at_zero;        /* q is zero, not an argument */
  const psdm_ref *qdd; /* (n) accelerations in the place of the argument's; NULL: those */
  psdmp_codegen_trace_body body[PSDMP_CODEGEN_CODE_JOINTS];
  double *still; /* (n + 1) the form zero */
} psdmp_codegen_trace;

/* Shorthand of every file that traces: t is the trace. */
#define ADD(a, b) psdm_graph_add(t->g, a, b)
#define SUB(a, b) psdm_graph_sub(t->g, a, b)
#define MUL(a, b) psdm_graph_mul(t->g, a, b)
#define NUM(x) psdm_graph_const(t->g, x)
#define NEG(x) psdm_ref_neg(x)

/* ---- trace.c ---- */

/* Sine and cosine of a form; rotations of (x, y) into the frame turned by it, and back. */
void psdmp_codegen_trig(psdmp_codegen_trace *t, const double *form, psdm_ref *s, psdm_ref *c);
void psdmp_codegen_into(psdmp_codegen_trace *t, const double *form, psdm_ref *x, psdm_ref *y);
void psdmp_codegen_out_of(psdmp_codegen_trace *t, const double *form, psdm_ref *x, psdm_ref *y);

/* The same from one frame of a group to another. */
void psdmp_codegen_turn_sym(psdmp_codegen_trace *t, const double *from, const double *to, psdmp_codegen_sym *v);

/* From the frame before Rx(alpha) into the frame behind it, and back. */
void psdmp_codegen_tilt(psdmp_codegen_trace *t, const psdmp_codegen_chain_body *b, psdmp_codegen_sym *v);
void psdmp_codegen_untilt(psdmp_codegen_trace *t, const psdmp_codegen_chain_body *b, psdmp_codegen_sym *v);

psdmp_codegen_sym psdmp_codegen_sym_add(psdmp_codegen_trace *t, psdmp_codegen_sym a, psdmp_codegen_sym b);
psdmp_codegen_sym psdmp_codegen_sym_cross(psdmp_codegen_trace *t, psdmp_codegen_sym a, psdmp_codegen_sym b);

/* Symbols of an argument; zero where the program has none. */
psdm_ref psdmp_codegen_argument(psdmp_codegen_trace *t, psdmp_codegen_block block, int index);

/* A linear form of an argument with n numbers: coefficient . argument (+ constant). */
psdm_ref psdmp_codegen_form_of(psdmp_codegen_trace *t, psdmp_codegen_block block, const double *form, bool constant);

/* Entry e of the pseudo-inertias: a number, or its form in theta. */
psdm_ref psdmp_codegen_inertia_entry(psdmp_codegen_trace *t, int e);

/* Lengths of the chain in another unit (metres): places and regressors want metres. Exact between powers of two.
 * Returns the unit before. A trace starts anew behind it. */
double psdmp_codegen_rescale(psdmp_codegen_trace *t, double unit);

/* Frames, joint rates and pseudo-inertias of all bodies. qd, qdd: which argument is the rate, the acceleration;
 * PSDMP_CODEGEN_IN_COUNT: zero. */
void psdmp_codegen_trace_start(psdmp_codegen_trace *t, psdmp_codegen_block rate, psdmp_codegen_block acc);

/* Own angle of a body's parent and beta: the frame of the parent's group whose x lies on the normal to the body's
 * axis. */
void psdmp_codegen_normal_frame(const psdmp_codegen_trace *t, int body, double *form);

/* Where the next body of the chain starts in the parent's `via` frame: its origin without what lies behind
 * Rx(alpha). */
psdmp_codegen_sym psdmp_codegen_way(psdmp_codegen_trace *t, int child);

/* A wrench about the origin of a body, in its `at` frame, as one about its parent's, in the parent's `at` frame. f0,
 * n0 (nullable): what else acts at the end of the way between them, in the parent's `via` frame. */
void psdmp_codegen_carry_wrench(psdmp_codegen_trace *t, int body, const psdmp_codegen_sym *f0,
                                const psdmp_codegen_sym *n0, psdmp_codegen_sym *f, psdmp_codegen_sym *n);

/* Angle from form a to form b in scratch. */
void psdmp_codegen_form_between(const psdmp_codegen_trace *t, const double *a, const double *b, double *out);

/* Pseudo-inertia of a body in a frame of its group, where own differs. */
void psdmp_codegen_inertia_in(psdmp_codegen_trace *t, int body, const double *frame, psdm_ref s[10]);

/* P -> R P R^T for a turn by form about z, P in s[10]. */
void psdmp_codegen_turn_inertia(psdmp_codegen_trace *t, const double *form, psdm_ref s[10]);

/* ---- motion.c ---- */

/* Outward: w, U, a of every body. gravity: whether the base accelerates. */
void psdmp_codegen_move_out(psdmp_codegen_trace *t, bool gravity);
psdmp_codegen_spin psdmp_codegen_spin_of(psdmp_codegen_trace *t, int body, const double *frame);
/* of the parent, in the minus frame of a group's first body */
psdmp_codegen_spin psdmp_codegen_spin_before(psdmp_codegen_trace *t, int body);
void psdmp_codegen_plane_w(psdmp_codegen_trace *t, int body, const double *frame, psdm_ref *wx, psdm_ref *wy);
void psdmp_codegen_plane_u(psdmp_codegen_trace *t, int body, const double *frame, psdm_ref *ux, psdm_ref *uy);
void psdmp_codegen_body_wrench(psdmp_codegen_trace *t, int body); /* into f and n */

/* The acceleration of a body's origin in a frame of its group, by the shorter way. */
psdmp_codegen_sym psdmp_codegen_acceleration_in(psdmp_codegen_trace *t, int body, const double *frame);

/* Joint torques of the motion, on the independent joints; wrench: the outside's on the default link. */
void psdmp_codegen_torques(psdmp_codegen_trace *t, bool wrench, psdm_ref *tau);

/* Sum over tree joints of G^T: tree torques to the independent joints, units and drives included (acc: block of qdd
 * or none). */
void psdmp_codegen_gather(psdmp_codegen_trace *t, const psdm_ref *tree, psdmp_codegen_block acc, psdm_ref *tau);

/* ---- composite.c ---- */
void psdmp_codegen_shift_inertia(psdmp_codegen_trace *t, psdmp_codegen_sym p, psdm_ref s[10]);
void psdmp_codegen_untilt_inertia(psdmp_codegen_trace *t, const psdmp_codegen_chain_body *body, psdm_ref s[10]);
void psdmp_codegen_mass_matrix(psdmp_codegen_trace *t, psdm_ref *M);
void psdmp_codegen_add_drives(psdmp_codegen_trace *t, psdm_ref *M); /* what the drives add to it */
void psdmp_codegen_solve_mass(psdmp_codegen_trace *t, psdm_ref *M, psdm_ref *x);

/* M (n x n) = L^T D L from the tips: branches keep their zeros (Featherstone 2005). L_ki goes into the upper triangle,
 * 1 / D_k into inverse. share: results are no numbers where D_k is below this share of M_kk; 0: no such check. Then x =
 * M^-1 x, and M^-1, both triangles. */
void psdmp_codegen_factorise(psdmp_codegen_trace *t, int n, double share, psdm_ref *M, psdm_ref *inverse);
void psdmp_codegen_solve_factors(psdmp_codegen_trace *t, int n, const psdm_ref *M, const psdm_ref *inverse,
                                 psdm_ref *x);
void psdmp_codegen_inverse_factors(psdmp_codegen_trace *t, int n, const psdm_ref *M, const psdm_ref *inverse,
                                   psdm_ref *Minv);

/* ---- linear.c ---- */

/* dtau/dq, dtau/dqd, M; dqdd/dq, dqdd/dqd, M^-1: (n x n) each, of the independent joints. composite: by composite
 * bodies, which wants revolute joints and inertias without mass; else by differentiating the torques. room:
 * psdmp_codegen_linear_room references. */
size_t psdmp_codegen_linear_room(const psdm_robot *robot);
void psdmp_codegen_linearize_inverse(psdmp_codegen_trace *t, bool composite, psdm_ref *room, psdm_ref *out);
/* inner: nullable, of a program */
void psdmp_codegen_linearize_forward(psdmp_codegen_trace *t, bool composite, psdm_ref *room, psdm_ref *out,
                                     psdm_ref *inner);

/* Christoffel's matrix: half of dtau/dqd. */
void psdmp_codegen_coriolis(psdmp_codegen_trace *t, bool composite, psdm_ref *room, psdm_ref *C);

/* The forward one in two stages that share nothing but what the first hands over, so that few values live at a time.
 * early: qdd, then the upper triangle of M^-1 row by row, psdmp_codegen_stage_values in all; late: dqdd/dq,
 * dqdd/dqd, where value k of the first stage is input k of block QDD. */
void psdmp_codegen_linearize_stages(psdmp_codegen_trace *t, bool composite, psdm_ref *room, psdm_ref *early,
                                    psdm_ref *late);

/* M^-1, both triangles, by the factors of psdmp_codegen_solve_mass; M is overwritten. */
void psdmp_codegen_inverse_mass(psdmp_codegen_trace *t, psdm_ref *M, psdm_ref *Minv);

/* ---- terms.c: what the equation of motion is made of, and what small motions change it by; base: of a sensitivity
 * ---- */
size_t psdmp_codegen_terms_room(const psdm_robot *robot);
void psdmp_codegen_terms(psdmp_codegen_trace *t, psdm_function function, bool composite, const psdm_model *base,
                         psdm_ref *room, psdm_ref *out);

/* Torques, or forces, of a motion whose rates and accelerations are these arguments; tree: (bodies). */
void psdmp_codegen_motion_torques(psdmp_codegen_trace *t, psdmp_codegen_block rate, psdmp_codegen_block acc,
                                  bool gravity, psdm_ref *tree, psdm_ref *tau);

/* What expressions change by along a small motion, (n) each or NULL for zero; along may be f. */
void psdmp_codegen_along(psdmp_codegen_trace *t, const psdm_ref *dq, const psdm_ref *dqd, const psdm_ref *dqdd,
                         const psdm_ref *f, size_t count, psdm_ref *along);

/* An argument of n numbers; zero where the program has none. */
void psdmp_codegen_arguments(psdmp_codegen_trace *t, psdmp_codegen_block block, psdm_ref *x);

/* M = L D L^T in the order of `place` (n): L, L^-1 and D, (n x n) each; room: (n n). */
void psdmp_codegen_factors_of(psdmp_codegen_trace *t, const int *place, const psdm_ref *M, psdm_ref *room,
                              psdm_ref *out);

/* ---- task.c ---- */

/* What a function of a task is made of: J (m x n), M (n x n), which is overwritten; dJ/dt and C of a factor; forces of
 * the joints (n) and dJ/dt qd (m, nullable) of forces. room: psdmp_codegen_task_room. */
typedef struct psdmp_codegen_task_parts {
  psdm_ref *J, *J_rate, *M, *C, *forces, *drift;
} psdmp_codegen_task_parts;
size_t psdmp_codegen_task_room(int n);
void psdmp_codegen_task_of(psdmp_codegen_trace *t, psdm_function function, const psdmp_codegen_task_parts *parts,
                           psdm_ref *room, psdm_ref *out);
void psdmp_codegen_task(psdmp_codegen_trace *t, psdm_function function, int joint, bool composite, psdm_ref *room,
                        psdm_ref *out);

/* ---- screws.c ---- */
void psdmp_codegen_regressor(psdmp_codegen_trace *t, const psdm_model *base, psdm_ref *Y);

/* ---- places.c ---- */
void psdmp_codegen_pose_symbols(psdmp_codegen_trace *t, int joint, psdm_ref *X);
void psdmp_codegen_jacobian_symbols(psdmp_codegen_trace *t, int joint, psdm_ref *J);
psdm_ref psdmp_codegen_potential(psdmp_codegen_trace *t);

#endif
