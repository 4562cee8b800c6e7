/* load_io.c: loads a shared object from memory into this process.
 *
 * The loader gets a sealed copy in memory, so that what runs is what was checked; on systems without such files, the
 * open file itself. Both by descriptor: names in folders may come to mean other files, descriptors do not. */
#define _GNU_SOURCE /* memfd_create, F_ADD_SEALS */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compile/compile.h"

/* ---- sizes: the dynamic symbol table ---- */

static bool inside(const psdmp_compile_object *o, size_t offset, size_t length) {
  return offset <= o->length && length <= o->length - offset;
}

static bool read_header(const psdmp_compile_object *o, ElfW(Ehdr) * header) {
  if (!inside(o, 0, sizeof *header)) return false;
  memcpy(header, o->bytes, sizeof *header);
  return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
         header->e_shentsize == sizeof(ElfW(Shdr));
}

static bool read_section(const psdmp_compile_object *o, const ElfW(Ehdr) * header, size_t index, ElfW(Shdr) * section) {
  if (index >= header->e_shnum || !inside(o, header->e_shoff, (index + 1) * sizeof *section)) return false;
  memcpy(section, o->bytes + header->e_shoff + index * sizeof *section, sizeof *section);
  return section->sh_type == SHT_NOBITS || inside(o, section->sh_offset, section->sh_size);
}

static bool has_name(const psdmp_compile_object *o, const ElfW(Shdr) * strings, size_t at, const char *name) {
  size_t length = strlen(name) + 1;
  return at <= strings->sh_size && length <= strings->sh_size - at &&
         memcmp(o->bytes + strings->sh_offset + at, name, length) == 0;
}

/* Size of a symbol in an ELF object of this machine's kind; 0 if not found. */
static size_t symbol_bytes(const psdmp_compile_object *o, const char *name) {
  ElfW(Ehdr) header;
  ElfW(Shdr) table, strings;
  ElfW(Sym) symbol;
  if (!read_header(o, &header)) return 0;
  for (size_t s = 0; s < header.e_shnum; s++) {
    if (!read_section(o, &header, s, &table) || table.sh_type != SHT_DYNSYM ||
        !read_section(o, &header, table.sh_link, &strings))
      continue;
    for (size_t k = 0; k < table.sh_size / sizeof symbol; k++) {
      memcpy(&symbol, o->bytes + table.sh_offset + k * sizeof symbol, sizeof symbol);
      if (has_name(o, &strings, symbol.st_name, name)) return symbol.st_size;
    }
  }
  return 0;
}

/* ---- mapping ---- */

/* an unnamed file that nobody can change; -1 if the system has none */
static int memory_file(const psdmp_compile_object *o) {
  int fd = memfd_create("psdm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  for (size_t at = 0; fd >= 0 && at < o->length;) {
    ssize_t put = write(fd, o->bytes + at, o->length - at);
    if (put > 0) {
      at += (size_t)put;
    } else if (errno != EINTR) {
      close(fd);
      fd = -1;
    }
  }
  if (fd >= 0) fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return fd;
}

static void *function(void *library, const char *prefix, const char *format, const char *name) {
  char text[160];
  snprintf(text, sizeof text, format, prefix, name);
  return dlsym(library, text);
}

/* dlsym requires that data and function pointers are alike */
#define FIND(to, ...)                      \
  do {                                     \
    void *found_ = function(__VA_ARGS__);  \
    memcpy(&(to), &found_, sizeof found_); \
  } while (0)

/* at: closed loops, whose functions at a closed position end with it */
static bool find_unit(const psdmp_codegen_program *p, const char *prefix, bool at, const psdmp_compile_object *o,
                      psdm_compiled *c) {
  psdmp_compile_unit *u = &c->unit[p->function];
  char name[128];
  FIND(u->call, c->library, prefix, "%s_unit_%s", p->name);
  FIND(u->symbol[0], c->library, prefix, at ? "%s_%s_at" : "%s_%s", p->name);
  snprintf(name, sizeof name, "%s_%s%s", prefix, p->name, at ? "_at" : "");
  u->bytes[0] = symbol_bytes(o, name);
  if (!c->simd) return u->call && u->symbol[0];
  FIND(u->batch, c->library, prefix, "%s_unit_%s_batch", p->name);
  FIND(u->symbol[1], c->library, prefix, "%s_%s_batch", p->name);
  snprintf(name, sizeof name, "%s_%s_batch", prefix, p->name);
  u->bytes[1] = symbol_bytes(o, name);
  return u->call && u->symbol[0] && u->batch && u->symbol[1];
}

/* arguments of find_units */
typedef struct finding {
  const psdm_code *code;
  const psdmp_compile_object *object;
  psdm_compiled *compiled;
} finding;

/* loaders know objects by name: the key makes sure that this is not another object left under our descriptor's name */
static bool find_units(void *library, void *user) {
  const finding *f = user;
  const char *prefix = f->code->options.prefix, *key = function(library, prefix, "%s_unit_%s", "key");
  if (!key || strcmp(key, f->compiled->info.key) != 0) return false;
  f->compiled->library = library;
  for (int k = 0; k < f->code->programs; k++)
    if (!find_unit(&f->code->program[k], prefix, f->code->loop != NULL, f->object, f->compiled)) return false;
  if (f->code->loop) FIND(f->compiled->close, library, prefix, "%s_unit_%s", "close");
  return !f->code->loop || f->compiled->close;
}

static void *map(int fd, psdm_error *error) {
  char path[64], shown[300];
  if (fd < 0) return NULL;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char *why = library ? NULL : dlerror();
  if (!library)
    psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0, "the object cannot be loaded: %s",
                    psdmp_base_quote(why ? why : "", why ? strlen(why) : 0, shown, sizeof shown));
  return library;
}

void *psdmp_compile_object_open(const psdmp_compile_object *object, bool (*right)(void *library, void *user),
                                void *user, int *fd, psdm_error *error) {
  psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0, "the object cannot be loaded: no file in memory");
  for (int k = 0; k < 2; k++) {
    *fd = k ? fcntl(object->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : memory_file(object);
    void *library = map(*fd, error);
    if (library && right(library, user)) return library;
    if (library) {
      psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0,
                      "the object that was loaded is not the one that was compiled");
      dlclose(library);
    }
    if (*fd >= 0) close(*fd);
  }
  *fd = -1;
  return NULL;
}

psdm_status psdmp_compile_load(const psdm_code *code, const psdmp_compile_object *object, psdm_compiled *c,
                               psdm_error *error) {
  finding f = {code, object, c};
  c->library = psdmp_compile_object_open(object, find_units, &f, &c->fd, error);
  return c->library ? PSDM_OK : PSDM_E_COMPILER;
}
