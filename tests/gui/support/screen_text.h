// Reads the text of the last drawn frame from its triangles.
#pragma once

#include <string>
#include <vector>

namespace headroom::tests {

// Pieces of text, each on one line, in drawing order, without clipped text. Call it between ImGui::Render() and the
// next frame.
std::vector<std::string> read_screen();

// Numbers in these pieces as printed, without commas: "1,848 launches of 31.2 ms" has 1848 and 31.2.
std::vector<std::string> numbers_in(const std::vector<std::string>& pieces);

}  // namespace headroom::tests
