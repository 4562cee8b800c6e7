/* cuda_kernels.c: PREFIX.cu, the functions of many states as kernels behind a C interface.
 *
 * A thread takes a few neighbouring states, so that it reads and writes 16 bytes at a time; where the number of
 * states or a pointer does not allow that, one state. All it reads is asked for before anything is computed. What a
 * thread's registers cannot hold goes to shared memory, where the compiler can do that: to local memory it would go
 * through the caches, which are smaller than what all threads put there. Compiled without CUDA the file gives the
 * same functions as loops on the processor, which is how they are tested where there is no GPU. */
#include <ctype.h>
#include <stdio.h>

#include "emit/cuda.h"

/* ---- arguments ---- */

static bool is_shared(int block) { return psdmp_emit_block_shared((psdmp_codegen_block)block); }

static bool has_shared(const psdmp_codegen_program *p) {
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b] && is_shared(b)) return true;
  return false;
}

/* "INVERSE" */
static const char *upper_name(const psdmp_codegen_program *p, char text[40]) {
  snprintf(text, 40, "%s", p->name);
  for (char *c = text; *c; c++) *c = (char)toupper((unsigned char)*c);
  return text;
}

/* which: 1 shared blocks, 2 those of states, 4 results; the formats get the name, up to three times */
static void emit_joined(psdmp_emit_writer *e, const psdmp_codegen_program *p, int which, const char *input,
                        const char *result, const char *between) {
  const char *before = "";
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    const char *name = psdmp_emit_block_names[b];
    if (!p->length[b] || !(which & (is_shared(b) ? 1 : 2))) continue;
    psdm_output_text(e->out, before);
    psdmp_emit_say(e, input, name, name, name);
    before = between;
  }
  for (int r = 0; r < p->results && (which & 4); r++) {
    psdm_output_text(e->out, before);
    psdmp_emit_say(e, result, p->result[r].name, p->result[r].name, p->result[r].name);
    before = between;
  }
}

static void emit_parameters(psdmp_emit_writer *e, const psdmp_codegen_program *p, int which) {
  emit_joined(e, p, which, "const ` *%s", "` *%s", ", ");
}

void psdmp_emit_cuda_prototypes(psdmp_emit_writer *e) {
  psdm_output_print(e->out,
                    "/* The same for count states at a time on a GPU: number k of state i is at [k*count + i], "
                    "in and out. Pointers are the device's, but for\n"
                    " * theta, gravity, payload%s wrench%s, which are one for all states, in host memory, and "
                    "read before the call returns. Results overlap\n",
                    e->code->friction.drag.states ? "," : " and", e->code->friction.drag.states ? " and dt" : "");
  psdm_output_text(e->out, " * nothing. The work is queued on a stream (a cudaStream_t; NULL: the default one) of the "
                           "current device; nothing is allocated, copied or\n"
                           " * waited for. Pointers at multiples of 128 bytes and a count that 32 divides are fastest. "
                           "Returns 0, or CUDA's number of what went wrong. */\n");
  for (int k = 0; k < e->code->programs; k++) {
    psdmp_emit_say(e, "int @%s_batch_cuda(size_t count, ", e->code->program[k].name);
    emit_parameters(e, &e->code->program[k], 7);
    psdm_output_text(e->out, ", void *stream);\n");
  }
  psdm_output_text(e->out, "\n/* With everything in host memory: allocates, copies there and back, and waits. For "
                           "tests and small jobs. */\n");
  for (int k = 0; k < e->code->programs; k++) {
    const psdmp_codegen_program *p = &e->code->program[k];
    psdmp_emit_say(e, "int @%s_batch_host(size_t count, ", p->name);
    psdmp_emit_arguments(e, p);
    psdm_output_text(e->out, ");\n");
  }
  psdmp_emit_say(
      e, "\nint @cuda_devices(void);             /* how many there are; 0 when there is no driver */\n"
         "int @cuda_device(void);              /* the current one, -1: none */\n"
         "int @cuda_use(int device);           /* makes it the current one of this thread; 0 or CUDA's number */\n"
         "const char *@cuda_text(int code);    /* one sentence for a number that came back */\n\n");
}

/* ---- helpers of the file ---- */

