/* assume.c: assumptions as text. */
#include <string.h>

#include "robot/robot.h"

/* "Ixz4": a body parameter and the number of a moving link; false for anything else */
static bool parse_body_name(const char *text, size_t length, int links, int *kind, int *link) {
  size_t letters = 0;
  while (letters < length && !(text[letters] >= '0' && text[letters] <= '9')) letters++;
  int number = 0;
  for (size_t i = letters; i < length; i++) {
    if (!(text[i] >= '0' && text[i] <= '9') || number > PSDM_MAX_JOINTS) return false;
    number = number * 10 + (text[i] - '0');
  }
  if (number < 1 || number > links) return false;
  *link = number - 1;
  for (*kind = 0; *kind < PSDMP_ROBOT_BODY_NAMES; ++*kind)
    if (strlen(psdmp_robot_body_names[*kind]) == letters && memcmp(psdmp_robot_body_names[*kind], text, letters) == 0)
      return true;
  return false;
}

bool psdmp_robot_parse_assumption(const char *text, int links, psdmp_robot_assumption *a) {
  const char *equals = strchr(text, '=');
  if (!equals) return false;
  size_t left = strspn(text, " "), left_end = (size_t)(equals - text);
  while (left_end > left && text[left_end - 1] == ' ') left_end--;
  const char *right = equals + 1 + strspn(equals + 1, " ");
  size_t length = strlen(right);
  while (length && right[length - 1] == ' ') length--;
  double zero;
  if (!parse_body_name(text + left, left_end - left, links, &a->kind, &a->link)) return false;
  a->second_kind = a->second_link = -1;
  if (psdmp_base_parse_number(right, length, &zero)) return zero == 0;
  return parse_body_name(right, length, links, &a->second_kind, &a->second_link);
}
