/* ranks_io.c: whether this program was started with others, and MPI's plug-in. */
#include <stdlib.h>
#include <string.h>

#include "base/plugin.h"
#include "parallel/parallel.h"
#include "parallel/ranks_plugin.h"

static const psdmp_plugin_name mpi = {
    .file = "psdm_mpi.so", .symbol = "psdm_mpi", .key = PSDMP_RANKS_KEY,
    .absent = "several ranks were started, and the plug-in psdm_mpi.so is not there: install libopenmpi-dev and build again, or name its folder in PSDM_PLUGINS"};

static long number_of(const char *name) {
  const char *text = getenv(name);
  return text ? strtol(text, NULL, 10) : 0;
}

/* what mpirun of Open MPI, of MPICH and its relatives, and srun say of the number of ranks */
static long ranks_started(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS"};
  long most = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) most = number_of(names[k]) > most ? number_of(names[k]) : most;
  return most;
}

/* only one of them speaks */
static bool first_of_all(void) { return number_of("OMPI_COMM_WORLD_RANK") == 0 && number_of("PMI_RANK") == 0 && number_of("SLURM_PROCID") == 0; }

psdm_status psdm_ranks_open(psdm_ranks **out, psdm_error *error) {
  static psdm_ranks ranks; /* MPI begins once in a program */
  const psdmp_plugin *plugin;
  const char *wish = getenv("PSDM_RANKS");
  long started = ranks_started();
  *out = NULL;
  if (started < 2 || (wish && strcmp(wish, "off") == 0)) return PSDM_OK;
  psdm_status status = psdmp_plugin_load(&mpi, &plugin, error);
  if (!status && !((const psdmp_ranks_plugin *)(const void *)plugin)->begin(&ranks)) status = psdmp_fail(error, PSDM_E_IO, "", 0, 0, "MPI does not start");
  if (!status && ranks.size < 2)
    status = psdmp_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "%ld processes were started that do not know of each other: mpirun must be Open MPI's, srun needs --mpi=pmix", started);
  if (status && !first_of_all() && error) error->text[0] = '\0';
  if (!status) *out = &ranks;
  return status;
}
