// Page of the chapter of fused kernels: a kernel that the reader edits.
#include <array>

#include "lessons/chapter.h"

namespace headroom::lessons {
namespace {

constexpr std::array<std::string_view, 1> kFigures{"edited_kernel"};
constexpr std::array<std::string_view, 2> kWidgets{"kernel_editor", "settings"};
constexpr std::array<std::string_view, 1> kRecordings{"edit_kernel_rms_norm_h200"};

}  // namespace

extern const Page kEditAKernel;
constinit const Page kEditAKernel{
    .id = "edit_a_kernel",
    .title = "Edit a kernel",
    .text = "edit_a_kernel.md",
    .demo = "edit_kernel",
    .figures = kFigures,
    .recordings = kRecordings,
    .widgets = kWidgets,
};

}  // namespace headroom::lessons
