/* emit.h: from graphs to text. One unparser prints statements; a dialect says how values are read, declared and
 * stored, so that scalar C, C on vectors, and whatever comes later share it. Private to the library. */
#ifndef PSDMP_EMIT_H
#define PSDMP_EMIT_H

#include "codegen/codegen.h"
#include "psdm/output.h"

/* One file being written. */
typedef struct psdmp_emit_writer {
  psdm_output *out;
  const psdm_code *code;
  const char *prefix; /* "kr6" */
  char upper[64];     /* "KR6" */
  bool single;        /* float, not double */
  const char *real;   /* "float" or "double" */
} psdmp_emit_writer;

/* Text with @ for "prefix_", $ for "PREFIX_", ` for the real type and ~ for what ends libm's names ("f" or "").
 * Never for words of others. */
void psdmp_emit_say(psdmp_emit_writer *e, const char *format, ...) PSDM_PRINTF(2, 3);

/* A constant with the fewest digits that read back, with its suffix. Returns buf. */
char *psdmp_emit_literal(const psdmp_emit_writer *e, double value, char buf[40]);

/* Words of others inside a comment: no end of comment, no control characters, no trigraphs. */
void psdmp_emit_comment_text(psdmp_emit_writer *e, const char *text);

/* "torques of a motion: q qd qdd -> tau". Returns text. */
const char *psdmp_emit_summary(psdm_function function, char text[160]);

/* The comment at the top of every file. what: its one line. */
void psdmp_emit_banner(psdmp_emit_writer *e, const char *what);

/* ---- arguments ---- */

extern const char *const psdmp_emit_block_names[PSDMP_CODEGEN_IN_COUNT]; /* "theta" ... */

/* Whether a block is the same for all states of a batch. */
bool psdmp_emit_block_shared(psdmp_codegen_block block);

/* "const double *$RESTRICT q, ..., double *$RESTRICT tau". */
void psdmp_emit_arguments(psdmp_emit_writer *e, const psdmp_codegen_program *p);
void psdmp_emit_arguments_closing(psdmp_emit_writer *e, const psdmp_codegen_program *p); /* the same; p is written */

/* ---- one function as a list of statements ---- */

struct psdmp_emit_listing;

/* How a target writes what the unparser asks for. */
typedef struct psdmp_emit_dialect {
  /* of values, as psdmp_emit_say takes it */
  const char *type;
  const char *constant; /* "const " before it, or "" */
  /* inputs need a statement before their first use */
  bool loads;
  void (*input)(struct psdmp_emit_listing *l, psdmp_codegen_block block, int index); /* as an operand */
  void (*load)(struct psdmp_emit_listing *l, psdmp_codegen_block block, int index);  /* that statement */
  /* around the value */
  void (*store)(struct psdmp_emit_listing *l, const char *result, int index, bool shared, bool close);
  void (*angles)(struct psdmp_emit_listing *l); /* sines and cosines of l->angle */
  /* statement of a root, a sign, a late sine */
  void (*call)(struct psdmp_emit_listing *l, uint32_t node);
} psdmp_emit_dialect;

/* What became of a node. */
typedef enum psdmp_emit_form {
  PSDMP_EMIT_FORM_DEAD,
  PSDMP_EMIT_FORM_LEAF,
  PSDMP_EMIT_FORM_INLINE,
  PSDMP_EMIT_FORM_NAMED,
  PSDMP_EMIT_FORM_STORED
} psdmp_emit_form;

typedef struct psdmp_emit_listing {
  psdmp_emit_writer *e;
  const psdmp_codegen_program *p;
  const psdmp_emit_dialect *dialect;
  psdm_node *node; /* (nodes) */
  uint32_t nodes;
  uint32_t *uses;  /* (nodes) by live nodes and outputs */
  uint32_t *order; /* (length) */
  size_t length;
  unsigned char *form; /* (nodes) psdmp_emit_form */
  unsigned char *size; /* (nodes) operations in its expression */
  bool *shared;        /* (nodes) the same for all states of a batch */
  bool *late;          /* (nodes) depends on a sine or cosine */
  bool *done;          /* (nodes) its statement is written; inputs: loaded */
  uint32_t *name;      /* (nodes) number of its variable */
  uint32_t names;
  uint32_t *first_output; /* (nodes) 1 + output, 0: none */
  uint32_t *next_output;  /* (outputs) the same */
  uint32_t *angle;        /* (angles) nodes whose sine or cosine is taken at the start */
  uint32_t *angle_of;     /* (nodes) its place in angle, for SIN and COS nodes */
  uint32_t angles;
} psdmp_emit_listing;

