/* ranks_io.c: whether this program was started with others, and the MPI plug-in. */
#define _POSIX_C_SOURCE 200809L /* gethostname, nanosleep */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plugin/plugin.h"
#include "parallel/parallel.h"
#include "parallel/ranks_plugin_priv.h"

static const psdmp_plugin_name mpi = {.file = "psdm_mpi.so",
                                      .symbol = "psdm_mpi",
                                      .key = PSDMP_PARALLEL_RANKS_KEY,
                                      .absent =
                                          "several ranks were started, but the plug-in psdm_mpi.so is missing: "
                                          "install libopenmpi-dev and build again, or name its folder in PSDM_PLUGINS; "
                                          "PSDM_RANKS=off lets each of them work alone"};

static const psdmp_parallel_ranks_plugin *plugin_of(const psdmp_plugin *plugin) {
  return (const psdmp_parallel_ranks_plugin *)(const void *)plugin;
}

/* ---- what launchers set ---- */

static long number_of(const char *name) {
  const char *text = getenv(name);
  return text ? strtol(text, NULL, 10) : 0;
}

/* the number of ranks: mpirun of Open MPI, of MPICH and its relatives, and srun, which may have started that mpirun */
static long ranks_started(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (getenv(names[k])) return number_of(names[k]);
  return 1;
}

static bool first_of_all(void) {
  return number_of("OMPI_COMM_WORLD_RANK") == 0 && number_of("PMI_RANK") == 0 && number_of("SLURM_PROCID") == 0;
}

static bool first_of_its_machine(void) {
  return number_of("OMPI_COMM_WORLD_LOCAL_RANK") == 0 && number_of("MPI_LOCALRANKID") == 0 &&
         number_of("SLURM_LOCALID") == 0;
}

static bool wished(const char *what) {
  const char *wish = getenv("PSDM_RANKS");
  return wish && strcmp(wish, what) == 0;
}

/* srun without PMIx: Open MPI would end this program itself, with long messages, once per process, unless it was built
 * for PMI-2; PSDM_RANKS=on is for that. */
static bool srun_keeps_apart(const char *library) {
  return strncmp(library, "Open MPI", 8) == 0 && getenv("SLURM_STEP_NUM_TASKS") && !getenv("OMPI_COMM_WORLD_SIZE") &&
         !getenv("PMIX_RANK") && !wished("on");
}

/* ---- who reports a failed start ---- */

/* A failure on all ranks is reported by the first. One that may be on a single machine is reported by one rank of each,
 * with its name. The others wait for a moment: mpirun ends all ranks when one ends, and the first must be heard. */
static void choose_speaker(bool everywhere, psdm_error *error) {
  char machine[65] = "", words[400];
  if (first_of_all()) return;
  nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
  if (!error) return;
  if (everywhere || !first_of_its_machine()) {
    error->text[0] = '\0';
    return;
  }
  gethostname(machine, sizeof machine - 1);
  snprintf(words, sizeof words, "%.399s", error->text);
  psdmp_base_fail(error, error->status, "", 0, 0, "on %s: %s", machine, words);
}

/* ---- start ---- */

static psdm_status begin(const psdmp_parallel_ranks_plugin *plugin, long started, psdm_ranks *ranks,
                         psdm_error *error) {
  char library[128];
  plugin->library(library, sizeof library);
  if (srun_keeps_apart(library))
    return psdmp_base_fail(
        error, PSDM_E_ARGUMENT, "", 0, 0,
        "srun started %ld processes that do not know of each other: %s needs srun --mpi=pmix, or mpirun instead of "
        "srun (srun --mpi=list says what there is; PSDM_RANKS=off lets each work alone)",
        started, library);
  if (!plugin->begin(ranks)) return psdmp_base_fail(error, PSDM_E_IO, "", 0, 0, "%s does not start", library);
  if (ranks->size > 1) return PSDM_OK;
  if (ranks->finish) ranks->finish(ranks->self);
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                         "%ld processes were started that do not know of each other: psdm_mpi.so was built with %s, "
                         "and what starts them (mpirun, srun --mpi=...) must fit it",
                         started, library);
}

static psdm_status check_wish(psdm_error *error) {
  const char *wish = getenv("PSDM_RANKS");
  char shown[64];
  if (!wish || !wish[0] || wished("on") || wished("off")) return PSDM_OK;
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "PSDM_RANKS='%s': on or off was expected",
                         psdmp_base_quote(wish, strlen(wish), shown, sizeof shown));
}

psdm_status psdm_ranks_open(psdm_ranks **out, psdm_error *error) {
  static psdm_ranks ranks; /* MPI can be initialised once per program */
  const psdmp_plugin *plugin = NULL;
  long started = ranks_started();
  *out = NULL;
  if (started < 2 || wished("off")) return PSDM_OK;
  psdm_status status = check_wish(error);
  bool everywhere = status != PSDM_OK;
  if (!status) status = psdmp_plugin_load(&mpi, &plugin, error);
  if (!status) {
    everywhere = true;
    status = begin(plugin_of(plugin), started, &ranks, error);
  }
  if (status) choose_speaker(everywhere, error);
  if (!status) *out = &ranks;
  return status;
}

psdm_status psdm_ranks_library(char *where, size_t size) {
  const psdmp_plugin *plugin;
  psdm_error error;
  char library[128];
  psdm_status status = psdmp_plugin_load(&mpi, &plugin, &error);
  if (status && strcmp(error.text, mpi.absent) != 0) {
    snprintf(where, size, "%s", error.text);
    return status;
  }
  psdmp_plugin_where(&mpi, where, size);
  if (status) return status;
  plugin_of(plugin)->library(library, sizeof library);
  size_t length = strlen(where);
  if (length < size) snprintf(where + length, size - length, " (%s)", library);
  return PSDM_OK;
}
