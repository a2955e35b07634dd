// Models block by block: parameters against the published counts, and the figure's columns.
#include <algorithm>
#include <string>

#include "demos/llama/architecture.h"
#include "demos/predict/step_bytes.h"
#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using llama::Architecture;
using llama::Block;
using lessons::BoxState;

namespace {

const Architecture& model(std::string_view id) {
  const Architecture* found = llama::find_architecture(id);
  REQUIRE(found != nullptr);
  return *found;
}

lessons::FigureData build(std::initializer_list<const char*> settings, lessons::View view = {}) {
  const lessons::Figure* figure = lessons::find_figure("architecture");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* each : settings) REQUIRE(params.set_assignment(each).ok());
  return figure->build({.params = &params, .view = view});
}

std::size_t changed(const lessons::FigureData& figure, std::string_view prefix) {
  return static_cast<std::size_t>(std::ranges::count_if(tests::panel_in<lessons::Diagram>(figure).boxes, [&](auto& box) {
    return box.state == BoxState::kChanged && box.id.starts_with(prefix);
  }));
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
  const auto share = [&](const Architecture& of, Block block) {
    return 100 * static_cast<double>(llama::numbers_of(of, block, 0).parameters) /
           static_cast<double>(llama::num_parameters(of));
  };
  CHECK(llama::numbers_of(one, Block::kEmbedding, 0).parameters == 262'668'288);
  CHECK(share(one, Block::kEmbedding) == Approx(21.25).margin(0.005));
  CHECK(share(one, Block::kMlp) == Approx(65.2).margin(0.05));
  CHECK(share(one, Block::kAttention) == Approx(13.6).margin(0.05));
  const Architecture& eight = model("llama-3-8b");
  CHECK(share(eight, Block::kEmbedding) + share(eight, Block::kHead) == Approx(13.1).margin(0.05));
}

TEST_CASE("forward takes two operations per weight of a product, and the head 21 percent of the 1B's") {
  const Architecture& one = model("llama-3.2-1b");
  double sum = 0;
  for (std::size_t i = 0; i < llama::kNumBlocks; ++i) sum += llama::numbers_of(one, static_cast<Block>(i), 0).flops;
  const std::int64_t norms = (2 * one.shape.num_layers + 1) * one.shape.hidden_size;
  CHECK(sum == 2.0 * static_cast<double>(1'235'814'400 - norms));
  CHECK(100 * llama::numbers_of(one, Block::kHead, 0).flops / sum == Approx(21.3).margin(0.05));
  // Between positions: 2 H T in each layer.
  CHECK(llama::numbers_of(one, Block::kAttention, 1024).flops - llama::numbers_of(one, Block::kAttention, 0).flops ==
        16.0 * 2 * 2048 * 1024);
}

TEST_CASE("an MLP keeps more than attention in each model, and SwiGLU more than GELU") {
  for (const Architecture& each : llama::architectures()) {
    INFO(each.name);
    CHECK(llama::numbers_of(each, Block::kMlp, 1024).kept > llama::numbers_of(each, Block::kAttention, 1024).kept);
  }
  CHECK(llama::numbers_of(model("llama-3.2-1b"), Block::kMlp, 0).kept == 16 * 2 * (2048 + 3 * 8192));
}

TEST_CASE("what changed is marked, and five switches make a Llama of GPT-2") {
  const lessons::FigureData plain = build({});
  CHECK(changed(plain, "gpt2-xl") == 0);
  CHECK(changed(plain, "llama-2-7b") == 7);  // positions, three norms, MLP, dropout; a separate head
  CHECK(changed(plain, "llama-3.2-1b") == 7);  // with shared keys; the head is tied, as in GPT-2
  const lessons::FigureData all = build({"rope=on", "rms_norm=on", "swiglu=on", "no_dropout=on", "grouped=on"});
  CHECK(changed(all, "gpt2-xl") == 7);
  CHECK(tests::table_of(all).rows[0].name == "GPT-2 XL, changed");
}

TEST_CASE("the table has the chosen block of each model, and nothing while it is asked about") {
  const lessons::Table& table = tests::table_of(build({"block=all"}));
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0].cells[1] == "1,557,611,200");
  CHECK(table.rows[3].cells[1] == "1,235,814,400");
  CHECK(tests::table_of(build({})).rows[3].cells[2] == "21.25 %");
  const lessons::FigureData hidden = build({}, {.hidden = true});
  CHECK(lessons::panel_of<lessons::Table>(hidden) == nullptr);
  for (const lessons::DiagramBox& box : tests::panel_in<lessons::Diagram>(hidden).boxes) CHECK_FALSE(box.value);
}
