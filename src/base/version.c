#include <libxml/xmlversion.h>
#include <stddef.h>
#include <yaml.h>

#ifdef PSDM_HAVE_SUNDIALS
#include <sundials/sundials_config.h>
#endif
#ifdef PSDM_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef PSDM_HAVE_HDF5
#include <H5public.h>
#endif

#include "psdm/component.h"
#include "psdm/status.h"
#include "psdm/version.h"

const char *psdm_version(void) { return PSDM_VERSION; }

static const char *xml_version(void) { return LIBXML_DOTTED_VERSION; }

#ifdef PSDM_HAVE_SUNDIALS
static const char *sundials_version(void) { return SUNDIALS_VERSION; }
#endif
#ifdef PSDM_HAVE_HDF5
#define TEXT(x) #x
#define NUMBERS(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)
static const char *hdf5_version(void) { return NUMBERS(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE); }
#endif

#if defined PSDM_HAVE_NLOPT || defined PSDM_HAVE_CMINPACK
static const char *built_in(void) { return "built in"; } /* their headers tell no version */
#endif

static const struct component {
  const char *name;
  const char *(*version)(void);
} components[] = {{"libyaml", yaml_get_version_string},
                  {"libxml2", xml_version},
#ifdef PSDM_HAVE_SUNDIALS
                  {"SUNDIALS", sundials_version},
#endif
#ifdef PSDM_HAVE_ZLIB
                  {"zlib", zlibVersion},
#endif
#ifdef PSDM_HAVE_HDF5
                  {"HDF5", hdf5_version},
#endif
#ifdef PSDM_HAVE_NLOPT
                  {"NLopt", built_in},
#endif
#ifdef PSDM_HAVE_CMINPACK
                  {"cminpack", built_in},
#endif
};

const char *psdm_component(int index, const char **version) {
  if (index < 0 || (size_t)index >= sizeof components / sizeof *components) return NULL;
  if (version) *version = components[index].version();
  return components[index].name;
}
