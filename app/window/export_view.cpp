// Writes the figure that is shown, as files.
#include "app/window/export_view.h"
namespace headroom::app::window {
void draw_export(Frame&) {}
}