static void emit_memory_helpers(psdmp_emit_writer *e) {
  const char *two = e->single ? "float2" : "double2";
  psdm_output_text(
      e->out, "/* STATES neighbouring numbers at a time; each is touched once, so that no cache need keep it */\n");
  psdmp_emit_say(e, "template <int STATES> static __device__ __forceinline__ void @get(const ` *from, ` *to) {\n  if "
                    "constexpr (STATES == 1) {\n    to[0] = __ldcs(from);\n");
  if (e->single)
    psdmp_emit_say(e, "  } else if constexpr (STATES == 4) {\n    const float4 x = __ldcs((const float4 *)from);\n    "
                      "to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;\n");
  psdmp_emit_say(e,
                 "  } else {\n#pragma unroll\n    for (int v = 0; v < STATES; v += 2) {\n      const %s x = "
                 "__ldcs((const %s *)(from + v));\n      to[v] = x.x, to[v + 1] = x.y;\n    }\n  }\n}\n\n",
                 two, two);
  psdmp_emit_say(e, "template <int STATES> static __device__ __forceinline__ void @put(` *to, const ` *from) {\n");
  if (e->single)
    psdmp_emit_say(e, "  if constexpr (STATES == 4) {\n    __stcs((float4 *)to, make_float4(from[0], from[1], from[2], "
                      "from[3]));\n  } else {\n");
  else psdm_output_text(e->out, "  {\n");
  psdmp_emit_say(e,
                 "#pragma unroll\n    for (int v = 0; v < STATES; v += 2) __stcs((%s *)(to + v), make_%s(from[v], "
                 "from[v + 1]));\n  }\n}\n\n",
                 two, two);
  psdmp_emit_say(
      e,
      "/* a result that goes to the device's memory number by number */\nstruct @stream {\n  ` *at;\n  size_t stride;\n"
      "  __device__ __forceinline__ void set(int k, ` x) const { __stcs(at + (size_t)k*stride, x); }\n};\n\n");
  psdm_output_text(e->out, "/* whether rows of count numbers begin where STATES of them can be moved at a time */\n");
  psdmp_emit_say(e, "static bool @even(const void *p, size_t bytes) { return (size_t)p %% bytes == 0; }\n\n");
  psdmp_emit_say(e, "static int @launch(const void *kernel, size_t states, unsigned threads, size_t per_thread, void "
                    "**arguments, void *stream) {\n"
                    "  const size_t each = threads*per_thread, blocks = states/each + (states %% each != 0);\n"
                    "  if (blocks > 0x7fffffff) return (int)cudaErrorInvalidValue;\n"
                    "  return (int)cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(threads), arguments, 0, "
                    "(cudaStream_t)stream);\n}\n\n");
}

static void emit_host_helpers(psdmp_emit_writer *e) {
  psdm_output_text(e->out, "/* copies in host and device memory of one argument or result */\n");
  psdmp_emit_say(e, "struct @pair {\n  const void *in;\n  void *out, *device;\n  size_t bytes;\n};\n\n");
  psdmp_emit_say(e,
                 "static cudaError_t @to_device(@pair *x) {\n  cudaError_t error = cudaMalloc(&x->device, x->bytes);\n"
                 "  if (!error && x->in) error = cudaMemcpy(x->device, x->in, x->bytes, cudaMemcpyHostToDevice);\n  "
                 "return error;\n}\n\n");
  psdmp_emit_say(e, "static cudaError_t @from_device(@pair *x, cudaError_t error) {\n"
                    "  if (!error && x->out) error = cudaMemcpy(x->out, x->device, x->bytes, cudaMemcpyDeviceToHost);\n"
                    "  if (x->device) cudaFree(x->device);\n  return error;\n}\n\n");
}

static void emit_device_calls(psdmp_emit_writer *e) {
  psdmp_emit_say(
      e,
      "extern \"C\" int @cuda_devices(void) {\n  int count = 0;\n  return cudaGetDeviceCount(&count) ? 0 : "
      "count;\n}\n\n"
      "extern \"C\" int @cuda_device(void) {\n  int device = -1;\n  return cudaGetDevice(&device) ? -1 : device;\n}\n\n"
      "extern \"C\" int @cuda_use(int device) { return (int)cudaSetDevice(device); }\n\n"
      "extern \"C\" const char *@cuda_text(int code) { return cudaGetErrorString((cudaError_t)code); }\n\n");
}

static void emit_emulated_calls(psdmp_emit_writer *e) {
  psdmp_emit_say(
      e, "extern \"C\" int @cuda_devices(void) { return 1; }\nextern \"C\" int @cuda_device(void) { return 0; }\n"
         "extern \"C\" int @cuda_use(int device) { return device ? 101 : 0; }\n"
         "extern \"C\" const char *@cuda_text(int code) { return code ? \"an argument is not valid\" : \"no error\"; "
         "}\n\n");
}

