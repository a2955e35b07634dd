#!/usr/bin/env python3
"""Tests the count of members and public functions."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from classes import types  # noqa: E402


def counted(text):
    """(name, has behavior, public functions, members) of each class in `text`."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "app").mkdir()
        (Path(folder) / "app" / "a.h").write_text(text, encoding="utf-8")
        return [(each.name, each.behaves, len(each.functions), each.members()) for _, each in types(Path(folder))]


class Classes(unittest.TestCase):
    def test_public_functions_count_once_by_name(self):
        text = """class A : public B {
         public:
          explicit A(int x) : x_(x) {}
          ~A() override;
          int x() const { return x_; }
          int& x() { return x_; }
          std::map<int, int> all(std::vector<int> of = {}, int n = f(2)) const;
          static A make();

         private:
          void hidden();
          int x_ = 0;
        };"""
        self.assertEqual(counted(text), [("A", True, 3, 1)])

    def test_members_count_those_of_nested_types_that_are_held(self):
        text = """class A {
         private:
          struct Inner { int a, b = 2; std::string c{"x"}; };
          struct Unused { int a; };
          Inner inner_;
          std::map<std::string, int, std::less<>> map_;
          int low_ = 0, high_ = 1;
          static constexpr int kNone = 3;
          std::function<void(int)> callback_;
        };"""
        self.assertEqual(counted(text), [("A", True, 0, 7)])

    def test_a_record_has_no_behavior(self):
        text = """struct R {
          int a = 0;
          bool operator==(const R&) const = default;
        };
        enum class E { kA, kB };"""
        self.assertEqual(counted(text), [("R", False, 0, 1)])


if __name__ == "__main__":
    unittest.main()
