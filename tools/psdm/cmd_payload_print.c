/* cmd_payload_print.c: the text report. */
#include <math.h>

#include "cmd_payload.h"

static const char *joint_name(const payload_job *j, int q) {
  for (int k = 0; k < psdm_robot_joints(j->robot); k++)
    if (psdm_robot_joint(j->robot, k)->q == q) return psdm_robot_joint(j->robot, k)->name;
  return "";
}

static void print_load(const payload_job *j) {
  static const char axis[] = "xyz", *const pair[6] = {"xx", "xy", "xz", "yy", "yz", "zz"};
  static const int number[6] = {4, 5, 6, 7, 8, 9};
  const psdm_payload_answer *a = j->answer;
  const char *const mark = "  mostly from the prior";
  printf("  mass     %11.5g kg", j->load.mass);
  printf(a ? "  +- %.2g%s\n" : "\n", a ? a->mass_sd : 0, a && a->prior_share[0] > 0.5 ? mark : "");
  for (int k = 0; k < 3; k++) {
    printf("  centre %c %11.5g mm", axis[k], 1e3 * j->load.com[k]);
    printf(a ? "  +- %.2g%s\n" : "\n", a ? 1e3 * a->com_sd[k] : 0, a && a->prior_share[1 + k] > 0.5 ? mark : "");
  }
  for (int k = 0; k < 6; k++) {
    printf("  I%s      %11.5g kg m^2", pair[k], j->load.inertia[k]);
    printf(a ? "  +- %.2g%s\n" : "\n", a ? a->inertia_sd[k] : 0, a && a->prior_share[number[k]] > 0.5 ? mark : "");
  }
}

static void print_fit(const payload_job *j) {
  const psdm_payload_answer *a = j->answer;
  printf("\ntorques of the logs with the load, rows in motion: |error| / |tau| %.2f %% with the empty robot's "
         "parameters, %.2f %% with the load\n\n",
         100 * a->global_before, 100 * a->global_after);
  printf("  %-16s %10s %10s %9s %9s\n", "joint", "rmse empty", "rmse with", "rel empty", "rel with");
  for (int i = 0; i < j->n; i++)
    printf("  %-16.16s %10.4g %10.4g %8.2f%% %8.2f%%\n", tool_safe(joint_name(j, i)), a->before[i].rmse,
           a->after[i].rmse, 100 * a->before[i].rel, 100 * a->after[i].rel);
}

static void print_faults(const payload_job *j) {
  enum { SHOWN = 8 };
  const char *text;
  for (int k = 0; k < SHOWN && (text = psdm_payload_fault(j->answer, k)); k++)
    printf("%s  %s\n", k ? "" : "\nfaults of the logs:\n", tool_safe(text));
  if (psdm_payload_fault(j->answer, SHOWN)) printf("  and more\n");
}

void payload_print(const payload_job *j) {
  const psdm_payload_answer *a = j->answer;
  printf("%s: load on link '%s', ", tool_safe(psdm_robot_name(j->robot)),
         tool_safe(psdm_robot_link_name(j->robot, j->joint)));
  if (a) printf("from %ld rows, %.1f s\n", a->rows, a->seconds);
  else printf("as given\n");
  print_load(j);
  if (!a) return;
  print_fit(j);
  print_faults(j);
  for (int k = 0; k < (int)(sizeof a->remark / sizeof *a->remark) && a->remark[k][0]; k++)
    printf("%s- %s\n", k ? "" : "\n", a->remark[k]);
  printf("\nverdict: %s%s%s\n", psdm_verdict_name(j->verdict), j->verdict ? ": " : "",
         j->verdict ? j->finding.text : "");
}