/* ---- one function ---- */

/* what is the same for all states travels with the launch */
static void emit_given(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  if (!has_shared(p)) return;
  psdmp_emit_say(e, "struct @%s_given {\n", p->name);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b] && is_shared(b)) psdmp_emit_say(e, "  ` %s[%d];\n", psdmp_emit_block_names[b], p->length[b]);
  psdm_output_text(e->out, "};\n\n");
}

/* the numbers of one state, from where the format says number k of a block is */
static void emit_copy_state(psdmp_emit_writer *e, const psdmp_codegen_program *p, const char *indent,
                            const char *pragma, const char *from) {
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b] || is_shared(b)) continue;
    psdmp_emit_say(e, "%s` one_%s[%d];\n", indent, psdmp_emit_block_names[b], p->length[b]);
    psdmp_emit_say(e, "%s%sfor (int k = 0; k < %d; k++) one_%s[k] = ", pragma, indent, p->length[b],
                   psdmp_emit_block_names[b]);
    psdmp_emit_say(e, from, psdmp_emit_block_names[b]);
    psdm_output_text(e->out, ";\n");
  }
}

/* "@inverse_state(given.theta, one_q, one_qd, @results{tau + i, count})" */
static void emit_state_call(psdmp_emit_writer *e, const psdmp_codegen_program *p, const char *given,
                            const char *result) {
  psdmp_emit_say(e, "@%s_state(", p->name);
  emit_joined(e, p, 1, given, "", ", ");
  if (has_shared(p)) psdm_output_text(e->out, ", ");
  emit_joined(e, p, 6, "one_%s", result, ", ");
  psdm_output_text(e->out, ")");
}

/* more values than a thread has registers, as a rule */
static bool is_crowded(const psdmp_codegen_program *p) {
  return p->function == PSDM_F_LINEARIZE_INVERSE || p->function == PSDM_F_LINEARIZE_FORWARD;
}

/* In float twelve warps with 168 registers each are faster than eight with all, as long as little is left over for
 * shared memory. */
static bool is_dense(const psdmp_emit_writer *e, const psdmp_codegen_program *p, const psdmp_emit_stages *s) {
  return e->single && is_crowded(p) && s->live <= 190;
}

static void emit_kernel_head(psdmp_emit_writer *e, const psdmp_codegen_program *p, const psdmp_emit_stages *s) {
  char name[40], bounds[100];
  upper_name(p, name);
  snprintf(bounds, sizeof bounds, is_dense(e, p, s) ? "$%s_THREADS, 384/$%s_THREADS" : "$%s_THREADS", name, name);
  psdmp_emit_say(e, "template <int STATES>\nstatic __global__ void __launch_bounds__(%s) @%s_kernel(", bounds, p->name);
  if (has_shared(p)) psdmp_emit_say(e, "const __grid_constant__ @%s_given given, ", p->name);
  psdmp_emit_say(e, "const size_t count, ");
  emit_joined(e, p, 6, "const ` *__restrict__ %s", "` *__restrict__ %s", ", ");
  psdm_output_text(e->out, ") {\n");
  /* where even shared memory is too small the compiler does better without */
  if (is_crowded(p) && s->shared) psdmp_emit_say(e, "  $SPILL;\n");
  psdmp_emit_say(
      e, "  const size_t i = ((size_t)blockIdx.x*$%s_THREADS + threadIdx.x)*STATES;\n  if (i >= count) return;\n",
      name);
}

