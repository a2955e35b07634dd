// Reads pages.
#include "lessons/pages/page_reader.h"

#include <algorithm>
#include <charconv>
#include <span>

#include <fmt/format.h>

#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/pages/blocks/text.h"
#include "lessons/pages/blocks/widget.h"
#include "lessons/pages/entries.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "lessons/pages/page_lint.h"

namespace headroom::lessons {

namespace {

constexpr int kMostClaimWords = 12;

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

class Reader {
 public:
  Reader(const Document& document, const PageContext& context, Problems& problems)
      : document_(document), context_(context), problems_(problems) {}

  Page read() {
    read_front();
    for (const Part& part : document_.parts) read_part(part);
    lint_page(document_, page_, problems_);
    lint_controls(document_, page_, problems_);
    if (page_.front.empty()) complain(1, "The page has no text.");
    if (page_.question && page_.question->because.empty()) complain(1, "The question has no block ```because.");
    return std::move(page_);
  }

 private:
  void complain(int line, std::string what) { problems_.push_back({document_.file, line, std::move(what)}); }

  void read_front() {
    Entries entries(document_.file, "The front matter", document_.front, 1, problems_);
    const auto without_live = [&](std::string words) {  // stored numbers are inserted already
      for (const NumberPlace& place : numbers_in(words))
        if (find_number(place.name) != nullptr)
          entries.complain(
              fmt::format("The number {} is live: a title, claim or goal can use stored ones only.", place.name));
      return words;
    };
    page_.title = without_live(entries.need("title"));
    page_.lesson.claim = without_live(entries.need("claim"));
    if (count_words(page_.lesson.claim) > kMostClaimWords)
      entries.complain(fmt::format("The claim has {} words: at most {} are read at a glance.",
                                   count_words(page_.lesson.claim), kMostClaimWords));
    page_.lesson.goal = without_live(entries.take("goal"));
    read_minutes(entries);
    read_settings(entries);
    read_figures(entries);
    read_recordings(entries);
    page_.widgets = entries.take_words("widgets");
    for (const std::string& id : page_.widgets)
      if (const std::string why = why_no_widget(id, page_); !why.empty()) entries.complain(why);
    page_.command = entries.take("command");
    read_card(entries);
    if (calculates(page_)) refuse_what_runs(entries);
    entries.end();
  }

  void read_minutes(Entries& entries) {
    const std::string text = entries.take("minutes");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), page_.lesson.minutes);
    if (text.empty() || (error == std::errc() && end == text.data() + text.size() && page_.lesson.minutes > 0)) return;
    page_.lesson.minutes = 1;
    entries.complain("minutes takes a whole number.");
  }

  void read_card(Entries& entries) {
    page_.card = entries.take("card");
    if (!page_.card.empty() && card_named(page_.card) == nullptr) entries.complain(unknown_card(page_.card));
  }

  static void refuse_what_runs(Entries& entries) {
    for (const char* key : {"here", "sweep", "shows", "recordings", "bases", "beside", "command"})
      if (!entries.take(key).empty())
        entries.complain(fmt::format("A page with a schema runs nothing and has no line \"{}: …\".", key));
  }

  void read_settings(Entries& entries) {
    page_.schema = entries.take("schema");
    check_known(entries, "schema", page_.schema, experiments::schemas());
    page_.demo = entries.take("demo");
    check_known(entries, "demo", page_.demo, experiments::demos());
    if (page_.demo.empty() == page_.schema.empty())
      entries.complain("A page has either a line \"demo: …\", which runs, or \"schema: …\", to calculate with.");
    page_.settings = entries.take_settings("settings");
    const experiments::DemoInfo* const info = demo_or_schema(page_);
    if (info != nullptr) check_settings(entries, info->schema, page_.settings);
    page_.here = entries.take_settings("here");
    if (info != nullptr) check_settings(entries, info->schema, page_.here);
    if (!calculates(page_)) read_sweep(entries, info);
    page_.switches = entries.take_words("switches");
    if (info == nullptr) return;
    const record::Params params(info->schema);
    for (const std::string& key : page_.switches)
      if (!params.has(key))
        entries.complain(
            fmt::format("The {} {} has no setting {}.", calculates(page_) ? "schema" : "demo", info->id, key));
  }

