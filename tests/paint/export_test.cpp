// Exported files: well formed, reproducible, searchable, with the drawn numbers and their provenance.
#include "app/paint/files/export.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/paint/files/writers.h"
#include "demos/predict/optimizers.h"
#include "tests/paint/support.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::paint;
using lessons::FigureData;
using nlohmann::json;

namespace {

std::string rendered(const FigureData& figure, Format format) {
  auto bytes = render(figure, format, {.assets = tests::assets_folder()});
  if (!bytes) FAIL(bytes.error().message);
  return std::move(bytes).value();
}

// Checks that tags close in order, attributes are quoted and ampersands are entities. Empty if well formed.
std::string xml_fault(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return "a tag has no end";
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (tag.empty() || tag.find('<') != std::string::npos) return "a stray <";
    if (tag[0] == '?') continue;
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "an open quote in " + tag;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "unexpected end " + tag;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    }
  }
  for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    const std::size_t end = text.find(';', at);
    if (end == std::string::npos || end - at > 6) return "a bare &";
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

std::string unescaped(std::string text) {
  for (const auto& [entity, character] :
       std::map<std::string, std::string>{{"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}}) {
    for (std::size_t at; (at = text.find(entity)) != std::string::npos;) text.replace(at, entity.size(), character);
  }
  return text;
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string::npos) return {};
  const std::size_t end = text.find(to, begin + from.size());
  return text.substr(begin + from.size(), end - begin - from.size());
}

// The least y of a path's horizontal pieces at x.
double top_at(const std::string& path, double x) {
  std::istringstream in(path);
  double px = 0, py = 0, top = 1e9, start_x = 0;
  for (char command; in >> command;) {
    double value = 0;
    if (command == 'M') {
      in >> px >> py;
      start_x = px;
    } else if (command == 'V') {
      in >> py;
    } else if (command == 'H') {
      in >> value;
      if (std::min(px, value) <= x && x <= std::max(px, value)) top = std::min(top, py);
      px = value;
    } else if (command == 'Z') {
      px = start_x;
    }
  }
  return top;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(i));
  return value;
}

std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? 0xEDB88320 ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<double> numbers_of(const std::string& line) {
  std::vector<double> numbers;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) numbers.push_back(cell.empty() ? std::nan("") : std::stod(cell));
  return numbers;
}

// Output of pdftotext; empty without poppler.
std::optional<std::string> text_of_pdf(const std::string& pdf, const std::string& options) {
  const std::string file = "headroom_export_test_" + std::to_string(getpid()) + ".pdf";
  FILE* out = std::fopen(file.c_str(), "wb");
  REQUIRE(out != nullptr);
  std::fwrite(pdf.data(), 1, pdf.size(), out);
  std::fclose(out);
  FILE* pipe = popen(("pdftotext " + options + " " + file + " - 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const bool read = pclose(pipe) == 0;
  std::remove(file.c_str());
  return read ? std::optional(text) : std::nullopt;
}

}  // namespace

TEST_CASE("a figure is written in every format, with equal bytes each time") {
  const auto& all = tests::samples();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Format format : {Format::kSvg, Format::kPdf, Format::kPng, Format::kCsv, Format::kJson}) {
      // Only some samples, because cairo is slow.
      const std::size_t every = format == Format::kPng ? 29 : format == Format::kPdf ? 7 : 3;
      if (!can_write(format) || i % every != 0) continue;
      const std::string bytes = rendered(all[i].figure, format);
      INFO(all[i].name);
      REQUIRE(bytes.size() > 50);
      REQUIRE(bytes == rendered(all[i].figure, format));
    }
  }
}

TEST_CASE("an SVG is well formed and has real text") {
  for (const auto& sample : tests::samples()) {
    const std::string svg = rendered(sample.figure, Format::kSvg);
    INFO(sample.name);
    REQUIRE(xml_fault(svg) == "");
    REQUIRE(svg.find(">" + sample.figure.head.title + "</text>") != std::string::npos);
    for (const char* bad :
         {"\"nan", "\"inf", "\"-inf", "Mnan", "Hnan", "Vnan", "Lnan", " nan", "Minf", "Hinf", "Vinf"}) {
      REQUIRE(svg.find(bad) == std::string::npos);
    }
  }
  const std::string svg = rendered(tests::plain_timeline(), Format::kSvg);
  for (const char* text :
       {"peak 16.5 GiB", "24 GiB card", "Optimizer state", "forward", "Alive at the peak", "80 ms"}) {
    CHECK(svg.find(std::string(">") + text + "</text>") != std::string::npos);
  }
  CHECK(svg.find("font-family:'Inter'") != std::string::npos);
}

TEST_CASE("names of a run are escaped") {
  FigureData figure = tests::plain_timeline();
  figure.head.provenance_line = "a <b> & \"c\"\x01";
  figure.head.provenance["note"] = "</metadata> & <script>\n";
  const std::string svg = rendered(figure, Format::kSvg);
  CHECK(xml_fault(svg) == "");
  CHECK(svg.find("<script>") == std::string::npos);
  CHECK(svg.find("a &lt;b&gt; &amp; &quot;c&quot; </text>") != std::string::npos);
  CHECK(rendered(figure, Format::kCsv).find("# note: </metadata> & <script> \n") != std::string::npos);
}