static void emit_kernel(psdmp_emit_writer *e, const psdmp_codegen_program *p, const psdmp_emit_stages *s) {
  emit_kernel_head(e, p, s);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b] && !is_shared(b))
      psdmp_emit_say(e, "  ` all_%s[%d][STATES];\n", psdmp_emit_block_names[b], p->length[b]);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b] && !is_shared(b))
      psdmp_emit_say(e, "#pragma unroll\n  for (int k = 0; k < %d; k++) @get<STATES>(%s + k*count + i, all_%s[k]);\n",
                     p->length[b], psdmp_emit_block_names[b], psdmp_emit_block_names[b]);
  for (int r = 0; r < p->results; r++)
    psdmp_emit_say(e, "  ` all_%s[STATES > 1 ? %d : 1][STATES];\n", p->result[r].name, p->result[r].count);
  psdm_output_text(e->out, "#pragma unroll\n  for (int v = 0; v < STATES; v++) {\n");
  emit_copy_state(e, p, "    ", "#pragma unroll\n", "all_%s[k][v]");
  psdm_output_text(e->out, "    if constexpr (STATES == 1)\n      ");
  emit_state_call(e, p, "given.%s", "@stream{%s + i, count}");
  psdm_output_text(e->out, ";\n    else\n      ");
  emit_state_call(e, p, "given.%s", "@results{&all_%s[0][v], STATES}");
  psdm_output_text(e->out, ";\n  }\n  if constexpr (STATES > 1) {\n");
  for (int r = 0; r < p->results; r++)
    psdmp_emit_say(e, "#pragma unroll\n    for (int k = 0; k < %d; k++) @put<STATES>(%s + k*count + i, all_%s[k]);\n",
                   p->result[r].count, p->result[r].name, p->result[r].name);
  psdm_output_text(e->out, "  }\n}\n\n");
}

static void emit_null_check(psdmp_emit_writer *e, const psdmp_codegen_program *p, const char *code) {
  psdm_output_text(e->out, "  if (!count) return 0;\n  if (!(");
  emit_joined(e, p, 7, "%s", "%s", " && ");
  psdm_output_print(e->out, ")) return %s;\n", code);
}

static void emit_launch(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  char name[40];
  upper_name(p, name);
  psdmp_emit_say(e, "extern \"C\" int @%s_batch_cuda(size_t count, ", p->name);
  emit_parameters(e, p, 7);
  psdm_output_text(e->out, ", void *stream) {\n");
  emit_null_check(e, p, "(int)cudaErrorInvalidValue");
  if (has_shared(p)) psdmp_emit_say(e, "  @%s_given given;\n", p->name);
  emit_joined(e, p, 1, "  memcpy(given.%s, %s, sizeof given.%s);\n", "", "");
  psdmp_emit_say(e,
                 "  const size_t step = $%s_STATES*sizeof(`) < 16 ? $%s_STATES*sizeof(`) : 16;\n  const bool wide = "
                 "count %% $%s_STATES == 0 && ",
                 name, name, name);
  emit_joined(e, p, 6, "@even(%s, step)", "@even(%s, step)", " && ");
  psdmp_emit_say(e, ";\n  void *arguments[] = {%s&count, ", has_shared(p) ? "&given, " : "");
  emit_joined(e, p, 6, "&%s", "&%s", ", ");
  psdmp_emit_say(e,
                 "};\n  return wide ? @launch((const void *)@%s_kernel<$%s_STATES>, count, $%s_THREADS, $%s_STATES, "
                 "arguments, stream)\n",
                 p->name, name, name, name);
  psdmp_emit_say(
      e, "              : @launch((const void *)@%s_kernel<1>, count, $%s_THREADS, 1, arguments, stream);\n}\n\n",
      p->name, name);
}

static void emit_host(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  int pairs = 0, at = 0;
  psdmp_emit_say(e, "extern \"C\" int @%s_batch_host(size_t count, ", p->name);
  psdmp_emit_arguments(e, p);
  psdm_output_text(e->out, ") {\n");
  emit_null_check(e, p, "(int)cudaErrorInvalidValue");
  psdmp_emit_say(e, "  @pair pairs[] = {");
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b] && !is_shared(b))
      psdmp_emit_say(e, "%s{%s, NULL, NULL, %d*count*sizeof(`)}", pairs++ ? ", " : "", psdmp_emit_block_names[b],
                     p->length[b]);
  for (int r = 0; r < p->results; r++)
    psdmp_emit_say(e, "%s{NULL, %s, NULL, %d*count*sizeof(`)}", pairs++ ? ", " : "", p->result[r].name,
                   p->result[r].count);
  psdmp_emit_say(e,
                 "};\n  cudaError_t error = cudaSuccess;\n  for (int k = 0; k < %d && !error; k++) error = "
                 "@to_device(&pairs[k]);\n",
                 pairs);
  psdmp_emit_say(e, "  if (!error) error = (cudaError_t)@%s_batch_cuda(count, ", p->name);
  emit_joined(e, p, 1, "%s", "", ", ");
  if (has_shared(p)) psdm_output_text(e->out, ", ");
  for (; at < pairs; at++) psdmp_emit_say(e, "(` *)pairs[%d].device, ", at);
  psdmp_emit_say(e,
                 "NULL);\n  if (!error) error = cudaDeviceSynchronize();\n  for (int k = 0; k < %d; k++) error = "
                 "@from_device(&pairs[k], error);\n  return (int)error;\n}\n\n",
                 pairs);
}

