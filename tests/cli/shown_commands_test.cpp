// Every command line in pages, README and documents is valid.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "app/cli/shown_course.h"
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom;
namespace fs = std::filesystem;

TEST_CASE("every command in the pages starts as shown") {
  const lessons::Course course = lessons::Course::load(fs::path(HEADROOM_SOURCE_DIR) / "assets", app::why_no_command);
  for (const lessons::Problem& problem : course.problems()) FAIL_CHECK(problem.text());
}

TEST_CASE("every command in the documents starts as shown") {
  fs::current_path(HEADROOM_SOURCE_DIR);  // paths are relative to it
  std::vector<fs::path> files{fs::path(HEADROOM_SOURCE_DIR) / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(HEADROOM_SOURCE_DIR) / "docs"))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  std::size_t commands = 0;
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (const lessons::ShownCommand& command : lessons::commands_in(text)) {
      ++commands;
      const bool needs_pdf = command.text.find("pdf") != std::string::npos;
      if (needs_pdf && !tests::kWritesPdf) continue;
      INFO(path.filename() << ":" << command.line << ": " << command.text);
      CHECK(app::why_no_command(command.text) == "");
    }
  }
  CHECK(commands > 10);
}

TEST_CASE("a command that does not start says why") {
  CHECK(app::why_no_command("headroom list") == "");
  CHECK(app::why_no_command("headroom lst").find("list") != std::string::npos);
  CHECK(app::why_no_command("headroom sweep ladder --out DIR").find("--out") != std::string::npos);
  CHECK(app::why_no_command("headroom run train_step --set batsch=4").find("batch") != std::string::npos);
}
