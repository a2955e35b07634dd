// A page's final format: goal, minutes, notes, scopes, the second question and its limits.
#include <set>
#include <string>
#include <utility>

#include "demos/experiments/demo.h"
#include "lessons/pages/blocks/text.h"
#include "lessons/pages/page_lint.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

const std::string kFront =
    "---\ntitle: Sixteen\nclaim: Training takes sixteen bytes.\ngoal: Say what a model takes.\nminutes: 6\n"
    "schema: shape\nfigures: static_bytes\nwidgets: calculator\n---\n";  // nine lines
const std::string kWords = "Words of the page.\n\n";
const std::string kQuestion =
    "```question\nkind: order\nmisconception: m\nreply: No.\n\nSort.\n\n1. a\n2. b\n3. c\n```\n"
    "```because\nSo.\n```\n<!--more-->\n\n### **One**\n\nMore words.\n\n";  // lines 12 to 31
const std::string kSecond =
    "```second_question\ndraw: model=llama-3.2-1b,llama-3-8b precision=fp32,bf16,bf16_mixed\nanswer: model_state\n"
    "tolerance: 5%\nbecause: It has {model.parameters}.\n\n{model} in {precision}: how much?\n```\n";

struct FormatReading {
  Page page;
  Problems problems;
};

FormatReading read_format(const std::string& text) {
  static const Glossary glossary;
  static const References references;
  static const CommandCheck any;
  FormatReading reading;
  const Document document = parse_document(text, "p.md", reading.problems);
  reading.page = read_page(document, {glossary, references, any}, reading.problems);
  reading.page.id = "p";
  return reading;
}

Page page_of(const std::string& text) {
  FormatReading reading = read_format(text);
  for (const Problem& problem : reading.problems) FAIL_CHECK(problem.text());
  return std::move(reading.page);
}

std::string problem_in(const std::string& text) {
  const Problems problems = read_format(text).problems;
  if (problems.size() != 1) {
    for (const Problem& problem : problems) UNSCOPED_INFO(problem.text());
    FAIL("problems: " << problems.size());
  }
  return problems[0].text();
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

std::string repeated(const std::string& words, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += words;
  return text;
}

record::Params settings_with(const char* model, const char* precision) {
  record::Params settings(experiments::training_step().schema);
  REQUIRE(settings.set("model", std::string_view(model)));
  REQUIRE(settings.set("precision", std::string_view(precision)));
  return settings;
}

}  // namespace

TEST_CASE("a figure's parameter with the name of a setting in use is a problem", "[pages]") {
  const auto problems_with = [](const char* figures) {
    return read_format(changed(kFront + kWords + kQuestion + kSecond, "figures: static_bytes", figures)).problems;
  };
  CHECK(problems_with("figures: static_bytes").empty());
  CHECK(problems_with("figures: zero_bars").empty());  // no figure shows the settings
  const Problems problems = problems_with("figures: zero_bars formula_table");
  REQUIRE(problems.size() == 4);  // precision, optimizer, GPUs, micro-batches
  CHECK(problems[0].text() ==
        "p.md:7: The parameter \"Precision\" (precision) of zero_bars has the name of the setting \"Precision\" "
        "(precision): let the figure follow the setting, or rename the parameter.");
}

TEST_CASE("a page says its goal, its minutes, and what a presenter needs", "[pages]") {
  const Page page = page_of(kFront + kWords + "```notes\nAsk **twice**.\n```\n");
  CHECK(page.lesson.goal == "Say what a model takes.");
  CHECK(page.lesson.minutes == 6);
  CHECK(page.lesson.notes == "Ask **twice**.");
  CHECK(problem_in(changed(kFront, "minutes: 6\n", "") + kWords) ==
        "p.md:4: A page with a goal has a line \"minutes: …\".");
  CHECK(problem_in(changed(kFront, "goal: Say what a model takes.\n", "") + kWords) ==
        "p.md:4: A page with minutes has a line \"goal: …\".");
  CHECK(problem_in(changed(kFront, "minutes: 6", "minutes: six") + kWords) == "p.md:5: minutes takes a whole number.");
  CHECK(problem_in(changed(kFront, "minutes: 6", "minutes: 90") + kWords) == "p.md:5: A page takes 1 to 60 minutes.");
  CHECK(problem_in(kFront + kWords + "```notes\n```\n") == "p.md:12: The notes have no text.");
}

