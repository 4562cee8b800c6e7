/* test_log_formats.c: the same rows as text, compressed text, MATLAB 5 and 7.3 and HDF5 give the same bits; broken
 * files give an error message. */
#define _POSIX_C_SOURCE 200809L /* truncate */
#include <math.h>
#include <matio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/log_priv.h"
#include "support.h"

#ifdef PSDM_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef PSDM_HAVE_HDF5
#include <hdf5.h>
#endif

enum { N = 3, ROWS = 2500 };
static const char ROBOT[] = "convention: dh\njoints: [{a: 1}, {a: 1}, {a: 1}]\n";

/* ---- data ---- */

typedef struct data {
  double t[ROWS], q[ROWS][N], qd[ROWS][N], tau[ROWS][N];
} data;

static data *make_data(void) {
  rng g = rng_start("formats");
  data *d = malloc(sizeof *d);
  assert_non_null(d);
  for (int i = 0; i < ROWS; i++) {
    d->t[i] = 0.001 * i;
    for (int j = 0; j < N; j++) {
      d->q[i][j] = sin(0.002 * i * (j + 1)) + 1e-9 * rng_uniform(&g, -1, 1);
      d->qd[i][j] = 2 * (j + 1) * cos(0.002 * i * (j + 1)) + 0.01 * rng_uniform(&g, -1, 1);
      d->tau[i][j] = rng_uniform(&g, -10, 10);
    }
  }
  return d;
}

static const char *path_of(const char *ending) {
  static char path[64];
  snprintf(path, sizeof path, "test_log_formats_%ld%s", (long)getpid(), ending);
  return path;
}

/* reads a file to its end and compares bit for bit */
static void assert_same(const char *path, const data *d, const psdm_log_options *options) {
  psdm_robot *robot = parse_robot(ROBOT);
  psdm_log *log;
  psdm_log_rows rows;
  psdm_error error;
  char sentence[900];
  if (psdm_log_open(path, robot, options, NULL, &log, &error))
    fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
  for (int pass = 0; pass < 2; pass++) {
    long seen = 0;
    while (assert_int_equal(psdm_log_read(log, 700, &rows, &error), PSDM_OK), rows.count) {
      size_t bytes = sizeof(double) * N * (size_t)rows.count;
      assert_true(seen + rows.count <= ROWS);
      if (memcmp(rows.t, d->t + seen, sizeof(double) * (size_t)rows.count) || memcmp(rows.q, d->q[seen], bytes) ||
          memcmp(rows.tau, d->tau[seen], bytes) || !rows.qd || memcmp(rows.qd, d->qd[seen], bytes))
        fail_msg("%s: other bits", path);
      assert_null(rows.qdd);
      seen += rows.count;
    }
    assert_int_equal(seen, ROWS);
    for (int f = 0; f < PSDM_FAULTS; f++)
      if (psdm_log_faults(log, f)) fail_msg("%s: %s", path, psdm_log_fault(log, f, 0, NULL));
    assert_int_equal(psdm_log_bytes(log), psdm_log_size(log));
    assert_int_equal(psdm_log_rewind(log, &error), PSDM_OK);
  }
  psdm_log_close(log);
  psdm_robot_free(robot);
}

/* the error for a file that cannot be opened */
static const char *refusal(const char *path, const psdm_log_options *options) {
  static char sentence[900];
  psdm_robot *robot = parse_robot(ROBOT);
  psdm_log *log;
  psdm_error error;
  psdm_status status = psdm_log_open(path, robot, options, NULL, &log, &error);
  psdm_robot_free(robot);
  if (!status) {
    psdm_log_close(log);
    fail_msg("%s was opened", path);
  }
  assert_null(log);
  psdm_error_format(&error, sentence, sizeof sentence);
  assert_true(strncmp(sentence, path, strlen(path)) == 0);
  return sentence + strlen(path);
}

/* ---- memory: columns of arrays ---- */

enum { COLUMNS = 1 + 3 * N };

