/* cmd_calibrate.h: shared by the files of psdm calibrate: its text reports. */
#ifndef CMD_CALIBRATE_H
#define CMD_CALIBRATE_H

#include "tool.h"

/* What the verdicts of both documents have in common. */
typedef struct verdict_of {
  const char *word, *accept;
  bool asked;
  const psdm_found *finding;
  const psdm_word *failure;
  long findings, failures;
} verdict_of;
#define VERDICT_OF(v)                                                                                     \
  ((verdict_of){(v).word, (v).accept, (v).asked, (v).findings.item, (v).failures.item, (v).findings.rows, \
                (v).failures.rows})

void calibrate_print(const psdm_calibrate_result *r);             /* cmd_calibrate_print.c */
void calibrate_steps_print(const psdm_calibrate_steps_result *r); /* cmd_calibrate_steps_print.c */
void calibrate_print_verdict(const verdict_of *v, const char *of, double rel);

#endif
