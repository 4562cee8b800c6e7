/* bench_io.c: where and when times were taken. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "study/bench_priv.h"

void psdmp_study_bench_place(psdm_bench_result *r) {
  char line[256], day[32] = "", *processor = NULL;
  FILE *file = fopen("/proc/cpuinfo", "r");
  struct utsname machine;
  struct tm date;
  time_t now = time(NULL);
  while (file && !processor && fgets(line, sizeof line, file))
    if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) processor = strchr(line, ':') + 1;
  if (file) fclose(file);
  if (processor) {
    processor += strspn(processor, " \t");
    processor[strcspn(processor, "\n")] = '\0';
  }
  if (gmtime_r(&now, &date)) strftime(day, sizeof day, "%Y-%m-%d", &date);
  r->processor = psdm_result_text(&r->head, processor ? processor : uname(&machine) >= 0 ? machine.machine : "unknown");
  r->date = psdm_result_text(&r->head, day);
}
