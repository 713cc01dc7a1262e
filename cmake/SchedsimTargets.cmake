# Functions that define the project's targets in one way.

# Flags of every target, also of those that only link the libraries: a fused multiply-add would round
# scores differently from one machine to another.
set(SCHEDSIM_FLOAT_OPTIONS -ffp-contract=off)
# GCC 12 sees overlaps and overruns inside std::string that are not there.
set(SCHEDSIM_WARNING_OPTIONS -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
    -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
    -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
    -Wno-missing-field-initializers)  # A designated initialiser may leave out what has a default.

# Headers that most sources include, parsed once a target: they take two thirds of the time to compile.
set(SCHEDSIM_PRECOMPILED_HEADERS
    <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <set> <string> <tuple> <utility>
    <variant> <vector>
    <absl/algorithm/container.h> <absl/container/btree_map.h> <absl/container/flat_hash_map.h>
    <absl/functional/function_ref.h> <absl/status/statusor.h> <absl/strings/match.h>
    <absl/strings/numbers.h> <absl/strings/str_cat.h> <absl/strings/str_format.h> <absl/strings/str_join.h>
    <absl/strings/str_split.h> <absl/time/time.h> <absl/types/span.h>)

# schedsim_add_library(NAME SOURCES file.cc... HEADERS file.h... PUBLIC target... PRIVATE target...
#                      [PRECOMPILED header...])
#
# Defines the static library schedsim_NAME with the alias schedsim::NAME, installed and exported.
# HEADERS are its headers, relative to the calling directory. All are installed, and each compiles alone:
# the source beside a header includes it first (tidy_test checks that), and the test `headers_alone` compiles
# those without a source. PRIVATE targets are those that no header includes. PRECOMPILED are headers of the
# project, relative to its root, that most of the sources include.
function(schedsim_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE;PRECOMPILED")
  set(target schedsim_${name})
  add_library(${target} STATIC)
  add_library(schedsim::${name} ALIAS ${target})
  set(headers_with_source ${ARG_HEADERS})
  set(headers_without_source ${ARG_HEADERS})
  foreach(header IN LISTS ARG_HEADERS)
    string(REGEX REPLACE "\\.h$" ".cc" source ${header})
    if(source IN_LIST ARG_SOURCES)
      list(REMOVE_ITEM headers_without_source ${header})
    else()
      list(REMOVE_ITEM headers_with_source ${header})
    endif()
  endforeach()
  target_sources(${target}
    PRIVATE ${ARG_SOURCES}
    PUBLIC
      FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers_with_source}
      FILE_SET headers_without_source TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
        FILES ${headers_without_source})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PUBLIC ${SCHEDSIM_FLOAT_OPTIONS} PRIVATE ${SCHEDSIM_WARNING_OPTIONS})
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  list(TRANSFORM ARG_PRECOMPILED PREPEND ${PROJECT_SOURCE_DIR}/)
  target_precompile_headers(${target} PRIVATE ${SCHEDSIM_PRECOMPILED_HEADERS} ${ARG_PRECOMPILED})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    INTERFACE_HEADER_SETS_TO_VERIFY headers_without_source
    VERIFY_INTERFACE_HEADER_SETS ON)
  install(TARGETS ${target} EXPORT schedsimTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/schedsim
    FILE_SET headers_without_source DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/schedsim)
endfunction()

# schedsim_add_executable(NAME SOURCES file.cc... LINK target...)
function(schedsim_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINK")
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${SCHEDSIM_FLOAT_OPTIONS} ${SCHEDSIM_WARNING_OPTIONS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

# schedsim_define_path(MACRO path file.cc...)
#
# Defines MACRO, an absolute path as a string, for those of the files that use it: ccache knows the objects of
# the others in every clone.
function(schedsim_define_path macro path)
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} uses REGEX ${macro} LIMIT_COUNT 1)
    if(uses)
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS "${macro}=\"${path}\"")
    endif()
  endforeach()
endfunction()

# schedsim_add_gtest(NAME SOURCES file.cc... LINK target... [LABELS label...] [PRECOMPILED target])
#
# Defines the GoogleTest program NAME and one test that runs it. PRECOMPILED names the program whose
# precompiled headers it uses, by default schedsim_test_headers. Tests find the repository through the
# macro SCHEDSIM_SOURCE_DIR, and the program, where it is built, through SCHEDSIM_PROGRAM. The results go to test_results/NAME.xml, which tests/run_tests.sh counts.
function(schedsim_add_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PRECOMPILED" "SOURCES;LINK;LABELS")
  schedsim_add_executable(${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK} GTest::gtest_main)
  schedsim_define_path(SCHEDSIM_SOURCE_DIR ${PROJECT_SOURCE_DIR} ${ARG_SOURCES})
  schedsim_define_path(SCHEDSIM_PROGRAM $<TARGET_FILE:schedsim> ${ARG_SOURCES})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED schedsim_test_headers)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/test_results/${name}.xml"
    LABELS "${ARG_LABELS}"
    TIMEOUT 900)
endfunction()
