// A page's document: contents, and the places of errors.
#include <filesystem>
#include <fstream>

#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "lessons/pages/blocks/figure.h"
#include "lessons/pages/blocks/table.h"
#include "lessons/pages/blocks/text.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/made_recording.h"
#include "tests/support/temporary_folder.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

const std::string kTestFront =
    "---\n"
    "title: Four ways\n"
    "claim: Chunks remove the logits.\n"
    "demo: train_step\n"
    "settings: batch=4\n"
    "switches: loss batch\n"
    "figures: memory_timeline formula_table\n"
    "shows: tiny_cpu\n"
    "recordings: tiny_cpu other\n"
    "widgets: settings\n"
    "---\n";
const std::string kTestWords = "The [logits](term:logits) of a step.\n";

struct Reading {
  Page page;
  Problems problems;
};

Reading read(const std::string& text) {
  static const Glossary glossary{{"logits", {"Logits", "Scores."}}};
  static const References references{{"chen2016", {"T. Chen", "Sublinear memory", "2016", "arXiv", ""}}};
  static const CommandCheck commands = [](std::string_view command) {
    return std::string(command == "headroom list" ? "" : "no such command");
  };
  Reading reading;
  const Document document = parse_document(text, "p.md", reading.problems);
  reading.page = read_page(document, {glossary, references, commands}, reading.problems);
  return reading;
}

std::string problem_of(const std::string& text) {
  const Problems problems = read(text).problems;
  if (problems.size() != 1) {
    for (const Problem& problem : problems) UNSCOPED_INFO(problem.text());
    FAIL("problems: " << problems.size());
  }
  return problems[0].text();
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kTestFront + kTestWords;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a document becomes a page") {
  const Reading reading = read(kTestFront + kTestWords +
                               "\n$$B \\cdot T$$\n\nand `headroom list`.\n\n"
                               "```question\nkind: number\nanswer: peak_of_step\nfigure: memory_timeline\n"
                               "low: 0\nhigh: 32 GiB\n\nHow high?\n```\n\n"
                               "```because\n**Because** of this.\n```\n\n<!--more-->\n\n"
                               "Before the steps.\n\n"
                               "```step\nview: zoom=loss highlight=logits cursor=peak pin=other\n```\n\n"
                               "### First\n\n```table\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n\n"
                               "```figure\nid: memory_timeline\nset: axis=event\n```\n\n"
                               "```sources\nchen2016\n```\n");
  for (const Problem& problem : reading.problems) FAIL_CHECK(problem.text());
  const Page& page = reading.page;
  CHECK(page.title == "Four ways");
  CHECK(page.settings.at(0).key == "batch");
  CHECK(page.figures == std::vector<std::string>{"memory_timeline", "formula_table"});
  REQUIRE(page.front.size() == 3);
  CHECK(page.front[0].as<TextBlock>()->markdown == "The [logits](term:logits) of a step.");
  CHECK(page.front[1].words() == "$$B \\cdot T$$");
  REQUIRE(page.question);
  const NumberQuestion* number = number_of(&*page.question);
  REQUIRE(number != nullptr);
  CHECK(number->answer == find_answer("peak_of_step"));
  CHECK(number->high == 32.0 * record::kGiB);
  CHECK(page.question->ask == "How high?");
  CHECK(page.question->because == "**Because** of this.");
  REQUIRE(page.more.size() == 2);
  CHECK(page.more[0].view.zoom.empty());
  CHECK(page.more[1].view.zoom == "loss");
  CHECK(page.more[1].view.highlight == "logits");
  CHECK(page.more[1].view.cursor == "peak");
  CHECK(page.more[1].view.pin == "other");
  CHECK(page.more[1].blocks[1].as<TableBlock>()->rows.at(0).at(1) == "2");
  CHECK(page.more[1].blocks[2].as<FigureBlock>()->settings.at(0).value == "event");
  CHECK(page.sources == std::vector<std::string>{"chen2016"});
  CHECK(markdown_of(page.front) == "The [logits](term:logits) of a step.\n\n$$B \\cdot T$$\n\nand `headroom list`.");
  CHECK(markdown_of(page.more) == "Before the steps.\n\n### First\n\n| a | b |\n| --- | --- |\n| 1 | 2 |");
}

