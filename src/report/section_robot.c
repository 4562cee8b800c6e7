/* section_robot.c: the results of psdm inspect: pictures of the robot, joints, limits, warnings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/sketch_priv.h"

/* angles in degrees, lengths in millimetres: as on a robot's data sheet */
static void cell_range(psdmp_report_page *page, const psdmp_document_node *joint, bool slides) {
  double scale = slides ? 1000 : 180 / acos(-1), lower = psdmp_report_number(joint, "limits.lower"),
         upper = psdmp_report_number(joint, "limits.upper");
  if (isnan(lower) && isnan(upper)) psdmp_report_page_cell(page, "\u2013");
  else if (isnan(lower) || isnan(upper))
    psdmp_report_page_cell(page, "%s %.4g%s", isnan(lower) ? "to" : "from", (isnan(lower) ? upper : lower) * scale,
                           slides ? " mm" : "\u00b0");
  else psdmp_report_page_cell(page, "%.4g \u2026 %.4g%s", lower * scale, upper * scale, slides ? " mm" : "\u00b0");
}

/* known friction parameters, in the units of the joint */
static void cell_friction(psdmp_report_page *page, const psdmp_document_node *joint, bool slides) {
  double coulomb = psdmp_report_number(joint, "friction.coulomb"),
         viscous = psdmp_report_number(joint, "friction.viscous");
  if (!psdmp_report_node(joint, "friction")) psdmp_report_page_cell(page, "unknown");
  else
    psdmp_report_page_cell(page, "%.3g %s + %.3g %s", isnan(coulomb) ? 0 : coulomb, slides ? "N" : "Nm",
                           isnan(viscous) ? 0 : viscous, slides ? "Ns/m" : "Nms/rad");
}

static bool slides(const psdmp_document_node *joint) {
  return strcmp(psdmp_report_text(joint, "type"), "prismatic") == 0;
}

static const char *how_it_moves(const psdmp_document_node *joint) {
  if (psdmp_report_truth(joint, "passive")) return " (by a closed loop)";
  return psdmp_report_node(joint, "couple") ? " (coupled)" : "";
}

/* the columns of the table, and whether any joint has an entry */
typedef enum column { NAME, TYPE, PARENT, RANGE, SPEED, EFFORT, GEAR, FRICTION, MASS, COLUMNS } column;

static bool is_known(const psdmp_document_node *joints, column c) {
  static const char *const paths[COLUMNS] = {
      [RANGE] = "limits.lower", [SPEED] = "limits.velocity", [EFFORT] = "limits.effort", [MASS] = "at.mass"};
  for (const psdmp_document_node *joint = joints->child; joint; joint = joint->next) {
    if (!paths[c] && c != GEAR) return true;
    if (c == GEAR && !(psdmp_report_number(joint, "gear") == 1) && isfinite(psdmp_report_number(joint, "gear")))
      return true;
    if (c == RANGE && isfinite(psdmp_report_number(joint, "limits.upper"))) return true;
    if (paths[c] && isfinite(psdmp_report_number(joint, "%s", paths[c]))) return true;
  }
  return false;
}

static void cell_amount(psdmp_report_page *page, double value, const char *unit) {
  if (isnan(value)) psdmp_report_page_cell(page, "\u2013");
  else psdmp_report_page_cell(page, "%.4g%s%s", value, unit[0] ? " " : "", unit);
}

static void put_cell(psdmp_report_page *page, const psdmp_document_node *joint, column c) {
  bool sliding = slides(joint), fixed = strcmp(psdmp_report_text(joint, "type"), "fixed") == 0;
  if (c == NAME) psdmp_report_page_cell(page, "%s", psdmp_report_text(joint, "name"));
  if (c == TYPE) psdmp_report_page_cell(page, "%s%s", psdmp_report_text(joint, "type"), how_it_moves(joint));
  if (c == PARENT) psdmp_report_page_cell(page, "%s", psdmp_report_text(joint, "parent"));
  if (c > PARENT && fixed) psdmp_report_page_cell(page, "\u2013");
  if (fixed) return;
  if (c == RANGE) cell_range(page, joint, sliding);
  if (c == SPEED) cell_amount(page, psdmp_report_number(joint, "limits.velocity"), sliding ? "m/s" : "rad/s");
  if (c == EFFORT) cell_amount(page, psdmp_report_number(joint, "limits.effort"), sliding ? "N" : "Nm");
  if (c == GEAR) cell_amount(page, psdmp_report_number(joint, "gear"), "");
  if (c == FRICTION) cell_friction(page, joint, sliding);
  if (c == MASS) cell_amount(page, psdmp_report_number(joint, "at.mass"), "kg");
}

