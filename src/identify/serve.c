/* serve.c: what other ranks do for rank 0. */
#include <string.h>

#include "identify/identify.h"

static psdm_status know_logs(psdmp_run *r, psdmp_bytes *request, psdm_error *error) {
  psdm_status status = psdmp_feed_serve_all(r->feed, request, error);
  if (status) return status;
  r->interval = psdmp_feed_interval(r->feed);
  r->rows = psdmp_feed_rows(r->feed);
  return PSDM_OK;
}

/* the key of the checkpoint is rank 0's */
static psdm_status scan(psdmp_run *r, psdmp_bytes *request, psdmp_bytes *answer, psdm_error *error) {
  unsigned char key[32];
  PSDMP_GET(request, key);
  if (r->checkpoint) psdmp_checkpoint_set_key(r->checkpoint, key);
  return psdmp_feed_serve_scan(r->feed, request, answer, error);
}

static psdm_status work(void *user, int kind, psdmp_bytes *request, psdmp_bytes *answer, psdm_error *error) {
  psdmp_run *r = user;
  switch (kind) {
    case PSDMP_WORK_SCAN: return scan(r, request, answer, error);
    case PSDMP_WORK_FEED: return know_logs(r, request, error);
    case PSDMP_WORK_RANGES: return psdmp_serve_ranges(r, request, answer, error);
    case PSDMP_WORK_GATHER: return psdmp_serve_gather(r, request, answer, error);
    case PSDMP_WORK_EVALUATE: return psdmp_serve_evaluate(r, request, answer, error);
    case PSDMP_WORK_PASS: return psdmp_serve_pass(r, request, answer, error);
    default: return psdmp_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "rank 0 is of another version than rank %d", r->options->ranks->rank);
  }
}

psdm_status psdmp_calibrate_serve(psdmp_run *r, psdm_error *error) { return psdmp_team_serve(r->options->ranks, work, r, r->allocator, error); }