TEST_CASE("a choice has its replies, an order its right order") {
  const std::string because = "```because\nSo.\n```\n";
  const Reading choice = read(kTestFront + kTestWords +
                              "```question\nkind: choice\n\nDoes it fit?\n\n"
                              "- [ ] Yes\n  misconception: only_weights\n  reply: Those are the weights.\n"
                              "- [x] No\n"
                              "- [ ] Sometimes\n  misconception: luck\n  reply: It is the same each time.\n```\n" +
                              because);
  for (const Problem& problem : choice.problems) FAIL_CHECK(problem.text());
  const auto& choices = std::get<ChoiceQuestion>(choice.page.question->kind).choices;
  REQUIRE(choices.size() == 3);
  CHECK(choice.page.question->ask == "Does it fit?");
  CHECK(choices[0].reply == "Those are the weights.");
  CHECK(choices[0].misconception == "only_weights");
  CHECK(choices[1].right);
  const Reading order = read(kTestFront + kTestWords +
                             "```question\nkind: order\nmisconception: attention\nreply: The MLP is larger.\n\n"
                             "Sort them.\n\n1. MLP\n2. Norms\n3. Attention\n```\n" +
                             because);
  for (const Problem& problem : order.problems) FAIL_CHECK(problem.text());
  CHECK(std::get<OrderQuestion>(order.page.question->kind).items ==
        std::vector<std::string>{"MLP", "Norms", "Attention"});

  CHECK(problem_of(kTestFront + kTestWords +
                   "```question\nkind: choice\n\nDoes it?\n\n- [ ] Yes\n  misconception: a\n  reply: No.\n- [x] No\n"
                   "- [ ] Both\n  misconception: b\n  reply: No.\n```\n" +
                   because) == "p.md:16: The choice \"Both\" has the same reply as another one.");
}

TEST_CASE("what leads nowhere is named with file and line") {
  CHECK(read(kTestFront + kTestWords).problems.empty());
  CHECK(problem_of(with("title: Four ways\n", "")) == "p.md:1: The front matter lacks a line \"title: …\".");
  CHECK(problem_of(with("title:", "titel: x\ntitle:")) ==
        "p.md:2: The front matter has no key \"titel\": the nearest is title.");
  CHECK(problem_of(with("Chunks remove the logits.",
                        "one two three four five six seven eight nine ten eleven twelve "
                        "thirteen"))
            .starts_with("p.md:3: The claim has 13 words"));
  CHECK(problem_of(with("figures: memory_timeline", "figures: memory_timelin")) ==
        "p.md:7: There is no figure \"memory_timelin\": the nearest is memory_timeline.");
  CHECK(problem_of(with("batch=4", "batsch=4")).starts_with("p.md:5: "));
  CHECK(problem_of(with("batch=4", "batch=0")).starts_with("p.md:5: "));
  CHECK(problem_of(with("batch=4", "optimizer=galore adapters=lora")).starts_with("p.md:5: "));
  CHECK(problem_of(with("loss batch", "loss badge")) == "p.md:6: The demo train_step has no setting badge.");
  CHECK(problem_of(with("shows: tiny_cpu", "shows: tiny")).starts_with("p.md:8: There is no recording of this page"));
  CHECK(problem_of(with("widgets: settings", "widgets: setings")) ==
        "p.md:10: There is no widget \"setings\": the nearest is settings.");
  CHECK(problem_of(with("term:logits", "term:logit")) == "p.md:12: There is no term \"logit\": the nearest is logits.");
  CHECK(problem_of(with("term:logits", "https://a")) ==
        "p.md:12: A page's links are term:…, set:…, view:… and page:…, not https://a.");
  CHECK(read(with("demo: train_step", "demo: bench") + "\n{logits.bytes}\n")
            .problems.back()
            .text()
            .find("needs a page whose demo is a training step") != std::string::npos);
  CHECK(problem_of(kTestFront + kTestWords + "\nSee\n`headroom lst`.\n") ==
        "p.md:15: `headroom lst` does not work: no such command");
  CHECK(problem_of(kTestFront + kTestWords + "```sources\nchen2017\n```\n") ==
        "p.md:14: There is no source \"chen2017\": the nearest is chen2016.");
  CHECK(
      problem_of(kTestFront + kTestWords + "```quiz\n?\n```\n").starts_with("p.md:13: There is no block \"```quiz\""));
  CHECK(problem_of(kTestFront + kTestWords + "```quiz\nkind: hard\n\n?\n```\n")
            .starts_with("p.md:13: There is no block"));
  CHECK(problem_of(kTestFront + kTestWords + "```figure\nid: memory_timeline\nste: a=b\n```\n") ==
        "p.md:15: The figure has no key \"ste\": the nearest is set.");
  CHECK(problem_of(kTestFront + kTestWords + "```widget\nladdr\n```\n") ==
        "p.md:14: There is no widget \"laddr\": the nearest is ladder.");
  CHECK(problem_of(kTestFront + kTestWords + "\n```figure\nid: memory_timeline\n") ==
        "p.md:14: The block ```figure does not end: close it with ```.");
  CHECK(problem_of(kTestFront + kTestWords + "```figure\nid: launches\n```\n")
            .ends_with("The figure launches is not one of the page's."));
  CHECK(problem_of(kTestFront + kTestWords + "<!--more-->\n```step\nview: zoom=los\n```\nWords.\n") ==
        "p.md:15: There is no phase \"los\": the nearest is loss.");
  CHECK(problem_of(kTestFront + kTestWords + "```table\n| a | b |\n|---|\n| 1 |\n```\n")
            .starts_with("p.md:14: A table is"));
  CHECK(read("---\ntitle: x\n").problems.at(0).text() ==
        "p.md:1: The front matter does not end: close it with a line \"---\".");
}

