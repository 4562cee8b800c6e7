/* log_priv.h: the stages of reading a log. Private to the library.
 *
 *   source (text, gzip, MATLAB, HDF5, bags of ROS 2, memory)  a row of numbers per call, or what is wrong with it
 *   map                                which column of the source is which channel
 *   store                              the last few thousand rows, as they were logged: t, then each group's n values
 *   watch                              frozen and saturated channels, marked in the rows that are still
 *                                      in the store */
#ifndef PSDMP_LOG_PRIV_H
#define PSDMP_LOG_PRIV_H

#include "base/base.h"
#include "log/log.h"
#include "psdm/csv.h"

/* ---- groups of channels: name in files, what it is, motor side or joint side ---- */

typedef enum psdmp_log_kind { PSDMP_LOG_Q, PSDMP_LOG_QD, PSDMP_LOG_QDD, PSDMP_LOG_TAU, PSDMP_LOG_KINDS } psdmp_log_kind;

typedef enum psdmp_log_side { PSDMP_LOG_JOINT, PSDMP_LOG_MOTOR, PSDMP_LOG_CURRENT } psdmp_log_side;

typedef struct psdmp_log_group {
  const char *name;
  psdmp_log_kind kind;
  psdmp_log_side side;
} psdmp_log_group;

enum { PSDMP_LOG_GROUPS = 8 };
extern const psdmp_log_group psdmp_log_groups[PSDMP_LOG_GROUPS];

/* The group of a name without its number, or NULL. */
const psdmp_log_group *psdmp_log_group_find(const char *name, size_t length);

/* ---- sources ---- */

enum { PSDMP_LOG_SENTENCE = 160 }; /* bytes of a sentence about a fault */

/* Result of reading a row from a source. */
typedef struct psdmp_log_row {
  bool end;   /* there is no further row */
  bool bad;   /* unusable, with a reason: */
  bool comma; /* its numbers have decimal commas */
  psdm_fault fault;
  char sentence[PSDMP_LOG_SENTENCE]; /* without the line */
  long line;                         /* of the file, or row counted from 1 */
  long index;                        /* counted from 0, bad rows included */
  long long place;                   /* for seek; -1: not seekable */
} psdmp_log_row;

/* A number that is not finite, of a column by its name, or where that is NULL by its number: the first is reported. */
void psdmp_log_row_spoil(psdmp_log_row *row, const char *name, int column, double value);

typedef struct psdmp_log_source {
  void *self;
  const char *word;   /* "line" or "row" */
  const char *column; /* what a name refers to: "column" or "variable" */
  int header_line;    /* 0: unknown */
  int columns;
  const char *const *names; /* (columns), or NULL: numbers alone */
  /* from now on only these columns are needed: value k of a row is column place[k] */
  psdm_status (*select)(void *self, int count, const int *place, psdm_error *error);
  psdm_status (*next)(void *self, double *values, psdmp_log_row *row, psdm_error *error);
  psdm_status (*rewind)(void *self, psdm_error *error);
  /* the next row is this one; NULL: only from the start */
  psdm_status (*seek)(void *self, long long place, long line, long index, psdm_error *error);
  bool shared; /* threads may use different sources at once */
  bool once;   /* cannot be read again */
  void (*progress)(const void *self, long long *bytes, long long *size);
  void (*close)(void *self);
} psdmp_log_source;

/* Arguments for opening a source: its name in messages, and what it may expect. */
typedef struct psdmp_log_request {
  const char *path; /* of a file, NULL when read gives the bytes */
  psdm_csv_read read;
  void *user;
  const psdm_log_table *table; /* in memory, instead of both; else NULL */
  const char *topic;           /* of a bag, if the caller named one; else NULL */
  const char *file;            /* name in messages */
  const psdm_robot *robot;
  int n;         /* joints */
  bool numbered; /* the caller assigns columns by number: names are not needed */
  const psdm_allocator *allocator;
} psdmp_log_request;

psdm_status psdmp_log_source_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error);
psdm_status psdmp_log_memory_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error);
psdm_status psdmp_log_mat_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error);
psdm_status psdmp_log_hdf5_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error);

/* ---- gzip ---- */

/* Decompresses what read returns; uncompressed text passes through. */
typedef struct psdmp_log_gunzip psdmp_log_gunzip;

/* results beyond those of psdm_csv_read: broken data; built without zlib */
enum { PSDMP_LOG_GUNZIP_DAMAGED = -2, PSDMP_LOG_GUNZIP_MISSING = -3 };

/* NULL: out of memory */
psdmp_log_gunzip *psdmp_log_gunzip_open(psdm_csv_read read, void *user, const psdm_allocator *allocator);
void psdmp_log_gunzip_close(psdmp_log_gunzip *gunzip);   /* accepts NULL */
void psdmp_log_gunzip_restart(psdmp_log_gunzip *gunzip); /* the bytes start again from the first */
/* a psdm_csv_read; damaged data is -1 with psdmp_log_gunzip_state */
ptrdiff_t psdmp_log_gunzip_read(void *gunzip, char *buffer, size_t size);
int psdmp_log_gunzip_state(const psdmp_log_gunzip *gunzip); /* 0, or one of the results above */
bool psdmp_log_gunzip_cut(const psdmp_log_gunzip *gunzip);  /* the compressed bytes ended before their stream did */
bool psdmp_log_gunzip_compressed(const psdmp_log_gunzip *gunzip); /* known once something was read */
long long psdmp_log_gunzip_bytes(const psdmp_log_gunzip *gunzip); /* taken from read */

