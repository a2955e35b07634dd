# Writes OUT, a source with the commit id of SOURCE, if the id has changed.
find_package(Git QUIET)
set(revision "unknown")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --dirty=+ --abbrev=12
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(revision "${found}")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT [[
// Written at every build by cmake/Revision.cmake.
#include "headroom_build.h"

namespace headroom::build {
std::string_view revision() { return "@revision@"; }
}  // namespace headroom::build
]])
