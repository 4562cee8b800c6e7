/* serve.c: work of other ranks for rank 0. */

#include "identify/identify.h"

static psdm_status know_logs(psdmp_identify_run *r, psdmp_parallel_bytes *request, psdm_error *error) {
  psdm_status status = psdmp_feed_serve_all(r->feed, request, error);
  if (status) return status;
  r->interval = psdmp_feed_interval(r->feed);
  r->rows = psdmp_feed_rows(r->feed);
  return PSDM_OK;
}

/* the key of the checkpoint is rank 0's */
static psdm_status scan(psdmp_identify_run *r, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                        psdm_error *error) {
  unsigned char key[32];
  PSDMP_PARALLEL_GET(request, key);
  if (r->checkpoint) psdmp_feed_checkpoint_set_key(r->checkpoint, key);
  return psdmp_feed_serve_scan(r->feed, request, answer, error);
}

static psdm_status work(void *user, int kind, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                        psdm_error *error) {
  psdmp_identify_run *r = user;
  switch (kind) {
    case PSDMP_FEED_WORK_SCAN: return scan(r, request, answer, error);
    case PSDMP_FEED_WORK_FEED: return know_logs(r, request, error);
    case PSDMP_IDENTIFY_WORK_RANGES: return psdmp_identify_serve_ranges(r, request, answer, error);
    case PSDMP_IDENTIFY_WORK_GATHER: return psdmp_identify_serve_gather(r, request, answer, error);
    case PSDMP_IDENTIFY_WORK_EVALUATE: return psdmp_identify_serve_evaluate(r, request, answer, error);
    case PSDMP_IDENTIFY_WORK_PASS: return psdmp_identify_serve_pass(r, request, answer, error);
    default:
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "rank 0 and rank %d run different versions",
                             r->options->ranks->rank);
  }
}

psdm_status psdmp_identify_serve(psdmp_identify_run *r, psdm_error *error) {
  return psdmp_parallel_team_serve(r->options->ranks, work, r, r->allocator, error);
}