  // Every point must be a run that the settings allow and that the swept setting changes.
  void read_sweep(Entries& entries, const experiments::DemoInfo* demo) {
    const std::vector<std::string> texts = entries.take_words("sweep");
    if (texts.empty()) return;
    page_.sweep.resize(1);  // the page names a sweep, even if unreadable
    if (demo == nullptr) return entries.complain("A sweep needs a demo whose settings it varies.");
    auto axes = experiments::sweep_axes(demo->schema, texts);
    if (!axes) return entries.complain(axes.error().message);
    page_.sweep = std::move(axes).value();
    for (const experiments::SweptSettings& point : experiments::swept_settings(settings_of(page_), page_.sweep)) {
      if (const auto why = experiments::refused_combination(point.params))
        return entries.complain(fmt::format("The sweep's point {}: {}", point.label, *why));
      for (const experiments::SweepAxis& axis : page_.sweep)
        if (!point.params.in_use(axis.key))
          return entries.complain(fmt::format("The sweep varies {}, which these settings do not use.", axis.key));
    }
  }

  static void check_known(Entries& entries, std::string_view kind, const std::string& id,
                          std::span<const experiments::DemoInfo* const> all) {
    if (!id.empty() && std::ranges::find(all, id, &experiments::DemoInfo::id) == all.end())
      entries.complain(unknown(kind, id, names_of(all, &experiments::DemoInfo::id)));
  }

  static void check_settings(Entries& entries, record::Schema schema, const std::vector<Setting>& settings) {
    record::Params params(schema);
    for (const Setting& setting : settings)
      if (const auto set = params.set(setting.key, std::string_view(setting.value)); !set)
        entries.complain(set.error().message);
    if (const auto why = experiments::refused_combination(params)) entries.complain(*why);
  }

  void read_figures(Entries& entries) {
    page_.figures = entries.take_words("figures");
    if (page_.figures.empty()) entries.complain("A page has at least one figure.");
    for (const std::string& id : page_.figures) {
      const Figure* const found = find_figure(id);
      if (found != nullptr && (found->basis == Basis::kRun || found->basis == Basis::kSweep) && calculates(page_))
        entries.complain(fmt::format("The figure {} draws a run, but a page with a schema has none.", id));
      if (found == nullptr) entries.complain(unknown("figure", id, names_of(figures(), &Figure::id)));
    }
  }

  void read_recordings(Entries& entries) {
    page_.recordings = entries.take_words("recordings");
    page_.shows = entries.take("shows");
    const std::vector<std::string_view> known(page_.recordings.begin(), page_.recordings.end());
    if (!page_.recordings.empty() && !has(page_.recordings, page_.shows))
      entries.complain(unknown("recording of this page", page_.shows, known));
    page_.bases = entries.take_words("bases");
    for (const std::string& base : page_.bases)
      if (!has(page_.recordings, base)) entries.complain(unknown("recording of this page", base, known));
    page_.beside = entries.take_words("beside");
  }

  void read_part(const Part& part) {
    // A second question is checked later, with drawn values.
    if (part.kind != "second_question") check_words(document_, part, page_, context_, problems_);
    if (part.kind == "more" || part.kind == "step") {
      if (part.kind == "more" && in_more_) complain(part.line, "<!--more--> appears twice.");
      if (part.kind == "step" && !in_more_) complain(part.line, "A step must come after <!--more-->.");
      in_more_ = true;
      if (part.kind == "step") page_.more.push_back({read_view(document_, part, page_, problems_), {}});
    } else if (part.kind == "question") {
      if (page_.question) complain(part.line, "A page has one question.");
      page_.question = read_question(document_, part, problems_);
      if (const auto& id = page_.question->figure; !id.empty() && !has(page_.figures, id))
        complain(part.line, fmt::format("The question's figure {} is not one of the page's.", id));
      if (calculates(page_) && number_of(&*page_.question) != nullptr)
        complain(part.line, "A number is answered by a run: a page with a schema asks for a choice or an order.");
    } else if (part.kind == "second_question") {
      read_second(part);
    } else if (part.kind == "because") {
      if (!page_.question) complain(part.line, "A block ```because comes after the question.");
      if (page_.question) page_.question->because = part.text;
    } else if (part.kind == "notes") {
      page_.lesson.notes = part.text;
      if (part.text.empty()) complain(part.opened, "The notes have no text.");
    } else if (part.kind == "sources") {
      read_sources(part);
    } else {
      read_block(part);
    }
  }

