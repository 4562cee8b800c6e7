/* blocks.c: takes rows, keeps a triangle per equation and block. */
#include <string.h>

#include "linalg/linalg.h"

enum { CHUNK = 256 };

/* ---- memory ---- */

bool psdmp_linalg_blocks_in(psdmp_base_arena *arena, int n, const int *width, int blocks, psdmp_linalg_blocks *b) {
  size_t widest = 0;
  b->n = n, b->blocks = blocks;
  b->width = PSDMP_BASE_NEW(arena, n, int), b->R = PSDMP_BASE_NEW(arena, n * blocks, double *),
  b->count = PSDMP_BASE_NEW(arena, n * blocks, double);
  b->chunk = PSDMP_BASE_NEW(arena, n, double *), b->waiting = PSDMP_BASE_NEW(arena, n, int),
  b->block = PSDMP_BASE_NEW(arena, n, int);
  bool ok = b->width && b->R && b->count && b->chunk && b->waiting && b->block;
  for (int i = 0; i < n && ok; i++) {
    size_t w = (size_t)width[i];
    b->width[i] = width[i];
    widest = w > widest ? w : widest;
    ok = (b->chunk[i] = PSDMP_BASE_NEW(arena, CHUNK * w, double)) != NULL;
    for (int k = 0; k < blocks && ok; k++) ok = (b->R[i * blocks + k] = PSDMP_BASE_NEW(arena, w * w, double)) != NULL;
  }
  size_t rows = widest > CHUNK ? widest : CHUNK, factor = psdmp_linalg_factor_scratch((int)widest, (long)rows);
  return ok && (b->scratch = PSDMP_BASE_NEW(arena, factor + widest * widest, double)) != NULL;
}

bool psdmp_linalg_blocks_new(const psdm_allocator *allocator, int n, const int *width, int blocks,
                             psdmp_linalg_blocks *b) {
  *b = (psdmp_linalg_blocks){.arena = {.allocator = allocator}};
  bool ok = psdmp_linalg_blocks_in(&b->arena, n, width, blocks, b);
  if (!ok) psdmp_linalg_blocks_free(b);
  return ok;
}

void psdmp_linalg_blocks_free(psdmp_linalg_blocks *b) {
  psdmp_base_arena_free(&b->arena);
  *b = (psdmp_linalg_blocks){0};
}

void psdmp_linalg_blocks_clear(psdmp_linalg_blocks *b) {
  for (int i = 0; i < b->n; i++) {
    size_t w = (size_t)b->width[i];
    b->waiting[i] = 0;
    for (int at = i * b->blocks; at < (i + 1) * b->blocks; at++) {
      if (b->count[at] > 0) memset(b->R[at], 0, w * w * sizeof(double));
      b->count[at] = 0;
    }
  }
}

/* ---- adding rows ---- */

static void flush(psdmp_linalg_blocks *b, int i) {
  int at = i * b->blocks + b->block[i];
  if (!b->waiting[i]) return;
  psdmp_linalg_factor_add(b->width[i], b->R[at], b->waiting[i], b->chunk[i], b->scratch);
  b->count[at] += b->waiting[i];
  b->waiting[i] = 0;
}

double *psdmp_linalg_blocks_row(psdmp_linalg_blocks *b, int i, int block) {
  if (b->waiting[i] == CHUNK || block != b->block[i]) flush(b, i);
  b->block[i] = block;
  return b->chunk[i] + (long)b->waiting[i]++ * b->width[i];
}

void psdmp_linalg_blocks_flush(psdmp_linalg_blocks *b) {
  for (int i = 0; i < b->n; i++) flush(b, i);
}

/* ---- several blocks together ---- */

double psdmp_linalg_blocks_stack(psdmp_linalg_blocks *b, int i, unsigned mask, double *R) {
  int w = b->width[i];
  size_t bytes = (size_t)w * (size_t)w * sizeof *R;
  double count = 0, *X = b->scratch, *scratch = b->scratch + (long)w * w;
  memset(R, 0, bytes);
  for (int k = 0; k < b->blocks; k++) {
    int at = i * b->blocks + k;
    if (!(mask >> k & 1) || b->count[at] == 0) continue;
    count += b->count[at];
    memcpy(X, b->R[at], bytes);
    psdmp_linalg_factor_add(w, R, w, X, scratch);
  }
  return count;
}