typedef struct memory {
  const char *names[COLUMNS];
  const double *column[COLUMNS];
  long stride[COLUMNS];
  psdm_log_table table;
} memory;

static psdm_log_options in_memory(const data *d, memory *m) {
  static const char *const names[COLUMNS] = {"t", "q1", "q2", "q3", "qd1", "qd2", "qd3", "tau1", "tau2", "tau3"};
  const double *const group[] = {d->q[0], d->qd[0], d->tau[0]};
  for (int c = 0; c < COLUMNS; c++) {
    m->names[c] = names[c];
    m->column[c] = c ? group[(c - 1) / N] + (c - 1) % N : d->t;
    m->stride[c] = c ? N : 1;
  }
  m->table = (psdm_log_table){"the arm's run", ROWS, COLUMNS, m->names, m->column, m->stride};
  return (psdm_log_options){.tables = 1, .table = &m->table};
}

static void allocations_fail_one_by_one(const char *path, const psdm_log_options *options) {
  psdm_robot *robot = parse_robot(ROBOT);
  long fail = 0;
  for (bool done = false; !done;) {
    counting c;
    counting_init(&c, ++fail);
    psdm_log *log;
    psdm_log_rows rows;
    psdm_error error;
    psdm_status status = psdm_log_open(path, robot, options, &c.allocator, &log, &error);
    if (!status) status = psdm_log_read(log, 10, &rows, &error);
    done = !status;
    if (status) assert_int_equal(status, PSDM_E_MEMORY);
    psdm_log_close(log);
    assert_int_equal(c.live, 0);
  }
  assert_true(fail > 8);
  psdm_robot_free(robot);
}

static void arrays_in_memory(void **state) {
  data *d = *state;
  memory m;
  psdm_log_options options = in_memory(d, &m);
  const char *path = m.table.name;
  assert_same(path, d, &options);
  allocations_fail_one_by_one(path, &options);

  options.columns = "t=1,q=2:4,qd=5:7,tau=8:10";
  assert_same(path, d, &options);
  options.columns = NULL;

  m.names[9] = "tau2";
  assert_string_equal(refusal(path, &options), ": columns 9 and 10 are both named 'tau2'");
  m.names[9] = "speed";
  assert_string_equal(refusal(path, &options), ": column 'tau3' is missing; tau goes from 1 to 3");
  m.table.columns = 9;
  m.table.rows = 0;
  assert_string_equal(refusal(path, &options), ": 0 rows of 9 columns; at least one of each was expected");
  m.table.columns = PSDM_CSV_COLUMNS + 1, m.table.rows = ROWS;
  assert_non_null(strstr(refusal(path, &options), "columns; at most"));
  options.tables = 0;
  assert_non_null(strstr(refusal(path, &options), "cannot be opened"));
}

/* rows with a number that is not finite are omitted, with a remark */
static void arrays_with_bad_numbers(void **state) {
  static double tau[ROWS][N];
  data *d = *state;
  memory m;
  psdm_log_options options = in_memory(d, &m);
  psdm_robot *robot = parse_robot(ROBOT);
  psdm_log *log;
  psdm_log_rows rows;
  psdm_error error;
  long line, seen = 0;
  memcpy(tau, d->tau, sizeof tau);
  tau[3][1] = NAN, tau[99][2] = -INFINITY;
  for (int k = 0; k < N; k++) m.column[7 + k] = tau[0] + k;
  assert_int_equal(psdm_log_open(m.table.name, robot, &options, NULL, &log, &error), PSDM_OK);
  while (assert_int_equal(psdm_log_read(log, 700, &rows, &error), PSDM_OK), rows.count) seen += rows.count;
  assert_int_equal(seen, ROWS - 2);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_NAN), 2);
  assert_string_equal(psdm_log_fault(log, PSDM_FAULT_NAN, 0, &line), "row 4: tau2 is nan");
  assert_int_equal(line, 4);
  assert_string_equal(psdm_log_fault(log, PSDM_FAULT_NAN, 1, &line), "row 100: tau3 is infinite");
  psdm_log_close(log);
  psdm_robot_free(robot);
}

