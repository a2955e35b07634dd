// A page of the course: words, a question, a demo to run or settings to calculate with, and figures.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "demos/experiments/sweep_axes.h"
#include "lessons/pages/answers.h"
#include "lessons/pages/blocks.h"
#include "lessons/pages/second_question.h"

namespace headroom::experiments {
struct DemoInfo;
}

namespace headroom::lessons {

// Changes of the view at a tour step; empty parts change nothing.
struct TourView {
  std::string run;        // one of the page's recordings
  std::string zoom;       // a phase of the step, or "all"
  std::string highlight;  // key of a kind of memory
  std::string cursor;     // "peak", "begin", "end"
  std::string pin;        // "base", "none", or one of the page's recordings
};
// A step of "Read more", begun by a heading.
struct TourStep {
  TourView view;
  std::vector<Block> blocks;
};

// Answered by dragging a marker on the figure; the right number is measured.
struct NumberQuestion {
  const Answer* answer = nullptr;
  double low = 0, high = 0;  // the marker's range, in the answer's unit
};
struct AnswerChoice {
  std::string words;
  bool right = false;
  std::string misconception;  // key for wrong choices
  std::string reply;          // shown after wrong choices
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
  std::string because;  // Markdown: the reason
  std::string figure;   // id of a figure hidden until the answer; may be empty
  std::variant<NumberQuestion, ChoiceQuestion, OrderQuestion> kind;
};
const NumberQuestion* number_of(const QuestionSpec* question);  // null: another kind

// Words for the reader and for a teacher.
struct Lesson {
  bool in_course = true;  // false: the bench
  std::string claim;  // the finding, in at most 12 words
  std::string goal;   // what the reader can do afterwards; may be empty
  int minutes = 0;    // reading time; 0: unknown
  std::string notes;  // Markdown for a presenter; may be empty
  std::optional<SecondQuestion> second;
};

struct Page {
  std::string id;  // "where_memory_goes"; its text is assets/text/<id>.md
  std::string title;
  Lesson lesson;
  std::string demo;    // "train_step"; empty: nothing runs
  std::string schema;  // "shape": settings that the figures follow if nothing runs

  std::vector<Setting> settings;              // changes to the demo's defaults
  std::vector<Setting> here;                  // more changes if no GPU is found that holds the run
  std::vector<experiments::SweepAxis> sweep;  // may be empty
  std::vector<std::string> switches;          // keys of settings shown first
  std::vector<std::string> figures;           // the first is the large one
  std::vector<std::string> recordings;        // under assets/recordings, without .hrec
  std::string shows;                          // the recording that the page is about
  std::vector<std::string> bases;             // recordings to compare others of the same model and shape with
  std::vector<std::string> beside;            // recordings of other demos, drawn next to the run
  std::vector<std::string> widgets;           // "settings", "ladder", …: in reading order
  std::string card;                           // initial card; empty: the machine's, or 24 GiB in figures
  std::string command;                        // makes the page's recording if Run does not

  std::vector<Block> front;  // blocks read first
  std::optional<QuestionSpec> question;
  std::vector<TourStep> more;        // steps of "Read more"; may be empty
  std::vector<std::string> sources;  // keys of references
};

const experiments::DemoInfo* demo_or_schema(const Page& page);  // null: none or unknown
// True if the page runs nothing.
bool calculates(const Page& page);
// Recordings in display order, first the one that the page is about.
std::vector<std::string> recordings_in_turn(const Page& page);
// Initial settings of a page with a known demo or schema.
record::Params settings_of(const Page& page);

struct Chapter {
  std::string number;  // "6", as in the printed course; "P" for the prologue
  std::string id, title;
  std::vector<const Page*> pages;
};
// "6.1", "P.2"; `page` counts from 0.
std::string page_number(const Chapter& chapter, std::size_t page);

std::string markdown_of(const std::vector<Block>& blocks);
std::string markdown_of(const std::vector<TourStep>& steps);

}  // namespace headroom::lessons
