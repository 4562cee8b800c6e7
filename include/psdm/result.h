/* psdm/result.h: answers as documents. One list of fields gives the C struct, its JSON (written and read), its JSON
 * Schema, its manual and its attributes in Python.
 *
 *   #define PSDM_CLASSES(X, S)                                                              \
 *     X(S, integer, gravity, , , "", "functions of gravity")                                \
 *     X(S, integers, acceleration, , "[n]", "", "functions of each joint's acceleration")
 *   PSDM_RESULT_RECORD(psdm_classes, PSDM_CLASSES)                      in a header: the struct
 *   PSDM_RESULT_TYPE(psdm_classes, PSDM_CLASSES, NULL, "functions by class")   in a source: its type
 *
 * A line is X(S, kind, key, type, shape, unit, meaning). A trailing underscore is not part of the key (for_). Kinds:
 *
 *   number      double; null when it is not finite      numbers    double, in lists
 *   integer     long                                    integers   long, in lists
 *   boolean     bool                                    records    structs of type, in lists
 *   text        const char *; null when NULL            texts      const char *, in lists
 *   choice      the same: one of the words in shape     named      numbers by name, an object
 *   record      a struct of type                        keyed      structs of type by their first field, an object
 *   vector      double[type]                            settings   what differs from a command's defaults, an object
 *   pointer     to a struct of type; null when NULL
 *
 * shape has a pair of brackets for each dimension of a list, one or two, with its size: "[n]", "[joints][3]". If it
 * begins with "?", the field is omitted when absent: not finite, 0, false, NULL (of a list: item); if it begins with
 * "?=key", when that field is.
 *
 * Documents begin with a psdm_result and own all that they point to: free with psdm_result_free. */
#ifndef PSDM_RESULT_H
#define PSDM_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "psdm/alloc.h"
#include "psdm/output.h"
#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum psdm_field_kind {
  PSDM_FIELD_number,
  PSDM_FIELD_integer,
  PSDM_FIELD_boolean,
  PSDM_FIELD_text,
  PSDM_FIELD_choice,
  PSDM_FIELD_record,
  PSDM_FIELD_pointer, /* to a record */
  PSDM_FIELD_vector,
  PSDM_FIELD_numbers, /* this and the following: a list */
  PSDM_FIELD_integers,
  PSDM_FIELD_texts,
  PSDM_FIELD_records,
  PSDM_FIELD_named,
  PSDM_FIELD_keyed,
  PSDM_FIELD_settings
} psdm_field_kind;

typedef struct psdm_result_type psdm_result_type;

typedef struct psdm_result_field {
  const char *key;
  psdm_field_kind kind;
  const char *shape; /* "?", "?=key": may be left out; then lists: "[n]", "[n][m]"; a choice: "one|other" */
  const char *unit, *meaning;
  size_t offset, size;
  const psdm_result_type *type; /* of a record, else NULL */
} psdm_result_field;

struct psdm_result_type {
  const char *name;    /* of the C struct */
  const char *command; /* documents: value of "command"; records: NULL */
  const char *meaning;
  size_t size;
  int count;
  const psdm_result_field *field;
};

/* All lists have this layout: items row by row; columns is 0 for one dimension. */
#define PSDM_RESULT_LIST(type) \
  struct {                     \
    const type *item;          \
    long rows;                 \
    int columns;               \
  }
typedef PSDM_RESULT_LIST(void) psdm_result_list;

typedef const char *psdm_word;

typedef struct psdm_named_number {
  const char *name;
  double value;
} psdm_named_number;

/* An option's value: the kind says which. */
typedef struct psdm_named_value {
  const char *name;
  psdm_field_kind kind; /* _boolean, _number, _text, _numbers or _texts */
  bool on;
  double number;
  const char *text;
  PSDM_RESULT_LIST(double) numbers;
  PSDM_RESULT_LIST(psdm_word) texts;
} psdm_named_value;

/* Every document starts with this. */
typedef struct psdm_result {
  const psdm_result_type *type;
  struct psdm_result_store *store; /* its memory */
} psdm_result;

/* ---- a list of fields as a struct, and as its type ---- */

#define PSDM_RESULT_MEMBER(S, kind, key, type, shape, unit, meaning) PSDM_RESULT_MEMBER_##kind(key, type)
#define PSDM_RESULT_MEMBER_number(key, type) double key;
#define PSDM_RESULT_MEMBER_integer(key, type) long key;
#define PSDM_RESULT_MEMBER_boolean(key, type) bool key;
#define PSDM_RESULT_MEMBER_text(key, type) const char *key;
#define PSDM_RESULT_MEMBER_choice(key, type) const char *key;
#define PSDM_RESULT_MEMBER_record(key, type) type key;
#define PSDM_RESULT_MEMBER_vector(key, type) double key[type];
#define PSDM_RESULT_MEMBER_numbers(key, type) PSDM_RESULT_LIST(double) key;
#define PSDM_RESULT_MEMBER_integers(key, type) PSDM_RESULT_LIST(long) key;
#define PSDM_RESULT_MEMBER_texts(key, type) PSDM_RESULT_LIST(psdm_word) key;
#define PSDM_RESULT_MEMBER_records(key, type) PSDM_RESULT_LIST(type) key;
#define PSDM_RESULT_MEMBER_named(key, type) PSDM_RESULT_LIST(psdm_named_number) key;
#define PSDM_RESULT_MEMBER_keyed(key, type) PSDM_RESULT_LIST(type) key;
#define PSDM_RESULT_MEMBER_settings(key, type) PSDM_RESULT_LIST(psdm_named_value) key;
#define PSDM_RESULT_MEMBER_pointer(key, type) const type *key;

