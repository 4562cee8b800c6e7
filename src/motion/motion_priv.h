/* motion_priv.h: shared by motions and signals. Private to the library. */
#ifndef PSDMP_MOTION_PRIV_H
#define PSDMP_MOTION_PRIV_H

#include "base/base.h"
#include "psdm/csv.h"
#include "psdm/motion.h"

typedef enum psdmp_motion_kind {
  PSDMP_MOTION_MOVE,      /* from rest to rest */
  PSDMP_MOTION_HARMONICS, /* sums of sines and cosines */
  PSDMP_MOTION_PIECES     /* polynomials between the rows of a table */
} psdmp_motion_kind;

struct psdm_motion {
  psdmp_base_arena arena; /* owns this struct and everything below */
  psdmp_motion_kind kind;
  int n;
  double begin, end;
  int degree;              /* of the move; of the pieces, 3 or 5 */
  const double *from, *to; /* (n) the move's ends */
  int terms;
  const double *centre;                    /* (n) */
  const double *frequency, *sine, *cosine; /* (n x terms) */
  long rows;
  const double *t; /* (rows) */
  double *x[3];    /* (rows x n) q, qd, and qdd where degree is 5 */
};

/* An empty motion; NULL when out of memory. */
psdm_motion *psdmp_motion_new(int n, psdmp_motion_kind kind, const psdm_allocator *allocator);

/* A copy of count numbers in the motion's arena, NULL when out of memory. count may be 0. */
double *psdmp_motion_copy(psdm_motion *motion, const double *from, size_t count);

/* The row k with t[k] <= at < t[k + 1], by bisection; 0 before the first, rows - 1 from the last on. */
long psdmp_motion_row_at(long rows, const double *t, double at);

/* First row whose t is not finite or not above the one before, -1 when all ascend. */
long psdmp_motion_row_unsorted(long rows, const double *t);

/* ---- tables over time from CSV files ---- */

typedef struct psdmp_motion_timetable {
  long rows;
  int columns;
  double *memory; /* (rows x (columns + 1)) rows of t and the selected columns */
} psdmp_motion_timetable;

/* Column of the CSV with this name (prefix, and number when > 0), marked in used; -1 when absent. */
int psdmp_motion_csv_place(const psdm_csv *csv, const char *prefix, int number, bool *used);

/* Fails on the first unused column: "column 'x' is not one of <expected>, ...". */
psdm_status psdmp_motion_csv_refuse_extra(const psdm_csv *csv, const bool *used, const char *expected,
                                          psdm_error *error);

/* All rows after the header: t from its column, which must ascend, and the columns at place (-1: zeros). Free memory
 * with the allocator. */
/* per number: the doubling buffer, and copies made of it */
enum { PSDMP_MOTION_TIMETABLE_BYTES = 32 };
psdm_status psdmp_motion_timetable_read(psdm_csv *csv, int t_place, int columns, const int *place,
                                        const psdm_allocator *allocator, psdmp_motion_timetable *table,
                                        psdm_error *error);

/* Extracts a block of columns: to (rows x count) gets columns first .. first + count - 1; t is column -1. */
void psdmp_motion_timetable_take(const psdmp_motion_timetable *table, int first, int count, double *to);

#endif
