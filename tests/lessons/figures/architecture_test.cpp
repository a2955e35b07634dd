// Models by block: published parameter counts, and the figure's columns.
#include <algorithm>
#include <string>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/block_model.h"
#include "demos/llama/architecture.h"
#include "demos/record/ledger.h"
#include "lessons/figure.h"
#include "lessons/wording.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::BoxState;
using llama::Architecture;

namespace {

const Architecture& model(std::string_view id) {
  const Architecture* found = llama::find_architecture(id);
  REQUIRE(found != nullptr);
  return *found;
}

// Each assignment is the figure's or the block's.
lessons::FigureData build_architecture(std::initializer_list<const char*> assignments, lessons::View view = {}) {
  const lessons::Figure* figure = lessons::find_figure("architecture");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema), settings(experiments::find_demo("block")->schema);
  for (const char* each : assignments)
    REQUIRE((params.set_assignment(each).ok() || settings.set_assignment(each).ok()));
  return figure->build({.params = &params, .settings = &settings, .view = view});
}

record::Params settings_of(const record::Recording& run) {
  return record::Params::known_of(experiments::find_demo("block")->schema, run.info().params);
}

// Bytes per token that forward of a 16-bit run keeps for backward, excluding the block's result.
record::Bytes kept_per_token(const record::Recording& run) {
  const record::Params settings = settings_of(run);
  const auto& marks = run.marks();
  const auto backward = std::ranges::find(marks.rbegin(), marks.rend(), record::Phase::kBackward, &record::Mark::phase);
  REQUIRE(backward != marks.rend());
  const record::Totals left = record::Ledger(run).at(backward->event_index - 1);
  return left.by_category[static_cast<std::size_t>(record::Category::kActivations)] /
             (settings.integer("batch") * settings.integer("seq")) -
         2 * settings.integer("hidden_size");
}

// The closed form's bytes, plus a mask byte per number for each of two dropouts.
record::Bytes counted_per_token(const record::Recording& run) {
  const Architecture shape = experiments::block_model(settings_of(run)).value();
  record::Bytes sum = shape.dropout ? 2 * shape.shape.hidden_size : 0;
  for (const llama::Block block : {llama::Block::kNorms, llama::Block::kAttention, llama::Block::kMlp})
    sum += llama::numbers_of(shape, block, 0).kept;
  return sum;
}

std::size_t changed(const lessons::FigureData& figure, std::string_view prefix) {
  return static_cast<std::size_t>(
      std::ranges::count_if(tests::panel_in<lessons::Diagram>(figure).boxes,
                            [&](auto& box) { return box.state == BoxState::kChanged && box.id.starts_with(prefix); }));
}

}  // namespace