static void put_joints(psdmp_report_page *page, const psdmp_document_node *joints) {
  static const char *const header[COLUMNS] = {"Joint",  "Type", "Carried by", "Range",       "Speed",
                                              "Effort", "Gear", "Friction",   "Mass of link"};
  const char *shown[COLUMNS];
  char numeric[COLUMNS + 1] = "";
  column list[COLUMNS];
  int count = 0;
  for (int c = 0; c < COLUMNS; c++) {
    if (!is_known(joints, (column)c)) continue;
    shown[count] = header[c];
    list[count] = (column)c;
    numeric[count++] = "ttttnnntn"[c];
  }
  psdmp_report_page_heading(page, "Joints");
  psdmp_report_page_table(page, shown, count, numeric);
  for (const psdmp_document_node *joint = joints->child; joint; joint = joint->next) {
    psdmp_report_page_row(page);
    for (int i = 0; i < count; i++) put_cell(page, joint, list[i]);
  }
  psdmp_report_page_table_end(page);
}

static double whole_mass(const psdmp_document_node *joints) {
  double sum = 0;
  for (const psdmp_document_node *joint = joints->child; joint; joint = joint->next)
    if (strcmp(psdmp_report_text(joint, "type"), "fixed") != 0) sum += psdmp_report_number(joint, "at.mass");
  return sum;
}

static void put_facts(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_document_node *joints) {
  double mass = whole_mass(joints), n = psdmp_report_number(root, "n"), gravity[3] = {0, 0, 0};
  psdmp_report_page_facts(page);
  if (isfinite(n)) psdmp_report_page_fact(page, "degrees of freedom", "%.0f", n);
  psdmp_report_page_fact(page, "joints in the file", "%d", joints->count);
  if (isfinite(mass)) psdmp_report_page_fact(page, "mass of what moves", "%.4g\u00a0kg", mass);
  if (psdmp_report_numbers(psdmp_report_node(root, "gravity"), gravity, 3) == 3 &&
      isfinite(gravity[0] + gravity[1] + gravity[2]))
    psdmp_report_page_fact(page, "gravity, m/s\u00b2", "%.4g,\u00a0%.4g,\u00a0%.4g", gravity[0], gravity[1],
                           gravity[2]);
  psdmp_report_page_facts_end(page);
}

/* "A1 = 0, A2 = -1.57": the pose of the pictures */
static void put_pose(psdmp_report_page *page, const psdmp_document_node *root, const psdmp_document_node *joints) {
  const psdmp_document_node *at = psdmp_report_node(root, "at");
  double q[64];
  int n = psdmp_report_numbers(at, q, 64);
  bool zero = true;
  for (int i = 0; i < n; i++) zero &= q[i] == 0;
  psdmp_report_page_raw(page, "<p class=\"muted\">");
  if (zero) {
    psdmp_report_page_text(page, "Drawn with all joints at zero");
  } else {
    psdmp_report_page_text(page, "Drawn at");
    for (const psdmp_document_node *joint = joints->child; joint; joint = joint->next) {
      double number = psdmp_report_number(joint, "q");
      if (number >= 1 && number <= n)
        psdmp_report_page_print(page, "%s %s = %.3g", number == 1 ? "" : ",", psdmp_report_text(joint, "name"),
                                q[(int)number - 1]);
    }
  }
  psdmp_report_page_text(
      page, ". Blue cylinders turn, green boxes slide; dots are centres of mass, larger where more mass is.");
  psdmp_report_page_raw(page, "</p>\n");
}

static void put_texts(psdmp_report_page *page, const psdmp_document_node *list, const char *kind) {
  for (const psdmp_document_node *text = psdmp_report_first(list); text; text = text->next) {
    if (text->kind != PSDMP_DOCUMENT_SCALAR) continue;
    psdmp_report_page_raw(page, "<p class=\"note\">");
    psdmp_report_page_print(page, "%s: ", kind);
    psdmp_report_page_sentence(page, "", text->text, "</p>\n");
  }
}

static void show(psdmp_report_page *page, const psdmp_report_result *result) {
  const psdmp_document_node *joints = psdmp_report_node(result->root, "joints");
  char title[160];
  snprintf(title, sizeof title, "The robot%s%.100s", result->robot[0] ? ": " : "", result->robot);
  psdmp_report_page_section(page, title, NULL);
  put_facts(page, result->root, joints);
  if (psdmp_report_sketch(page, result)) put_pose(page, result->root, joints);
  put_texts(page, psdmp_report_node(result->root, "warnings"), "Warning");
  put_joints(page, joints);
  put_texts(page, psdmp_report_node(result->root, "notes"), "Note");
}

void psdmp_report_section_robot(psdmp_report_page *page, const psdmp_report_results *results) {
  for (int i = 0; i < results->count; i++) {
    psdmp_report_result *result = results->item[i];
    const psdmp_document_node *joints =
        result->kind == PSDMP_REPORT_RESULT_JSON && strcmp(result->command, "inspect") == 0
            ? psdmp_report_node(result->root, "joints")
            : NULL;
    if (!joints || joints->kind != PSDMP_DOCUMENT_LIST || !joints->count) continue;
    show(page, result);
    result->used = true;
  }
}