TEST_CASE("a page runs a demo or calculates with a schema, and has nothing of the other") {
  const std::string front =
      "---\ntitle: Sixteen\nclaim: Sixteen bytes.\nschema: shape\nswitches: model seq\n"
      "figures: static_bytes formula_table\nwidgets: calculator\n---\n";
  const auto changed = [&](const std::string& from, const std::string& to, const std::string& more = "") {
    std::string text = front + kTestWords + more;
    return problem_of(text.replace(text.find(from), from.size(), to));
  };
  const Reading reading = read(front + kTestWords);
  for (const Problem& problem : reading.problems) FAIL_CHECK(problem.text());
  CHECK(reading.page.schema == "shape");
  CHECK(reading.page.demo.empty());
  REQUIRE(demo_or_schema(reading.page) != nullptr);
  CHECK(demo_or_schema(reading.page)->id == "shape");
  CHECK(demo_or_schema(read(kTestFront + kTestWords).page)->id == "train_step");
  CHECK(demo_or_schema(Page{}) == nullptr);

  CHECK(changed("schema: shape", "schema: shap") == "p.md:4: There is no schema \"shap\": the nearest is shape.");
  const std::string either = "A page has either a line \"demo: …\", which runs, or \"schema: …\", to calculate with.";
  CHECK(problem_of(with("demo: train_step", "demo: train_step\nschema: shape")) == "p.md:4: " + either);
  CHECK(problem_of("---\ntitle: a\nclaim: b\nfigures: static_bytes\n---\n" + kTestWords) == "p.md:1: " + either);
  CHECK(changed("model seq", "model steps") == "p.md:5: The schema shape has no setting steps.");
  for (const char* line : {"here: model=tiny", "sweep: seq=8,16", "shows: a", "bases: a", "command: headroom list"}) {
    INFO(line);
    const std::string key(line, std::string(line).find(':'));
    const Problems problems = read(front.substr(0, front.size() - 4) + line + "\n---\n" + kTestWords).problems;
    REQUIRE(!problems.empty());
    CHECK(problems.back().text() == "p.md:8: A page with a schema runs nothing and has no line \"" + key + ": …\".");
  }
  const Reading batch = read(front.substr(0, front.size() - 4) + "settings: batch=8\n---\n" + kTestWords);
  CHECK(batch.problems.empty());
  CHECK(settings_of(batch.page).integer("batch") == 8);
  CHECK(read(front + kTestWords + "\n{logits.bytes} of {model.parameters}\n").problems.empty());
  CHECK(changed(kTestWords, kTestWords + "\n{peak.bytes}\n") ==
        "p.md:11: The number peak.bytes needs a run, but a page with a schema has none.");
  CHECK(changed("calculator", "settings") == "p.md:7: The widget settings is for pages with a demo.");
  CHECK(changed(kTestWords, kTestWords + "```widget\nladder\n```\n") ==
        "p.md:11: The widget ladder is for pages with a demo.");
  CHECK(problem_of(with("widgets: settings", "widgets: calculator")) ==
        "p.md:10: The widget calculator is for pages with a schema.");
  CHECK(changed("formula_table", "memory_timeline") ==
        "p.md:6: The figure memory_timeline draws a run, but a page with a schema has none.");
  CHECK(changed(kTestWords, kTestWords +
                                "```question\nkind: number\nanswer: peak_of_step\nlow: 0\nhigh: 1 GiB\n\nHow?\n```\n"
                                "```because\nSo.\n```\n")
            .ends_with("A number is answered by a run: a page with a schema asks for a choice or an order."));
}