TEST_CASE("blocks add up to the published numbers of parameters") {
  CHECK(llama::num_parameters(model("llama-3.2-1b")) == 1'235'814'400);
  CHECK(llama::num_parameters(model("llama-3-8b")) == 8'030'261'248);
  CHECK(llama::num_parameters(model("llama-2-7b")) == 6'738'415'616);
  CHECK(llama::num_parameters(model("gpt2-xl")) == 1'557'611'200);
  for (const char* id : {"llama-3.2-1b", "llama-3-8b"})
    CHECK(llama::num_parameters(model(id)) == llama::num_parameters(*llama::find_config(id)));
}

TEST_CASE("the embedding of Llama 3.2 1B is 21.25 percent of it, and the shares of the page are right") {
  const Architecture& one = model("llama-3.2-1b");
  const auto share = [&](const Architecture& of, llama::Block block) {
    return 100 * static_cast<double>(llama::numbers_of(of, block, 0).parameters) /
           static_cast<double>(llama::num_parameters(of));
  };
  CHECK(llama::numbers_of(one, llama::Block::kEmbedding, 0).parameters == 262'668'288);
  CHECK(share(one, llama::Block::kEmbedding) == Approx(21.25).margin(0.005));
  CHECK(share(one, llama::Block::kMlp) == Approx(65.2).margin(0.05));
  CHECK(share(one, llama::Block::kAttention) == Approx(13.6).margin(0.05));
  const Architecture& eight = model("llama-3-8b");
  CHECK(share(eight, llama::Block::kEmbedding) + share(eight, llama::Block::kHead) == Approx(13.1).margin(0.05));
}

TEST_CASE("forward takes two operations per weight of a product, and the head 21 percent of the 1B's") {
  const Architecture& one = model("llama-3.2-1b");
  double sum = 0;
  for (std::size_t i = 0; i < llama::kNumBlocks; ++i)
    sum += llama::numbers_of(one, static_cast<llama::Block>(i), 0).flops;
  const std::int64_t norms = (2 * one.shape.num_layers + 1) * one.shape.hidden_size;
  CHECK(sum == 2.0 * static_cast<double>(1'235'814'400 - norms));
  CHECK(100 * llama::numbers_of(one, llama::Block::kHead, 0).flops / sum == Approx(21.3).margin(0.05));
  // Scores take 2 H T operations per token and layer.
  CHECK(llama::numbers_of(one, llama::Block::kAttention, 1024).flops -
            llama::numbers_of(one, llama::Block::kAttention, 0).flops ==
        16.0 * 2 * 2048 * 1024);
}

TEST_CASE("an MLP keeps more than attention in each model, and SwiGLU more than GELU") {
  for (const Architecture& each : llama::architectures()) {
    INFO(each.name);
    CHECK(llama::numbers_of(each, llama::Block::kMlp, 1024).kept >
          llama::numbers_of(each, llama::Block::kAttention, 1024).kept);
  }
  CHECK(llama::numbers_of(model("llama-3.2-1b"), llama::Block::kMlp, 0).kept == 16 * 53'248);
  CHECK(llama::numbers_of(model("llama-3.2-1b"), llama::Block::kAttention, 0).kept == 16 * 14'464);
}

TEST_CASE("what changed is marked, and five switches make a Llama of GPT-2") {
  const lessons::FigureData plain = build_architecture({});
  CHECK(changed(plain, "gpt2-xl") == 0);
  CHECK(changed(plain, "llama-2-7b") == 6);    // RoPE, three norms, MLP, a separate head
  CHECK(changed(plain, "llama-3.2-1b") == 6);  // shared keys are new; tied head, as in GPT-2
  const lessons::FigureData all =
      build_architecture({"positions=rope", "norm=rms_norm", "mlp=swiglu", "dropout=off", "num_kv_heads=4"});
  CHECK(changed(all, "gpt2-xl") == 6);
  CHECK(tests::table_of(all).rows[0].name == "GPT-2 XL, changed");
}

TEST_CASE("RoPE is inside attention, dropout after the embedding and in both branches, and neither is elsewhere") {
  const auto box_of = [](const lessons::FigureData& figure, const std::string& id) {
    const auto& boxes = tests::panel_in<lessons::Diagram>(figure).boxes;
    const auto found = std::ranges::find(boxes, id, &lessons::DiagramBox::id);
    return found == boxes.end() ? std::optional<lessons::DiagramBox>() : *found;
  };
  const auto inside = [](const lessons::DiagramBox& inner, const lessons::DiagramBox& outer) {
    return inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width && inner.y >= outer.y &&
           inner.y + inner.height <= outer.y + outer.height;
  };
  const lessons::FigureData plain = build_architecture({});
  for (const std::string id : {"llama-2-7b", "llama-3-8b", "llama-3.2-1b"}) {
    INFO(id);
    CHECK(inside(box_of(plain, id + ".positions").value(), box_of(plain, id + ".attention").value()));
    CHECK_FALSE(box_of(plain, id + ".dropout1"));
  }
  const lessons::DiagramBox embedding = box_of(plain, "gpt2-xl.embedding").value();
  const lessons::DiagramBox attention = box_of(plain, "gpt2-xl.attention").value();
  const lessons::DiagramBox positions = box_of(plain, "gpt2-xl.positions").value();
  CHECK(positions.y > embedding.y);
  CHECK(positions.y < box_of(plain, "gpt2-xl.norms1").value().y);
  CHECK(box_of(plain, "gpt2-xl.dropout1").value().y > embedding.y);
  CHECK(box_of(plain, "gpt2-xl.dropout1").value().y < attention.y);
  CHECK(inside(box_of(plain, "gpt2-xl.dropout2").value(), attention));
  CHECK(inside(box_of(plain, "gpt2-xl.dropout3").value(), box_of(plain, "gpt2-xl.mlp").value()));
  CHECK(inside(box_of(build_architecture({"positions=rope"}), "gpt2-xl.positions").value(), attention));
  CHECK_FALSE(box_of(build_architecture({"dropout=off"}), "gpt2-xl.dropout1"));
}

TEST_CASE("the residual stream runs past the layer from the embedding to the final norm, and blocks add to it") {
  const lessons::FigureData figure = build_architecture({"positions=rope", "dropout=off"});
  const lessons::Diagram& diagram = tests::panel_in<lessons::Diagram>(figure);
  const auto sums = [](const lessons::FigureData& each, std::string_view model) {
    return std::ranges::count(tests::panel_in<lessons::Diagram>(each).boxes, std::string(model) + ".sum",
                              &lessons::DiagramBox::id);
  };
  for (const std::string model : {"gpt2-xl", "llama-2-7b", "llama-3-8b", "llama-3.2-1b"}) {
    INFO(model);
    CHECK(sums(figure, model) == 2);
    const auto box = [&](const char* part) {
      return *std::ranges::find(diagram.boxes, model + "." + part, &lessons::DiagramBox::id);
    };
    std::vector<lessons::DiagramArrow> stream;
    for (const lessons::DiagramArrow& arrow : diagram.arrows)
      if (arrow.active && diagram.boxes[arrow.from].id.starts_with(model + ".")) stream.push_back(arrow);
    REQUIRE(stream.size() == 3);
    CHECK(diagram.boxes[stream.front().from].y == Approx(box("embedding").y + box("embedding").height));
    CHECK(diagram.boxes[stream.back().to].y == Approx(box("final_norm").y));
    for (std::size_t i = 0; i < stream.size(); ++i) {
      if (i > 0) CHECK(stream[i].from == stream[i - 1].to);
      CHECK(diagram.boxes[stream[i].to].x + diagram.boxes[stream[i].to].width < box("attention").x);
    }
  }
  CHECK(sums(build_architecture({"dropout=off"}), "gpt2-xl") == 3);  // plus the learned positions
}

TEST_CASE("the table has the chosen block of each model, and nothing while it is asked about") {
  const lessons::FigureData all = build_architecture({"block=all"});
  const lessons::Table& table = tests::table_of(all);
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0].cells[1] == "1,557,611,200");
  CHECK(table.rows[3].cells[1] == "1,235,814,400");
  CHECK(tests::table_of(build_architecture({"block=embedding"})).rows[3].cells[2] == "21.25 %");
  const lessons::FigureData hidden = build_architecture({}, {.hidden = true});
  CHECK(lessons::panel_of<lessons::Table>(hidden) == nullptr);
  for (const lessons::DiagramBox& box : tests::panel_in<lessons::Diagram>(hidden).boxes) CHECK_FALSE(box.value);
}

TEST_CASE("the stored blocks keep what the page says of them, counted and measured") {
  const record::Recording gpt2 = tests::stored("block_cpu"), llama = tests::stored("block_llama_cpu");
  CHECK(counted_per_token(gpt2) == 34'880);
  CHECK(kept_per_token(gpt2) == 34'888);
  CHECK(counted_per_token(llama) == 37'952);
  CHECK(kept_per_token(llama) == 54'344);
  // Beyond the count, each of two RMSNorms keeps 4 H bytes and a number per row; SwiGLU keeps silu(gate), 4 H numbers.
  CHECK(kept_per_token(llama) - counted_per_token(llama) == (2 * 4 + 2 * 4) * 1024 + 2 * 4);
}

TEST_CASE("what a block's run computed is named in its line") {
  const record::Recording gpt2 = tests::stored("block_cpu"), llama = tests::stored("block_llama_cpu");
  CHECK(lessons::settings_line(gpt2.info()) ==
        "batch 4, 1,024 tokens, learned positions, LayerNorm, GELU, dropout, storage bf16");
  CHECK(lessons::settings_line(llama.info()) ==
        "batch 4, 1,024 tokens, RoPE, RMSNorm, SwiGLU, key/value heads 4, storage bf16");
}

TEST_CASE("the figure counts for the batch and sequence of its page's settings, else of its run") {
  const lessons::Figure* figure = lessons::find_figure("architecture");
  record::Params settings(experiments::find_demo("block")->schema);
  REQUIRE(settings.set("batch", "3").ok());
  REQUIRE(settings.set("seq", "100").ok());
  CHECK_THAT(tests::table_of(figure->build({.settings = &settings})).foot, ContainsSubstring("300 tokens"));
  record::Recording run = tests::stored("block_cpu");
  record::RunInfo info = run.info();
  info.params["batch"] = "2";
  run.set_info(info);
  const record::Ledger ledger(run);
  CHECK_THAT(tests::table_of(figure->build({.run = &ledger})).foot, ContainsSubstring("2,048 tokens"));
  CHECK_THAT(tests::table_of(figure->build({})).foot, ContainsSubstring("4,096 tokens"));
}
