#include <libxml/xmlversion.h>
#include <stddef.h>
#include <yaml.h>

#include "psdm/status.h"
#include "psdm/version.h"
#include "psdm/component.h"

const char *psdm_version(void) { return PSDM_VERSION; }

static const char *xml_version(void) { return LIBXML_DOTTED_VERSION; }

static const struct component {
  const char *name;
  const char *(*version)(void);
} components[] = {{"libyaml", yaml_get_version_string}, {"libxml2", xml_version}};

const char *psdm_component(int index, const char **version) {
  if (index < 0 || (size_t)index >= sizeof components / sizeof *components) return NULL;
  if (version) *version = components[index].version();
  return components[index].name;
}
