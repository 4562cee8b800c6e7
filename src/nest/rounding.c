/* rounding.c: how much of a graph's outputs rounding may take.
 *
 * Every operation's result is off by at most u = 2^-24 or 2^-53 of itself. To first order output i is then off by at
 * most u sum_k |v_k| |dy_i/dv_k|, over all nodes k; the derivatives come by one sweep backwards for each output.
 * Unlike a bound that is carried forward, this sees that what two paths have in common cancels, and so tells sums
 * that are merely long from those that take large numbers apart again. */
#include <math.h>
#include <string.h>

#include "nest/nest.h"

typedef struct sweep {
  const psdm_graph *graph;
  double *value;   /* (nodes) */
  double *adjoint; /* (nodes) of the output at hand */
} sweep;

static double value_of(const sweep *s, psdm_ref r) {
  return psdm_ref_negated(r) ? -s->value[psdm_ref_node(r)] : s->value[psdm_ref_node(r)];
}

static void pass(sweep *s, psdm_ref to, double adjoint) {
  s->adjoint[psdm_ref_node(to)] += psdm_ref_negated(to) ? -adjoint : adjoint;
}

/* hands a node's adjoint to its operands; returns what the node's own rounding comes to, in units of |value|
 * |adjoint| */
static double pass_on(sweep *s, uint32_t k, double adjoint) {
  psdm_node n = psdm_graph_node(s->graph, k);
  double v = s->value[k];
  switch (n.op) {
    case PSDM_OP_CONST: return 1;
    case PSDM_OP_ADD:
      pass(s, n.a, adjoint);
      pass(s, n.b, adjoint);
      return 1;
    case PSDM_OP_MUL:
      pass(s, n.a, adjoint * value_of(s, n.b));
      pass(s, n.b, adjoint * value_of(s, n.a));
      return 1;
    case PSDM_OP_RECIP: pass(s, n.a, -adjoint * v * v); return 1;
    case PSDM_OP_SQRT: pass(s, n.a, v > 0 ? adjoint / (2 * v) : 0); return 1;
    /* libm and the inlined polynomials are right to about a unit in the last place, which is up to two roundings */
    case PSDM_OP_SIN: pass(s, n.a, adjoint * cos(value_of(s, n.a))); return 2;
    case PSDM_OP_COS: pass(s, n.a, -adjoint * sin(value_of(s, n.a))); return 2;
    default: return 0; /* inputs are what they are, signs are exact, and friction is added later */
  }
}

static double sum_up(sweep *s, psdm_ref output) {
  uint32_t last = psdm_ref_node(output);
  double sum = 0;
  memset(s->adjoint, 0, ((size_t)last + 1) * sizeof *s->adjoint);
  s->adjoint[last] = 1;
  for (uint32_t k = last + 1; k-- > 0;) {
    double adjoint = s->adjoint[k];
    if (adjoint != 0) sum += pass_on(s, k, adjoint) * fabs(adjoint * s->value[k]);
  }
  return sum;
}

bool psdmp_nest_rounding_at(const psdm_graph *graph, const double *input, const psdm_ref *outputs, size_t count,
                            const psdm_allocator *allocator, double *out, double *bound) {
  size_t nodes = (size_t)psdm_graph_size(graph) + 1;
  double *memory = psdmp_base_alloc_raw(allocator, 2 * nodes * sizeof *memory);
  if (!memory) return false;
  sweep s = {graph, memory, memory + nodes};
  psdm_graph_evaluate(graph, input, outputs, count, s.value, out);
  for (size_t i = 0; i < count; i++) bound[i] = sum_up(&s, outputs[i]);
  psdmp_base_free(allocator, memory);
  return true;
}

/* ---- over states ---- */

/* outputs below so much of the largest one are judged by that: entries that all but vanish need no digits of their
 * own */
static const double NOTHING = 1e-3;

/* not psdmp_base_random: these states stand in the self-tests of generated files, which must not change */
double psdmp_nest_uniform(uint64_t *seed, double range) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return range * ((double)(*seed >> 11) * 0x1p-52 - 1);
}

/* angles, speeds and accelerations that share out the torque; base parameters of any sign */
void psdmp_nest_rounding_state(int state, int n, int l, const psdmp_nest_inputs *in, double *input) {
  uint64_t seed = (uint64_t)state * UINT64_C(0x9E3779B97F4A7C15) + 1;
  for (int i = 0; i < n; i++) {
    double q = psdmp_nest_uniform(&seed, 3);
    input[in->q + i] = q;
    input[in->sine + i] = sin(q);
    input[in->cosine + i] = cos(q);
    input[in->qd + i] = psdmp_nest_uniform(&seed, 2);
    input[in->qdd + i] = psdmp_nest_uniform(&seed, 4);
  }
  for (int i = 0; i < l; i++) input[in->theta + i] = psdmp_nest_uniform(&seed, 1);
}

bool psdmp_nest_rounding(const psdm_graph *graph, int n, int l, const psdmp_nest_inputs *in, const psdm_ref *outputs,
                         size_t count, const double *truth, const psdm_allocator *allocator, double *most) {
  size_t inputs = (size_t)in->count;
  double *input = psdmp_base_alloc(allocator, (inputs + 4 * count) * sizeof *input);
  if (!input) return false;
  double *out = input + inputs, *bound = out + count, *largest = bound + count, *worst = largest + count, all = 0;
  bool ok = true;
  for (int s = 0; s < PSDMP_NEST_ROUNDING_STATES && ok; s++) {
    psdmp_nest_rounding_state(s, n, l, in, input);
    ok = psdmp_nest_rounding_at(graph, input, outputs, count, allocator, out, bound);
    for (size_t i = 0; i < count && ok; i++) {
      /* the constants are doubles that were computed: they have errors of their own */
      double amiss = fabs(out[i] - truth[(size_t)s * count + i]) * 0x1p53, off = bound[i] + amiss;
      largest[i] = fmax(largest[i], fabs(out[i]));
      worst[i] = isnan(off) ? INFINITY : fmax(worst[i], off);
      all = fmax(all, largest[i]);
    }
  }
  *most = 0;
  for (size_t i = 0; i < count && ok; i++)
    if (worst[i] > 0) *most = fmax(*most, worst[i] / fmax(largest[i], NOTHING * all));
  psdmp_base_free(allocator, input);
  return ok;
}
