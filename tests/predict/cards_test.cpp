// The table of cards.
#include "demos/predict/cards.h"

#include <set>
#include <stdexcept>
#include <string>

#include "tests/support/catch.h"

using namespace headroom;
using predict::Card;

namespace {

const Card& card_named(const std::string& name) {
  for (const Card& card : predict::cards())
    if (card.name == name) return card;
  throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("the first card is this machine, of which nothing is known yet") {
  REQUIRE_FALSE(predict::cards().empty());
  const Card& here = predict::cards().front();
  CHECK(here.name == "this machine");
  CHECK_FALSE(here.memory);
  CHECK_FALSE(here.compute_capability);
  CHECK_FALSE(here.bandwidth);
  CHECK_FALSE(here.bf16);
}

TEST_CASE("a card's memory is what its driver reports, not what is on the box") {
  CHECK(card_named("GeForce RTX 4090").memory == record::Bytes{24'564} * 1'048'576);  // 25,757,220,864, not 24 GiB
  CHECK(card_named("H100 80 GB SXM").memory == record::Bytes{81'559} * 1'048'576);
  CHECK(card_named("H200 SXM").memory == record::Bytes{143'771} * 1'048'576);
  CHECK(card_named("H200 SXM").bandwidth == 4.8e12);
  CHECK(card_named("H200 SXM").bf16 == 989e12);
  CHECK_FALSE(card_named("A100 80 GB SXM").fp8);  // has none
}

TEST_CASE("every other card has its own name, all numbers but fp8, and their source") {
  std::set<std::string> names;
  for (const Card& card : predict::cards()) {
    INFO(card.name);
    CHECK(names.insert(card.name).second);
    CHECK_FALSE(card.source.empty());
    if (&card == &predict::cards().front()) continue;
    CHECK(card.driver_name.starts_with("NVIDIA "));
    CHECK(card.memory.value_or(0) > record::kGiB);
    CHECK(card.compute_capability.value_or(0) >= 8);
    CHECK(card.bandwidth.value_or(0) > 1e11);
    CHECK(card.fp32.has_value());
    CHECK(card.tf32.value_or(0) >= card.fp32.value_or(1));
    CHECK(card.bf16.value_or(0) >= card.tf32.value_or(1));
    CHECK(card.fp16 == card.bf16);
    CHECK(card.fp8.has_value() == (card.compute_capability.value_or(0) > 8.6));
  }
  CHECK(names.size() == 13);
}
