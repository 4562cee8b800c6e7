/* expanded.c: a function's operation graph from the derived model (Lloyd, Irani, Ahmadi 2021, section 4.1 and 4.2). */
#include <string.h>

#include "codegen/codegen.h"
#include "nest/nest.h"
#include "psdm/rigid.h"

#define FIRST(block) PSDMP_CODEGEN_IN_##block *PSDMP_CODEGEN_BLOCK
const psdmp_nest_inputs psdmp_codegen_inputs = {.theta = FIRST(THETA),
                                                .sine = FIRST(SINE),
                                                .cosine = FIRST(COSINE),
                                                .q = FIRST(Q),
                                                .qd = FIRST(QD),
                                                .qdd = FIRST(QDD),
                                                .count = FIRST(COUNT)};
#undef FIRST

enum { MOST_JOINTS = 64 };

/* ---- what is computed from the polynomials' values ---- */

static int triangle(int n, int i, int a) { return i <= a ? i * n - i * (i - 1) / 2 + a - i : triangle(n, a, i); }

/* qdd = M^-1 b, by M = L^T D L from the last joint to the first, which keeps the zeros of a tree; M is its upper
 * triangle */
static void solve(psdm_graph *g, int n, psdm_ref *M, psdm_ref *b) {
  psdm_ref D[MOST_JOINTS];
  for (int k = n - 1; k >= 0; k--) {
    D[k] = psdm_graph_recip(g, M[triangle(n, k, k)]);
    for (int i = k - 1; i >= 0; i--) {
      psdm_ref a = psdm_graph_mul(g, M[triangle(n, i, k)], D[k]);
      for (int j = 0; j <= i; j++)
        M[triangle(n, i, j)] = psdm_graph_sub(g, M[triangle(n, i, j)], psdm_graph_mul(g, a, M[triangle(n, j, k)]));
      b[i] = psdm_graph_sub(g, b[i], psdm_graph_mul(g, a, b[k]));
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) b[i] = psdm_graph_sub(g, b[i], psdm_graph_mul(g, M[triangle(n, i, j)], b[j]));
    b[i] = psdm_graph_mul(g, D[i], b[i]);
  }
}

static void finish_forward(psdm_graph *g, int n, psdm_ref *value, psdm_ref *qdd) {
  for (int i = 0; i < n; i++)
    qdd[i] = psdm_graph_sub(g, psdm_graph_input(g, PSDMP_CODEGEN_IN_TAU * PSDMP_CODEGEN_BLOCK + i), value[i]);
  solve(g, n, value + n, qdd);
}

static void finish_mass(int n, const psdm_ref *value, psdm_ref *M) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) M[i * n + j] = value[triangle(n, i, j)];
}

/* Y, then on request n columns sign(qd), n columns qd, n columns qdd */
static void finish_regressor(psdm_graph *g, const psdm_model *m, const psdm_code_options *o, const psdm_ref *value,
                             psdm_ref *Y) {
  int n = m->n, l = m->l, columns = l + (o->friction_columns ? 2 * n : 0) + (o->drive_columns ? n : 0);
  psdm_ref zero = psdm_graph_const(g, 0);
  for (int i = 0; i < n; i++) {
    psdm_ref *row = Y + i * columns, *extra = row + l;
    psdm_ref qd = psdm_graph_input(g, PSDMP_CODEGEN_IN_QD * PSDMP_CODEGEN_BLOCK + i);
    memcpy(row, value + i * l, (size_t)l * sizeof *row);
    for (int j = l; j < columns; j++) row[j] = zero;
    if (o->friction_columns) {
      extra[i] = psdm_graph_sign(g, qd);
      extra[n + i] = qd;
      extra += 2 * n;
    }
    if (o->drive_columns) extra[i] = psdm_graph_input(g, PSDMP_CODEGEN_IN_QDD * PSDMP_CODEGEN_BLOCK + i);
  }
}