/* ---- text ---- */

static char *make_text(const data *d, size_t *length) {
  char *text = malloc((size_t)ROWS * (1 + 3 * N) * 26 + 200), *at = text;
  assert_non_null(text);
  at += sprintf(at, "t,q1,q2,q3,qd1,qd2,qd3,tau1,tau2,tau3\n");
  for (int i = 0; i < ROWS; i++) {
    at += sprintf(at, "%.17g", d->t[i]);
    for (int j = 0; j < N; j++) at += sprintf(at, ",%.17g", d->q[i][j]);
    for (int j = 0; j < N; j++) at += sprintf(at, ",%.17g", d->qd[i][j]);
    for (int j = 0; j < N; j++) at += sprintf(at, ",%.17g", d->tau[i][j]);
    at += sprintf(at, "\n");
  }
  *length = (size_t)(at - text);
  return text;
}

static void write_file(const char *path, const void *bytes, size_t length) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, length, f), length);
  assert_int_equal(fclose(f), 0);
}

static void text_files(void **state) {
  const data *d = *state;
  size_t length;
  char *text = make_text(d, &length);
  const char *path = path_of(".csv");
  write_file(path, text, length);
  assert_same(path, d, NULL);
  allocations_fail_one_by_one(path, NULL);
  write_file(path, "", 0);
  assert_string_equal(refusal(path, NULL), ": the file is empty; a log was expected");
  remove(path);
  free(text);
}

#ifdef PSDM_HAVE_ZLIB

static unsigned char *compress_text(const char *text, size_t length, size_t *packed) {
  size_t room = length + 1000;
  unsigned char *out = malloc(room);
  z_stream z = {
      .next_in = (unsigned char *)text, .avail_in = (unsigned)length, .next_out = out, .avail_out = (unsigned)room};
  assert_non_null(out);
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  *packed = z.total_out;
  deflateEnd(&z);
  return out;
}

/* rows and faults of a file that is damaged after its beginning */
static psdm_status read_through(const char *path, long *rows_read, char reported[200], psdm_error *error) {
  psdm_robot *robot = parse_robot(ROBOT);
  psdm_log *log;
  psdm_log_rows rows;
  psdm_status status = psdm_log_open(path, robot, NULL, NULL, &log, error);
  *rows_read = 0;
  reported[0] = '\0';
  while (!status && !(status = psdm_log_read(log, 1000, &rows, error)) && rows.count) *rows_read += rows.count;
  if (log) {
    const char *first = psdm_log_fault(log, PSDM_FAULT_GARBAGE, 0, NULL);
    snprintf(reported, 200, "%s", first ? first : "");
    assert_true(psdm_log_faults(log, PSDM_FAULT_GARBAGE) <= 1);
  }
  psdm_log_close(log);
  psdm_robot_free(robot);
  return status;
}