/* without CUDA: a loop over the states */
static void emit_emulated(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  psdmp_emit_say(e, "extern \"C\" int @%s_batch_cuda(size_t count, ", p->name);
  emit_parameters(e, p, 7);
  psdm_output_text(e->out, ", void *) {\n");
  emit_null_check(e, p, "1");
  psdm_output_text(e->out, "  for (size_t i = 0; i < count; i++) {\n");
  emit_copy_state(e, p, "    ", "", "%s[k*count + i]");
  psdm_output_text(e->out, "    ");
  emit_state_call(e, p, "%s", "@results{%s + i, count}");
  psdmp_emit_say(e, ";\n  }\n  return 0;\n}\n\nextern \"C\" int @%s_batch_host(size_t count, ", p->name);
  psdmp_emit_arguments(e, p);
  psdmp_emit_say(e, ") {\n  return @%s_batch_cuda(count, ", p->name);
  emit_joined(e, p, 7, "%s", "%s", ", ");
  psdm_output_text(e->out, ", NULL);\n}\n\n");
}

/* ---- the file ---- */

/* States of a thread, as measured (docs/cuda.md): more of them move more bytes at a time, but all that comes in and
 * goes out of them waits in registers. In double one state of inverse dynamics fills what a thread may have. */
static int states_of(const psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  int n = e->code->robot->n;
  if (!e->single || n > 14 || p->outputs > (size_t)(n * n)) return 1;
  return n <= 7 && p->outputs == (size_t)n && p->function != PSDM_F_FORWARD ? 4 : 2;
}

/* A block has 48 kB of shared memory for values that registers do not hold: half as many threads, twice as much for
 * each. */
static int threads_of(const psdmp_codegen_program *p) { return is_crowded(p) ? 64 : 128; }

static void emit_choices(psdmp_emit_writer *e) {
  bool crowded = false;
  psdmp_emit_say(e, "/* threads of a block, and states of a thread: 1, 2 or 4; may be given when compiling */\n");
  for (int k = 0; k < e->code->programs; k++) {
    const psdmp_codegen_program *p = &e->code->program[k];
    char name[40];
    upper_name(p, name);
    psdmp_emit_say(e, "#if !defined($%s_THREADS)\n#define $%s_THREADS %d\n#endif\n", name, name, threads_of(p));
    psdmp_emit_say(e, "#if !defined($%s_STATES)\n#define $%s_STATES %d\n#endif\n", name, name, states_of(e, p));
    crowded = crowded || is_crowded(p);
  }
  if (crowded)
    psdmp_emit_say(e, "\n/* values beyond the registers into shared memory, since CUDA 13 */\n"
                      "#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ >= 13 && !defined(__CUDACC_RDC__) && "
                      "!defined(__CUDACC_DEBUG__)\n"
                      "#define $SPILL asm volatile(\".pragma \\\"enable_smem_spilling\\\";\")\n#else\n#define $SPILL "
                      "(void)0\n#endif\n");
  psdm_output_text(e->out, "\n");
}

psdm_status psdmp_emit_cuda_kernels(psdmp_emit_writer *e, psdmp_base_arena *arena) {
  const psdm_code *code = e->code;
  psdmp_emit_banner(e, "Dynamics of a robot for many states on a GPU; see the header. C++17. Without CUDA (c++ -x "
                       "c++): loops on the processor, host pointers.");
  psdmp_emit_say(e, "#include \"%s.cuh\"\n\n#if defined(__CUDACC__)\n#include <cuda_runtime.h>\n\n", e->prefix);
  emit_choices(e);
  emit_memory_helpers(e);
  emit_host_helpers(e);
  emit_device_calls(e);
  for (int k = 0; k < code->programs; k++) {
    const psdmp_codegen_program *p = &code->program[k];
    psdmp_emit_stages stages;
    psdm_status status = psdmp_emit_stages_set(e, p, arena, &stages);
    if (status) return status;
    emit_given(e, p);
    emit_kernel(e, p, &stages);
    emit_launch(e, p);
    emit_host(e, p);
  }
  psdm_output_text(e->out, "#else /* no CUDA */\n\n");
  emit_emulated_calls(e);
  for (int k = 0; k < code->programs; k++) emit_emulated(e, &code->program[k]);
  psdm_output_text(e->out, "#endif\n");
  return PSDM_OK;
}