/* the potential is counted from q = 0; where parameters are numbers, from the base origin, as psdm_energy does */
static psdm_status finish_energy(const psdm_robot *robot, const psdm_model *m, const double *theta, psdm_graph *g,
                                 const psdm_ref *value, const psdm_allocator *allocator, psdm_ref *energy,
                                 psdm_error *error) {
  double zero[MOST_JOINTS] = {0}, kinetic, potential = 0;
  psdm_work *work = NULL;
  psdm_status status = PSDM_OK;
  if (theta && m->n == psdm_robot_n(robot) && psdm_robot_ready(robot, NULL) == PSDM_OK) {
    status = psdm_work_new(robot, allocator, &work);
    if (!status) status = psdm_energy(robot, work, zero, zero, &kinetic, &potential);
    psdm_work_free(work, allocator);
  }
  energy[0] = value[0];
  energy[1] = psdm_graph_add(g, psdm_graph_const(g, potential), value[1]);
  return status ? psdmp_base_fail(error, status, NULL, 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

/* ---- the program ---- */

/* whether base parameters stay apart, so that their values do not matter */
static bool keeps_theta(const psdm_code_options *o, psdm_function function) {
  return o->theta_argument || function == PSDM_F_REGRESSOR;
}

static psdm_status refuse(const psdm_code_options *o, const psdm_model *m, psdm_function function, psdm_error *error) {
  const char *why = NULL;
  if (function == PSDM_F_JACOBIAN || function == PSDM_F_POSE)
    why = "poses and Jacobians are not in the dynamics' closed form; use the recursive method";
  if (o->gravity_argument)
    why = "the closed form has gravity's direction inside; gravity as an argument needs the recursive method";
  if (o->payload_argument || o->wrench_argument)
    why = "the closed form knows no payload or wrench beside the robot; use the recursive method";
  if (!m->p || m->n > MOST_JOINTS) why = "the model has no functions; derive it with psdm_model_derive";
  return why ? psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "%s", why) : PSDM_OK;
}

static psdm_status finish(const psdm_robot *robot, const psdm_model *m, const psdm_code_options *o, const double *theta,
                          psdm_ref *value, psdmp_base_arena *arena, psdmp_codegen_program *p, psdm_error *error) {
  psdm_graph *g = p->graph;
  switch (p->function) {
    case PSDM_F_FORWARD: finish_forward(g, m->n, value, p->output); break;
    case PSDM_F_MASS: finish_mass(m->n, value, p->output); break;
    case PSDM_F_REGRESSOR: finish_regressor(g, m, o, value, p->output); break;
    case PSDM_F_ENERGY: return finish_energy(robot, m, theta, g, value, arena->allocator, p->output, error);
    default: memcpy(p->output, value, (size_t)m->n * sizeof *value);
  }
  return PSDM_OK;
}

static bool rounds_well(const psdmp_nest_found *f) { return f->rounding <= PSDMP_NEST_ROUNDING_MOST; }

static bool is_better(const psdmp_nest_found *f, const psdmp_nest_found *than) {
  if (rounds_well(f) != rounds_well(than)) return rounds_well(f);
  return rounds_well(f) ? f->operations < than->operations : f->rounding < than->rounding;
}

/* One or two ways to write the same polynomials: base parameters multiplied into the coefficients, or, so that the
 * simple numbers of P stay simple, as a mode of their own whose values are numbers. *value: the better's; NULL when
 * none is within the limit, or where there is one, meaning that there is another method, when none rounds well. */
static psdm_status nest(const psdmp_nest_variables *v, const double *theta, psdm_function function, long limit,
                        psdmp_base_arena *scratch, psdm_graph *g, psdm_ref **value) {
  const double *coefficients[] = {NULL, theta};
  psdmp_nest_sums sums[2];
  psdmp_nest_found found[2];
  int best = -1;
  *value = NULL;
  for (int k = 0; k < (theta ? 2 : 1); k++) {
    bool hopeless;
    if (!psdmp_nest_polynomials(v->model, function, coefficients[k], scratch, &sums[k])) return PSDM_E_MEMORY;
    psdm_status status = psdmp_nest_search(&sums[k], v, limit, scratch->allocator, &found[k], &hopeless);
    if (status) return status;
    if (limit && !rounds_well(&found[k])) continue;
    if (!hopeless && (best < 0 || is_better(&found[k], &found[best]))) best = k;
  }
  if (best < 0) return PSDM_OK;
  *value = psdmp_base_arena_alloc(scratch, (sums[best].outputs + 1) * sizeof **value);
  return *value && psdmp_nest_build(&sums[best], v, &found[best].nesting, scratch->allocator, g, *value)
             ? PSDM_OK
             : PSDM_E_MEMORY;
}

psdm_status psdmp_codegen_build_expanded(const psdm_robot *robot, const psdm_model *m, const double *theta,
                                         const psdm_code_options *o, psdm_function function, long limit,
                                         psdmp_base_arena *arena, psdmp_codegen_program *program, psdm_error *error) {
  *program = (psdmp_codegen_program){0};
  psdm_status status = refuse(o, m, function, error);
  if (status) return status;
  if (keeps_theta(o, function)) theta = NULL;
  if (!theta && !keeps_theta(o, function))
    return psdmp_base_fail(error, PSDM_E_MISSING, NULL, 0, 0, "base parameters without values cannot be built in");
  /* about a dozen functions go into one operation at best */
  if (limit && m->p > 12 * limit) return PSDM_OK;
  status = psdmp_codegen_program_shape(robot, m->l, o, function, arena, program, error);
  if (status) return status;
  program->method = "expanded";
  psdmp_base_arena scratch = {.allocator = arena->allocator};
  psdmp_nest_variables v = {m, o->sincos == PSDM_SINCOS_CALLER, theta, &psdmp_codegen_inputs};
  psdm_ref *value;
  status = nest(&v, theta, function, limit, &scratch, program->graph, &value);
  if (!status && value) status = finish(robot, m, o, theta, value, arena, program, error);
  if (!status) status = psdm_graph_status(program->graph);
  if (status == PSDM_E_MEMORY) psdmp_base_fail(error, status, NULL, 0, 0, "out of memory while generating code");
  if (status || !value) {
    psdm_graph_free(program->graph);
    program->graph = NULL;
  }
  psdmp_base_arena_free(&scratch);
  return status;
}