static void compressed_files(void **state) {
  const data *d = *state;
  size_t length, packed, half;
  char *text = make_text(d, &length);
  const char *path = path_of(".csv.gz");
  unsigned char *whole = compress_text(text, length, &packed);
  write_file(path, whole, packed);
  assert_same(path, d, NULL);
  allocations_fail_one_by_one(path, NULL);

  /* two concatenated members, split in the middle of a row */
  size_t middle = length / 2, first_size, second_size;
  unsigned char *first = compress_text(text, middle, &first_size),
                *second = compress_text(text + middle, length - middle, &second_size);
  unsigned char *both = malloc(first_size + second_size);
  assert_non_null(both);
  memcpy(both, first, first_size);
  memcpy(both + first_size, second, second_size);
  write_file(path, both, first_size + second_size);
  assert_same(path, d, NULL);

  /* cut off: earlier rows count, the row in which it ends does not, and the cut is reported */
  psdm_error error;
  char reported[200];
  long rows;
  for (half = packed / 4; half < packed - 1; half += packed / 5) {
    write_file(path, whole, half);
    assert_int_equal(read_through(path, &rows, reported, &error), PSDM_OK);
    assert_true(rows > 0 && rows < ROWS);
    char expected[200];
    snprintf(expected, sizeof expected, "line %ld: the compressed file is truncated in the middle of this row",
             rows + 2);
    assert_string_equal(reported, expected);
  }
  /* all rows are there, but not the checksum after them */
  write_file(path, whole, packed - 3);
  assert_int_equal(read_through(path, &rows, reported, &error), PSDM_OK);
  assert_int_equal(rows, ROWS);
  assert_string_equal(reported, "line 2502: the compressed file is truncated: its stream does not end");

  /* damaged: a wrong checksum */
  whole[packed - 6] ^= 0x55;
  write_file(path, whole, packed);
  assert_int_equal(read_through(path, &rows, reported, &error), PSDM_E_IO);
  assert_string_equal(error.text, "the compressed data is damaged; none of it can be trusted");
  remove(path);
  free(both);
  free(first);
  free(second);
  free(whole);
  free(text);
}

#endif

/* ---- MATLAB ---- */

/* a variable from row-major data, as MATLAB keeps it; with a row per joint if transposed */
static void put_matlab(mat_t *file, const char *name, const double *rows, size_t samples, size_t wide, bool lies,
                       enum matio_compression compression) {
  double *columns = malloc(sizeof *columns * samples * wide);
  assert_non_null(columns);
  for (size_t s = 0; s < samples; s++)
    for (size_t k = 0; k < wide; k++) columns[lies ? s * wide + k : k * samples + s] = rows[s * wide + k];
  size_t dims[2] = {lies ? wide : samples, lies ? samples : wide};
  matvar_t *var = Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, columns, 0);
  assert_non_null(var);
  assert_int_equal(Mat_VarWrite(file, var, compression), 0);
  Mat_VarFree(var);
  free(columns);
}

static void matlab_files_of(const data *d, enum mat_ft version) {
  const char *path = path_of(".mat");
  for (int kind = 0; kind < 4; kind++) { /* transposed or not, compressed or not */
    bool lies = kind & 1;
    enum matio_compression compression = kind & 2 ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE;
    remove(path);
    mat_t *file = Mat_CreateVer(path, NULL, version);
    assert_non_null(file);
    put_matlab(file, "t", d->t, ROWS, 1, lies, compression);
    put_matlab(file, "q", d->q[0], ROWS, N, lies, compression);
    put_matlab(file, "qd", d->qd[0], ROWS, N, !lies, compression);
    for (int j = 0; j < N; j++) { /* and single channels */
      double one[ROWS];
      char name[8];
      snprintf(name, sizeof name, "tau%d", j + 1);
      for (int i = 0; i < ROWS; i++) one[i] = d->tau[i][j];
      put_matlab(file, name, one, ROWS, 1, lies, compression);
    }
    put_matlab(file, "serial", &(double){42}, 1, 1, false, MAT_COMPRESSION_NONE); /* a single number is not a channel */
    Mat_Close(file);
    assert_same(path, d, NULL);
  }
  allocations_fail_one_by_one(path, NULL);

  /* one matrix, columns by number */
  double *all = malloc(sizeof *all * ROWS * (1 + 3 * N));
  assert_non_null(all);
  for (int i = 0; i < ROWS; i++) {
    double *row = all + i * (1 + 3 * N);
    row[0] = d->t[i];
    memcpy(row + 1, d->q[i], sizeof d->q[i]);
    memcpy(row + 1 + N, d->qd[i], sizeof d->qd[i]);
    memcpy(row + 1 + 2 * N, d->tau[i], sizeof d->tau[i]);
  }
  remove(path);
  mat_t *file = Mat_CreateVer(path, NULL, version);
  put_matlab(file, "recording", all, ROWS, 1 + 3 * N, false, MAT_COMPRESSION_NONE);
  Mat_Close(file);
  assert_same(path, d, &(psdm_log_options){.columns = "t=1,q=2:4,qd=5:7,tau=8:10"});
  assert_string_equal(refusal(path, NULL), ": variables q1.. or qm1.. were expected");
  free(all);

  /* inconsistent sizes */
  remove(path);
  file = Mat_CreateVer(path, NULL, version);
  put_matlab(file, "t", d->t, ROWS - 1, 1, false, MAT_COMPRESSION_NONE);
  put_matlab(file, "q", d->q[0], ROWS, N, false, MAT_COMPRESSION_NONE);
  put_matlab(file, "tau", d->tau[0], ROWS, N, false, MAT_COMPRESSION_NONE);
  Mat_Close(file);
  assert_string_equal(refusal(path, NULL), ": 't' has 2499 samples, 'q' 2500");
  assert_string_equal(refusal(path, &(psdm_log_options){.columns = "t=1"}),
                      ": 3 vectors and matrices; columns by number need one matrix alone");
  remove(path);
  file = Mat_CreateVer(path, NULL, version);
  put_matlab(file, "q", d->q[0], ROWS, 2, false, MAT_COMPRESSION_NONE);
  Mat_Close(file);
  assert_string_equal(refusal(path, NULL),
                      ": variable 'q' is 2500 by 2; a column or a row for each of 3 joints was expected");
  remove(path);
}

