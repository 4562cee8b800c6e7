/* hdf5_io.c: logs in HDF5 files, MATLAB's version 7.3 among them, a block of samples at a time. */
#include <stdlib.h>
#include <string.h>

#include "table/table.h"
#include "log/log_priv.h"

#ifdef PSDM_HAVE_HDF5
#define H5_USE_110_API /* the calls keep their meaning in later versions */
#include <hdf5.h>

/* HDF5 prints errors to standard error unless disabled; the caller's setting is restored */
typedef struct silence {
  H5E_auto2_t function;
  void *data;
} silence;

static void be_silent(silence *s) {
  H5Eget_auto2(H5E_DEFAULT, &s->function, &s->data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}
static void speak_again(const silence *s) { H5Eset_auto2(H5E_DEFAULT, s->function, s->data); }

/* One data set. MATLAB writes its columns as HDF5's rows: transposed. */
typedef struct data_set {
  hid_t id;
  int rank;
  bool turned;
} data_set;

typedef struct hdf5_file {
  hid_t id;
  const psdm_allocator *allocator;
} hdf5_file;

/* samples [first, first + count) of a data set, in the file's layout: (count x wide), or (wide x count) */
static bool read_slab(const data_set *set, bool samples_first, size_t first, size_t count, size_t wide, double *to) {
  hsize_t start[2] = {0, 0}, size[2];
  int along = samples_first ? 0 : 1; /* the dimension of samples */
  start[along] = first;
  size[along] = count;
  size[1 - along] = wide;
  hid_t space = H5Dget_space(set->id), memory = H5Screate_simple(2, size, NULL);
  bool good = space >= 0 && memory >= 0;
  if (good && set->rank == 1) { /* one dimension: it is that of samples */
    hsize_t from = first, length = count;
    good = H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &length, NULL) >= 0;
  } else if (good) good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0;
  good = good && H5Dread(set->id, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, to) >= 0;
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  return good;
}

static bool load(void *handle, psdmp_log_variable *v, size_t first, size_t count) {
  const data_set *set = v->handle;
  size_t wide = (size_t)v->wide;
  silence s;
  (void)handle;
  be_silent(&s);
  bool samples_first = set->rank == 1 || v->upright != set->turned, good;
  if (samples_first || wide == 1) {
    good = read_slab(set, samples_first, first, count, wide, v->block);
  } else { /* a row of the file is a channel: read, then transpose */
    double *rows = v->block + PSDMP_LOG_BLOCK * wide;
    good = read_slab(set, false, first, count, wide, rows);
    for (size_t k = 0; good && k < count; k++)
      for (size_t c = 0; c < wide; c++) v->block[k * wide + c] = rows[c * count + k];
  }
  speak_again(&s);
  return good;
}

static void forget(void *handle, psdmp_log_variable *v) {
  (void)handle;
  const data_set *set = v->handle;
  silence s;
  be_silent(&s);
  H5Dclose(set->id);
  speak_again(&s);
}

static void close_file(void *handle) {
  hdf5_file *file = handle;
  silence s;
  be_silent(&s);
  H5Fclose(file->id);
  speak_again(&s);
  psdmp_base_free(file->allocator, file);
}

static const psdmp_log_format format = {load, forget, close_file};

/* ---- what is in the file ---- */

typedef struct listing {
  hid_t file;
  const char *name;
  psdmp_log_table *table;
  int n;
  psdm_status status; /* of the table, or of a data set that HDF5 cannot describe */
  psdm_error *error;
  size_t claimed[2]; /* rows and columns of a data set that its bytes cannot hold; 0: none */
} listing;

/* dimensions as the writer meant them: rows and columns; 0 if it is not a numeric vector or matrix, below 0 when HDF5
 * fails */
static int measure(hid_t id, data_set *set, size_t size[2]) {
  hsize_t dims[2] = {1, 1};
  hid_t type = H5Dget_type(id), space = H5Dget_space(id);
  H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
  int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  bool good = (class == H5T_FLOAT || class == H5T_INTEGER) && (rank == 1 || rank == 2) &&
              H5Sget_simple_extent_dims(space, dims, NULL) == rank;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  htri_t matlab = H5Aexists(id, "MATLAB_class");
  if (class == H5T_NO_CLASS || rank < 0 || matlab < 0) return -1;
  set->id = id;
  set->rank = rank;
  set->turned = rank == 2 && matlab > 0;
  size[0] = (size_t)(set->turned ? dims[1] : dims[0]);
  size[1] = (size_t)(set->turned ? dims[0] : dims[1]);
  return good && size[0] && size[1];
}

/* MATLAB marks empty matrices, and text that it keeps as numbers */
static htri_t is_text_or_empty(hid_t id) {
  htri_t empty = H5Aexists(id, "MATLAB_empty");
  return empty ? empty : H5Aexists(id, "MATLAB_int_decode");
}

