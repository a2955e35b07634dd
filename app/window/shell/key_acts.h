// Actions of keys and commands. `which` distinguishes the keys of a table entry.
#pragma once

#include "app/window/views/page_frame.h"

namespace headroom::app::window::acts {

Turn show_keys(PageFrame& frame, int which);
Turn run(PageFrame& frame, int which);
Turn peel(PageFrame& frame, int which);
Turn undo_or_redo(PageFrame& frame, int which);
Turn change_screen(PageFrame& frame, int which);
Turn show_figure_only(PageFrame& frame, int which);
Turn show_contents(PageFrame& frame, int which);
Turn show_finder(PageFrame& frame, int which);
Turn show_glossary(PageFrame& frame, int which);
Turn go_where_i_was(PageFrame& frame, int which);
Turn show_export(PageFrame& frame, int which);
Turn change_theme(PageFrame& frame, int which);
Turn change_scale(PageFrame& frame, int which);
Turn go_on(PageFrame& frame, int which);
Turn go_back(PageFrame& frame, int which);
Turn lock(PageFrame& frame, int which);
Turn move_guess(PageFrame& frame, int which);
Turn take_digit(PageFrame& frame, int which);
Turn turn_last(PageFrame& frame, int which);
Turn show_next_figure(PageFrame& frame, int which);
Turn pin(PageFrame& frame, int which);
Turn zoom(PageFrame& frame, int which);
Turn pan(PageFrame& frame, int which);
Turn fit(PageFrame& frame, int which);
Turn step(PageFrame& frame, int which);
Turn find_kernel(PageFrame& frame, int which);
Turn turn_screen(PageFrame& frame, int which);
Turn change_batch(PageFrame& frame, int which);
Turn blank(PageFrame& frame, int which);
Turn light_spot(PageFrame& frame, int which);
Turn show_notes(PageFrame& frame, int which);

}  // namespace headroom::app::window::acts
