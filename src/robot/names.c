/* names.c: sorted names: bisection, duplicates, nearest matches. */
#include "robot/names_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
  const char *name;
  int index;
} entry;

static int compare(const void *a, const void *b) {
  const entry *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->index > y->index) - (x->index < y->index);
}

bool psdmp_robot_names_init(psdmp_robot_names *names, psdmp_base_arena *arena, const char **name, int count) {
  size_t n = (size_t)(count > 0 ? count : 1);
  entry *entries = psdmp_base_arena_alloc(arena, n * sizeof *entries);
  *names = (psdmp_robot_names){name, psdmp_base_arena_alloc(arena, n * sizeof(int)), count};
  if (!entries || !names->sorted) return false;
  for (int i = 0; i < count; i++) entries[i] = (entry){name[i], i};
  qsort(entries, (size_t)count, sizeof *entries, compare);
  for (int i = 0; i < count; i++) names->sorted[i] = entries[i].index;
  return true;
}

int psdmp_robot_names_find(const psdmp_robot_names *names, const char *name) {
  int low = 0, high = names->count; /* the first that is not below name lies in [low, high] */
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (strcmp(names->name[names->sorted[middle]], name) < 0) low = middle + 1;
    else high = middle;
  }
  return low < names->count && strcmp(names->name[names->sorted[low]], name) == 0 ? names->sorted[low] : -1;
}

int psdmp_robot_names_twin(const psdmp_robot_names *names, int *first) {
  int found = -1;
  for (int i = 1; i < names->count; i++) {
    int a = names->sorted[i - 1], b = names->sorted[i];
    if (strcmp(names->name[a], names->name[b]) == 0 && (found < 0 || b < found)) found = b, *first = a;
  }
  return found;
}

const char *psdmp_robot_names_nearest(const psdmp_robot_names *names, const char *name) {
  int count = names->count < 500 ? names->count : 500;
  return psdmp_base_nearest(name, names->name, (size_t)count);
}