/* whether the data set's own bytes can hold its claimed size; external and virtual data cannot be checked */
static bool credible(hid_t id, const size_t size[2]) {
  hid_t plan = H5Dget_create_plist(id);
  bool elsewhere = plan >= 0 && (H5Pget_layout(plan) == H5D_VIRTUAL || H5Pget_external_count(plan) > 0);
  if (plan >= 0) H5Pclose(plan);
  return elsewhere || psdmp_table_matrix_fits(size[0], size[1], 1, H5Dget_storage_size(id));
}

/* an unreadable channel must not be dropped silently */
static herr_t cannot_tell(listing *l, const char *path) {
  char name[80];
  l->status = psdmp_base_fail(l->error, PSDM_E_IO, l->name, 0, 0, "data set '%s' cannot be read",
                              psdmp_base_quote(path, strlen(path), name, sizeof name));
  return 1;
}

static herr_t visit(hid_t root, const char *path, const H5O_info_t *info, void *user) {
  listing *l = user;
  (void)root;
  if (info->type != H5O_TYPE_DATASET || strncmp(path, "#refs#", 6) == 0) return 0;
  hid_t id = H5Dopen2(l->file, path, H5P_DEFAULT);
  if (id < 0) return cannot_tell(l, path);
  data_set found;
  size_t size[2];
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  int numeric = measure(id, &found, size);
  htri_t other = numeric > 0 ? is_text_or_empty(id) : 0;
  if (numeric < 0 || other < 0) {
    H5Dclose(id);
    return cannot_tell(l, path);
  }
  bool wanted = numeric && !other && (size[0] > 1 || size[1] > 1 || l->n == 1);
  if (wanted && !credible(id, size)) { /* hours of fill values */
    memcpy(l->claimed, size, sizeof size);
    H5Dclose(id);
    return 1;
  }
  data_set *kept = wanted ? psdmp_base_arena_alloc(psdmp_log_table_arena(l->table), sizeof *kept) : NULL;
  if (kept) *kept = found;
  if (wanted)
    l->status = kept ? psdmp_log_table_add(l->table, name, size[0], size[1], kept, l->error)
                     : psdmp_base_no_memory(l->name, l->error);
  if (wanted && !l->status) return 0;
  H5Dclose(id);
  return wanted; /* anything but 0 ends the visit */
}

static psdm_status list(hdf5_file *file, const psdmp_log_request *request, psdmp_log_table *table, psdm_error *error) {
  listing l = {.file = file->id, .name = request->file, .table = table, .n = request->n, .error = error};
  silence s;
  be_silent(&s);
  herr_t answer = H5Ovisit(file->id, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &l);
  speak_again(&s);
  if (l.status) return l.status;
  if (l.claimed[0])
    return psdmp_base_fail(error, PSDM_E_PARSE, request->file, 0, 0,
                           "a data set claims to be %zu by %zu, more than the file holds", l.claimed[0], l.claimed[1]);
  return answer < 0 ? psdmp_base_fail(error, PSDM_E_IO, request->file, 0, 0, "cannot be read as an HDF5 file")
                    : PSDM_OK;
}

/* HDF5 1.10 allocates about 1 MB at startup, and crashes if it gets only part of it: so check for it first */
static bool start_hdf5(void) {
  enum { ROOM = 4 << 20 };
  void *volatile room = malloc(ROOM);
  free(room);
  return room && H5open() >= 0;
}

psdm_status psdmp_log_hdf5_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error) {
  hdf5_file *file = psdmp_base_alloc(request->allocator, sizeof *file);
  psdmp_log_table *table;
  silence s;
  if (!file) return psdmp_base_no_memory(request->file, error);
  if (!start_hdf5()) {
    psdmp_base_free(request->allocator, file);
    return psdmp_base_fail(error, PSDM_E_MEMORY, request->file, 0, 0, "out of memory: HDF5 could not be started");
  }
  be_silent(&s);
  *file = (hdf5_file){H5Fopen(request->path, H5F_ACC_RDONLY, H5P_DEFAULT), request->allocator};
  speak_again(&s);
  if (file->id < 0) {
    psdmp_base_free(request->allocator, file);
    return psdmp_base_fail(error, PSDM_E_IO, request->file, 0, 0, "cannot be read as an HDF5 file");
  }
  psdm_status status = psdmp_log_table_new(request, file, &format, &table, error);
  if (status) return status;
  status = list(file, request, table, error);
  if (!status) return psdmp_log_table_source(table, source, error);
  psdmp_log_table_close(table);
  return status;
}

#else

psdm_status psdmp_log_hdf5_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error) {
  (void)source;
  return psdmp_base_lacks(request->file, "logs in HDF5 need", "HDF5", "libhdf5-dev", error);
}

#endif
