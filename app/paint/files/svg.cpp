#include "app/paint/files/writers.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/paint/scene/fonts.h"

namespace headroom::app::paint {
namespace {

// At most two decimals: "12.5", "0.07".
std::string number(float value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string escaped(std::string_view text) {
  constexpr std::pair<char, std::string_view> kEntities[] = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  std::string result;
  for (const char c : text) {
    const auto* const entity = std::ranges::find(kEntities, c, &std::pair<char, std::string_view>::first);
    // XML 1.0 forbids other control characters, even as references.
    const bool forbidden = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    result += entity != std::end(kEntities) ? std::string(entity->second) : std::string(1, forbidden ? ' ' : c);
  }
  return result;
}

std::string paint_attribute(std::string_view name, Color color) {
  std::string text = fmt::format(" {}=\"#{:02x}{:02x}{:02x}\"", name, color.r, color.g, color.b);
  if (color.a != 255) text += fmt::format(" {}-opacity=\"{}\"", name, number(static_cast<float>(color.a) / 255.0f));
  return text;
}

std::string stroke(Color color, float width, float dash, float gap) {
  std::string text = paint_attribute("stroke", color);
  if (width != 1) text += fmt::format(" stroke-width=\"{}\"", number(width));
  if (dash > 0) text += fmt::format(" stroke-dasharray=\"{} {}\"", number(dash), number(gap));
  return text;
}

// Writes only one coordinate for horizontal and vertical pieces.
std::string path_of(const std::vector<Point>& points, bool closed) {
  std::string path;
  std::string x, y;
  for (const Point& p : points) {
    const std::string next_x = number(p.x), next_y = number(p.y);
    if (path.empty()) {
      path = "M" + next_x + " " + next_y;
    } else if (next_y == y) {
      path += "H" + next_x;
    } else if (next_x == x) {
      path += "V" + next_y;
    } else {
      path += "L" + next_x + " " + next_y;
    }
    x = next_x;
    y = next_y;
  }
  return closed ? path + "Z" : path;
}

std::string rect_attributes(const Rect& rect, float radius) {
  std::string text = fmt::format(" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(rect.x0), number(rect.y0),
                                 number(rect.width()), number(rect.height()));
  if (radius > 0) text += fmt::format(" rx=\"{}\"", number(radius));
  return text;
}

class SvgPainter {
 public:
  explicit SvgPainter(std::string& out) : out_(out) {}

  void operator()(const Fill& fill) {
    out_ += "<rect" + rect_attributes(fill.rect, fill.radius) + paint_attribute("fill", fill.color);
    out_ += fill.radius > 0 ? "/>\n" : " class=\"crisp\"/>\n";
  }

  void operator()(const Outline& outline) {
    out_ += "<rect" + rect_attributes(outline.rect, outline.radius) + " fill=\"none\"" +
            stroke(outline.color, outline.width, outline.dash, outline.gap) + "/>\n";
  }

  void operator()(const Columns& columns) {
    out_ += fmt::format("<path class=\"crisp\" data-kind=\"{}\"", record::key_of(columns.category)) +
            paint_attribute("fill", columns.color) + " d=\"";
    for (const auto& shape : outlines_of(columns.rects)) out_ += path_of(shape, true);
    out_ += "\"/>\n";
  }

  void operator()(const Segments& segments) {
    out_ += "<path fill=\"none\"" + stroke(segments.color, segments.width, 0, 0) + " d=\"";
    for (const auto& piece : segments.pieces) {
      out_ += fmt::format("M{} {}L{} {}", number(piece.from.x), number(piece.from.y), number(piece.to.x),
                          number(piece.to.y));
    }
    out_ += "\"/>\n";
  }

  void operator()(const Polyline& line) {
    out_ += "<path fill=\"none\"" + stroke(line.color, line.width, line.dash, line.gap) + " d=\"" +
            path_of(line.points, false) + "\"/>\n";
  }

  void operator()(const Disc& disc) {
    out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", number(disc.center.x), number(disc.center.y),
                        number(disc.radius));
    out_ += disc.fill.a > 0 ? paint_attribute("fill", disc.fill) : " fill=\"none\"";
    if (disc.stroke_width > 0) out_ += stroke(disc.stroke, disc.stroke_width, 0, 0);
    out_ += "/>\n";
  }

  void operator()(const Text& text) {
    static constexpr std::string_view kAnchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    out_ +=
        fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" class=\"face{}\"{}", number(text.at.x), number(text.at.y),
                    number(text.em), static_cast<int>(text.face), kAnchors[static_cast<std::size_t>(text.anchor)]);
    out_ += paint_attribute("fill", text.color) + ">" + escaped(text.text) + "</text>\n";
  }

 private:
  std::string& out_;
};

std::string style() {
  std::string text = "<style>\n.crisp{shape-rendering:crispEdges}\ntext{font-variant-numeric:tabular-nums}\n";
  for (int i = 0; i < kNumFaces; ++i) {
    const FaceFacts& face = facts_of(static_cast<Face>(i));
    const std::string_view fallback =
        static_cast<Face>(i) == Face::kMono ? "monospace" : "Inter,'Helvetica Neue',Arial,sans-serif";
    text += fmt::format(".face{}{{font-family:'{}',{};font-weight:{}}}\n", i, face.family, fallback, face.weight);
  }
  return text + "</style>\n";
}

}  // namespace

std::string to_svg(const Scene& scene, const std::string& metadata) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\" aria-labelledby=\"title description\">\n",
      number(scene.width), number(scene.height));
  out += "<title id=\"title\">" + escaped(scene.title) + "</title>\n";
  out += "<desc id=\"description\">" + escaped(scene.description) + "</desc>\n";
  out += "<metadata>" + escaped(metadata) + "</metadata>\n" + style();
  SvgPainter painter(out);
  painter(Fill{{0, 0, scene.width, scene.height}, scene.ground, 0});
  const Item* last = nullptr;
  for (const Item& item : scene.items) {
    if (last == nullptr || last->layer != item.layer) {
      out += fmt::format("{}<g class=\"{}\">\n", last == nullptr ? "" : "</g>\n", name_of(item.layer));
    }
    std::visit(painter, item.shape);
    last = &item;
  }
  return out + (last == nullptr ? "" : "</g>\n") + "</svg>\n";
}

}  // namespace headroom::app::paint
