// The guard that scans MessagePack before a tree is built, UTF-8 checks, and typed access to fields.
#include "demos/protocol/message_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "demos/protocol/messages.h"
#include "demos/record/text.h"

namespace headroom::protocol {

using nlohmann::json;

namespace {

// nlohmann's reader calls itself once a level and overflows the stack at some ten thousand of them, before its tree
// exists. This handler stops it at kMaxDepth: returning false unwinds the reader.
class Guard final : public nlohmann::json_sax<json> {
 public:
  std::string reason;

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool binary(binary_t&) override { return count(); }
  bool string(string_t& value) override { return count() && check_text(value); }
  bool key(string_t& value) override { return count() && check_text(value); }
  bool start_object(std::size_t) override { return count() && enter(); }
  bool start_array(std::size_t) override { return count() && enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    reason = fmt::format("not valid MessagePack at byte {}", position);
    return false;
  }

 private:
  bool refuse(std::string why) {
    reason = std::move(why);
    return false;
  }
  bool count() { return ++values_ <= kMaxValues || refuse(fmt::format("more than {} values", kMaxValues)); }
  bool check_text(const std::string& text) { return record::valid_utf8(text) || refuse("text that is not UTF-8"); }
  bool enter() { return ++depth_ <= kMaxDepth || refuse(fmt::format("nested deeper than {} levels", kMaxDepth)); }
  bool leave() {
    --depth_;
    return true;
  }

  std::size_t values_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string result(text);
  if (!record::valid_utf8(text))
    std::ranges::replace_if(
        result, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return result;
}

record::Result<json> parse_message_pack(std::span<const std::byte> bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  Guard guard;
  if (!json::sax_parse(first, first + bytes.size(), &guard, json::input_format_t::msgpack))
    return record::Error{guard.reason};
  return json::from_msgpack(first, first + bytes.size(), true, false);
}

Fields::Fields(const json& map, std::string where) : map_(&map), where_(std::move(where)) {
  if (!map.is_object()) reason_ = where_ + " is not a map";
}

void Fields::refuse(std::string_view key, std::string_view what) {
  if (ok()) reason_ = fmt::format("{}: {} {}", where_, key, what);
}

const json* Fields::find(std::string_view key) {
  if (!ok()) return nullptr;
  const auto found = map_->find(key);
  if (found == map_->end()) {
    refuse(key, "is missing");
    return nullptr;
  }
  return &*found;
}

bool Fields::has(std::string_view key) const { return ok() && map_->contains(key); }

bool Fields::boolean(std::string_view key) {
  const json* field = find(key);
  if (field && !field->is_boolean()) refuse(key, "is not a boolean");
  return ok() && field->get<bool>();
}

std::int64_t Fields::integer(std::string_view key, std::int64_t minimum, std::int64_t maximum) {
  const json* field = find(key);
  if (field && !field->is_number_integer()) refuse(key, "is not an integer");
  if (!ok()) return 0;
  // Non-negative numbers are read as unsigned: compare before converting, or 2^64 − 1 would become −1.
  const bool too_large =
      field->is_number_unsigned() && (maximum < 0 || field->get<std::uint64_t>() > static_cast<std::uint64_t>(maximum));
  const auto value = field->get<std::int64_t>();
  if (too_large || value < minimum || value > maximum) {
    refuse(key, fmt::format("is not in {} … {}", minimum, maximum));
    return 0;
  }
  return value;
}

std::uint64_t Fields::counter(std::string_view key) {
  const json* field = find(key);
  if (field && !field->is_number_unsigned()) refuse(key, "is not a non-negative integer");
  return ok() ? field->get<std::uint64_t>() : 0;
}

double Fields::real(std::string_view key, double minimum, double maximum) {
  const json* field = find(key);
  if (field && !field->is_number()) refuse(key, "is not a number");
  if (!ok()) return 0;
  const double value = field->get<double>();
  if (!(value >= minimum && value <= maximum)) {  // written so that NaN is refused as well
    refuse(key, fmt::format("is not in {} … {}", minimum, maximum));
    return 0;
  }
  return value;
}

std::string Fields::text(std::string_view key) {
  const json* field = find(key);
  if (field && !field->is_string()) refuse(key, "is not text");
  return ok() ? field->get<std::string>() : std::string();
}

std::vector<std::byte> Fields::binary(std::string_view key) {
  const json* field = find(key);
  if (field && !field->is_binary()) refuse(key, "is not binary");
  if (!ok()) return {};
  const auto& octets = field->get_binary();
  const auto* first = reinterpret_cast<const std::byte*>(octets.data());
  return {first, first + octets.size()};
}

std::map<std::string, std::string> Fields::text_map(std::string_view key) {
  std::map<std::string, std::string> result;
  for (const auto& [name, value] : map(key).items()) {
    if (value.is_string())
      result[name] = value.get<std::string>();
    else if (value.is_binary())
      result[name] = std::string(value.get_binary().begin(), value.get_binary().end());
    else
      refuse(fmt::format("{}.{}", key, name), "is not text");
  }
  return result;
}

const json& Fields::array(std::string_view key) {
  static const json empty = json::array();
  const json* field = find(key);
  if (field && !field->is_array()) refuse(key, "is not an array");
  return ok() ? *field : empty;
}

const json& Fields::map(std::string_view key) {
  static const json empty = json::object();
  const json* field = find(key);
  if (field && !field->is_object()) refuse(key, "is not a map");
  return ok() ? *field : empty;
}

}  // namespace headroom::protocol