TEST_CASE("a broken name does not break a file") {
  FigureData figure = tests::plain_timeline();
  figure.head.provenance["note"] = "not UTF-8: \xff\xc0";
  CHECK(json::accept(rendered(figure, Format::kJson)));
  CHECK(json::accept(provenance_json(figure)));
}

TEST_CASE("an SVG contains its provenance and a description") {
  const std::string svg = rendered(tests::plain_timeline(), Format::kSvg);
  const json metadata = json::parse(unescaped(between(svg, "<metadata>", "</metadata>")));
  CHECK(metadata.at("figure") == "memory_timeline");
  CHECK(metadata.at("source") == "recorded");
  CHECK(metadata.at("provenance").at("gpu") == "NVIDIA H200");
  CHECK(metadata.at("provenance").at("set.batch") == "4");
  CHECK(between(svg, "<title id=\"title\">", "</title>") == "Memory over one step");
  CHECK(between(svg, "<desc id=\"description\">", "</desc>").find("peak 16.5 GiB") != std::string::npos);
}

TEST_CASE("the CSV has the numbers that the SVG draws") {
  const FigureData& figure = tests::plain_timeline();
  const std::string svg = rendered(figure, Format::kSvg);
  const auto lines = lines_of(rendered(figure, Format::kCsv));
  const auto header = std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line[0] != '#'; });
  REQUIRE(*header ==
          "begin_ns,end_ns,weights_bytes,optimizer_state_bytes,gradients_bytes,activations_bytes,logits_bytes,"
          "workspace_bytes,other_bytes,allocated_bytes,lowest_allocated_bytes,reserved_bytes,process_bytes");
  REQUIRE(static_cast<std::size_t>(lines.end() - header - 1) == tests::timeline_of(figure).stack.size());
  Frame frame;
  frame.measure = &tests::widths();
  frame.whole_pixels = false;
  const PlotMap map = layout(figure, frame).map;
  const char* kinds[] = {"weights", "optimizer_state", "gradients", "activations", "logits", "workspace"};
  int compared = 0;
  for (auto line = header + 1; line != lines.end(); ++line) {
    const auto row = numbers_of(*line);
    REQUIRE(row.size() == 13);
    const double x = map.x_px((row[0] + row[1]) / 2);
    double sum = 0;
    for (std::size_t kind = 0; kind < 6; ++kind) {
      sum += row[2 + kind];
      const float height = map.y_px(sum - row[2 + kind]) - map.y_px(sum);
      if (height < 0.5f) continue;
      const std::string path = between(svg, std::string("data-kind=\"") + kinds[kind] + "\"", "/>");
      REQUIRE(top_at(between(path, " d=\"", "\""), x) == Approx(map.y_px(sum)).margin(0.011));
      ++compared;
    }
    REQUIRE(row[9] == Approx(std::accumulate(row.begin() + 2, row.begin() + 9, 0.0)));
    REQUIRE(row[10] <= row[9]);
  }
  CHECK(compared > 3000);
}

TEST_CASE("a CSV has each fact once") {
  for (const auto& sample : tests::samples()) {
    std::set<std::string> keys;
    for (const std::string& line : lines_of(rendered(sample.figure, Format::kCsv))) {
      const std::size_t colon = line.find(": ");
      if (line[0] != '#' || colon == std::string::npos) continue;
      INFO(sample.name << ": " << line);
      REQUIRE(keys.insert(line.substr(0, colon)).second);
    }
    CHECK(keys.count("# source") == 1);
  }
}

TEST_CASE("bars are rows of a CSV") {
  for (const auto& sample : tests::samples()) {
    if (tests::bars_of(sample.figure).empty()) continue;
    const auto lines = lines_of(rendered(sample.figure, Format::kCsv));
    REQUIRE(static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [](auto& l) { return l[0] != '#'; })) ==
            tests::bars_of(sample.figure).size() + 1);
  }
}

TEST_CASE("a CSV of a figure with charts and a map is one table") {
  lessons::FigureData figure;
  figure.panels.emplace_back(
      lessons::Chart{.title = "Mean", .series = {{.label = "even", .points = {{.x = 1, .y = 2}}}}});
  figure.panels.emplace_back(
      lessons::HeatMap{.title = "By size", .columns = {"−6", "−5"}, .rows = {"even"}, .cells = {{0.5, std::nan("")}}});
  const std::string csv = to_csv(figure);
  const std::string table = csv.substr(csv.find("chart,series"));
  CHECK(table ==
        "chart,series,published,x,value,p20,p80,unit\n\"Mean\",\"even\",no,\"1\",2,0,0,bytes\n"
        "\"By size\",\"even\",no,\"−6\",0.5,,,\n");
}

