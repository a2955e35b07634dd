// Cards are found by every usual spelling, not by parts of other names.
#include "demos/predict/cards/card_names.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace headroom;
using predict::Card;
using predict::find_cards;

namespace {

std::vector<std::string> names_of(const std::vector<const Card*>& cards) {
  std::vector<std::string> names;
  for (const Card* const card : cards) names.push_back(card->name);
  return names;
}

void check_found(const char* words, const std::vector<std::string>& names) {
  CAPTURE(words);
  CHECK(names_of(find_cards(words)) == names);
}

}  // namespace

TEST_CASE("a card is found by every usual spelling of its name") {
  for (const char* const words : {"4090", "RTX 4090", "rtx 4090", "RTX-4090", "rtx4090", "RTX4090", "GeForce RTX 4090",
                                  "geforce rtx 4090", "NVIDIA GeForce RTX 4090", "RTX 4090 24GB", "4090 24 GB"})
    check_found(words, {"GeForce RTX 4090"});
  for (const char* const words : {"3090 Ti", "3090ti", "RTX3090Ti", "rtx-3090-ti", "NVIDIA GeForce RTX 3090 Ti"})
    check_found(words, {"GeForce RTX 3090 Ti"});
  for (const char* const words : {"H100 SXM", "H100-SXM5", "h100 sxm5 80gb", "NVIDIA H100 80GB HBM3", "H100SXM"})
    check_found(words, {"H100 80 GB SXM"});
  for (const char* const words : {"NVIDIA A100 80GB PCIe", "A100 80GB PCI-E", "a100-pcie-80gb", "A100 PCIe 80 GB"})
    check_found(words, {"A100 80 GB PCIe"});
  for (const char* const words : {"A6000", "RTX A6000", "rtxa6000", "NVIDIA RTX A6000 48GB"})
    check_found(words, {"RTX A6000"});
  for (const char* const words : {"RTX 6000 Ada", "6000 ada", "RTX6000Ada", "NVIDIA RTX 6000 Ada Generation"})
    check_found(words, {"RTX 6000 Ada"});
  for (const char* const words : {"PRO 6000", "RTX PRO 6000", "RTX PRO 6000 Blackwell 96GB"})
    check_found(words, {"RTX PRO 6000 Blackwell"});
  for (const char* const words : {"T4", "Tesla T4", "NVIDIA T4 16GB", "nvidia-t4"}) check_found(words, {"T4"});
  for (const char* const words : {"V100 32GB", "Tesla V100-SXM2-32GB", "V100-PCIE-32GB", "V100 32"})
    check_found(words, {"V100 32 GB"});
  for (const char* const words : {"4060 Ti 16GB", "RTX 4060 Ti 16 GB", "4060ti 16", "rtx4060ti16gb"})
    check_found(words, {"GeForce RTX 4060 Ti 16 GB"});
  check_found("3060", {"GeForce RTX 3060 12 GB"});
  check_found("2080 Ti", {"GeForce RTX 2080 Ti"});
  check_found("H100 NVL", {"H100 NVL"});
  for (const char* const words : {"GH200 96GB", "GH200 480GB", "NVIDIA GH200 480GB"}) check_found(words, {"GH200"});
  check_found("H200 141GB", {"H200 SXM"});
  check_found("this machine", {"this machine"});
}

TEST_CASE("a part of another name never finds a card") {
  check_found("H20", {"H20"});
  check_found("L40", {"L40"});
  check_found("L4", {"L4"});
  check_found("A10", {"A10"});
  check_found("3090", {"GeForce RTX 3090"});
  check_found("H100", {"H100 80 GB PCIe", "H100 80 GB SXM"});  // not the NVL
  for (const char* const words :
       {"", "no such card", "H2", "H", "40", "RTX", "NVIDIA", "6000", "RTX 6000", "4060", "GB200", "machine"})
    check_found(words, {});
}

TEST_CASE("distinguishing words of another card exclude this one") {
  for (const char* const words : {"RTX 4090 Laptop GPU", "4090 D", "4080 Super", "H200 NVL", "A100 64GB", "V100S",
                                  "RTX 4090 48GB", "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "A40", "RTX 4070 Ti"})
    check_found(words, {});
}

TEST_CASE("a name that several cards share finds all of them") {
  check_found("V100", {"V100 16 GB", "V100 32 GB"});
  check_found("A100", {"A100 40 GB PCIe", "A100 40 GB SXM", "A100 80 GB PCIe", "A100 80 GB SXM"});
  check_found("A100 80GB", {"A100 80 GB PCIe", "A100 80 GB SXM"});
  check_found("RTX 4060 Ti", {"GeForce RTX 4060 Ti 8 GB", "GeForce RTX 4060 Ti 16 GB"});
}

TEST_CASE("each card is found by its name and by the driver's") {
  for (const Card& card : predict::cards()) {
    INFO(card.name);
    CHECK(find_cards(card.name) == std::vector<const Card*>{&card});
    if (card.driver_name.empty()) continue;
    const auto found = find_cards(card.driver_name);
    CHECK(std::ranges::find(found, &card) != found.end());
    for (const Card* const each : found) CHECK(each->driver_name == card.driver_name);
  }
}

TEST_CASE("the nearest cards have most of the words, or differ in the fewest letters") {
  const auto first = [](const char* words) { return predict::nearest_cards(words).front()->name; };
  CHECK(first("RTX 4091") == "GeForce RTX 4090");
  CHECK(first("H200 NVL") == "H200 SXM");
  CHECK(first("RTX 4090 D") == "GeForce RTX 4090");
  CHECK(names_of(predict::nearest_cards("RTX 6000")) ==
        std::vector<std::string>{"RTX 6000 Ada", "RTX PRO 6000 Blackwell"});
  CHECK(predict::nearest_cards("GTX 9999").size() <= 3);
}
