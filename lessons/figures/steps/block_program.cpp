// A vector addition on many threads, in CUDA, in Triton and by a compiler, line by line, with the threads that each
// line keeps busy.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

constexpr std::int64_t kWarp = 32, kNumberBytes = 4;  // fp32

constexpr std::array<record::Choice, 3> kListings{
    {{"triton", "in Triton"}, {"cuda", "in CUDA C++"}, {"compiler", "by a compiler"}}};
constexpr std::array<record::Choice, 4> kBlocks{{{"128", "128"}, {"256", "256"}, {"512", "512"}, {"1024", "1,024"}}};
constexpr std::array<record::Choice, 3> kWidths{{{"1", "1"}, {"2", "2"}, {"4", "4"}}};
constexpr std::array kBlockProgramSchema{
    experiments::choice("listing", "Written", "Author and language of the kernel", kListings, "triton"),
    whole_param("numbers", "N", "Numbers per vector", 1, 4096, 1000),
    experiments::choice("block", "Block", "Numbers per program", kBlocks, "512"),
    experiments::choice("per_thread", "Numbers per thread",
                        "Neighboring numbers that a thread loads or stores with one instruction", kWidths, "1"),
    whole_param("follow", "Follow index", "Thread whose computation the listing shows", 0, 4095, 1000),
    frame_param(4),
};

// N numbers in blocks; each block is a program of threads.
struct Grid {
  std::int64_t n, block, width;

  std::int64_t programs() const { return (n + block - 1) / block; }
  std::int64_t threads() const { return block / width; }  // per program
  std::int64_t first(std::int64_t program, std::int64_t thread) const { return program * block + thread * width; }
  // Numbers of this thread; fewer than `width` at the vectors' end.
  std::int64_t numbers(std::int64_t program, std::int64_t thread) const {
    return std::clamp<std::int64_t>(n - first(program, thread), 0, width);
  }
  std::int64_t all_threads() const { return programs() * threads(); }
  std::int64_t busy_threads() const { return (n + width - 1) / width; }
};

struct Followed {
  std::int64_t program, thread;
};

// Threads that do a line's work.
enum class Busy : std::uint8_t {
  kAll,     // every thread
  kInside,  // threads with a number
  kWhole,   // threads with `width` numbers
  kPart,    // threads with fewer, but at least one
};

struct Line {
  std::string code;
  std::string here;  // the followed thread's result
  Busy busy = Busy::kAll;
};

std::int64_t touched(const Grid& grid, std::int64_t program, std::int64_t thread, Busy busy) {
  const std::int64_t numbers = grid.numbers(program, thread);
  if (busy == Busy::kAll) return grid.width;
  if (busy == Busy::kInside) return numbers;
  return (numbers == grid.width) == (busy == Busy::kWhole) ? numbers : 0;
}

std::string count_text(std::int64_t number) { return record::format_count(number); }

std::string span(std::int64_t first, std::int64_t length) {
  return length == 1 ? count_text(first) : fmt::format("{} to {}", count_text(first), count_text(first + length - 1));
}

// The elements that the thread loads or stores.
std::string moved(const Grid& grid, const Followed& at, std::string_view what) {
  const std::int64_t numbers = grid.numbers(at.program, at.thread);
  if (numbers == 0) return "nothing: masked";
  return fmt::format("{}[{}]", what, span(grid.first(at.program, at.thread), numbers));
}

std::string inside(const Grid& grid, const Followed& at) {
  const std::int64_t first = grid.first(at.program, at.thread), numbers = grid.numbers(at.program, at.thread);
  if (numbers > 0 && numbers < grid.width)
    return fmt::format("{} of {} are below {}", numbers, grid.width, count_text(grid.n));
  return fmt::format("{} < {}: {}", count_text(first), count_text(grid.n), numbers > 0 ? "yes" : "no");
}

// "1 × 512 + 488 = 1,000"
std::string index_of(const Grid& grid, const Followed& at) {
  return fmt::format("{} × {} + {} = {}", at.program, grid.block, span(at.thread * grid.width, grid.width),
                     span(grid.first(at.program, at.thread), grid.width));
}

