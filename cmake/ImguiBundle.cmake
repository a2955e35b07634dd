# Dear ImGui, GLFW, Markdown with formulas and the UI test engine, all from the archive imgui-bundle.
#
#   imgui                    headers and settings, for libraries
#   imgui_product            for the window's executable
#   imgui_with_test_engine   with the test engine, for GUI tests (never shipped)
#   rich_md, imgui_stb_image_write
#
# The headers are the same with and without the test engine, so one set of libraries serves both.

set(_external "${HEADROOM_DEPS}/imgui-bundle/external")
if(NOT EXISTS "${_external}/imgui/imgui/imgui.h")
  message(FATAL_ERROR "Dear ImGui is not at ${_external}. Run './run doctor' (./run fetches it), "
    "or give -DHEADROOM_DEPS=FOLDER.")
endif()

# These sources were not written for unity builds.
set(_unity ${CMAKE_UNITY_BUILD})
set(CMAKE_UNITY_BUILD OFF)

function(_quiet)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE -w)
  endforeach()
endfunction()

set(GLFW_BUILD_EXAMPLES OFF CACHE BOOL "" FORCE)
set(GLFW_BUILD_TESTS OFF CACHE BOOL "" FORCE)
set(GLFW_BUILD_DOCS OFF CACHE BOOL "" FORCE)
set(GLFW_INSTALL OFF CACHE BOOL "" FORCE)
set(GLFW_BUILD_WAYLAND OFF CACHE BOOL "" FORCE)  # XWayland is enough; Wayland's headers need two more packages
set(GLFW_LIBRARY_TYPE STATIC CACHE STRING "" FORCE)
add_subdirectory(${_external}/glfw/glfw ${CMAKE_BINARY_DIR}/glfw EXCLUDE_FROM_ALL)
find_package(Freetype REQUIRED)

set(_imgui "${_external}/imgui/imgui")
add_library(imgui INTERFACE)
target_include_directories(imgui SYSTEM INTERFACE ${_imgui} ${_imgui}/backends ${_imgui}/misc/cpp)
target_include_directories(imgui INTERFACE ${CMAKE_SOURCE_DIR}/cmake/imgui)
target_compile_definitions(imgui INTERFACE "IMGUI_USER_CONFIG=\"headroom_imconfig.h\"")
target_link_libraries(imgui INTERFACE glfw Threads::Threads ${CMAKE_DL_LIBS})

# Object libraries, so that their order on the link line does not matter.
function(_imgui_variant target)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL
    ${_imgui}/imgui.cpp ${_imgui}/imgui_draw.cpp ${_imgui}/imgui_tables.cpp ${_imgui}/imgui_widgets.cpp
    ${_imgui}/imgui_demo.cpp ${_imgui}/imgui_stacklayout.cpp ${_imgui}/misc/cpp/imgui_stdlib.cpp
    ${_imgui}/backends/imgui_impl_glfw.cpp ${_imgui}/backends/imgui_impl_opengl3.cpp ${ARGN})
  target_link_libraries(${target} PUBLIC imgui)
  _quiet(${target})
endfunction()
_imgui_variant(imgui_product)

set(_engine "${_external}/imgui_test_engine/imgui_test_engine/imgui_test_engine")
if(HEADROOM_TESTS)
  file(GLOB _engine_sources ${_engine}/imgui_*.cpp)
  list(FILTER _engine_sources EXCLUDE REGEX "python_gil")
  _imgui_variant(imgui_with_test_engine ${_engine_sources})
  target_include_directories(imgui_with_test_engine SYSTEM PUBLIC ${_engine})
  target_compile_definitions(imgui_with_test_engine PUBLIC HEADROOM_WITH_IMGUI_TEST_ENGINE)
endif()

# For screenshots: "imstb_image_write.h" (define STB_IMAGE_WRITE_STATIC before the implementation).
add_library(imgui_stb_image_write INTERFACE)
target_include_directories(imgui_stb_image_write SYSTEM INTERFACE ${_engine}/thirdparty/stb)

set(IMGUI_RICHMD_WITH_LATEX ON)
set(IMGUI_RICHMD_WITH_CODE_EDITOR OFF)
set(IMGUI_RICHMD_WITH_MERMAID OFF)
set(IMGUI_RICHMD_MICROTEX_DIR ${_external}/imgui_microtex/MicroTeX)
set(IMGUI_RICHMD_BUILD_EXAMPLES OFF)
set(IMGUI_RICHMD_BUILD_TESTS OFF)
add_subdirectory(${_external}/imgui_rich_md/imgui_rich_md ${CMAKE_BINARY_DIR}/rich_md EXCLUDE_FROM_ALL)
add_library(rich_md INTERFACE)
target_link_libraries(rich_md INTERFACE imgui_rich_md)
foreach(_target imgui_rich_md imgui_rich_md_latex microtex)
  get_target_property(_includes ${_target} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(${_target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_includes}")
endforeach()
_quiet(imgui_rich_md imgui_rich_md_latex microtex)

# MicroTeX throws without the locale en_US.UTF-8, and most formulas then appear as red source. Every Debian has C.UTF-8.
set(_utils "${IMGUI_RICHMD_MICROTEX_DIR}/lib/utils/utils.cpp")
file(READ "${_utils}" _text)
string(REPLACE "std::locale locale(\"en_US.UTF-8\")" "std::locale locale(\"C.UTF-8\")" _patched "${_text}")
if(_patched STREQUAL _text)
  message(FATAL_ERROR "${_utils}: the locale's name is not where it was; look at this file and at cmake/ImguiBundle.cmake.")
endif()
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/microtex_utils.cpp" CONTENT "${_patched}" @ONLY)
get_target_property(_sources microtex SOURCES)
list(REMOVE_ITEM _sources utils/utils.cpp)
set_property(TARGET microtex PROPERTY SOURCES ${_sources} ${CMAKE_BINARY_DIR}/microtex_utils.cpp)
set_target_properties(microtex PROPERTIES UNITY_BUILD ${_unity})
target_include_directories(microtex PRIVATE ${IMGUI_RICHMD_MICROTEX_DIR}/lib ${IMGUI_RICHMD_MICROTEX_DIR}/lib/utils)

set(CMAKE_UNITY_BUILD ${_unity})
