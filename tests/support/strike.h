/* strike.h: a call of some kind fails once for each stack of calls that leads to it. What kind is up to those who
 * wrap it: memory in shortage.c, files in trouble.c. */
#ifndef STRIKE_H
#define STRIKE_H

#include "support.h"

/* Makes something and frees it; answers what the making answered. */
typedef psdm_status (*strike_attempt)(const psdm_allocator *allocator, const void *what, psdm_error *error);

/* What a failure must be answered with. */
typedef struct strike_rule {
  const char *words;     /* what has happened, for complaints */
  const psdm_status *as; /* any of these, PSDM_OK behind the last */
  bool tolerant;         /* PSDM_OK is an answer as well, */
  bool harmless;         /* or the only one */
  bool waiting;          /* only calls that can wait fail */
} strike_rule;

/* Whether this call is the one that fails in this run. */
bool strike_now(bool can_wait); /* can_wait: a signal may interrupt it */

/* What the attempt calls for itself, between true and false, does not fail. */
void strike_pause(bool paused);

/* Runs the attempt once as it is, which must be PSDM_OK, and once for each stack of calls that was new in that run.
 * Each time the answer must be as the rule wants it, and nothing may be left. Returns how many failures there were. */
long strike_everywhere(const char *name, strike_attempt attempt, const void *what, const strike_rule *rule);

/* The same places once more, by another rule. */
long strike_again(const char *name, strike_attempt attempt, const void *what, const strike_rule *rule);

#endif
