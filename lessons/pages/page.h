// A page of the course, as its document says it: words, a question, a demo to run or settings to calculate with, the
// figures that it draws.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "demos/experiments/sweep_axes.h"
#include "lessons/pages/answers.h"
#include "lessons/pages/task.h"

namespace headroom::experiments {
struct DemoInfo;
}

namespace headroom::lessons {

struct Setting {
  std::string key, value;
};

// --- blocks of the words

struct TextBlock {
  std::string markdown;  // with [terms](term:logits) and links that act, [batch 8](set:batch=8)
};
struct FormulaBlock {
  std::string tex;
};
struct FigureBlock {
  std::string figure;             // id; of the page's figures
  std::vector<Setting> settings;  // of the figure's schema
};
struct WidgetBlock {
  std::string widget;  // id
};
struct TableBlock {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns
};
using Block = std::variant<TextBlock, FormulaBlock, FigureBlock, WidgetBlock, TableBlock, TaskBlock>;

// What a step of a tour does to the figure; empty: that part stays as it is.
struct TourView {
  std::string zoom;       // a phase of the step ("loss"), or "all"
  std::string highlight;  // the key of a kind of memory
  std::string cursor;     // "peak", "begin", "end"
  std::string pin;        // "base", "none", or one of the page's recordings
};
// A step of Read more: what follows a heading.
struct TourStep {
  TourView view;
  std::vector<Block> blocks;
};

// --- the question

// Answered by dragging a marker on the question's figure; the right number is measured.
struct NumberQuestion {
  const Answer* answer = nullptr;
  double low = 0, high = 0;  // the marker's range, in the answer's unit
};
struct AnswerChoice {
  std::string words;
  bool right = false;
  std::string misconception;  // of a wrong one: its key, "only_weights"
  std::string reply;          // of a wrong one
};
struct ChoiceQuestion {
  std::vector<AnswerChoice> choices;  // three to five, one of them right
};
struct OrderQuestion {
  std::vector<std::string> items;  // in the right order
  std::string misconception, reply;
};
struct QuestionSpec {
  std::string ask;      // Markdown
  std::string because;  // Markdown: why the answer is so
  std::string figure;   // id: hidden until the answer; a number's marker is on it. Empty: no figure waits
  std::variant<NumberQuestion, ChoiceQuestion, OrderQuestion> kind;
};
const NumberQuestion* number_of(const QuestionSpec* question);  // null: none, or of another kind

// --- the page

struct Page {
  std::string id;      // "where_memory_goes"; its text is assets/text/<id>.md
  std::string title;   // "Where the memory goes in one training step"
  std::string claim;   // the finding, in at most 12 words
  std::string demo;    // "train_step"; empty: nothing runs on this page
  std::string schema;  // "shape": where nothing runs, the settings that the figures follow; else empty

  std::vector<Setting> settings;              // what the page begins with, where it is not the demo's default
  std::vector<Setting> here;                  // on top, until a GPU is found that holds the run that the page is about
  std::vector<experiments::SweepAxis> sweep;  // that the page makes, with its settings as base; may be empty
  std::vector<std::string> switches;          // keys of the settings that are shown first
  std::vector<std::string> figures;           // the first is the large one
  std::vector<std::string> recordings;        // under assets/recordings, without .hrec
  std::string shows;                          // of the recordings, the one that the page is about
  std::vector<std::string> bases;    // of the recordings, those that others of their model and shape are compared with
  std::vector<std::string> beside;   // recordings of other demos that a figure draws beside the run; not to choose from
  std::vector<std::string> widgets;  // "settings", "ladder", …: in reading order
  std::string card;                  // that its verdicts are about at first; empty: the machine's, or of figures 24 GiB
  std::string command;               // what makes the page's recording, where no Run of one step does

  std::vector<Block> front;  // what is read first
  std::optional<QuestionSpec> question;
  std::vector<TourStep> more;        // Read more; may be empty
  std::vector<std::string> sources;  // keys of the table of references
};

// What declares the page's settings: its demo, or its schema.
const experiments::DemoInfo* demo_or_schema(const Page& page);  // null: the page names neither, or an unknown one
// The task among the words of its tour; null: it sets none.
const TaskBlock* task_of(const Page& page);
// In the order in which they are shown: the run that the page is about comes first.
std::vector<std::string> recordings_in_turn(const Page& page);
// What the page begins with; it names a known one.
record::Params settings_of(const Page& page);

struct Chapter {
  std::string number;  // as in the printed course: "6"; of the prologue "P"
  std::string id, title;
  std::vector<const Page*> pages;
};
// "6.1", "P.2"; `page` from 0.
std::string page_number(const Chapter& chapter, std::size_t page);

// The words of blocks as one Markdown text; figures and widgets have none.
std::string markdown_of(const std::vector<Block>& blocks);
std::string markdown_of(const std::vector<TourStep>& steps);

}  // namespace headroom::lessons
