# The parts of the library, one row each. From a row follow the option PSDM_WITH_<NAME>, how the part is found, what is
# linked, the definition PSDM_HAVE_<NAME>, psdm.pc, psdmConfig.cmake and what `psdm doctor` lists.
#
#   psdm_part(NAME title "Debian's packages" "what it gives" how)
#
#   how: PKG module...               all of these pkg-config modules
#        PKG_ANY module...           the first one found
#        HEADER file [LIBS name...]  a header, and libraries
#        FIND package TARGET target  a package of CMake
#   REQUIRED: no build without it. PLUGIN source: only this plug-in is linked with it; the library loads it at run time.
#
# The target psdm_part_<NAME> carries definition, headers and libraries; it is empty where the part is missing.

# sets `libraries`, `modules` (pkg-config) and `flags` (of a linker) of a part; no libraries: it is missing
function(psdm_part_find prefix)
  cmake_parse_arguments(PARSE_ARGV 1 part "" "HEADER;FIND;TARGET" "PKG;PKG_ANY;LIBS")
  set(libraries)
  set(modules)
  set(flags)
  if(part_FIND)
    find_package(${part_FIND} QUIET COMPONENTS C)
    if(TARGET ${part_TARGET})
      set(libraries ${part_TARGET})
      set(flags " ${${part_FIND}_C_FLAGS}")
    endif()
  elseif(part_HEADER)
    find_path(${prefix}_INCLUDE ${part_HEADER} PATH_SUFFIXES coin coin-or)
    set(found ${${prefix}_INCLUDE})
    foreach(name IN LISTS part_LIBS)
      find_library(${prefix}_${name} ${name})
      list(APPEND libraries ${${prefix}_${name}})
      string(APPEND flags " -l${name}")
      if(NOT ${prefix}_${name})
        set(found FALSE)
      endif()
    endforeach()
    if(found)
      add_library(${prefix}_header INTERFACE IMPORTED)
      target_include_directories(${prefix}_header INTERFACE ${${prefix}_INCLUDE})
      list(APPEND libraries ${prefix}_header)
    else()
      set(libraries)
    endif()
  else()
    if(part_PKG)
      pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${part_PKG})
      set(modules ${part_PKG})
    else()
      pkg_search_module(${prefix} QUIET IMPORTED_TARGET ${part_PKG_ANY})
      set(modules ${${prefix}_MODULE_NAME})
    endif()
    if(${prefix}_FOUND)
      set(libraries PkgConfig::${prefix})
    endif()
  endif()
  foreach(name IN ITEMS libraries modules flags)
    set(${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

# a part that the library loads at run time: from lib/psdm beside a program of the build tree, or an installed one
function(psdm_part_plugin target source part)
  add_library(${target} MODULE ${source})
  psdm_flags(${target})
  target_include_directories(${target} PRIVATE src include)
  target_link_libraries(${target} PRIVATE ${part} Threads::Threads)
  set_target_properties(${target} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/psdm)
endfunction()

set(PSDM_PARTS_FOUND "")       # names
set(PSDM_PARTS_LINKED "")      # targets that the library is linked with
set(PSDM_PARTS_PLUGINS "")     # targets
set(PSDM_PARTS_PC_REQUIRES "") # psdm.pc
set(PSDM_PARTS_PC_LIBS "")
set(PSDM_PARTS_TABLE "")       # rows of parts.h
function(psdm_part name title packages gives)
  cmake_parse_arguments(PARSE_ARGV 4 part "REQUIRED" "PLUGIN" "")
  set(libraries)
  if(part_REQUIRED)
    set(wanted TRUE)
  else()
    option(PSDM_WITH_${name} "${title}: ${gives}" ON)
    # PSDM_SUNDIALS, PSDM_IPOPT and PSDM_MPI are the former names of three of these options
    set(wanted ${PSDM_WITH_${name}})
    if(DEFINED PSDM_${name} AND NOT PSDM_${name})
      set(wanted FALSE)
    endif()
  endif()
  if(wanted)
    psdm_part_find(PSDM_${name} ${part_UNPARSED_ARGUMENTS})
  endif()
  add_library(psdm_part_${name} INTERFACE IMPORTED)
  set(found 0)
  if(libraries)
    set(found 1)
    target_compile_definitions(psdm_part_${name} INTERFACE PSDM_HAVE_${name})
    target_link_libraries(psdm_part_${name} INTERFACE ${libraries})
    list(APPEND PSDM_PARTS_FOUND ${name})
  elseif(part_REQUIRED)
    message(FATAL_ERROR "psdm needs ${title} for ${gives} (Debian's packages: ${packages})")
  else()
    message(STATUS "psdm without ${title}, which gives ${gives} (Debian's packages: ${packages})")
  endif()
  if(found AND part_PLUGIN)
    string(TOLOWER psdm_${name} plugin)
    psdm_part_plugin(${plugin} ${part_PLUGIN} psdm_part_${name})
    list(APPEND PSDM_PARTS_PLUGINS ${plugin})
  elseif(found)
    list(APPEND PSDM_PARTS_LINKED psdm_part_${name})
    list(APPEND PSDM_PARTS_PC_REQUIRES ${modules})
    string(APPEND PSDM_PARTS_PC_LIBS "${flags}")
  endif()
  string(APPEND PSDM_PARTS_TABLE "  X(${name}, \"${title}\", \"${packages}\", \"${gives}\", ${found}) \\\n")
  set(PSDM_HAVE_${name} ${found} PARENT_SCOPE)
  foreach(list IN ITEMS FOUND LINKED PLUGINS PC_REQUIRES PC_LIBS TABLE)
    set(PSDM_PARTS_${list} "${PSDM_PARTS_${list}}" PARENT_SCOPE)
  endforeach()
endfunction()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

psdm_part(YAML libyaml libyaml-dev "robot files in YAML and models" REQUIRED PKG yaml-0.1)
psdm_part(XML libxml2 libxml2-dev "robot files in URDF" REQUIRED PKG libxml-2.0)
psdm_part(MATIO matio libmatio-dev "MATLAB files up to version 7" PKG matio)
psdm_part(LAPACK LAPACK "liblapacke-dev libopenblas-dev" "LQR gains, and faster linear algebra" PKG lapacke openblas)
psdm_part(SUNDIALS SUNDIALS libsundials-dev "simulation with variable steps" HEADER cvode/cvode.h
          LIBS sundials_cvode sundials_nvecserial sundials_sunmatrixdense sundials_sunlinsoldense)
psdm_part(ZLIB zlib zlib1g-dev "compressed logs" PKG zlib)
psdm_part(HDF5 HDF5 libhdf5-dev "logs in HDF5 and in MATLAB's version 7.3" PKG_ANY hdf5-serial hdf5)
psdm_part(SQLITE SQLite libsqlite3-dev "bags of ROS 2 (.db3)" PKG sqlite3)
psdm_part(LZ4 lz4 liblz4-dev "bags of ROS 2 (.mcap) with lz4" PKG liblz4)
psdm_part(ZSTD zstd libzstd-dev "bags of ROS 2 (.mcap) with zstd" PKG libzstd)
psdm_part(CMINPACK cminpack libcminpack-dev "LuGre friction from logs" PKG cminpack)
# opened at run time and not linked, because it is LGPL: only its header is needed here
psdm_part(NLOPT NLopt "libnlopt0 libnlopt-dev" "excitation for inertia and LuGre friction from logs" HEADER nlopt.h)
psdm_part(OPENMP OpenMP gcc "threads" FIND OpenMP TARGET OpenMP::OpenMP_C)
# plug-ins: IPOPT's sequential MUMPS exports MPI's names, and few runs need MPI
psdm_part(IPOPT "IPOPT plug-in" coinor-libipopt-dev "plan from rest to rest" HEADER IpStdCInterface.h LIBS ipopt
          PLUGIN src/plan/plugin/ipopt.c)
psdm_part(MPI "MPI plug-in" libopenmpi-dev "several processes, as in mpirun -n 8 psdm calibrate" FIND MPI TARGET MPI::MPI_C
          PLUGIN src/parallel/plugin/mpi.c)

list(JOIN PSDM_PARTS_PC_REQUIRES " " PSDM_PARTS_PC_REQUIRES)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/private/parts.h @ONLY CONTENT
"/* parts.h: the parts of this build, from cmake/parts.cmake: name, title, Debian's packages, what it gives, found. */
#define PSDM_PARTS(X) \\
@PSDM_PARTS_TABLE@
")
