/* cuda_files.c: what builds the CUDA target: a Makefile and a CMakeLists.txt. */
#include "emit/cuda.h"

static const char variables[] = "NVCC ?= nvcc\n"
                                "ARCH ?= native\n"
                                "NVCCFLAGS ?= -O3 -std=c++17 -arch=$(ARCH)\n"
                                "CFLAGS ?= -std=c99 -O3 -march=native -ffp-contract=fast -fno-math-errno "
                                "-fno-trapping-math -Wall -Wextra -pedantic\n"
                                "CXXFLAGS ?= -std=c++17 -O2 -Wall -Wextra\n"
                                "PYTHON ?= python3\n"
                                "LDLIBS ?= -lm\n\n";

static const char rules[] =
    "all: lib$(NAME)_cuda.so\n\n"
    "$(NAME).o: $(NAME).c $(NAME).h\n\t$(CC) $(CFLAGS) -fPIC -c -o $@ $(NAME).c\n\n"
    "$(NAME)_cuda.o: $(NAME).cu $(NAME).cuh $(NAME).h\n\t$(NVCC) $(NVCCFLAGS) -Xcompiler -fPIC -c -o $@ $(NAME).cu\n\n"
    "$(NAME)_loops.o: $(NAME).cu $(NAME).cuh $(NAME).h\n\t$(CXX) $(CXXFLAGS) -x c++ -fPIC -c -o $@ $(NAME).cu\n\n"
    "lib$(NAME)_cuda.so: $(NAME)_cuda.o\n\t$(NVCC) $(NVCCFLAGS) -shared -o $@ $(NAME)_cuda.o\n\n"
    "lib$(NAME)_loops.so: $(NAME)_loops.o\n\t$(CXX) -shared -o $@ $(NAME)_loops.o $(LDLIBS)\n\n"
    "$(NAME)_selftest: $(NAME)_selftest.c $(NAME).o $(NAME)_cuda.o\n"
    "\t$(CC) $(CFLAGS) -c -o $(NAME)_selftest.o $(NAME)_selftest.c\n"
    "\t$(NVCC) $(NVCCFLAGS) -o $@ $(NAME)_selftest.o $(NAME).o $(NAME)_cuda.o $(LDFLAGS) $(LDLIBS)\n\n"
    "$(NAME)_selftest_loops: $(NAME)_selftest.c $(NAME).o $(NAME)_loops.o\n"
    "\t$(CC) $(CFLAGS) -c -o $(NAME)_selftest.o $(NAME)_selftest.c\n"
    "\t$(CXX) -o $@ $(NAME)_selftest.o $(NAME).o $(NAME)_loops.o $(LDFLAGS) $(LDLIBS)\n\n"
    "# 77: the functions of single states are right, and there is no GPU for the rest\n"
    "check: $(NAME)_selftest\n\t./$(NAME)_selftest || [ $$? = 77 ]\n\n"
    "check-loops: $(NAME)_selftest_loops\n\t./$(NAME)_selftest_loops\n\n"
    "registers: $(NAME).cu $(NAME).cuh $(NAME).h\n\t$(NVCC) $(NVCCFLAGS) -Xptxas -v -c -o /dev/null $(NAME).cu\n\n"
    "clean:\n\trm -f $(NAME).o $(NAME)_cuda.o $(NAME)_loops.o $(NAME)_selftest.o lib$(NAME)_cuda.so "
    "lib$(NAME)_loops.so $(NAME)_selftest $(NAME)_selftest_loops\n\n"
    ".PHONY: all check check-loops registers clean\n";

void psdmp_emit_cuda_makefile(psdmp_emit_writer *e) {
  psdm_output *out = e->out;
  psdm_output_print(out,
                    "# %s: make (lib%s_cuda.so), make check (the self-test, on a GPU where there is one), make "
                    "registers (what each kernel takes),\n"
                    "# make check-loops (the self-test of the same code as loops on the processor: no CUDA needed).\n"
                    "# ARCH=sm_90 compiles for one kind of GPU where there is none; ARCH=all-major for all.\n\n",
                    e->prefix, e->prefix);
  psdm_output_print(out, "NAME = %s\n", e->prefix);
  psdm_output_text(out, variables);
  psdm_output_text(out, rules);
}

void psdmp_emit_cuda_cmake(psdmp_emit_writer *e) {
  psdm_output *out = e->out;
  psdm_output_print(out,
                    "# add_subdirectory(...), then target_link_libraries(yours PRIVATE %s::cuda), or %s::plain for the "
                    "plain C functions alone.\n"
                    "# CMAKE_CUDA_ARCHITECTURES says for which GPUs; without it, for the one that is here. Where no "
                    "CUDA compiler is found there is no %s::cuda.\n",
                    e->prefix, e->prefix, e->prefix);
  psdm_output_text(out, "cmake_minimum_required(VERSION 3.24)\n");
  psdm_output_print(out,
                    "project(%s_cuda LANGUAGES C)\n\nif(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)\n  "
                    "set(CMAKE_BUILD_TYPE Release)\nendif()\n\n",
                    e->prefix);
  psdm_output_print(out, "add_library(%s_plain STATIC %s.c)\nadd_library(%s::plain ALIAS %s_plain)\n", e->prefix,
                    e->prefix, e->prefix, e->prefix);
  psdm_output_print(out, "target_include_directories(%s_plain PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\n", e->prefix);
  psdm_output_print(out,
                    "target_link_libraries(%s_plain PUBLIC m)\nset_target_properties(%s_plain PROPERTIES "
                    "POSITION_INDEPENDENT_CODE ON C_STANDARD 99)\n\n",
                    e->prefix, e->prefix);
  psdm_output_text(out, "include(CheckLanguage)\ncheck_language(CUDA)\nif(NOT CMAKE_CUDA_COMPILER)\n");
  psdm_output_print(
      out, "  message(WARNING \"no CUDA compiler was found: %s::cuda is left out\")\n  return()\nendif()\n", e->prefix);
  psdm_output_text(out, "if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n  set(CMAKE_CUDA_ARCHITECTURES "
                        "native)\nendif()\nenable_language(CUDA)\n\n");
  psdm_output_print(out, "add_library(%s_cuda SHARED %s.cu)\nadd_library(%s::cuda ALIAS %s_cuda)\n", e->prefix,
                    e->prefix, e->prefix, e->prefix);
  psdm_output_print(out,
                    "target_include_directories(%s_cuda PUBLIC "
                    "${CMAKE_CURRENT_SOURCE_DIR})\ntarget_compile_features(%s_cuda PRIVATE cuda_std_17)\n\n",
                    e->prefix, e->prefix);
  psdm_output_print(out,
                    "enable_testing()\nadd_executable(%s_selftest %s_selftest.c)\ntarget_link_libraries(%s_selftest "
                    "PRIVATE %s_plain %s_cuda)\n",
                    e->prefix, e->prefix, e->prefix, e->prefix, e->prefix);
  psdm_output_print(out,
                    "add_test(NAME %s_selftest COMMAND %s_selftest)\nset_tests_properties(%s_selftest PROPERTIES "
                    "SKIP_RETURN_CODE 77)\n",
                    e->prefix, e->prefix, e->prefix);
}