static void matlab_5_files(void **state) { matlab_files_of(*state, MAT_FT_MAT5); }

static long size_of(const char *path) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  return (long)info.st_size;
}

static void damaged_matlab_files(void **state) {
  const char *path = path_of(".mat");
  char bytes[600];
  memset(bytes, 0, sizeof bytes);
  strcpy(bytes, "MATLAB 5.0 MAT-file, a header and nothing behind it");
  write_file(path, bytes, 60);
  assert_string_equal(refusal(path, NULL), ": cannot be read as a MATLAB file");
  memcpy(bytes + 124, "\x00\x01IM", 4);
  write_file(path, bytes, 128);
  assert_string_equal(refusal(path, NULL), ": no numeric vector or matrix is in it; a log was expected");
  /* a file whose optional channel is cut off or damaged is refused */
  const data *d = *state;
  remove(path);
  mat_t *file = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
  put_matlab(file, "q", d->q[0], ROWS, N, false, MAT_COMPRESSION_NONE);
  put_matlab(file, "tau", d->tau[0], ROWS, N, false, MAT_COMPRESSION_NONE);
  Mat_Close(file);
  long two = size_of(path);
  file = Mat_Open(path, MAT_ACC_RDWR);
  put_matlab(file, "qd", d->qd[0], ROWS, N, false, MAT_COMPRESSION_NONE);
  Mat_Close(file);
  assert_int_equal(truncate(path, two + 100), 0);
  assert_string_equal(refusal(path, NULL), ": the file is damaged or cut short: its variable 3 does not end within it");
  assert_int_equal(truncate(path, two + 4), 0);
  assert_string_equal(refusal(path, NULL), ": the file is damaged or cut short: its variable 3 does not end within it");
  remove(path);
}

/* ---- HDF5 ---- */

#ifdef PSDM_HAVE_HDF5

static void matlab_7_files(void **state) { matlab_files_of(*state, MAT_FT_MAT73); }

/* row-major data as a data set; chunked and compressed where chunk is positive; turned where samples are its second
 * dimension */