TEST_CASE("a page names its sweep as the command line does") {
  const auto sweeping = [](const std::string& sweep, const std::string& settings = "checkpointing=every") {
    std::string text = with("settings: batch=4\n", "settings: " + settings + "\nsweep: " + sweep + "\n");
    return text.replace(text.find("widgets: settings"), 17, "widgets: settings sweep");
  };
  const Reading reading = read(sweeping("checkpoint_every=1,2,04 batch=1,2"));
  for (const Problem& problem : reading.problems) FAIL_CHECK(problem.text());
  REQUIRE(reading.page.sweep.size() == 2);
  CHECK(reading.page.sweep[0].key == "checkpoint_every");
  CHECK(reading.page.sweep[0].values == std::vector<std::string>{"1", "2", "4"});
  const auto points = experiments::swept_settings(settings_of(reading.page), reading.page.sweep);
  REQUIRE(points.size() == 6);
  CHECK(points[4].series == "batch=2");
  CHECK(points[4].label == "checkpoint_every=2");
  CHECK(points[4].params.text("checkpointing") == "every");

  CHECK(problem_of(sweeping("checkpoint_evry=1,2")).starts_with("p.md:6: "));
  CHECK(problem_of(sweeping("checkpoint_every=1,0")).starts_with("p.md:6: "));
  CHECK(problem_of(sweeping("checkpoint_every=1,1")).find("twice") != std::string::npos);
  CHECK(problem_of(sweeping("checkpoint_every")).find("such as batch=1,4,8") != std::string::npos);
  CHECK(problem_of(sweeping("adapters=off,lora", "optimizer=galore"))
            .starts_with("p.md:6: The sweep's point adapters=lora"));
  CHECK(problem_of(sweeping("checkpoint_every=1,2", "batch=4")) ==
        "p.md:6: The sweep varies checkpoint_every, which these settings do not use.");
  CHECK(problem_of(with("widgets: settings", "widgets: settings sweep")) ==
        "p.md:10: The widget sweep needs a line \"sweep: KEY=VALUE,VALUE\".");
  const Problems without_demo =
      read(with("demo: train_step\nsettings: batch=4\nswitches: loss batch\n", "sweep: batch=1,2\n")).problems;
  REQUIRE(without_demo.size() == 2);  // one more for the missing demo
  CHECK(without_demo[1].text() == "p.md:4: A sweep needs a demo whose settings it varies.");
}

TEST_CASE("a page with a problem is left out, the others are there") {
  namespace fs = std::filesystem;
  const tests::TemporaryFolder folder;
  const fs::path& assets = folder.path();
  fs::copy(fs::path(HEADROOM_SOURCE_DIR) / "assets" / "text", assets / "text");
  std::ofstream(assets / "text" / "checkpointing.md", std::ios::app) << "\n```quiz\n```\n";
  std::ofstream(assets / "text" / "forgotten.md") << "Words.\n";
  std::ofstream(assets / "text" / "flce.md", std::ios::app) << "\n[Gone](page:gone), [chunks](page:flce).\n";
  std::ofstream(assets / "text" / "contents.md", std::ios::app) << "- not_there\n";
  std::ofstream(assets / "text" / "numbers.csv", std::ios::app) << "not.used,1,A formula\n";
  std::ofstream(assets / "course_items.csv") << "item,says,page,begins,figure,set\n"
                                             << "1.1,\"Words, with a comma.\",flce,The,flce_chunks,\n"
                                             << "1.2,Open.,,,,\n"
                                             << "1.3,Words.,gone,The,flce_chunks,\n"
                                             << "1.4,Words.,flce,The,architecture,\n"
                                             << "1.5,Words.,checkpointing,The,memory_timeline,\n"
                                             << "1.6,Words.\n";
  const Course course = Course::load(assets);
  CHECK(course.find_page("checkpointing") == nullptr);
  CHECK(course.pages().size() == tests::course().pages().size() - 1);
  REQUIRE(course.problems().size() == 8);
  CHECK(course.problems()[0].text().find("checkpointing.md:") == 0);
  CHECK(course.problems()[0].text().find("```quiz") != std::string::npos);
  CHECK(course.problems()[1].file == "contents.md");
  CHECK(course.problems()[2].text().find("flce.md:") == 0);
  CHECK(course.problems()[2].text().find("opens the page gone, which is not in contents.md") != std::string::npos);
  CHECK(course.problems()[3].file == "forgotten.md");
  CHECK(course.problems()[4].text().find("numbers.csv:") == 0);
  CHECK(course.problems()[5].text() ==
        "course_items.csv:7: An item has 6 fields (item, says, page, begins, figure, set), not 2.");
  CHECK(course.problems()[6].text() == "course_items.csv:1: Item 1.3: there is no page gone.");
  CHECK(course.problems()[7].text() == "course_items.csv:1: Item 1.4: flce has no figure architecture.");
  REQUIRE(course.items().size() == 2);  // checkpointing's item is dropped with its page
  CHECK(course.items()[0] == CourseItem{"1.1", "Words, with a comma.", "flce", "The", "flce_chunks", ""});
  CHECK(course.items()[1].page.empty());
  CHECK(Course::load(assets / "nowhere").pages().empty());
  CHECK_FALSE(Course::load(assets / "nowhere").problems().empty());
}

