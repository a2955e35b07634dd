#include "app/paint/files/writers.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>

#include <cairo-pdf.h>
#include <cairo.h>
#include <fmt/format.h>
#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>

#include "app/paint/scene/fonts.h"

namespace headroom::app::paint {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Config = std::unique_ptr<FcConfig, Freed<FcConfigDestroy>>;
using FontMap = std::unique_ptr<PangoFontMap, Freed<g_object_unref>>;
using Context = std::unique_ptr<PangoContext, Freed<g_object_unref>>;
using Layout = std::unique_ptr<PangoLayout, Freed<g_object_unref>>;
using Description = std::unique_ptr<PangoFontDescription, Freed<pango_font_description_free>>;
using Attributes = std::unique_ptr<PangoAttrList, Freed<pango_attr_list_unref>>;
using FontOptions = std::unique_ptr<cairo_font_options_t, Freed<cairo_font_options_destroy>>;
using Surface = std::unique_ptr<cairo_surface_t, Freed<cairo_surface_destroy>>;
using Cairo = std::unique_ptr<cairo_t, Freed<cairo_destroy>>;

constexpr double kPi = 3.14159265358979323846;

// Provides only the faces in assets/fonts.
class Fonts {
 public:
  static record::Result<std::shared_ptr<Fonts>> open(const std::filesystem::path& assets) {
    const std::filesystem::path folder = assets / "fonts";
    auto fonts = std::make_shared<Fonts>();
    fonts->config_.reset(FcConfigCreate());
    for (int i = 0; i < kNumFaces; ++i) {
      const std::string path = (folder / facts_of(static_cast<Face>(i)).file).string();
      if (!FcConfigAppFontAddFile(fonts->config_.get(), reinterpret_cast<const FcChar8*>(path.c_str()))) {
        return record::Error{fmt::format("The font {} cannot be read: restore the folder assets/fonts.", path)};
      }
    }
    fonts->map_.reset(pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT));
    pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(fonts->map_.get()), fonts->config_.get());
    return fonts;
  }

  PangoFontMap* map() const { return map_.get(); }

 private:
  Config config_;
  FontMap map_;
};

class CairoPainter {
 public:
  CairoPainter(cairo_t* cairo, const Fonts& fonts)
      : cairo_(cairo), context_(pango_font_map_create_context(fonts.map())) {
    const FontOptions options(cairo_font_options_create());
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(context_.get(), options.get());
    pango_context_set_round_glyph_positions(context_.get(), FALSE);
    layout_.reset(pango_layout_new(context_.get()));
  }

  void operator()(const Fill& fill) {
    path(fill.rect, fill.radius);
    set(fill.color);
    cairo_fill(cairo_);
  }

  void operator()(const Outline& outline) {
    path(outline.rect, outline.radius);
    stroke(outline.color, outline.width, outline.dash, outline.gap);
  }

  void operator()(const Columns& columns) {
    for (const auto& shape : outlines_of(columns.rects)) {
      path(shape);
      cairo_close_path(cairo_);
    }
    set(columns.color);
    cairo_fill(cairo_);
  }

  void operator()(const Segments& segments) {
    for (const auto& piece : segments.pieces) {
      cairo_move_to(cairo_, piece.from.x, piece.from.y);
      cairo_line_to(cairo_, piece.to.x, piece.to.y);
    }
    stroke(segments.color, segments.width, 0, 0);
  }

  void operator()(const Polyline& line) {
    path(line.points);
    stroke(line.color, line.width, line.dash, line.gap);
  }

  void operator()(const Disc& disc) {
    cairo_new_sub_path(cairo_);
    cairo_arc(cairo_, disc.center.x, disc.center.y, disc.radius, 0, 2 * kPi);
    if (disc.fill.a > 0) {
      set(disc.fill);
      disc.stroke_width > 0 ? cairo_fill_preserve(cairo_) : cairo_fill(cairo_);
    }
    if (disc.stroke_width > 0) stroke(disc.stroke, disc.stroke_width, 0, 0);
    cairo_new_path(cairo_);
  }

  void operator()(const Text& text) {
    const FaceFacts& face = facts_of(text.face);
    const Description description(pango_font_description_new());
    pango_font_description_set_family_static(description.get(), face.family.data());
    pango_font_description_set_weight(description.get(), static_cast<PangoWeight>(face.weight));
    pango_font_description_set_absolute_size(description.get(), std::round(text.em * PANGO_SCALE));
    pango_layout_set_font_description(layout_.get(), description.get());
    pango_layout_set_text(layout_.get(), text.text.data(), static_cast<int>(text.text.size()));
    const Attributes attributes(pango_attr_list_new());
    pango_attr_list_insert(attributes.get(), pango_attr_font_features_new("tnum=1"));
    pango_layout_set_attributes(layout_.get(), attributes.get());
    int width = 0;
    pango_layout_get_size(layout_.get(), &width, nullptr);
    const double w = static_cast<double>(width) / PANGO_SCALE;
    const double shift = text.anchor == Anchor::kStart ? 0 : text.anchor == Anchor::kMiddle ? w / 2 : w;
    cairo_move_to(cairo_, text.at.x - shift, text.at.y);
    set(text.color);
    pango_cairo_show_layout_line(cairo_, pango_layout_get_line_readonly(layout_.get(), 0));
  }

