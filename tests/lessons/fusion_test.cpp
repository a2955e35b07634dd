// The figures of the chapter on fusion: threads of a block and their numbers, attention over the sequence.
#include <string>

#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

FigureData program(std::initializer_list<const char*> settings, View view = {}) {
  const Figure* figure = find_figure("block_program");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.params = &params, .view = view});
}

// Cells of all programs that are drawn: threads that a line leaves idle, and numbers that it moves.
struct Threads {
  int all = 0, idle = 0;
  double numbers = 0;
};

Threads threads_of(const FigureData& figure) {
  Threads found;
  for (const HeatMap* map : panels_of<HeatMap>(figure.panels))
    for (const auto& row : map->cells)
      for (const double cell : row) {
        ++found.all;
        found.idle += cell == 0 ? 1 : 0;
        found.numbers += cell;
      }
  return found;
}

}  // namespace

TEST_CASE("a thousand numbers in blocks of 512 leave 24 threads idle, whoever writes the kernel") {
  for (const auto& [listing, load] :
       {std::pair{"listing=triton", "frame=4"}, {"listing=cuda", "frame=4"}, {"listing=compiler", "frame=4"}}) {
    INFO(listing);
    const Threads threads = threads_of(program({listing, load}));
    CHECK(threads.all == 1024);
    CHECK(threads.idle == 24);
    CHECK(threads.numbers == 1000);
  }
}

TEST_CASE("each line says what its thread computes, up to the line that is shown") {
  const FigureData figure = program({"follow=1000", "frame=3"});
  CHECK(figure.head.frames == 6);
  const Table& code = tests::table_of(figure);
  CHECK(code.columns.front() == "thread 488 of program 1");
  CHECK(code.rows[1].cells.front() == "1 × 512 + 488 = 1,000");
  CHECK(code.rows[2].cells.front() == "1,000 < 1,000: no");
  CHECK(code.rows[3].cells.front().empty());
  CHECK(tests::table_of(program({"follow=999", "frame=6"})).rows[5].cells.front() == "out[999]");
  CHECK(threads_of(figure).idle == 0);  // all threads compare
}

TEST_CASE("with several numbers per thread the last thread has a part of them, and CUDA's code treats it apart") {
  const Threads four = threads_of(program({"per_thread=4", "numbers=998"}));
  CHECK(four.all == 256);
  CHECK(four.idle == 6);
  CHECK(four.numbers == 998);
  const Threads whole = threads_of(program({"listing=cuda", "per_thread=4", "numbers=998", "frame=4"}));
  const Threads part = threads_of(program({"listing=cuda", "per_thread=4", "numbers=998", "frame=5"}));
  CHECK(whole.numbers == 996);
  CHECK(part.numbers == 2);
  CHECK(tests::table_of(program({"per_thread=4", "numbers=998", "follow=997"})).rows[2].cells.front() ==
        "2 of 4 are below 998");
}

TEST_CASE("a compiler that knows the length leaves the mask out where it is whole blocks") {
  CHECK(tests::table_of(program({"listing=compiler"})).rows.size() == 6);
  const FigureData whole = program({"listing=compiler", "numbers=1024"});
  const Table& code = tests::table_of(whole);
  REQUIRE(code.rows.size() == 5);
  for (const TableRow& row : code.rows) CHECK(row.name.find("mask") == std::string::npos);
}

TEST_CASE("while it is asked how many threads are idle, none is") {
  for (const char* listing : {"listing=triton", "listing=cuda", "listing=compiler"}) {
    const FigureData figure = program({listing, "frame=7"}, {.hidden = true});
    CHECK(threads_of(figure).idle == 0);
    CHECK(tests::table_of(figure).foot.empty());
  }
}
