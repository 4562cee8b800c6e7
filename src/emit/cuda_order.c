/* cuda_order.c: in which order, and in how many stages, a function is written for a GPU.
 *
 * A thread has 255 registers of four bytes. A schedule keeps values alive from one output to the next, so the order
 * of outputs decides how many they are: in a chain a column of a linearization ends with the joint that it belongs
 * to, and takes its values with it. linearize_forward is forward dynamics, whose results are then given to a
 * linearization that shares no value with it; what both need is cheaper computed twice than kept. */
#include "emit/cuda.h"

/* values that registers hold beside addresses and what is on its way; and with shared memory, 40 kB for 64 threads,
 * behind them */
static long register_room(const psdmp_emit_writer *e) { return e->single ? 230 : 115; }
static long shared_room(const psdmp_emit_writer *e) { return register_room(e) * 8 / 5; }

/* ---- the order of outputs ---- */

int psdmp_emit_layout_place(const psdmp_emit_writer *e, const psdmp_codegen_program *p, int at, int *index) {
  int rows = e->code->robot->n, columns = p->result[0].count / rows, matrices = (int)p->outputs / p->result[0].count;
  *index = at % rows * columns + (columns - 1 - at / (rows * matrices));
  return at / rows % matrices;
}

/* outputs column by column, the last first, as one result */
static psdm_status by_columns(const psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena,
                              psdmp_codegen_program *out) {
  *out = *p;
  out->results = 1;
  out->output = psdmp_base_arena_alloc(arena, p->outputs * sizeof *out->output);
  if (!out->output) return PSDM_E_MEMORY;
  for (int at = 0; at < (int)p->outputs; at++) {
    int index, matrix = psdmp_emit_layout_place(e, p, at, &index);
    out->output[at] = p->output[p->result[matrix].first + index];
  }
  return PSDM_OK;
}

/* most values alive at a time in the order in which they are written, arguments included */
static psdm_status count_live(const psdmp_codegen_program *p, psdmp_base_arena *arena, long *live) {
  size_t length;
  uint32_t *order = psdmp_base_arena_alloc(arena, (psdm_graph_size(p->graph) + 1) * sizeof *order);
  if (!order) return PSDM_E_MEMORY;
  psdm_status status =
      psdm_graph_schedule(p->graph, p->output, p->outputs, PSDM_ORDER_REGISTERS, 0, order, &length, live);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (!psdmp_emit_block_shared((psdmp_codegen_block)b)) *live += p->length[b];
  return status;
}

/* By columns where fewer values live then. A regressor has few values and many stores, which are faster in the order
 * of rows (docs/cuda.md): by columns only where it would not fit. */
static psdm_status arrange(const psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena,
                           psdmp_emit_layout *y) {
  bool linearization = p->function == PSDM_F_LINEARIZE_INVERSE || p->function == PSDM_F_LINEARIZE_FORWARD;
  psdmp_emit_layout turned = {.columns = true};
  *y = (psdmp_emit_layout){.program = *p};
  psdm_status status = count_live(p, arena, &y->live);
  if (status || (!linearization && (p->function != PSDM_F_REGRESSOR || y->live <= register_room(e)))) return status;
  status = by_columns(e, p, arena, &turned.program);
  if (!status) status = count_live(&turned.program, arena, &turned.live);
  if (!status && turned.live < y->live) *y = turned;
  return status;
}

/* ---- stages ---- */

/* Forward dynamics; then the derivatives, whose argument qdd is all that the first stage found: accelerations, and
 * one triangle of M^-1 behind them. */
static void set_stages(const psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_codegen_program *first,
                       psdmp_codegen_program *second) {
  int n = e->code->robot->n, values = psdmp_codegen_stage_values(n);
  *first = *second = *p;
  first->function = PSDM_F_FORWARD;
  first->output = p->early, first->outputs = (size_t)values;
  first->results = 1, first->result[0] = (psdmp_codegen_result){"qdd", 0, values};
  second->output = p->late, second->outputs = (size_t)(2 * n * n), second->results = 2;
  second->length[PSDMP_CODEGEN_IN_TAU] = 0, second->length[PSDMP_CODEGEN_IN_QDD] = values;
}

psdm_status psdmp_emit_stages_set(const psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena,
                                  psdmp_emit_stages *s) {
  *s = (psdmp_emit_stages){.function = p->function, .count = 1, .part = {*p}};
  psdm_status status = arrange(e, p, arena, &s->layout[0]);
  s->live = s->layout[0].live;
  if (!status && p->early && s->live > register_room(e)) {
    s->count = 2;
    set_stages(e, p, &s->part[0], &s->part[1]);
    for (int k = 0; k < 2 && !status; k++) status = arrange(e, &s->part[k], arena, &s->layout[k]);
    s->live = s->layout[0].live > s->layout[1].live ? s->layout[0].live : s->layout[1].live;
  }
  s->shared = s->live <= shared_room(e);
  return status;
}