TEST_CASE("a block says which settings it is about", "[pages]") {
  const auto scoped = [](const std::string& scope) {
    return kFront + kWords + "```text\nscope:" + scope + "\n\nIt is flat.\n```\n";
  };
  const Page page = page_of(scoped(" model=llama-3.2-1b precision=bf16") + "After.\n");
  REQUIRE(page.front.size() == 3);
  CHECK(page.front[0].scope.empty());
  CHECK(page.front[1].scope == std::vector<Setting>{{"model", "llama-3.2-1b"}, {"precision", "bf16"}});
  CHECK(page.front[1].words() == "It is flat.");
  CHECK(page.front[2].scope.empty());
  const Page more = page_of(kFront + kWords + kQuestion + "```text\nscope: batch=4\n\nIt is flat.\n```\n");
  CHECK(more.more.back().blocks.back().scope == std::vector<Setting>{{"batch", "4"}});

  CHECK(problem_in(scoped("")) ==
        "p.md:13: A scope names settings, as in \"scope: model=llama-3.2-1b precision=bf16\".");
  CHECK(problem_in(scoped(" modl=llama-3.2-1b")).starts_with("p.md:13: "));
  CHECK(problem_in(scoped(" model=llama-4")).starts_with("p.md:13: "));
  CHECK(problem_in(scoped(" optimizer=galore adapters=lora")).starts_with("p.md:13: "));
}

TEST_CASE("a second question draws each combination once before one comes again", "[pages]") {
  const Page page = page_of(kFront + kWords + kQuestion + kSecond);
  REQUIRE(page.lesson.second);
  CHECK(page.lesson.second->tolerance == Approx(0.05));
  CHECK(page.lesson.second->answer == find_answer("model_state"));
  std::set<std::string> drawn;
  for (int attempt = 0; attempt < 6; ++attempt) {
    const record::Params settings = settings_of_attempt(page, attempt);
    drawn.insert(settings.text("model") + " " + settings.text("precision"));
    CHECK(settings == settings_of_attempt(page, attempt + 6));
    CHECK(settings == settings_of_attempt(page, attempt));
  }
  CHECK(drawn.size() == 6);
  Page other = page;
  other.id = "q";
  int different = 0;
  for (int attempt = 0; attempt < 6; ++attempt)
    different += settings_of_attempt(page, attempt) == settings_of_attempt(other, attempt) ? 0 : 1;
  CHECK(different > 0);
  // The order is the same on every machine and in every version.
  CHECK(settings_of_attempt(page, 0).text("model") == "llama-3.2-1b");
  CHECK(settings_of_attempt(page, 0).text("precision") == "bf16_mixed");
}

TEST_CASE("the key of a second question is a formula of the drawn settings", "[pages]") {
  SecondQuestion state, peak;
  state.answer = find_answer("model_state");
  peak.answer = find_answer("peak_of_step");
  constexpr double kWeights = 1'235'814'400;
  CHECK(key_of(state, settings_with("llama-3.2-1b", "bf16_mixed")) == 16 * kWeights);
  CHECK(key_of(state, settings_with("llama-3.2-1b", "fp32")) == 16 * kWeights);
  CHECK(key_of(state, settings_with("llama-3.2-1b", "bf16")) == 8 * kWeights);
  // Four ranks: (4 + 12/4) P, (2 + 14/4) P and 16/4 P, and whole norms, 33 of 2,048.
  constexpr double kNorms = 33.0 * 2'048, kCut = kWeights - kNorms;
  for (const auto& [zero, of_cut] : {std::pair{"off", 16.0}, {"1", 7.0}, {"2", 5.5}, {"3", 4.0}}) {
    record::Params rank = settings_with("llama-3.2-1b", "bf16_mixed");
    REQUIRE(rank.set("ranks", std::string_view("4")));
    REQUIRE(rank.set("zero", std::string_view(zero)));
    CHECK(key_of(state, rank) == of_cut * kCut + 16 * kNorms);
  }
  record::Params adapters = settings_with("llama-3.2-1b", "bf16");
  REQUIRE(adapters.set("adapters", std::string_view("lora")));
  CHECK(key_of(state, adapters) < 0);
  // 4 sequences of 1,024 in pure bf16: 20.9 GB, as in demos/predict/forms/closed_form.h.
  record::Params step = settings_with("llama-3.2-1b", "bf16");
  REQUIRE(step.set("batch", std::string_view("4")));
  REQUIRE(step.set("seq", std::string_view("1024")));
  CHECK(key_of(peak, step) == Approx(20.9e9).epsilon(0.01));

  SecondQuestion sent;
  sent.answer = find_answer("sent_per_step");
  CHECK(key_of(sent, step) < 0);  // one rank
  REQUIRE(step.set("ranks", std::string_view("4")));
  for (const auto& [zero, gathers_and_sums] : {std::pair{"off", 2}, {"1", 2}, {"2", 2}, {"3", 3}}) {
    REQUIRE(step.set("zero", std::string_view(zero)));
    CHECK(key_of(sent, step) == Approx(gathers_and_sums * 2 * kWeights * 3 / 4).epsilon(0.001));
  }

  const Page page = page_of(kFront + kWords + kQuestion + kSecond);
  const record::Params settings = settings_with("llama-3-8b", "bf16_mixed");
  CHECK(with_drawn(page.lesson.second->ask, *page.lesson.second, settings) ==
        "Llama 3 8B in bf16, fp32 masters: how much?");
  CHECK(with_drawn(page.lesson.second->because, *page.lesson.second, settings) == "It has 8,030,261,248.");
}

