/* version.c: the version of the library, and of the libraries it uses. */
#include <libxml/xmlversion.h>
#include <stddef.h>
#include <yaml.h>

#ifdef PSDM_HAVE_LAPACK
#include <cblas.h>
#endif
#ifdef PSDM_HAVE_MATIO
#include <matio.h>
#endif
#ifdef PSDM_HAVE_SUNDIALS
#include <sundials/sundials_config.h>
#endif
#ifdef PSDM_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef PSDM_HAVE_HDF5
#include <H5public.h>
#endif
#ifdef PSDM_HAVE_SQLITE
#include <sqlite3.h>
#endif
#ifdef PSDM_HAVE_LZ4
#include <lz4.h>
#endif
#ifdef PSDM_HAVE_ZSTD
#include <zstd.h>
#endif

#include "plugin/plugin.h"
#include "psdm/component.h"
#include "psdm/status.h"
#include "psdm/version.h"

const char *psdm_version(void) { return PSDM_VERSION; }

static const char *xml_version(void) { return LIBXML_DOTTED_VERSION; }

#ifdef PSDM_HAVE_LAPACK
static const char *blas_version(void) { return openblas_get_config(); }
#endif
#ifdef PSDM_HAVE_MATIO
static const char *matio_version(void) { return MATIO_VERSION_STR; }
#endif
#ifdef PSDM_HAVE_SUNDIALS
static const char *sundials_version(void) { return SUNDIALS_VERSION; }
#endif
#ifdef PSDM_HAVE_HDF5
#define TEXT(x) #x
#define NUMBERS(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)
static const char *hdf5_version(void) { return NUMBERS(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE); }
#endif

#if defined(PSDM_HAVE_CMINPACK) || defined(PSDM_HAVE_OPENMP)
static const char *built_in(void) { return "built in"; } /* their headers have no version */
#endif

static const struct component {
  const char *name;
  const char *(*version)(void);
} components[] = {
    {"libyaml", yaml_get_version_string},
    {"libxml2", xml_version},
#ifdef PSDM_HAVE_LAPACK
    {"LAPACK", blas_version},
#endif
#ifdef PSDM_HAVE_MATIO
    {"matio", matio_version},
#endif
#ifdef PSDM_HAVE_SUNDIALS
    {"SUNDIALS", sundials_version},
#endif
#ifdef PSDM_HAVE_ZLIB
    {"zlib", zlibVersion},
#endif
#ifdef PSDM_HAVE_HDF5
    {"HDF5", hdf5_version},
#endif
#ifdef PSDM_HAVE_SQLITE
    {"SQLite", sqlite3_libversion},
#endif
#ifdef PSDM_HAVE_LZ4
    {"lz4", LZ4_versionString},
#endif
#ifdef PSDM_HAVE_ZSTD
    {"zstd", ZSTD_versionString},
#endif
#ifdef PSDM_HAVE_CMINPACK
    {"cminpack", built_in},
#endif
#ifdef PSDM_HAVE_OPENMP
    {"OpenMP", built_in},
#endif
    {"NLopt", psdmp_plugin_nlopt_version}, /* last: opened at run time, optional */
};

const char *psdm_component(int index, const char **version) {
  if (index < 0 || (size_t)index >= sizeof components / sizeof *components) return NULL;
  const char *answer = components[index].version();
  if (!answer) return NULL;
  if (version) *version = answer;
  return components[index].name;
}