#define PSDM_RESULT_RECORD(S, LIST) \
  typedef struct S {                \
    LIST(PSDM_RESULT_MEMBER, S)     \
  } S;                              \
  PSDM_API extern const psdm_result_type S##_type;
#define PSDM_RESULT_DOCUMENT(S, LIST) \
  typedef struct S {                  \
    psdm_result head;                 \
    LIST(PSDM_RESULT_MEMBER, S)       \
  } S;                                \
  PSDM_API extern const psdm_result_type S##_type;

#define PSDM_RESULT_OF_number(type) NULL
#define PSDM_RESULT_OF_integer(type) NULL
#define PSDM_RESULT_OF_boolean(type) NULL
#define PSDM_RESULT_OF_text(type) NULL
#define PSDM_RESULT_OF_choice(type) NULL
#define PSDM_RESULT_OF_record(type) &type##_type
#define PSDM_RESULT_OF_vector(type) NULL
#define PSDM_RESULT_OF_numbers(type) NULL
#define PSDM_RESULT_OF_integers(type) NULL
#define PSDM_RESULT_OF_texts(type) NULL
#define PSDM_RESULT_OF_records(type) &type##_type
#define PSDM_RESULT_OF_named(type) NULL
#define PSDM_RESULT_OF_keyed(type) &type##_type
#define PSDM_RESULT_OF_settings(type) NULL
#define PSDM_RESULT_OF_pointer(type) &type##_type

/* also for a struct declared elsewhere: its members of the kinds number, integer, boolean, text and vector */
#define PSDM_RESULT_FIELD(S, kind, key, type, shape, unit, meaning) \
  {#key,                                                            \
   PSDM_FIELD_##kind,                                               \
   "" shape,                                                        \
   unit,                                                            \
   meaning,                                                         \
   offsetof(S, key),                                                \
   sizeof(((S *)0)->key),                                           \
   PSDM_RESULT_OF_##kind(type)},
#define PSDM_RESULT_TYPE(S, LIST, command, meaning)                                                                  \
  static const psdm_result_field S##_fields[] = {LIST(PSDM_RESULT_FIELD, S)};                                        \
  const psdm_result_type S##_type = {#S,        command, meaning, sizeof(S), sizeof S##_fields / sizeof *S##_fields, \
                                     S##_fields};

/* How documents identify a robot. */
#define PSDM_RESULT_ROBOT(X, S, key)          \
  X(S, text, key, , , "", "the robot's name") \
  X(S, text, fingerprint, , , "", "of its kinematics: sixteen hexadecimal digits")

/* ---- making one ---- */

/* All numbers are NAN, all else is 0. */
PSDM_API psdm_status psdm_result_new(const psdm_result_type *type, const psdm_allocator *allocator,
                                     psdm_result **result, psdm_error *error);
PSDM_API void psdm_result_free(psdm_result *result); /* accepts NULL */

/* Memory of the result. NULL when there is none; psdm_result_complete then fails. _items: of type, like new. */
PSDM_API void *psdm_result_memory(psdm_result *result, long count, size_t size); /* zeroed */
PSDM_API void *psdm_result_items(psdm_result *result, const psdm_result_type *type, long count);
PSDM_API const char *psdm_result_text(psdm_result *result, const char *text); /* a copy; NULL for NULL */
PSDM_API const double *psdm_result_numbers(psdm_result *result, const double *value, long count); /* a copy */
/* After filling it: PSDM_E_MEMORY, and the result is freed, if memory ran out. */
PSDM_API psdm_status psdm_result_complete(psdm_result *result, psdm_error *error);
#define PSDM_RESULT_SET(list, items, count) ((list).item = (items), (list).rows = (list).item ? (count) : 0)

/* ---- operations on all results ---- */

/* {"command": ..., "psdm": VERSION, fields}; the caller commits. */
PSDM_API void psdm_result_write_json(const psdm_result *result, psdm_output *output);

/* The same piece by piece, for a last field that is a list too long for memory: all before its items; one item; the
 * end. */
PSDM_API void psdm_result_write_begin(const psdm_result *result, psdm_output *output);
PSDM_API void psdm_result_write_item(const psdm_result_type *type, const void *item, psdm_output *output);
PSDM_API void psdm_result_write_end(psdm_output *output);

/* Reads JSON written by a command ("-" is standard input); types ends with NULL. Unknown keys are ignored, missing ones
 * are absent, a value of the wrong kind is an error with its line. */
PSDM_API psdm_status psdm_result_read_json(const char *path, const psdm_result_type *const *types,
                                           const psdm_allocator *allocator, psdm_result **result, psdm_error *error);

/* JSON Schema 2020-12 of a document. */
PSDM_API void psdm_result_schema(const psdm_result_type *type, psdm_output *output);

/* A section with a table of all fields, and one for each record inside. */
PSDM_API void psdm_result_markdown(const psdm_result_type *type, psdm_output *output);

/* "calibrate_steps" of psdm_calibrate_steps_result: identifies documents. Returns out. */
PSDM_API char *psdm_result_name(const psdm_result_type *type, char out[64]);

#ifdef __cplusplus
}
#endif
#endif