TEST_CASE("what a second question gets wrong is named with file and line", "[pages]") {
  const auto problem = [](const std::string& from, const std::string& to) {
    return problem_in(kFront + kWords + kQuestion + changed(kSecond, from, to));
  };
  const int fence = 32;
  const auto at = [&](int line) { return "p.md:" + std::to_string(fence + line) + ": "; };
  CHECK(problem("answer: model_state", "answer: model_stat") ==
        at(2) + "There is no answer by formula \"model_stat\": the nearest is model_state.");
  CHECK(problem("answer: model_state", "answer: host_link").starts_with(at(2)));  // measured only
  CHECK(problem("tolerance: 5%", "tolerance: 5") == at(3) + "A tolerance is a percentage up to 25: \"tolerance: 5%\".");
  CHECK(problem("precision=fp32,bf16,bf16_mixed", "precison=fp32,bf16").starts_with(at(1)));
  CHECK(problem("llama-3.2-1b,llama-3-8b precision=fp32,bf16,bf16_mixed", "llama-3.2-1b precision=fp32,bf16") ==
        at(1) + "There are 2 combinations to draw, but there must be 3 to 500.");
  CHECK(problem("precision=fp32,bf16,bf16_mixed", "precision=bf16,fp32 adapters=off,lora") ==
        at(1) + "The draw model=llama-3.2-1b precision=bf16 adapters=lora has no answer model_state.");
  CHECK(problem("{precision}", "{optimizer}") == at(6) + "The words name {optimizer}, which is not drawn.");
  CHECK(problem("how much", "how [much](term:x)").ends_with("A question's own words cannot have links."));
  CHECK(problem_in(kFront + kWords + kSecond) == "p.md:18: A second question comes after the first.");
  CHECK(problem_in(kFront + kWords + kQuestion + kSecond + kSecond).ends_with("A page has one second question."));
}

TEST_CASE("a page in the final format is short, and says so with file and line", "[pages]") {
  const auto with_more = [](const std::string& more) { return kFront + kWords + "<!--more-->\n" + more; };
  CHECK(problem_in(kFront + repeated("word ", 91) + "\n") ==
        "p.md:10: First words and question have 91 words; the limit is 90.");
  CHECK(problem_in(with_more("### **One**\n" + repeated("word ", 250))) ==
        "p.md:12: Read more has 251 words; the limit is 250.");
  CHECK(problem_in(with_more(repeated("### **One**\n\nwords\n\n", 4))) ==
        "p.md:12: Read more has 4 steps; the limit is 3.");
  CHECK(problem_in(kFront + repeated("12 GiB, ", 11) + "\n")
            .starts_with("p.md:10: First words and Read more have 11 numbers; the limit is 10"));
  CHECK(problem_in(changed(kFront, "Training takes sixteen bytes.", "Sixteen bytes per parameter.") + kWords) ==
        "p.md:3: The claim has none of the verbs that page_lint.cpp lists.");
  CHECK(problem_in(changed(kFront, "Training takes sixteen bytes.", "Weights take {weights.bytes}.") + kWords) ==
        "p.md:3: The number weights.bytes is live: a title, claim or goal can use stored ones only.");
  const std::string old = changed(changed(kFront, "goal: Say what a model takes.\n", ""), "minutes: 6\n", "");
  CHECK(read_format(old + repeated("12 word ", 91) + "\n").problems.empty());

  CHECK(count_numbers("Llama 3.2 1B takes 2 + 2 and 1,024 in fp32 on an H200, with $16 P$ and {weights.bytes}.") == 3);
  CHECK(count_numbers("8-bit AdamW of [a step](set:batch=8) takes ≈5.5 GB, or 1.5·10⁹.") == 2);
  for (const Page* each : tests::course().pages()) {
    INFO(each->id << ": " << each->lesson.claim);
    CHECK(has_verb(each->lesson.claim));
  }
  CHECK_FALSE(has_verb("Sixteen bytes per parameter"));
}
