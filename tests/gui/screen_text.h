// Reads the text of the frame that was drawn last from its triangles: what is on the screen, whoever put it there.
#pragma once

#include <string>
#include <vector>

namespace headroom::tests {

// Pieces of text, each on one line, in the order in which they were drawn; what is cut off by its view is left out.
// Between ImGui::Render() and the next frame.
std::vector<std::string> read_screen();

// All numbers in these pieces as they are printed, without commas: "1,848 launches of 31.2 ms" has 1848 and 31.2.
std::vector<std::string> numbers_in(const std::vector<std::string>& pieces);

}  // namespace headroom::tests