/* ---- tables: matrices of MATLAB and HDF5 files, one row after the other ---- */

/* A numeric vector or matrix. */
typedef struct psdmp_log_variable {
  const char *name;
  size_t rows, columns; /* as the file has it: a row per entry of the first dimension */
  bool upright;         /* rows are samples; otherwise columns are */
  int first;            /* its first column among those of the source */
  int wide;             /* and how many it has there */
  void *handle;         /* the format's own */
  double *block;        /* (PSDMP_LOG_BLOCK x wide), sample by sample, once it is selected; as much scratch follows */
} psdmp_log_variable;

enum { PSDMP_LOG_BLOCK = 1024 };

typedef struct psdmp_log_table psdmp_log_table;

typedef struct psdmp_log_format {
  /* samples first .. first + count - 1 of a variable, sample by sample, into its block */
  bool (*load)(void *file, psdmp_log_variable *variable, size_t first, size_t count);
  void (*forget)(void *file, psdmp_log_variable *variable); /* releases its handle; file may be NULL */
  void (*close)(void *file);
} psdmp_log_format;

/* Takes over file, also when it fails (then it is closed). */
psdm_status psdmp_log_table_new(const psdmp_log_request *request, void *file, const psdmp_log_format *format,
                                psdmp_log_table **table, psdm_error *error);
psdmp_base_arena *psdmp_log_table_arena(psdmp_log_table *table);
/* PSDM_E_LIMIT, PSDM_E_MEMORY */
psdm_status psdmp_log_table_add(psdmp_log_table *table, const char *name, size_t rows, size_t columns, void *handle,
                                psdm_error *error);
/* Names its columns and makes it a source. Closes the table when it fails. */
psdm_status psdmp_log_table_source(psdmp_log_table *table, psdmp_log_source *source, psdm_error *error);
void psdmp_log_table_close(psdmp_log_table *table);

/* ---- columns to channels ---- */

typedef struct psdmp_log_map {
  bool has[PSDMP_LOG_KINDS];
  const psdmp_log_group *group[PSDMP_LOG_KINDS];
  bool clock;              /* there is a column t */
  int width;               /* values of a row: t, then n of each kind present */
  int at[PSDMP_LOG_KINDS]; /* of a kind's first value in a row */
  int *place;              /* (width) columns of the source; place[0] is -1 without a clock */
} psdmp_log_map;

psdm_status psdmp_log_map_make(const psdmp_log_source *source, const char *file, int n, const char *columns,
                               bool ignore_extra, double rate, psdmp_base_arena *arena, psdmp_log_map *map,
                               psdm_error *error);

/* ---- faults ---- */

typedef struct psdmp_log_faults {
  const char *word; /* "line" or "row" */
  long count[PSDM_FAULTS];
  struct {
    long line;
    char text[PSDMP_LOG_SENTENCE + 32];
  } kept[PSDM_FAULTS][PSDMP_LOG_KEPT];
} psdmp_log_faults;

/* Counts it, and keeps the sentence while there is room. */
void psdmp_log_fault_add(psdmp_log_faults *faults, psdm_fault fault, long line, const char *format, ...)
    PSDM_PRINTF(4, 5);

/* ---- rows that are held back ---- */

/* of the channels as they were logged; SPIKE: in q, qd or qdd */
enum {
  PSDMP_LOG_MARK_Q = 1,
  PSDMP_LOG_MARK_TAU = 2,
  PSDMP_LOG_MARK_QD = 4,
  PSDMP_LOG_MARK_QDD = 8,
  PSDMP_LOG_MARK_SPIKE = 16,
  PSDMP_LOG_MARK_TAU_SPIKE = 32
};

typedef struct psdmp_log_store {
  int n, width;
  long room;                 /* rows that fit */
  long hold;                 /* rows that are held back until the end, so that they can still be marked */
  long begin, watched, used; /* next to return; next to watch; past the last */
  double *raw;               /* (room x width) */
  long *line;                /* (room) */
  long long *place;          /* (room) */
  long *index;               /* (room) */
  int *segment;              /* (room) */
  unsigned char *mark;       /* (room x n) */
  bool *regular;             /* (room) the row follows the one before after the usual interval */
} psdmp_log_store;

/* ---- watching ---- */

typedef struct psdmp_log_watch psdmp_log_watch;

psdmp_log_watch *psdmp_log_watch_new(const psdmp_log_map *map, psdmp_log_store *store, psdmp_log_faults *faults,
                                     psdmp_base_arena *arena); /* NULL: out of memory */
void psdmp_log_watch_reset(psdmp_log_watch *watch, double interval);
void psdmp_log_watch_ahead(psdmp_log_watch *watch, long row);  /* records a row that has just been stored */
void psdmp_log_watch_row(psdmp_log_watch *watch, long row);    /* checks it, some time later */
void psdmp_log_watch_end(psdmp_log_watch *watch);              /* there are no further rows */
void psdmp_log_watch_shift(psdmp_log_watch *watch, long rows); /* the store has moved down by this many rows */

size_t psdmp_log_watch_bytes(const psdmp_log_watch *watch);
void psdmp_log_watch_save(const psdmp_log_watch *watch, unsigned char *bytes);
void psdmp_log_watch_restore(psdmp_log_watch *watch, const unsigned char *bytes);

/* ---- opening from memory, for tests and fuzzing ---- */

psdm_status psdmp_log_open_source(psdm_csv_read read, void *user, const char *name, const psdm_robot *robot,
                                  const psdm_log_options *options, const psdm_allocator *allocator, psdm_log **log,
                                  psdm_error *error);

#endif