std::vector<Line> triton(const Grid& grid, const Followed& at) {
  return {{"pid = tl.program_id(0)", fmt::format("pid = {}", at.program)},
          {fmt::format("i = pid * {0} + tl.arange(0, {0})", grid.block), index_of(grid, at)},
          {"mask = i < n", inside(grid, at)},
          {"a = tl.load(x + i, mask=mask)", moved(grid, at, "x"), Busy::kInside},
          {"b = tl.load(y + i, mask=mask)", moved(grid, at, "y"), Busy::kInside},
          {"tl.store(out + i, a + b, mask=mask)", moved(grid, at, "out"), Busy::kInside}};
}

std::vector<Line> cuda(const Grid& grid, const Followed& at) {
  const std::int64_t numbers = grid.numbers(at.program, at.thread), first = grid.first(at.program, at.thread);
  const std::string launch = fmt::format("add<<<{}, {}>>>(x, y, out, {});", grid.programs(), grid.threads(), grid.n);
  const std::string where = fmt::format("block {}, thread {}", at.program, at.thread);
  if (grid.width == 1)
    return {{launch, where},
            {"int i = blockIdx.x * blockDim.x + threadIdx.x;", index_of(grid, at)},
            {"if (i < n)", inside(grid, at)},
            {"  out[i] = x[i] + y[i];", numbers > 0 ? fmt::format("out[{}]", count_text(first)) : "nothing",
             Busy::kInside}};
  const bool whole = numbers == grid.width;
  return {
      {launch, where},
      {fmt::format("int i = {} * (blockIdx.x * blockDim.x + threadIdx.x);", grid.width), "i = " + count_text(first)},
      {fmt::format("if (i + {} <= n)", grid.width),
       fmt::format("{} <= {}: {}", count_text(first + grid.width), count_text(grid.n), whole ? "yes" : "no")},
      {fmt::format("  store{0}(out + i, load{0}(x + i) + load{0}(y + i));", grid.width),
       whole ? moved(grid, at, "out") : "nothing", Busy::kWhole},
      {"else for (; i < n; ++i) out[i] = x[i] + y[i];", !whole && numbers > 0 ? moved(grid, at, "out") : "nothing",
       Busy::kPart}};
}

// Like TorchInductor: the length is a constant, so whole blocks need no mask.
std::vector<Line> compiled(const Grid& grid, const Followed& at) {
  const bool masked = grid.n % grid.block != 0;
  const std::string comma = masked ? ", mask" : "";
  std::vector<Line> lines{{"out = x + y", fmt::format("graph: add {} numbers", count_text(grid.n))},
                          {fmt::format("i = program_id(0) * {0} + arange(0, {0})", grid.block), index_of(grid, at)}};
  if (masked) lines.push_back({fmt::format("mask = i < {}", grid.n), inside(grid, at)});
  lines.push_back({fmt::format("t0 = load(x + i{})", comma), moved(grid, at, "x"), Busy::kInside});
  lines.push_back({fmt::format("t1 = load(y + i{})", comma), moved(grid, at, "y"), Busy::kInside});
  lines.push_back({fmt::format("store(out + i, t0 + t1{})", comma), moved(grid, at, "out"), Busy::kInside});
  return lines;
}

// Lines of each listing before the first that compares an index with N.
constexpr std::size_t kIndexLines = 2;

std::vector<Line> listing_of(std::string_view key, const Grid& grid, const Followed& at) {
  if (key == "cuda") return cuda(grid, at);
  return key == "compiler" ? compiled(grid, at) : triton(grid, at);
}

std::string tip_of(const Grid& grid, std::int64_t program, std::int64_t thread, std::int64_t touched) {
  const std::string who = fmt::format("Program {}, warp {}, thread {}", program, thread / kWarp, thread);
  const std::string index = span(grid.first(program, thread), grid.width);
  if (touched == 0) return fmt::format("{}: index {}, idle on this line", who, index);
  return fmt::format("{}: index {}", who, span(grid.first(program, thread), touched));
}