 private:
  void set(Color c) { cairo_set_source_rgba(cairo_, c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0); }

  void stroke(Color color, float width, float dash, float gap) {
    const std::array<double, 2> dashes{dash, gap};
    cairo_set_dash(cairo_, dashes.data(), dash > 0 ? 2 : 0, 0);
    cairo_set_line_width(cairo_, width);
    set(color);
    cairo_stroke(cairo_);
  }

  void path(const std::vector<Point>& points) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      i == 0 ? cairo_move_to(cairo_, points[i].x, points[i].y) : cairo_line_to(cairo_, points[i].x, points[i].y);
    }
  }

  void path(const Rect& r, float radius) {
    if (radius <= 0) return cairo_rectangle(cairo_, r.x0, r.y0, r.width(), r.height());
    const double k = std::min(radius, 0.5f * std::min(r.width(), r.height()));
    cairo_new_sub_path(cairo_);
    cairo_arc(cairo_, r.x1 - k, r.y0 + k, k, -kPi / 2, 0);
    cairo_arc(cairo_, r.x1 - k, r.y1 - k, k, 0, kPi / 2);
    cairo_arc(cairo_, r.x0 + k, r.y1 - k, k, kPi / 2, kPi);
    cairo_arc(cairo_, r.x0 + k, r.y0 + k, k, kPi, 1.5 * kPi);
    cairo_close_path(cairo_);
  }

  cairo_t* cairo_;
  Context context_;
  Layout layout_;
};

void paint(cairo_t* cairo, const Scene& scene, const Fonts& fonts) {
  CairoPainter painter(cairo, fonts);
  painter(Fill{{0, 0, scene.width, scene.height}, scene.ground, 0});
  for (const Item& item : scene.items) std::visit(painter, item.shape);
}

cairo_status_t append(void* closure, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

record::Error failed(std::string_view what, cairo_status_t status) {
  return {fmt::format("The {} cannot be drawn: {}.", what, cairo_status_to_string(status)),
          record::ErrorKind::kNotWritten};
}

std::uint32_t crc32(std::string_view bytes) {  // PNG specification, annex D
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) ? 0xEDB88320 ^ (crc >> 1) : crc >> 1;
  }
  return ~crc;
}

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

// Inserts a tEXt chunk after the signature (8 bytes) and IHDR (25 bytes).
void insert_text_chunk(std::string& png, const std::string& text) {
  const std::string body = "tEXtHeadroom" + std::string(1, '\0') + text;
  const auto length = static_cast<std::uint32_t>(body.size() - 4);
  png.insert(33, big_endian(length) + body + big_endian(crc32(body)));
}

}  // namespace

record::Result<std::string> to_pdf(const Scene& scene, const FileFacts& facts) {
  const auto fonts = Fonts::open(facts.assets);
  if (!fonts) return fonts.error();
  std::string bytes;
  constexpr double kPointsPerPx = 72.0 / 96.0;
  const Surface surface(
      cairo_pdf_surface_create_for_stream(append, &bytes, scene.width * kPointsPerPx, scene.height * kPointsPerPx));
  // PDF 1.4 has no compressed objects, so the metadata stays readable with every cairo version.
  cairo_pdf_surface_restrict_to_version(surface.get(), CAIRO_PDF_VERSION_1_4);
  const auto set = [&](cairo_pdf_metadata_t key, const std::string& value) {
    cairo_pdf_surface_set_metadata(surface.get(), key, value.c_str());
  };
  set(CAIRO_PDF_METADATA_TITLE, scene.title);
  set(CAIRO_PDF_METADATA_SUBJECT, scene.description);
  set(CAIRO_PDF_METADATA_KEYWORDS, facts.metadata);
  set(CAIRO_PDF_METADATA_CREATOR, "Headroom");
  set(CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");  // for reproducible bytes
  {
    const Cairo cairo(cairo_create(surface.get()));
    cairo_scale(cairo.get(), kPointsPerPx, kPointsPerPx);
    paint(cairo.get(), scene, *fonts.value());
    if (const auto status = cairo_status(cairo.get()); status != CAIRO_STATUS_SUCCESS) return failed("PDF", status);
  }
  cairo_surface_finish(surface.get());
  if (const auto status = cairo_surface_status(surface.get()); status != CAIRO_STATUS_SUCCESS)
    return failed("PDF", status);
  return bytes;
}

record::Result<std::string> to_png(const Scene& scene, const FileFacts& facts) {
  const auto fonts = Fonts::open(facts.assets);
  if (!fonts) return fonts.error();
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(scene.width)),
                                                   static_cast<int>(std::lround(scene.height))));
  {
    const Cairo cairo(cairo_create(surface.get()));
    paint(cairo.get(), scene, *fonts.value());
    if (const auto status = cairo_status(cairo.get()); status != CAIRO_STATUS_SUCCESS) return failed("PNG", status);
  }
  std::string bytes;
  const auto status = cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
  if (status != CAIRO_STATUS_SUCCESS) return failed("PNG", status);
  insert_text_chunk(bytes, facts.metadata);
  return bytes;
}

}  // namespace headroom::app::paint
