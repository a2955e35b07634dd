// Checkpointing frame by frame: five forward and five backward nodes, with f2 kept.
#include <string>

#include "demos/experiments/demo.h"
#include "lessons/figure.h"
#include "lessons/theory/schedule.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

std::string alive_in(const ScheduleFrame& frame) {
  std::string alive;
  const auto add = [&](char letter, std::size_t number, NodeState state) {
    if (state != NodeState::kAlive && state != NodeState::kRecomputed) return;
    alive += (alive.empty() ? "" : " ") + std::string(1, letter) + std::to_string(number);
  };
  for (std::size_t i = 0; i < frame.forward.size(); ++i) add('f', i, frame.forward[i]);
  for (std::size_t i = frame.backward.size(); i > 0; --i) add('b', i, frame.backward[i - 1]);
  return alive;
}

std::vector<bool> kept(std::size_t nodes, std::initializer_list<std::size_t> checkpoints) {
  std::vector<bool> all(nodes, false);
  for (const std::size_t node : checkpoints) all[node] = true;
  return all;
}

FigureData built_schedule(std::initializer_list<const char*> settings, View view = {}) {
  const Figure* figure = find_figure("checkpoint_schedule");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.params = &params, .view = view});
}

}  // namespace

TEST_CASE("five nodes with one checkpoint go through the 18 states of the example") {
  const auto frames = checkpoint_frames(5, kept(5, {0, 2}));
  const std::vector<std::string> states{"f0",          "f0 f1",          "f0 f1 f2",    "f0 f2",          "f0 f2 f3",
                                        "f0 f2 f3 f4", "f0 f2 f4",       "f0 f2 f4 b5", "f0 f2 f4 b5 b4", "f0 f2 b4",
                                        "f0 f2 f3 b4", "f0 f2 f3 b4 b3", "f0 f2 b3",    "f0 f2 b3 b2",    "f0 b2",
                                        "f0 f1 b2",    "f0 f1 b2 b1",    "b1"};
  REQUIRE(frames.size() == states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    INFO("step " << i + 1);
    CHECK(alive_in(frames[i]) == states[i]);
  }
  CHECK(most_alive(frames) == 5);
  CHECK(frames.back().evaluations == 6);
  CHECK(frames[10].forward[3] == NodeState::kRecomputed);
}

TEST_CASE("with every node kept seven are in memory and nothing is computed again") {
  const auto frames = checkpoint_frames(5, std::vector(5, true));
  CHECK(most_alive(frames) == 7);
  CHECK(frames.back().evaluations == 4);
}

TEST_CASE("a segment is computed again at once, and its nodes stay until backward has used them") {
  const auto frames = checkpoint_frames(5, kept(5, {0}));
  CHECK(frames.back().evaluations == 4 + 3);
  CHECK(most_alive(frames) == 6);  // f0 f1 f2 f3 b4 b3
  for (std::size_t nodes = 2; nodes <= 32; ++nodes)
    CHECK(alive_in(checkpoint_frames(nodes, kept(nodes, {0})).back()) == "b1");
}

TEST_CASE("the figure shows the frame that is asked for, and a click on a node makes it a checkpoint") {
  const FigureData figure = built_schedule({"frame=12"});
  CHECK(figure.head.frames == 18);
  const Diagram& diagram = tests::panel_in<Diagram>(figure);
  REQUIRE(diagram.boxes.size() == 10);
  CHECK(diagram.title == "Step 12: b3 is computed from f3 and b4");
  CHECK(diagram.boxes[3].state == BoxState::kRecomputed);
  CHECK(diagram.boxes[1].state == BoxState::kFreed);
  CHECK(diagram.boxes[5].state == BoxState::kNotYet);  // b1
  CHECK(diagram.boxes[2].marked);
  REQUIRE(diagram.boxes[3].action);
  const std::string click = diagram.boxes[3].action->key + "=" + diagram.boxes[3].action->value;
  CHECK(tests::panel_in<Diagram>(built_schedule({click.c_str()})).boxes[3].marked);
  CHECK(built_schedule({click.c_str(), "frame=99"}).head.frames == 16);
  const Table& counts = tests::table_of(figure);
  CHECK(counts.rows[0].cells == std::vector<std::string>{"5", "5", "7"});
  CHECK(counts.rows[1].cells == std::vector<std::string>{"5", "6", "4"});
  CHECK(built_schedule({}, {.hidden = true}).head.frames == 8);  // up to the loss gradient
}

TEST_CASE("over k the memory follows n / k + k") {
  const FigureData figure = built_schedule({"nodes=16"});
  const auto charts = tests::charts_of(figure);
  REQUIRE(charts.size() == 2);
  REQUIRE(charts[0]->series[0].points.size() == 16);
  for (const std::size_t k : {4, 8, 16}) {
    INFO("k = " << k);
    CHECK(charts[0]->series[0].points[k - 1].y == charts[0]->references[0].y[k - 1]);
  }
  CHECK(charts[0]->series[0].points[3].y == 8);   // 4 kept, 2 recomputed, 2 gradients
  CHECK(charts[1]->series[0].points[0].y == 15);  // no recompute
  CHECK(charts[1]->series[0].points[3].y == 26);  // plus the 12 nodes that are not kept, except the last
}

TEST_CASE("the loss by chunks holds dX, dW and one chunk's logits, with the settings' shape and chunks") {
  const Figure* figure = find_figure("flce_chunks");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema), settings(experiments::training_step().schema);
  REQUIRE(params.set_assignment("frame=12").ok());
  const auto set = [&](std::initializer_list<const char*> assignments) {
    for (const char* setting : assignments) REQUIRE(settings.set_assignment(setting).ok());
  };
  const auto build = [&] { return figure->build({.params = &params, .settings = &settings}); };
  const auto value_of = [](const FigureData& data, const std::string& id) {
    for (const DiagramBox& box : tests::panel_in<Diagram>(data).boxes)
      if (box.id == id) return *box.value;
    return -1.0;
  };
  set({"model=llama-3.2-1b", "batch=8", "seq=1024", "precision=bf16", "loss=flce", "loss_mode=report"});
  FigureData data = build();
  CHECK(data.head.frames == 32);  // ⌈8,192 / 256⌉
  CHECK(tests::panel_in<Diagram>(data).title == "Chunk 12 of 32: 256 tokens");
  CHECK(value_of(data, "dW") == 525'336'576);
  CHECK(value_of(data, "dX") == 33'554'432);
  CHECK(value_of(data, "Z") == 65'667'072);
  CHECK(tests::table_of(data).rows.back().tip == "Together: 624,558,080 B");
  set({"batch=96"});
  CHECK(build().head.frames == 48);
  set({"loss_mode=chunked", "weight_gradient=fp32"});
  data = build();
  CHECK(data.head.frames == 48);  // 98,304 / 2,048
  CHECK(value_of(data, "dW") == 2 * 525'336'576);
  set({"loss_mode=lean", "loss_chunk=16032", "weight_gradient=model", "batch=8"});
  data = build();
  CHECK(tests::panel_in<Diagram>(data).title == "Slice 8 of 8: 16,032 columns");
  CHECK(value_of(data, "dX") == 2 * 33'554'432);  // in fp32
  CHECK(value_of(data, "Z") == 2.0 * 8192 * 16'032);
}