static void put_hdf5(hid_t where, const char *name, const double *rows, size_t samples, size_t wide, bool turned,
                     size_t chunk) {
  double *values = malloc(sizeof *values * samples * wide);
  assert_non_null(values);
  for (size_t s = 0; s < samples; s++)
    for (size_t k = 0; k < wide; k++) values[turned ? k * samples + s : s * wide + k] = rows[s * wide + k];
  hsize_t dims[2] = {turned ? wide : samples, turned ? samples : wide},
          pieces[2] = {turned ? wide : chunk, turned ? chunk : wide};
  hid_t space = H5Screate_simple(wide == 1 && !turned ? 1 : 2, dims, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk) H5Pset_chunk(how, wide == 1 && !turned ? 1 : 2, pieces), H5Pset_deflate(how, 4);
  hid_t set = H5Dcreate2(where, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  assert_true(set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Pclose(how);
  H5Sclose(space);
  free(values);
}

static void hdf5_files(void **state) {
  const data *d = *state;
  const char *path = path_of(".h5");
  for (int kind = 0; kind < 4; kind++) {
    bool turned = kind & 1, in_group = kind & 2;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t where = in_group ? H5Gcreate2(file, "arm", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : file;
    put_hdf5(where, "t", d->t, ROWS, 1, false, 0);
    put_hdf5(where, "q", d->q[0], ROWS, N, turned, 300);
    put_hdf5(where, "qd", d->qd[0], ROWS, N, !turned, 0);
    put_hdf5(where, "tau", d->tau[0], ROWS, N, turned, 0);
    if (in_group) H5Gclose(where);
    H5Fclose(file);
    assert_same(path, d, NULL);
  }
  allocations_fail_one_by_one(path, NULL);

  /* NAN */
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  double q[10][N] = {{0}}, tau[10][N] = {{0}};
  q[6][1] = NAN;
  tau[2][2] = INFINITY;
  for (int i = 0; i < 10; i++) tau[i][0] = i;
  put_hdf5(file, "q", q[0], 10, N, false, 0);
  put_hdf5(file, "tau", tau[0], 10, N, true, 0);
  put_hdf5(file, "note", tau[0], 10, 1, false, 0);
  H5Fclose(file);
  psdm_robot *robot = parse_robot(ROBOT);
  psdm_log *log;
  psdm_log_rows rows;
  psdm_log_options options = {.rate = 10, .ignore_extra = true};
  assert_int_equal(psdm_log_open(path, robot, &options, NULL, &log, NULL), PSDM_OK);
  assert_int_equal(psdm_log_read(log, 100, &rows, NULL), PSDM_OK);
  assert_int_equal(rows.count, 8);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_NAN), 2);
  assert_string_equal(psdm_log_fault(log, PSDM_FAULT_NAN, 0, NULL), "row 3: tau3 is infinite");
  assert_string_equal(psdm_log_fault(log, PSDM_FAULT_NAN, 1, NULL), "row 7: q2 is nan");
  assert_true(rows.tau[2 * N] == 3 && rows.line[2] == 4);
  psdm_log_close(log);
  psdm_robot_free(robot);
  options.ignore_extra = false;
  assert_string_equal(
      refusal(path, &options),
      ": variable 'note' is not one of t, q, qd, qdd, qm, qdm, tau, taum, i (1 to 3); `ignore_extra` skips it");

  /* broken */
  write_file(path, "\x89HDF\r\n\x1A\nand nothing behind it", 28);
  assert_string_equal(refusal(path, NULL), ": cannot be read as an HDF5 file");
  remove(path);
}

#endif

static int set_up(void **state) {
  *state = make_data();
  return 0;
}

static int tear_down(void **state) {
  free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_in_memory), cmocka_unit_test(arrays_with_bad_numbers),
      cmocka_unit_test(text_files),
#ifdef PSDM_HAVE_ZLIB
      cmocka_unit_test(compressed_files),
#endif
      cmocka_unit_test(matlab_5_files),   cmocka_unit_test(damaged_matlab_files),
#ifdef PSDM_HAVE_HDF5
      cmocka_unit_test(matlab_7_files),   cmocka_unit_test(hdf5_files),
#endif
  };
#ifndef PSDM_HAVE_ZLIB
  printf("*** SKIPPED: compressed logs; zlib was not found ***\n");
#endif
#ifndef PSDM_HAVE_HDF5
  printf("*** SKIPPED: HDF5 logs; HDF5 was not found ***\n");
#endif
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
