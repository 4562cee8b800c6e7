/* structure_priv.h: shared by the files of psdm_structure. Private to the library. */
#ifndef PSDMP_ANALYZE_STRUCTURE_H
#define PSDMP_ANALYZE_STRUCTURE_H

#include "base/base.h"
#include "psdm/analyze.h"

/* The coefficient of one function in one joint's torque: a linear form of the base parameters. */
typedef struct psdmp_analyze_linear_form {
  long function;
  int row;           /* joint whose torque it is part of */
  int first, second; /* the function's rates, as in psdm_model_class_rates */
  int count;
  const int *parameter; /* (count) base parameters */
  const double *share;  /* (count) */
  double value;         /* with the robot's numbers; for gravity times its size */
  bool zero;            /* with the robot's numbers; false for any numbers */
} psdmp_analyze_linear_form;

struct psdm_structure {
  psdmp_base_arena arena;
  const psdm_robot *robot;
  const psdm_model *model;
  int n, l;
  bool numeric;
  double gravity;       /* its size */
  double *theta, *size; /* (l) values, and the sums of their terms' magnitudes */
  long forms;
  psdmp_analyze_linear_form *form;
  double *reach;                      /* (n) square root of the largest coefficient of M_ii */
  unsigned char *present;             /* (classes x n) the entry is not zero */
  unsigned char *depends;             /* (classes x n x n) */
  int *class_of;                      /* (n x n) class of qd_j qd_k */
  const char **sentence[PSDM_WISHES]; /* NULL past the end */
};

extern const double psdmp_analyze_structure_zero; /* a coefficient below this share of its scale counts as zero */

/* A sentence being composed; truncated when too long. */
enum { PSDMP_ANALYZE_SENTENCE = 8192 };
typedef struct psdmp_analyze_sentence {
  size_t used;
  char text[PSDMP_ANALYZE_SENTENCE];
} psdmp_analyze_sentence;

void psdmp_analyze_sentence_add(psdmp_analyze_sentence *sentence, const char *format, ...) PSDM_PRINTF(2, 3);
void psdmp_analyze_sentence_number(psdmp_analyze_sentence *sentence, double x, int digits);

/* "mx2 + 0.4 m3": a linear form of all base parameters (l) in standard parameters; "0" when empty. Returns whether all
 * terms are positive by nature. scratch: (standard parameters). */
bool psdmp_analyze_sentence_form(const psdm_structure *structure, psdmp_analyze_sentence *sentence, const double *form,
                                 double *scratch);

/* Copies of sentences in the structure's arena. False: out of memory. */
typedef struct psdmp_analyze_sentences {
  int count;
  long room;
  const char **list;
} psdmp_analyze_sentences;
bool psdmp_analyze_sentence_keep(psdm_structure *structure, psdmp_analyze_sentences *list,
                                 const psdmp_analyze_sentence *sentence);

/* Exponents (5n) of a form's function. */
void psdmp_analyze_form_exponents(const psdm_structure *structure, const psdmp_analyze_linear_form *form,
                                  unsigned char *exponents);

/* Fill structure->sentence. False: out of memory. */
bool psdmp_analyze_structure_conditions(psdm_structure *structure);
bool psdmp_analyze_structure_springs(psdm_structure *structure);

#endif
