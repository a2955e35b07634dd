// The table of cards.
#include "demos/predict/cards/cards.h"

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

TEST_CASE("the first card is this machine, without any data") {
  REQUIRE_FALSE(predict::cards().empty());
  const Card& here = predict::cards().front();
  CHECK(here.name == "this machine");
  CHECK_FALSE(here.memory);
  CHECK_FALSE(here.compute_capability);
  CHECK_FALSE(here.bandwidth);
  CHECK_FALSE(here.bf16);
}

TEST_CASE("a card's memory is the driver's number, not the advertised one") {
  CHECK(card_named("GeForce RTX 4090").memory == record::Bytes{24'564} * 1'048'576);  // 25,757,220,864, not 24 GiB
  CHECK(card_named("H100 80 GB SXM").memory == record::Bytes{81'559} * 1'048'576);
  CHECK(card_named("H200 SXM").memory == record::Bytes{143'771} * 1'048'576);
  CHECK(card_named("H200 SXM").bandwidth == 4.8e12);
  CHECK(card_named("H200 SXM").bf16 == 989e12);
  CHECK_FALSE(card_named("A100 80 GB SXM").fp8);
}

TEST_CASE("every other card has a name, memory, capability and their source") {
  std::set<std::string> names;
  for (const Card& card : predict::cards()) {
    INFO(card.name);
    CHECK(names.insert(card.name).second);
    CHECK_FALSE(card.source.empty());
    if (&card == &predict::cards().front()) continue;
    CHECK_FALSE(card.driver_name.empty());
    CHECK(card.memory.value_or(0) > record::kGiB);
    CHECK(card.compute_capability.value_or(0) >= 7);
  }
  CHECK(names.size() == 33);
}

TEST_CASE("a card's peaks rise as the formats have fewer bits") {
  for (const Card& card : predict::cards()) {
    INFO(card.name);
    const double capability = card.compute_capability.value_or(0);
    if (card.bandwidth) CHECK(*card.bandwidth > 1e11);
    if (card.tf32) CHECK(*card.tf32 >= card.fp32.value_or(1));
    if (card.bf16) CHECK(*card.bf16 >= card.tf32.value_or(1));
    if (card.bf16) CHECK(card.fp16 == card.bf16);
    if (capability < 8) CHECK_FALSE((card.tf32 || card.bf16));  // introduced with Ampere
    CHECK_FALSE((card.fp8 && capability < 8.9));
    if (card.bf16 && capability > 8.6) CHECK(card.fp8.value_or(0) > *card.bf16);
  }
}
