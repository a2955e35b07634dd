// The part of YAML that configurations use.
#include "demos/configs/yaml.h"

#include "tests/support/catch.h"

using namespace headroom;

namespace {

std::string yaml(const std::string& text) {
  const auto value = configs::parse_yaml(text, "a.yaml");
  return value.ok() ? value.value().dump() : value.error().message;
}

}  // namespace

TEST_CASE("keys, nested keys and scalars of YAML become JSON") {
  CHECK(yaml("# words\n---\na: 1\nb: 2.5\nc: 2e8\nd: true\ne: 'no'\nf: no\ng: text # comment\nh: null\ni:\nj: \"a: "
             "b\"\n") ==
        R"({"a":1,"b":2.5,"c":200000000.0,"d":true,"e":"no","f":false,"g":"text","h":null,"i":null,"j":"a: b"})");
  CHECK(yaml("a:\n  b:\n    c: 1\n  d: x\ne: 2\r\n") == R"({"a":{"b":{"c":1},"d":"x"},"e":2})");
  CHECK(yaml("a: {}\nb: []\nc: [1, x, 'y']\nd:\n- 1\n- z\ne:\n  - 2\n") ==
        R"({"a":{},"b":[],"c":[1,"x","y"],"d":[1,"z"],"e":[2]})");
  CHECK(yaml("path: /a/b#c:d\nport: '29500'\nv: it''s\nw: 'it''s'\n") ==
        R"({"path":"/a/b#c:d","port":"29500","v":"it''s","w":"it's"})");
  CHECK(yaml("") == "{}");
}

TEST_CASE("what this reader does not know is refused with its line") {
  CHECK(yaml("a: 1\n\tb: 2\n") == "a.yaml, line 2 is indented by a tab; use blanks.");
  CHECK(yaml("a: 1\na: 2\n") == "a.yaml, line 2 has the key a again; keep one.");
  CHECK(yaml("a: 1\n   b: 2\n") == "a.yaml, line 2 is indented like no line above it.");
  CHECK(yaml("a:\n    b: 1\n  c: 2\n") == "a.yaml, line 3 is indented like no line above it.");
  CHECK(yaml("words\n") == "a.yaml, line 1 has no \"key: value\" but \"words\".");
  CHECK(yaml("a: 'x\n") == "a.yaml, line 1 has no closing quote in \"'x\".");
  CHECK(yaml("a: b: c\n") == "a.yaml, line 1 has two colons in \"b: c\"; put the value in quotes.");
  CHECK(yaml("a: [1\n") == "a.yaml, line 1 has a list without its closing bracket in the same line.");
  CHECK(yaml("a: 1\n---\nb: 2\n") == "a.yaml, line 2 begins a second document; use one document per file.");
  for (const char* more : {"a: &x 1\n", "a: *x\n", "a: !!int 1\n", "a: |\n  text\n", "a: {b: 1}\n"}) {
    INFO(more);
    CHECK(yaml(more).find("is more of YAML than this reader knows") != std::string::npos);
  }
  CHECK(yaml("- a\n- b\n") == "a.yaml is YAML, but a list; use a configuration with \"key: value\" lines.");
}
