// The course that the commands name pages and chapters of.
#pragma once

#include "lessons/pages/course.h"

namespace headroom::app {

record::Result<lessons::Course> load_course();
// With the command lines in its texts looked at as well: each must be one that `headroom` takes.
record::Result<lessons::Course> load_checked_course();

// The chapter with that number.
record::Result<const lessons::Chapter*> chapter_named(const lessons::Course& course, const std::string& number);

// Why `headroom …` would not start as given; empty: it would. Ellipses and words of capitals such as DIR are names
// to be filled in.
std::string why_no_command(std::string_view command);

}  // namespace headroom::app
