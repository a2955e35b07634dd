// Tasks of pages: contents, places of errors, and reached goals.
#include "lessons/pages/blocks/task.h"
#include "demos/experiments/demo.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

const std::string kPage =
    "---\ntitle: Four ways\nclaim: Chunks remove the logits.\ndemo: train_step\nfigures: memory_timeline\n---\n"
    "Words.\n\n<!--more-->\n\n### **Your turn**\n\n";

struct TaskReading {
  Page page;
  Problems problems;
};

TaskReading read_task(const std::string& text) {
  static const Glossary glossary;
  static const References references;
  static const CommandCheck any;
  TaskReading reading;
  const Document document = parse_document(text, "p.md", reading.problems);
  reading.page = read_page(document, {glossary, references, any}, reading.problems);
  return reading;
}

std::string task_with(const std::string& goal, const std::string& more = "done: It fits.\n") {
  return "```task\ngoal: " + goal + "\n" + more + "\nMake it *fit*:\nall of it.\n```\n";
}

std::string task_problem(const std::string& task, const std::string& page = kPage) {
  const Problems problems = read_task(page + task).problems;
  if (problems.size() != 1) {
    for (const Problem& problem : problems) UNSCOPED_INFO(problem.text());
    FAIL("problems: " << problems.size());
  }
  return problems[0].text();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

record::Params settings(std::initializer_list<const char*> assignments) {
  record::Params params(experiments::training_step().schema);
  for (const char* each : assignments) REQUIRE(params.set_assignment(each));
  return params;
}

}  // namespace

TEST_CASE("a task has a goal, what is said once it is reached, and words", "[pages]") {
  const TaskReading reading =
      read_task(kPage + task_with("model=tiny,custom batch>=8 seq<=512 peak<=1.5GiB fits=rtx_4090 largest=batch",
                                  "done: It takes {peak.bytes}.\n"));
  for (const Problem& problem : reading.problems) FAIL_CHECK(problem.text());
  const TaskBlock* const task = task_of(reading.page);
  REQUIRE(task != nullptr);
  CHECK(task->words == "Make it *fit*:\nall of it.");
  CHECK(task->done == "It takes {peak.bytes}.");
  REQUIRE(task->goal.settings.size() == 3);
  CHECK(task->goal.settings[0].values == std::vector<std::string>{"tiny", "custom"});
  CHECK(task->goal.settings[1].is == TaskSetting::Is::kAtLeast);
  CHECK(task->goal.settings[2].is == TaskSetting::Is::kAtMost);
  CHECK(task->goal.peak == 3 * record::kGiB / 2);
  REQUIRE(task->goal.fits);
  CHECK(task->goal.fits->name == "GeForce RTX 4090");
  CHECK(task->goal.fits->process.bytes > 0);
  CHECK(task->goal.largest == "batch");
  CHECK(markdown_of(reading.page.more).ends_with(task->words));
  const Page by_size = read_task(kPage + task_with("fits=24GiB")).page;
  REQUIRE(task_of(by_size)->goal.fits);
  CHECK(task_of(by_size)->goal.fits->memory == 24 * record::kGiB);
  CHECK(task_of(by_size)->goal.fits->process.bytes == 0);  // a size is the allocator's limit
}

TEST_CASE("what a task gets wrong is named with file and line", "[pages]") {
  CHECK(task_problem(task_with("fits=24GiB", "")) == "p.md:16: The task lacks a line \"done: …\".");
  CHECK(task_problem(task_with("fits=24GiB", "done: Yes.\nreply: No.\n")) ==
        "p.md:16: The task has no key \"reply\": the nearest is goal.");
  CHECK(task_problem(task_with("bach>=8")) == "p.md:14: There is no condition \"bach\": the nearest is batch.");
  CHECK(task_problem(task_with("model>=tiny")) ==
        "p.md:14: A goal is KEY=VALUE or, for numbers, KEY>=VALUE or KEY<=VALUE, not model>=tiny.");
  CHECK(task_problem(task_with("fits=rtx_9999")).starts_with("p.md:14: There is no card \"rtx_9999\""));
  CHECK(task_problem(task_with("largest=batch")) == "p.md:14: largest=batch needs a card: fits=24GiB.");
  CHECK(task_problem(task_with("fits=24GiB largest=model")) ==
        "p.md:14: largest=… takes a whole-number setting, such as batch, not model.");
  CHECK(task_problem(task_with("batch=0")).starts_with("p.md:14: "));
  CHECK(task_problem(task_with("peak<=much")).starts_with("p.md:14: "));
  CHECK(task_problem(task_with("fits=24GiB", "done: [So](term:logit).\n")).starts_with("p.md:15: There is no term"));
  CHECK(task_problem("```task\ngoal: fits=24GiB\ndone: Yes.\n```\n") == "p.md:14: The task has no text.");
  CHECK(task_problem(task_with("fits=24GiB") + task_with("fits=8GiB")) == "p.md:24: A page has one task.");
  CHECK(task_problem(task_with("fits=24GiB"), replaced(kPage, "<!--more-->", "")) ==
        "p.md:17: A task must come after <!--more-->: until then the question is open.");
  CHECK(task_problem(task_with("fits=24GiB"),
                     replaced(replaced(kPage, "train_step", "bench"), "memory_timeline", "bench_times")) ==
        "p.md:17: A task needs a page whose demo or schema is a training step.");
}

TEST_CASE("a setting is one of some values, or on one side of a number", "[pages]") {
  const TaskSetting one{.key = "adapters", .is = TaskSetting::Is::kOneOf, .values = {"lora", "qlora"}};
  CHECK_FALSE(holds(one, settings({})));
  CHECK(holds(one, settings({"adapters=qlora"})));
  const TaskSetting least{.key = "batch", .is = TaskSetting::Is::kAtLeast, .values = {"8"}};
  CHECK_FALSE(holds(least, settings({"batch=7"})));
  CHECK(holds(least, settings({"batch=8"})));
  const TaskSetting most{.key = "seq", .is = TaskSetting::Is::kAtMost, .values = {"2048"}};
  CHECK(holds(most, settings({"seq=2048"})));
  CHECK_FALSE(holds(most, settings({"seq=2049"})));
  CHECK_FALSE(holds({.key = "no_key", .values = {"1"}}, settings({})));

  const record::Schema schema = experiments::training_step().schema;
  CHECK(words_of(one, schema) == "Adapters: LoRA or QLoRA, 4-bit weights");
  CHECK(words_of(least, schema) == "Batch: at least 8");
  CHECK(words_of(most, schema) == "Sequence: at most 2,048");
}
