// A GLFW window with OpenGL, on a display or without one.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "demos/record/result.h"

struct GLFWwindow;

namespace headroom::app::window {

struct PlatformOptions {
  int width = 1280, height = 720;  // px
  bool headless = false;           // no display server: GLFW's null platform with an EGL context
};

// Also owns the ImGui context.
class PlatformWindow {
 public:
  // Fails without a display or OpenGL; the error says what to do.
  static record::Result<std::unique_ptr<PlatformWindow>> open(const PlatformOptions& options);
  ~PlatformWindow();
  PlatformWindow(const PlatformWindow&) = delete;
  PlatformWindow& operator=(const PlatformWindow&) = delete;

  bool should_close() const;
  // True if minimized or without a size.
  bool hidden() const;
  float display_scale() const;
  // On the primary monitor; off restores the previous place.
  void set_full_screen(bool on);
  // Returns at an event or after `seconds`. True on input, resizing or uncovering.
  bool wait(double seconds);

  // Files and folders dropped since the last call.
  std::vector<std::filesystem::path> take_dropped() { return std::exchange(events_.dropped, {}); }

  // `content` draws into a started ImGui frame; `before_present` is called before the picture is shown.
  void draw(const std::function<void()>& content, const std::function<void()>& before_present = {});
  // Like draw(), but without pixels, for scripts that read what is drawn: a software renderer takes most of a frame's
  // time.
  void draw_unseen(const std::function<void()>& content, const std::function<void()>& after);
  // Call from `before_present`.
  record::Status save_png(const std::filesystem::path& path);
  // RGBA from the upper left corner, as ImGui's capture tools need.
  void read_pixels(int x, int y, int width, int height, unsigned* rgba);

 private:
  explicit PlatformWindow(GLFWwindow* window);
  void make_frame(const std::function<void()>& content);

  GLFWwindow* window_;
  bool backends_up_ = false;
  bool full_screen_ = false;
  int before_x_ = 0, before_y_ = 0, before_width_ = 0, before_height_ = 0;
  struct Events {
    bool damaged = false;  // the display must be redrawn
    std::vector<std::filesystem::path> dropped;
  } events_;
  static Events& events_of(GLFWwindow* window);
};

}  // namespace headroom::app::window