TEST_CASE("JSON has the whole description") {
  const FigureData& figure = tests::plain_timeline();
  const json document = json::parse(rendered(figure, Format::kJson));
  CHECK(document.at("stack").size() == tests::timeline_of(figure).stack.size());
  CHECK(document.at("stack").at(500).at("highest").at("weights") == tests::timeline_of(figure).stack[500].high[0]);
  CHECK(document.at("peak").at("bytes") == tests::timeline_of(figure).peak->y);
  CHECK(document.at("alive").at("rows").size() == tests::timeline_of(figure).alive->rows.size());
  CHECK(document.at("lines").at(0).at("kind") == "reserved");
  CHECK(document.at("phases").at(1).at("label") == tests::timeline_of(figure).bands[1].label);
  CHECK(document.at("cap").at("bytes") == 24 * record::kGiB);
  CHECK(document.at("provenance").at("driver") == "580.00");
}

TEST_CASE("bytes in JSON are whole numbers") {
  int seen = 0;
  const std::function<void(const json&, const std::string&)> look = [&](const json& node, const std::string& key) {
    if (node.is_structured())
      for (const auto& [name, child] : node.items()) look(child, node.is_array() ? key : name);
    if (!node.is_number() || (key != "bytes" && key.find("_bytes") == std::string::npos)) return;
    INFO(key);
    REQUIRE(node.is_number_integer());
    ++seen;
  };
  for (const auto& sample : tests::samples()) look(json::parse(rendered(sample.figure, Format::kJson)), "");
  CHECK(seen > 1000);
}

TEST_CASE("a picture without its fonts is refused with the missing file's name") {
  const auto result = render(tests::plain_timeline(), Format::kSvg, {.assets = "/nowhere"});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message.find("/nowhere/fonts/Inter-Regular.otf") != std::string::npos);
  CHECK(render(tests::plain_timeline(), Format::kCsv, {}).ok());
}

TEST_CASE("a figure is written as SVG in under 0.3 s") {
#ifdef __SANITIZE_THREAD__
  std::puts("SKIPPED: the thread sanitizer makes it ten times slower.");
  return;
#endif
  double least = std::numeric_limits<double>::infinity();  // processor seconds, independent of other work
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begun = std::clock();
    rendered(tests::plain_timeline(), Format::kSvg);
    least = std::min(least, static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
  }
  CHECK(least < 0.3);
}

TEST_CASE("a PNG is complete and contains its provenance") {
  if (!can_write(Format::kPng)) {
    const auto refused = render(tests::plain_timeline(), Format::kPng, {.assets = tests::assets_folder()});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("cairo") != std::string::npos);
    return;
  }
  const std::string png = rendered(tests::plain_timeline(), Format::kPng);
  REQUIRE(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(big_endian(png, 16) == 1920);
  CHECK(big_endian(png, 20) == 1080);
  std::string provenance;
  std::size_t at = 8;
  for (; at + 12 <= png.size(); at += 12 + big_endian(png, at)) {
    const std::uint32_t length = big_endian(png, at);
    const std::string chunk = png.substr(at + 4, 4 + length);
    REQUIRE(crc_of(chunk) == big_endian(png, at + 8 + length));
    if (chunk.rfind(std::string("tEXtHeadroom") + '\0', 0) == 0) provenance = chunk.substr(13);
  }
  CHECK(at == png.size());
  REQUIRE(json::accept(provenance));
  CHECK(json::parse(provenance).at("provenance").at("gpu") == "NVIDIA H200");
}

TEST_CASE("a PDF contains its text and fonts") {
  if (!can_write(Format::kPdf)) return;
  const std::string pdf = rendered(tests::plain_timeline(), Format::kPdf);
  CHECK(pdf.rfind("%PDF-", 0) == 0);
  CHECK(pdf.find("/FontFile") != std::string::npos);
  CHECK(pdf.find("/ToUnicode") != std::string::npos);
  CHECK(pdf.find("Inter") != std::string::npos);
  CHECK(pdf.find("20000101") != std::string::npos);  // a fixed date
  CHECK(pdf.find("NVIDIA H200") != std::string::npos);
  if (const auto text = text_of_pdf(pdf, "")) {
    for (const char* words :
         {"peak 16.5 GiB", "24 GiB card", "Optimizer state", "reserved by the allocator 16.5 GiB"}) {
      CHECK(text->find(words) != std::string::npos);
    }
  }
}

TEST_CASE("digits in a file are as wide as in the layout") {
  if (!can_write(Format::kPdf)) return;
  const auto words = text_of_pdf(rendered(tests::plain_timeline(), Format::kPdf), "-bbox");
  if (!words) return;
  const std::string word = between(*words, "<word ", ">1,024</word>");  // from "1,024 tokens", 12 px regular
  const std::string tag = word.substr(word.rfind("xMin"));
  const double width = std::stod(between(tag, "xMax=\"", "\"")) - std::stod(between(tag, "xMin=\"", "\""));
  CHECK(width / 0.75 == Approx(tests::widths().width(Face::kRegular, 12, "1,024")).margin(0.1));
}
