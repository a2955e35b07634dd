// Checks MessagePack before a tree is built.
#include "demos/protocol/message_pack.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "demos/protocol/messages.h"
#include "demos/record/text.h"

namespace headroom::protocol {

using nlohmann::json;

namespace {

// nlohmann's reader recurses once per level and overflows the stack after some ten thousand levels. Returning false
// stops it.
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

record::Result<json> parse_message_pack(std::span<const std::byte> bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  Guard guard;
  if (!json::sax_parse(first, first + bytes.size(), &guard, json::input_format_t::msgpack))
    return record::Error{guard.reason};
  return json::from_msgpack(first, first + bytes.size(), true, false);
}

}  // namespace headroom::protocol
