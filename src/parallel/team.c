/* team.c: rank 0 asks, the others answer. */
#include <stdio.h>
#include <string.h>

#include "parallel/parallel.h"

enum { DISMISSED = -1, OVER = -2 }; /* instead of a work number */

typedef struct question {
  int work;
  size_t bytes;
} question;

typedef struct reply {
  psdm_status status;
  psdm_error error;
  size_t bytes;
} reply;

/* ---- bytes in pieces: without memory for them they are received all the same, so that everyone stays in step ---- */

enum { PIECE = 1 << 14 }; /* small enough for the stack of any thread */

static size_t piece_at(size_t at, size_t count) { return count - at < PIECE ? count - at : PIECE; }

/* to: NULL: discarded. From rank 0 they are broadcast */
static bool take_bytes(psdm_ranks *r, int from, unsigned char *to, size_t count) {
  unsigned char waste[PIECE];
  bool taken = true;
  for (size_t at = 0; at < count && taken; at += PIECE) {
    unsigned char *piece = to ? to + at : waste;
    taken = from ? r->receive(r->self, from, piece, piece_at(at, count))
                 : r->broadcast(r->self, piece, piece_at(at, count));
  }
  return taken;
}

/* to rank 0, or from it to all */
static bool give_bytes(psdm_ranks *r, unsigned char *bytes, size_t count) {
  bool given = true;
  for (size_t at = 0; at < count && given; at += PIECE)
    given = r->rank ? r->send(r->self, 0, bytes + at, piece_at(at, count))
                    : r->broadcast(r->self, bytes + at, piece_at(at, count));
  return given;
}

static psdm_status lost(int rank, psdm_error *error) {
  return psdmp_base_fail(error, PSDM_E_IO, "", 0, 0, "the connection to rank %d is lost", rank);
}

/* ---- rank 0 ---- */

psdm_status psdmp_parallel_team_ask(psdm_ranks *r, int work, const psdmp_parallel_bytes *request, psdm_error *error) {
  question q = {.work = work, .bytes = request ? request->used : 0};
  if (request && request->failed) return psdmp_base_no_memory("", error);
  bool passed = r->broadcast(r->self, &q, sizeof q) && (!q.bytes || give_bytes(r, request->data, q.bytes));
  return passed ? PSDM_OK : lost(1, error);
}

void psdmp_parallel_team_tell(int rank, psdm_status status, psdm_error *error) {
  if (status != PSDM_E_IO || rank == 0 || !error || !error->file[0]) return;
  size_t length = strlen(error->text);
  snprintf(error->text + length, sizeof error->text - length, " (on rank %d)", rank);
}

psdm_status psdmp_parallel_team_listen(psdm_ranks *r, int from, psdmp_parallel_bytes *answer, psdm_error *error) {
  reply p;
  if (!r->receive(r->self, from, &p, sizeof p)) return lost(from, error);
  bool room = !p.bytes || psdmp_parallel_bytes_room(answer, p.bytes);
  if (!take_bytes(r, from, room && p.bytes ? answer->data + answer->used : NULL, p.bytes)) return lost(from, error);
  if (!room) return psdmp_base_no_memory("", error);
  answer->used += p.bytes;
  if (p.status && error) *error = p.error;
  psdmp_parallel_team_tell(from, p.status, error);
  return p.status;
}

void psdmp_parallel_team_dismiss(psdm_ranks *r) {
  question q = {.work = DISMISSED};
  if (r) r->broadcast(r->self, &q, sizeof q);
}

/* ---- the others ---- */

static bool send_reply(psdm_ranks *r, reply *p, const psdmp_parallel_bytes *answer) {
  p->bytes = p->status ? 0 : answer->used;
  return r->send(r->self, 0, p, sizeof *p) && give_bytes(r, answer->data, p->bytes);
}

/* the next question; its request has failed set when memory ran out; false: rank 0 is gone */
static bool hear(psdm_ranks *r, question *q, psdmp_parallel_bytes *request) {
  if (!r->broadcast(r->self, q, sizeof *q)) return false;
  r->over = q->work == OVER;
  bool room = !q->bytes || psdmp_parallel_bytes_room(request, q->bytes);
  if (!take_bytes(r, 0, room && q->bytes ? request->data : NULL, q->bytes)) return false;
  request->used = room ? q->bytes : 0;
  return true;
}

psdm_status psdmp_parallel_team_serve(psdm_ranks *r, psdmp_parallel_team_work work, void *user,
                                      const psdm_allocator *allocator, psdm_error *error) {
  while (!r->over) {
    question q;
    psdmp_parallel_bytes request = {.allocator = allocator}, answer = {.allocator = allocator};
    reply p;
    memset(&p, 0, sizeof p);
    bool heard = hear(r, &q, &request), ends = heard && q.work < 0;
    if (heard && !ends) {
      p.status = request.failed ? psdmp_base_no_memory("", &p.error) : work(user, q.work, &request, &answer, &p.error);
      if (!p.status && answer.failed) p.status = psdmp_base_no_memory("", &p.error);
      heard = send_reply(r, &p, &answer);
    }
    psdmp_parallel_bytes_free(&request);
    psdmp_parallel_bytes_free(&answer);
    if (ends) break;
    if (!heard) {
      r->over = true;
      return lost(0, error);
    }
  }
  return PSDM_OK;
}

void psdmp_parallel_team_share(const psdm_ranks *r, long count, long *first, long *last) {
  long size = psdmp_parallel_team_size(r), rank = r ? r->rank : 0, whole = count / size, more = count % size;
  *first = whole * rank + (rank < more ? rank : more);
  *last = *first + whole + (rank < more);
}

/* ---- failures ---- */

static psdm_status repeat(void *user, int work, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                          psdm_error *error) {
  (void)work, (void)request, (void)answer;
  *error = *(const psdm_error *)user;
  return error->status ? error->status : PSDM_E_ARGUMENT;
}

void psdmp_parallel_team_refuse(psdm_ranks *r, const psdm_error *why) {
  psdm_error copy = *why;
  psdmp_parallel_team_serve(r, repeat, &copy, NULL, NULL);
}

psdm_status psdmp_parallel_team_unable(psdm_ranks *r, psdm_error *error) {
  psdm_error own;
  psdmp_base_no_memory("", &own);
  if (psdmp_parallel_team_member(r)) psdmp_parallel_team_refuse(r, &own);
  else if (psdmp_parallel_team_size(r) > 1) psdmp_parallel_team_dismiss(r);
  return psdmp_base_no_memory("", error);
}

/* ---- the end ---- */

static psdm_status refuse(void *user, int work, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                          psdm_error *error) {
  (void)work, (void)request, (void)answer;
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "%s", (const char *)user);
}

void psdm_ranks_close(psdm_ranks *r, const char *failure) {
  if (!r) return;
  char text[480];
  snprintf(text, sizeof text, "rank %d: %.440s", r->rank, failure ? failure : "it finished before rank 0");
  question q = {.work = OVER};
  if (r->rank == 0) r->broadcast(r->self, &q, sizeof q);
  while (r->rank > 0 && !r->over) psdmp_parallel_team_serve(r, refuse, text, NULL, NULL);
  r->over = true;
  if (r->finish) r->finish(r->self);
}
