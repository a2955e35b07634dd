# Settings of all targets, and functions that create libraries, tests and catalogues.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
# TorchWheel.cmake sets the only run path, a DT_RPATH with LibTorch's folders.
set(CMAKE_SKIP_BUILD_RPATH TRUE)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Not -O3: hot loops are in LibTorch and our CUDA kernels.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(HEADROOM_CCACHE ccache)
if(HEADROOM_CCACHE)
  # ccache needs this sloppiness to cache files with a precompiled header.
  set(_ccache ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${HEADROOM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${_ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_ccache})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${_ccache})
endif()

if(HEADROOM_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${HEADROOM_SANITIZE};-fno-omit-frame-pointer>")
  add_link_options(-fsanitize=${HEADROOM_SANITIZE})
endif()
if(HEADROOM_STATIC)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

# Warnings for our code only.
add_library(headroom_warnings INTERFACE)
# g++ 12 also warns about members that a designated initializer deliberately omits.
set(_warnings -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wvla
  -Wno-missing-field-initializers)
if(HEADROOM_WERROR)
  # g++ 12 to 14 report these wrongly for inlined library code.
  list(APPEND _warnings -Werror -Wno-error=maybe-uninitialized -Wno-error=restrict -Wno-error=array-bounds
    -Wno-error=stringop-overflow)
endif()
target_compile_options(headroom_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${_warnings}>")

# -pthread for all targets: g++ uses a precompiled header only if the same macros are defined, and -pthread defines one.
set(_standard_pch_flags "$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess;-pthread>")

# Includes relative to the repository, warnings, and torch's or the standard library's precompiled header. All targets
# that share a header must use the same compiler flags.
function(_headroom_target target torch)
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE headroom_warnings headroom_fmt)
  if(torch)
    target_link_libraries(${target} PRIVATE headroom_torch)
    target_precompile_headers(${target} REUSE_FROM headroom_torch_pch)
  else()
    if(NOT TARGET headroom_standard_pch)
      file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/standard_pch.cpp" @ONLY
        CONTENT "// Carries the precompiled header of code without torch.\n")
      add_library(headroom_standard_pch OBJECT "${CMAKE_BINARY_DIR}/generated/standard_pch.cpp")
      target_link_libraries(headroom_standard_pch PRIVATE headroom_warnings headroom_fmt)
      target_compile_options(headroom_standard_pch PRIVATE ${_standard_pch_flags})
      target_precompile_headers(headroom_standard_pch PRIVATE <algorithm> <array> <chrono> <filesystem> <fstream>
        <functional> <map> <memory> <optional> <set> <sstream> <string> <string_view> <variant> <vector> <fmt/format.h>)
    endif()
    target_compile_options(${target} PRIVATE ${_standard_pch_flags})
    target_precompile_headers(${target} REUSE_FROM headroom_standard_pch)
  endif()
endfunction()

# headroom_library(<target> SOURCES a.cpp … [LINK public…] [PRIVATE private…] [TORCH])
# A static library. With TORCH, C++ files include LibTorch through the precompiled header.
function(headroom_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;LINK;PRIVATE")
  add_library(${target} STATIC ${arg_SOURCES})
  target_link_libraries(${target} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE})
  _headroom_target(${target} ${arg_TORCH})
endfunction()

# headroom_executable(<target> SOURCES main.cpp … [LINK libraries…] [TORCH]): into build/bin.
function(headroom_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;LINK")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  _headroom_target(${target} ${arg_TORCH})
endfunction()

# headroom_test(<name> LABEL fast|torch|gui|gpu|slow SOURCES … [LINK …] [TORCH] [COST seconds] [ENVIRONMENT A=b …])
# A Catch2 executable. CTest runs it as a whole; one process per case would load LibTorch 470 times. To run one case:
# build/tests/bin/<name> "its name". gpu tests exit with 77 (skipped) without a device. CTest starts tests with the
# highest COST (approximate duration) first. Tests get HEADROOM_SOURCE_DIR and HEADROOM_BIN_DIR as string literals.
function(headroom_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "LABEL;COST" "SOURCES;LINK;ENVIRONMENT")
  if(NOT HEADROOM_TESTS)
    return()
  endif()
  if(NOT arg_LABEL MATCHES "^(fast|torch|gui|gpu|slow)$")
    message(FATAL_ERROR "headroom_test(${name}): LABEL is fast, torch, gui, gpu or slow, not '${arg_LABEL}'")
  endif()
  if(NOT arg_COST)
    set(arg_COST 5)
  endif()
  if(HEADROOM_SANITIZE MATCHES "thread")
    list(APPEND arg_ENVIRONMENT "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp")
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/bin")
  target_compile_definitions(${name} PRIVATE
    "HEADROOM_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"" "HEADROOM_BIN_DIR=\"${CMAKE_BINARY_DIR}/bin\"")
  target_link_libraries(${name} PRIVATE ${arg_LINK} headroom_catch)
  if(arg_LABEL STREQUAL "gpu")
    target_link_libraries(${name} PRIVATE headroom_gpu_test_main)
  else()
    target_link_libraries(${name} PRIVATE headroom_test_main)
  endif()
  _headroom_target(${name} ${arg_TORCH})
  # Only for tests that hang; a busy machine must not fail one.
  add_test(NAME ${name} COMMAND ${name} --durations yes)
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 3600 COST ${arg_COST} ENVIRONMENT "${arg_ENVIRONMENT}")
  if(arg_LABEL STREQUAL "gpu")
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 RUN_SERIAL ON)
  endif()
