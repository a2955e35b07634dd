// Loads the course for commands that name pages or chapters.
#pragma once

#include "lessons/pages/course.h"

namespace headroom::app {

record::Result<lessons::Course> load_course();
// Also checks the command lines in the course's texts.
record::Result<lessons::Course> load_checked_course();

record::Result<const lessons::Chapter*> chapter_named(const lessons::Course& course, const std::string& number);

// Why `headroom …` would not start. Ellipses and capitalized words such as DIR are placeholders.
std::string why_no_command(std::string_view command);

}  // namespace headroom::app