// One program's threads. A row is a warp, whose threads execute an instruction together.
HeatMap map_of(const Grid& grid, std::int64_t program, const Followed& at, Busy busy) {
  const std::int64_t warps = grid.threads() / kWarp;
  HeatMap map{.title = fmt::format("Program {}: i = {} to {}, by warp and lane", program,
                                   count_text(program * grid.block), count_text((program + 1) * grid.block - 1)),
              .named_every = 8,
              .low = 0,
              .high = static_cast<double>(grid.width),
              .low_text = "idle",
              .high_text = grid.width == 1 ? "1 number" : fmt::format("{} numbers", grid.width),
              .tips = {},
              .numbers = false};
  for (std::int64_t lane = 0; lane < kWarp; ++lane) map.columns.push_back(count_text(lane));
  for (std::int64_t warp = 0; warp < warps; ++warp) {
    map.rows.push_back(fmt::format("warp {}", warp));
    auto& cells = map.cells.emplace_back();
    auto& tips = map.tips.emplace_back();
    for (std::int64_t thread = warp * kWarp; thread < (warp + 1) * kWarp; ++thread) {
      const std::int64_t numbers = touched(grid, program, thread, busy);
      cells.push_back(static_cast<double>(numbers));
      tips.push_back(tip_of(grid, program, thread, numbers));
    }
  }
  if (program == at.program)
    map.chosen = MapCell{static_cast<std::size_t>(at.thread / kWarp), static_cast<std::size_t>(at.thread % kWarp)};
  return map;
}

// The lines, with the thread's results up to the shown line.
Table code_of(const std::vector<Line>& lines, std::size_t shown, const Followed& at) {
  Table table{.head = "Line by line", .columns = {fmt::format("thread {} of program {}", at.thread, at.program)}};
  for (std::size_t i = 0; i < lines.size(); ++i)
    table.rows.push_back(
        {.name = (i == shown ? "→ " : "") + lines[i].code, .cells = {i <= shown ? lines[i].here : ""}});
  return table;
}

std::string counts_of(const Grid& grid) {
  return fmt::format("{} of {} threads have no element. A load is {} B per thread, {} B per warp.",
                     count_text(grid.all_threads() - grid.busy_threads()), count_text(grid.all_threads()),
                     grid.width * kNumberBytes, grid.width * kNumberBytes * kWarp);
}

void add_block_program_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const Grid grid{params.integer("numbers"), std::stoll(params.text("block")), std::stoll(params.text("per_thread"))};
  const std::int64_t last = grid.programs() - 1;
  const std::int64_t index = std::min(params.integer("follow"), grid.programs() * grid.block - 1);
  const Followed at{index / grid.block, index % grid.block / grid.width};
  const std::vector<Line> lines = listing_of(params.text("listing"), grid, at);
  // While the answer is hidden, no index is compared with N.
  const std::size_t shown = show_frame(figure.head, params, input.view.hidden ? kIndexLines : lines.size());
  figure.head.provenance_line =
      fmt::format("fp32, N = {}, blocks of {}, {} per thread", count_text(grid.n), count_text(grid.block), grid.width);
  const std::int64_t other = at.program == last ? 0 : at.program;
  const Busy busy = lines[shown].busy;
  if (other != last) figure.add(map_of(grid, other, at, busy));
  figure.add(map_of(grid, last, at, busy));
  Table code = code_of(lines, shown, at);
  if (!input.view.hidden) code.foot = counts_of(grid);
  figure.add(std::move(code));
}

}  // namespace

extern const Figure kBlockProgram;
constinit const Figure kBlockProgram{
    .id = "block_program",
    .title = "One program, many threads",
    .caption = "An addition of two vectors line by line, with the threads of a block that each line keeps busy",
    .schema = kBlockProgramSchema,
    .basis = Basis::kParameters,
    .add_panels = add_block_program_panels,
};

}  // namespace headroom::lessons
