/* document.h: a YAML text as a tree of nodes with their line numbers. */
#ifndef PSDMP_DOCUMENT_DOC_H
#define PSDMP_DOCUMENT_DOC_H

#include "base/base.h"

typedef enum psdmp_document_kind { PSDMP_DOCUMENT_SCALAR, PSDMP_DOCUMENT_LIST, PSDMP_DOCUMENT_MAP } psdmp_document_kind;

typedef struct psdmp_document_node {
  psdmp_document_kind kind;
  int line, column;                  /* counted from 1 */
  const char *text;                  /* scalar: terminated, no NUL inside */
  size_t length;                     /* scalar: strlen(text) */
  bool quoted;                       /* scalar: written in quotes */
  const char *key;                   /* name under which the parent map holds this node, else NULL */
  int key_line, key_column;          /* position of that name */
  int count;                         /* list, map: number of children */
  struct psdmp_document_node *child; /* list, map: first child */
  struct psdmp_document_node *next;  /* next child of the same parent */
} psdmp_document_node;

/* Limits for hostile input. */
enum {
  PSDMP_DOCUMENT_DOC_BYTES = 16 * 1024 * 1024, /* 10,000 links are 2 MB */
  PSDMP_DOCUMENT_DOC_NODES = 1 << 19,
  PSDMP_DOCUMENT_DOC_DEPTH = 32
};

/* One document, plain data only: anchors, aliases and tags are errors. *root lives in the arena. */
psdm_status psdmp_document_parse(const char *text, size_t length, const char *file, psdmp_base_arena *arena,
                                 psdmp_document_node **root, psdm_error *error);

/* Reads a whole file ("-" is standard input) of at most limit bytes into the arena, terminated. */
psdm_status psdmp_document_file_read(const char *path, size_t limit, psdmp_base_arena *arena, char **text,
                                     size_t *length, psdm_error *error);

#endif