TEST_CASE("each word of a term gets its own tag", "[pages]") {
  const MarkedText marked = mark_links("The [optimizer state](term:optimizer_state), and [logits](term:logits).");
  CHECK(marked.markdown == "The <term-0>optimizer</term-0> <term-0>state</term-0>, and <term-1>logits</term-1>.");
  CHECK(marked.terms == std::vector<std::string>{"optimizer_state", "logits"});
  CHECK(category_of_term("optimizer_state") == record::Category::kOptimizerState);
  CHECK_FALSE(category_of_term("nothing"));
  CHECK(plain_text("A [term](term:x)\nand $x$:\n| a | b |\n| --- | ---: |\n| 1 | 2 |") == "A term and …: a, b; 1, 2");
  CHECK(count_words("The [optimizer state](term:x) takes $B \\cdot T$ bytes, <b>all</b> the time.") == 8);
}

TEST_CASE("a link sets settings or shows a view, and each of its words gets its tag", "[pages]") {
  const MarkedText marked = mark_links(
      "Set [batch 8](set:batch=8&checkpointing=layer), see [the needle](view:zoom=loss highlight=logits cursor=peak) "
      "of "
      "the [logits](term:logits), `a[0](b)` and [nothing](set:batch).");
  CHECK(marked.markdown ==
        "Set <act-0>batch</act-0> <act-0>8</act-0>, see <act-1>the</act-1> <act-1>needle</act-1> of the "
        "<term-0>logits</term-0>, `a[0](b)` and nothing.");
  REQUIRE(marked.acts.size() == 2);
  REQUIRE(marked.acts[0].settings.size() == 2);
  CHECK(marked.acts[0].settings[1].key == "checkpointing");
  CHECK(marked.acts[0].settings[1].value == "layer");
  CHECK_FALSE(marked.acts[1].sets());
  CHECK(marked.acts[1].view.zoom == "loss");
  CHECK(marked.acts[1].view.highlight == "logits");
  CHECK(marked.acts[1].view.cursor == "peak");
  CHECK(marked.acts[1].view.pin.empty());
  CHECK(
      without_links("Set [batch 8](set:batch=8&seq=64), see [the needle](view:zoom=loss) of [logits](term:logits).") ==
      "Set batch 8 (batch=8 seq=64), see the needle of logits.");
  CHECK(count_words("See [the needle](view:zoom=loss highlight=logits).") == 3);
}

