/* nodes.h: a document with each of its nodes in turn missing, of another kind or absurd. */
#ifndef NODES_H
#define NODES_H

#include "support.h"

typedef enum nodes_change {
  NODES_MISSING, /* left out */
  NODES_KIND,    /* a list for a scalar or a map, a map for a list or a scalar, a word for a list or a map */
  NODES_VALUE,   /* another scalar in a scalar's place */
  NODES_EXTRA    /* one element or key more */
} nodes_change;

/* Calls visit with every such text, and with what was changed: "joints[1].limits.lower". YAML or JSON in, YAML in
 * flow style out. */
void nodes_each(const char *text, void (*visit)(void *user, const char *text, nodes_change change, const char *where),
                void *user);

/* Whether a refusal is of the file's content, names its line and has a sentence without control characters; prints
 * it when not. */
bool nodes_refused_well(psdm_status status, const psdm_error *error, const char *text, const char *where);

#endif
