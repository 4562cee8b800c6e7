/* Writes random robot files: random_robots COUNT DIRECTORY, as DIRECTORY/0.yaml and so on. One to four joints;
 * couplings, trees, sliding joints and drives in turn, and friction in most joints. PSDM_SEED is the seed. Compiled by
 * deep_codegen.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* the text with friction in joints, which are lines "  - {...}" up to "links:" */
static void write_robot(FILE *f, rng *g, const char *text) {
  const char *links = strstr(text, "links:");
  for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
    end = line + strcspn(line, "\n");
    bool joint = line < links && end - line > 5 && strncmp(line, "  - {", 5) == 0 && end[-1] == '}';
    fprintf(f, "%.*s", (int)(end - line) - joint, line);
    if (joint && rng_int(g, 0, 4))
      fprintf(f,
              ", friction: {coulomb: %.3f, static: %.3f, stribeck: %.3f, viscous: %.3f, exponent: %.3f, offset: %.3f, "
              "sigma0: %.1f, sigma1: %.3f}",
              rng_uniform(g, 0.5, 2), rng_uniform(g, 0.5, 3), rng_uniform(g, 0.05, 0.5), rng_uniform(g, 0, 1),
              rng_int(g, 0, 1) ? 1 : rng_uniform(g, 0.4, 1.5), rng_uniform(g, -0.2, 0.2), rng_uniform(g, 500, 5000),
              rng_uniform(g, 0, 5));
    fprintf(f, joint ? "}\n" : "\n");
  }
}

int main(int argc, char **argv) {
  static char text[64 * 1024], path[512];
  int count = argc == 3 ? atoi(argv[1]) : 0;
  rng g = rng_start("random robots");
  for (int k = 0; k < count; k++) {
    random_options options = {.n_min = 1 + k % 2,
                              .n_max = 2 + k % 3,
                              .coupled = k % 4 == 1,
                              .trees = k % 3 == 1,
                              .prismatic = k % 2,
                              .drives = k % 5 < 3};
    snprintf(path, sizeof path, "%s/%d.yaml", argv[2], k);
    FILE *f = fopen(path, "w");
    if (!f) return 2;
    fprintf(f, "name: random%d\n", k);
    write_robot(f, &g, random_robot_text(&g, &options, text, sizeof text));
    if (fclose(f)) return 2;
  }
  return count <= 0;
}