  void add(Block block) {
    if (!in_more_) return page_.front.push_back(std::move(block));
    if (page_.more.empty()) page_.more.emplace_back();
    if (const auto* text = block.as<TextBlock>()) return add_sections(text->markdown, block.scope);
    page_.more.back().blocks.push_back(std::move(block));
  }

  // A heading begins a tour step unless ```step already did.
  void add_sections(std::string_view markdown, const std::vector<Setting>& scope) {
    constexpr std::string_view kHeading = "### ";
    while (!markdown.empty()) {
      if (markdown.starts_with(kHeading) && !page_.more.back().blocks.empty()) page_.more.emplace_back();
      const std::size_t next = markdown.find("\n### ");
      page_.more.back().blocks.push_back(
          {&kTextBlock, TextBlock{std::string(trimmed(markdown.substr(0, next)))}, scope});
      markdown.remove_prefix(next == std::string_view::npos ? markdown.size() : next + 1);
    }
  }

  void read_sources(const Part& part) {
    page_.sources = words_of(part.text);
    for (const std::string& key : page_.sources)
      if (!context_.references.contains(key))
        complain(part.line, unknown("source", key, names_of(context_.references, &References::value_type::first)));
  }

  void read_block(const Part& part) {
    const BlockType* const type = find_block_type(part.kind);
    if (type == nullptr) return complain(part.opened, unknown("block", "```" + part.kind, known_blocks()));
    const std::string place = "The " + part.kind;
    Entries entries(document_.file, place, part.entries, part.line, problems_);
    std::vector<Setting> scope = read_scope(part, entries);
    BlockSource source{document_, part, entries, page_, context_, problems_, in_more_};
    std::any content = type->parse(source);
    if (!content.has_value()) return;
    entries.end();
    add({type, std::move(content), std::move(scope)});
  }

  std::vector<Setting> read_scope(const Part& part, Entries& entries) {
    std::vector<Setting> scope = entries.take_settings("scope");
    const experiments::DemoInfo* const info = demo_or_schema(page_);
    if (info != nullptr) check_settings(entries, info->schema, scope);
    if (scope.empty() && std::ranges::find(part.entries, "scope", &Entry::key) != part.entries.end())
      entries.complain("A scope names settings, as in \"scope: model=llama-3.2-1b precision=bf16\".");
    return scope;
  }

  void read_second(const Part& part) {
    Entries entries(document_.file, "The second question", part.entries, part.line, problems_);
    BlockSource source{document_, part, entries, page_, context_, problems_, in_more_};
    page_.lesson.second = read_second_question(source);
    if (page_.lesson.second) entries.end();
  }

  static std::vector<std::string_view> known_blocks() {
    std::vector<std::string_view> known = names_of(kBlockTypes, &BlockType::name);
    known.insert(known.begin(), {"because", "notes", "question", "second_question", "sources", "step"});
    return known;
  }

  const Document& document_;
  const PageContext& context_;
  Problems& problems_;
  Page page_;
  bool in_more_ = false;
};

}  // namespace

const experiments::DemoInfo* demo_or_schema(const Page& page) {
  return page.demo.empty() ? experiments::find_schema(page.schema) : experiments::find_demo(page.demo);
}

bool calculates(const Page& page) { return page.demo.empty() && !page.schema.empty(); }

record::Params settings_of(const Page& page) {
  record::Params params(demo_or_schema(page)->schema);
  for (const Setting& setting : page.settings) (void)params.set(setting.key, std::string_view(setting.value));
  return params;
}

Page read_page(const Document& document, const PageContext& context, Problems& problems) {
  return Reader(document, context, problems).read();
}

}  // namespace headroom::lessons