endfunction()

# headroom_constant(<out_var> foo_bar): kFooBar.
function(headroom_constant out_var words)
  string(REPLACE "_" ";" words "${words}")
  set(constant "k")
  foreach(word IN LISTS words)
    string(SUBSTRING "${word}" 0 1 first)
    string(SUBSTRING "${word}" 1 -1 rest)
    string(TOUPPER "${first}" first)
    string(APPEND constant "${first}${rest}")
  endforeach()
  set(${out_var} "${constant}" PARENT_SCOPE)
endfunction()

# headroom_catalogue(<out_var> KIND Figure HEADER lessons/figure.h NAMESPACE headroom::lessons FUNCTION figures
#                    ITEMS memory_timeline …)
# Writes a source that lists constant records in display order; returns its path in <out_var>. The item foo_bar is
# `extern const KIND kFooBar;`, defined in another .cpp. HEADER declares `std::span<const KIND* const> FUNCTION();`.
function(headroom_catalogue out_var)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND;HEADER;NAMESPACE;FUNCTION" "ITEMS")
  set(declarations "")
  set(addresses "")
  list(LENGTH arg_ITEMS count)
  foreach(item IN LISTS arg_ITEMS)
    headroom_constant(constant "${item}")
    string(APPEND declarations "extern const ${arg_KIND} ${constant};\n")
    string(APPEND addresses "&${constant}, ")
  endforeach()
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${arg_FUNCTION}_catalogue.cpp")
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT [[
// Written by CMake from the list of @arg_FUNCTION@: do not edit.
#include <array>
#include <span>

#include "@arg_HEADER@"

namespace @arg_NAMESPACE@ {

@declarations@
std::span<const @arg_KIND@* const> @arg_FUNCTION@() {
  static constexpr std::array<const @arg_KIND@*, @count@> all{@addresses@};
  return all;
}

}  // namespace @arg_NAMESPACE@
]])
  set(${out_var} "${file}" PARENT_SCOPE)
endfunction()

# headroom_embed(<header> NAMESPACE n SUFFIX Csv FILES a_b.csv …): texts of files as constants (kABCsv), in a header of the
# folder's build directory.
function(headroom_embed header)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE;SUFFIX" "FILES")
  set(constants "")
  foreach(file IN LISTS arg_FILES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    get_filename_component(words "${file}" NAME_WE)
    headroom_constant(constant "${words}")
    file(READ "${file}" text)
    string(APPEND constants "inline constexpr std::string_view ${constant}${arg_SUFFIX} = R\"embedded(${text})embedded\";\n")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${header}" @ONLY CONTENT [[
// Written by CMake (headroom_embed): do not edit.
#pragma once
#include <string_view>

namespace @arg_NAMESPACE@ {
@constants@
}  // namespace @arg_NAMESPACE@
]])
endfunction()

# headroom_build: version, revision and source folder ("headroom_build.h"). Every build checks the revision and
# recompiles one file if it changed.
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/headroom_build.h" @ONLY CONTENT [[
// Written by CMake: facts about this build.
#pragma once
#include <string_view>

namespace headroom::build {
inline constexpr std::string_view kVersion = "@PROJECT_VERSION@";
inline constexpr std::string_view kSourceDir = "@CMAKE_SOURCE_DIR@";  // where this build was made; may not exist elsewhere
std::string_view revision();                                         // git's short commit id, "+" if files changed
}  // namespace headroom::build
]])
add_custom_target(headroom_revision
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${CMAKE_BINARY_DIR}/generated/headroom_revision.cpp
    -P ${CMAKE_SOURCE_DIR}/cmake/Revision.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/headroom_revision.cpp VERBATIM)
add_library(headroom_build STATIC ${CMAKE_BINARY_DIR}/generated/headroom_revision.cpp)
add_dependencies(headroom_build headroom_revision)
target_include_directories(headroom_build PUBLIC ${CMAKE_BINARY_DIR}/generated)
