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

/* How the texts fared; wrong: answers that are not as they must be. */
typedef struct nodes_tally {
  int refused, accepted, wrong;
} nodes_tally;

/* Counts an answer. False: a refusal, which leaves nothing made, is of the file's content, names its line and has a
 * sentence without control characters; what is wrong with it is printed. */
bool nodes_accepted(nodes_tally *t, psdm_status status, const void *made, const psdm_error *error, const char *text,
                    const char *where);

/* accepted, though it should not be */
void nodes_wrongly(nodes_tally *t, const char *what, const char *where);

/* prints the numbers; none is wrong, and enough are refused */
void nodes_judge(const nodes_tally *t);

#endif
