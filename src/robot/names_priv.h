/* names_priv.h: fast lookup among many names: hostile files bring thousands. */
#ifndef PSDMP_ROBOT_NAMES_H
#define PSDMP_ROBOT_NAMES_H

#include "base/base.h"

typedef struct psdmp_robot_names {
  const char **name; /* (count) as given */
  int *sorted;       /* (count) indices in strcmp order, equal names by index */
  int count;
} psdmp_robot_names;

/* Indexes count names, which must outlive it. False when out of memory. */
bool psdmp_robot_names_init(psdmp_robot_names *names, psdmp_base_arena *arena, const char **name, int count);

/* The first index of a name, -1 when there is none. */
int psdmp_robot_names_find(const psdmp_robot_names *names, const char *name);

/* The lowest index whose name occurs earlier too, -1 if there are no duplicates; *first gets the earlier one. */
int psdmp_robot_names_twin(const psdmp_robot_names *names, int *first);

/* The nearest name, NULL when none is near. Searches only the first few hundred. */
const char *psdmp_robot_names_nearest(const psdmp_robot_names *names, const char *name);

#endif