psdm_status psdmp_emit_listing_set(psdmp_emit_writer *e, const psdmp_codegen_program *p,
                                   const psdmp_emit_dialect *dialect, psdmp_base_arena *arena, psdmp_emit_listing *l);

/* All statements. */
void psdmp_emit_body(psdmp_emit_listing *l);

/* An operand or expression; level: 0 stands alone or first in a sum, 1 later in a sum, 2 first in a product, 3
 * later. */
void psdmp_emit_value(psdmp_emit_listing *l, psdm_ref ref, int level);

/* "s3" and "c3": the sine's and the cosine's variable. live tells which are wanted. */
void psdmp_emit_angle_names(const psdmp_emit_listing *l, uint32_t angle, char sine[24], char cosine[24]);
void psdmp_emit_angle_live(const psdmp_emit_listing *l, uint32_t angle, bool *sine, bool *cosine);

/* Statements of helpers that some functions need. */
typedef struct psdmp_emit_needs {
  unsigned calls;      /* bit 1 << psdm_op: operations that are calls, beside the angles */
  unsigned lane_calls; /* those of them that vectors take */
  uint32_t widths;     /* bit w: some function takes the sines of w angles at a time, w = 2, 4, 8, 16 */
  bool angles;
} psdmp_emit_needs;
void psdmp_emit_listing_needs(const psdmp_emit_listing *l, psdmp_emit_needs *needs);

/* How many lanes a group of so many angles takes, at most 8 doubles or 16 floats. */
int psdmp_emit_group_width(const psdmp_emit_writer *e, uint32_t angles);

/* ---- functions.c: operations that are calls ---- */

/* "sqrt", of which "~" or a helper of the file's own is behind; NULL: has an operator */
const char *psdmp_emit_call_name(psdm_op op);
bool psdmp_emit_call_own(psdm_op op); /* not libm's */

/* @sign and others; inlined, outlined: words before a function, as psdmp_emit_say takes them */
void psdmp_emit_functions(psdmp_emit_writer *e, const psdmp_emit_needs *needs, const char *inlined,
                          const char *outlined);
void psdmp_emit_lane_exponentials(psdmp_emit_writer *e, const psdmp_emit_needs *needs);

/* A call's operands between commas; after: text behind each that differs between lanes. */
void psdmp_emit_operands(psdmp_emit_listing *l, uint32_t node, const char *after);

/* ---- emit_sincos.c: sines and cosines as text ---- */

extern const psdmp_emit_dialect psdmp_emit_dialect_c;

void psdmp_emit_sincos(psdmp_emit_writer *e, const psdmp_emit_needs *needs); /* helpers of the scalar functions */
/* "(c0 + z*c1) + w*((c2 + z*c3) + w*(c4 + z*c5))", w = z^2: pairs, so that few operations wait for each other */
void psdmp_emit_polynomial(psdmp_emit_writer *e, const double *c, int terms);
/* the kernel on vectors of a type */
void psdmp_emit_turn(psdmp_emit_writer *e, const char *value, const char *bits, const char *name);
double psdmp_emit_sincos_range(const psdmp_emit_writer *e); /* libm beyond */

/* ---- emit_lanes.c: many states at a time ---- */

extern const psdmp_emit_dialect psdmp_emit_dialect_lanes;

void psdmp_emit_lanes_helpers(psdmp_emit_writer *e, const psdmp_emit_needs *needs);
psdm_status psdmp_emit_batch(psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena);

/* ---- loop.c: closed loops ---- */

void psdmp_emit_loop_header(psdmp_emit_writer *e); /* without loops: nothing */
void psdmp_emit_loop_prototype(psdmp_emit_writer *e, const psdmp_codegen_program *p);
void psdmp_emit_loop_source(psdmp_emit_writer *e); /* behind the function closure */
void psdmp_emit_loop_function(psdmp_emit_writer *e, const psdmp_codegen_program *p);

/* ---- the files ---- */

void psdmp_emit_header(psdmp_emit_writer *e);
psdm_status psdmp_emit_source(psdmp_emit_writer *e, psdmp_base_arena *arena);
psdm_status psdmp_emit_selftest(psdmp_emit_writer *e, psdmp_base_arena *arena, psdm_error *error);
void psdmp_emit_makefile(psdmp_emit_writer *e);

#include "emit/cuda.h"

#endif