TEST_CASE("a link that would do nothing, or what the page refuses, is named with file and line", "[pages]") {
  const auto linked = [](const std::string& target) {
    return problem_of(kTestFront + kTestWords + "\nSet\n[this](" + target + ").\n");
  };
  CHECK(
      read(kTestFront + kTestWords + "\n[a](set:batch=8&checkpointing=layer) [b](view:run=other pin=other)\n").problems.empty());
  CHECK(linked("set:batsch=8").starts_with("p.md:15: "));
  CHECK(linked("set:batsch=8").find("batsch") != std::string::npos);
  CHECK(linked("set:batch=0").starts_with("p.md:15: "));
  CHECK(linked("set:batch") == "p.md:15: A link takes KEY=VALUE, not \"batch\".");
  CHECK(linked("set:") == "p.md:15: The link set: does nothing.");
  CHECK(linked("set:optimizer=galore&adapters=lora").starts_with("p.md:15: "));
  CHECK(linked("set:checkpoint_every=2") ==
        "p.md:15: The link sets checkpoint_every, which has no effect with the other settings.");
  CHECK(linked("view:zoom=los") == "p.md:15: There is no phase \"los\": the nearest is loss.");
  CHECK(linked("view:light=logits").starts_with("p.md:15: There is no part of a view \"light\""));
  CHECK(linked("view:highlight=logit") == "p.md:15: There is no kind of memory \"logit\": the nearest is logits.");
  CHECK(linked("view:run=oter") == "p.md:15: There is no run to show \"oter\": the nearest is other.");
  CHECK(linked("view:pin=oter") == "p.md:15: There is no run to pin \"oter\": the nearest is other.");
  const std::string question = "```question\nkind: number\nanswer: peak_of_step\nlow: 0\nhigh: 1 GiB\n\n";
  const std::string linked_because = "```because\n[So](set:batch=8).\n```\n";
  CHECK(read(kTestFront + kTestWords + question + "How?\n```\n" + linked_because).problems.empty());
  CHECK(problem_of(kTestFront + kTestWords + question + "[How](set:batch=8)?\n```\n" + linked_because) ==
        "p.md:19: A question's own words cannot have links.");
  const std::string shape =
      "---\ntitle: Sixteen\nclaim: Sixteen bytes.\nschema: shape\nswitches: model seq\nfigures: static_bytes\n"
      "widgets: calculator\n---\n";
  CHECK(read(shape + "[a](set:seq=64)\n").problems.empty());
  CHECK(problem_of(shape + "[a](set:steps=3)\n").starts_with("p.md:9: "));  // a run's setting, but the page has no run
}

TEST_CASE("a number in the words is that of the settings or of the run, and braces of formulas are left alone",
          "[pages]") {
  const experiments::DemoInfo& demo = *experiments::find_demo("train_step");
  record::Params params(demo.schema);
  REQUIRE(params.set("model", "llama-3.2-1b"));
  REQUIRE(params.set("batch", "4"));
  REQUIRE(params.set("seq", "1024"));
  const std::string words = "A tensor takes {logits.bytes} $a_{b.c}$ of {peak.bytes}.\n\n$$d_{e.f}$$ {g}";
  CHECK(with_numbers(words, {&params, nullptr}) == "\n\n$$d_{e.f}$$ {g}");  // incomplete sentences are dropped
  CHECK(with_texts(words, number_texts(words, {&params, nullptr})) ==
        "A tensor takes 1.96 GiB $a_{b.c}$ of ….\n\n$$d_{e.f}$$ {g}");
  const std::string three = "It has {step.tokens} tokens. The peak is {peak.bytes}, not {a.peak.bytes}. So it fits.";
  CHECK(with_numbers(three, {&params, nullptr}) == "It has 4,096 tokens. So it fits.");
  CHECK(with_numbers("First. It goes from {a.peak.bytes} to {peak.bytes}.\n\nThen", {&params, nullptr}) ==
        "First.\n\nThen");
  CHECK(with_numbers("{model.name} has {model.hidden_size} and {model.vocab_size}: {model.vocab_over_hidden} times.",
                     {&params, nullptr}) == "Llama 3.2 1B has 2,048 and 128,256: 63 times.");
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  CHECK(with_numbers("{peak.bytes}", {&params, &ledger}) ==
        record::format_bytes(static_cast<record::Bytes>(find_answer("peak_of_step")->of(ledger))));
  for (const LiveNumber& number : live_numbers()) {
    INFO(number.name);
    CHECK_FALSE(number.text({&params, &ledger, &ledger}).empty());
    CHECK(number.text({nullptr, nullptr, nullptr}).empty());
    const record::Params shape(experiments::shape_schema().schema);
    const bool of_run = number.name.find("peak.") != std::string_view::npos || number.name == "optimizer.time";
    if (!of_run) CHECK_FALSE(number.text({&shape, nullptr, nullptr}).empty());
  }
  const record::Recording other = tests::made_recording({.checkpointing = true});
  const record::Ledger a(other);
  const NumberInput beside{&params, &ledger, &a};
  CHECK(with_numbers("{a.peak.activations}", beside) == with_numbers("{peak.activations}", {&params, &a}));
  CHECK(with_numbers("{a.peak.activations}", beside) != with_numbers("{peak.activations}", beside));
}

TEST_CASE("a type of block is one record, found by its name", "[pages]") {
  for (const BlockType* type : kBlockTypes) {
    INFO(type->name);
    CHECK(find_block_type(type->name) == type);
    CHECK(type->parse != nullptr);
    CHECK(
        (type == &kFigureBlock || type->words != nullptr || type->printed != nullptr));  // a figure is drawn or a table
  }
  CHECK(find_block_type("quiz") == nullptr);
}
