// The platform window.
#include "app/window/shell/window.h"

#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/common/whole_file.h"
#include "app/window/draw/theme.h"
#include "imgui.h"
#include "imgui_impl_glfw.h"
#include "imgui_impl_opengl3.h"
#include "imgui_internal.h"  // InputEventsQueue: whether there was input
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include "imstb_image_write.h"

namespace headroom::app::window {

namespace {

// OpenGL constants and functions that ImGui does not provide.
constexpr unsigned kColorBufferBit = 0x4000, kRgba = 0x1908, kUnsignedByte = 0x1401, kPackAlignment = 0x0D05;

template <class Function>
Function gl_function(const char* name) {
  return reinterpret_cast<Function>(glfwGetProcAddress(name));
}

void clear(int width, int height) {
  static_assert(sizeof(float) == 4);
  gl_function<void (*)(int, int, int, int)>("glViewport")(0, 0, width, height);
  const ImVec4 color = as_vec4(theme().canvas);
  gl_function<void (*)(float, float, float, float)>("glClearColor")(color.x, color.y, color.z, 1);
  gl_function<void (*)(unsigned)>("glClear")(kColorBufferBit);
}

std::string last_glfw_error() {
  const char* description = nullptr;
  glfwGetError(&description);
  return description == nullptr ? "no reason given" : description;
}

}  // namespace

PlatformWindow::PlatformWindow(GLFWwindow* window) : window_(window) {
  // ImGui counts neither uncovering nor resizing nor dropped files as input.
  glfwSetWindowUserPointer(window, &events_);
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* uncovered) { events_of(uncovered).damaged = true; });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* resized, int, int) { events_of(resized).damaged = true; });
  glfwSetDropCallback(window, [](GLFWwindow* under, int count, const char** paths) {
    Events& events = events_of(under);
    events.dropped.insert(events.dropped.end(), paths, paths + count);
    events.damaged = true;
  });
}

PlatformWindow::Events& PlatformWindow::events_of(GLFWwindow* window) {
  return *static_cast<Events*>(glfwGetWindowUserPointer(window));
}

record::Result<std::unique_ptr<PlatformWindow>> PlatformWindow::open(const PlatformOptions& options) {
  if (options.headless) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_NULL);
  if (!glfwInit())
    return record::Error{
        fmt::format("There is no display for a window ({}). Without one, `headroom figures --out DIR` writes figures "
                    "and `headroom-window --headless --screenshot FILE.png` takes a picture.",
                    last_glfw_error())};
  glfwDefaultWindowHints();
  if (options.headless) glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "headroom");
  GLFWwindow* window = glfwCreateWindow(options.width, options.height, "Headroom", nullptr, nullptr);
  if (window == nullptr) {
    const std::string reason = last_glfw_error();
    glfwTerminate();
    return record::Error{
        fmt::format("This display has no OpenGL 3.3 ({}). Install Mesa's software renderer (libgl1-mesa-dri, "
                    "libegl1), or write figures with `headroom figures --out DIR`.",
                    reason)};
  }
  glfwMakeContextCurrent(window);
  glfwSwapInterval(options.headless ? 0 : 1);
  std::unique_ptr<PlatformWindow> opened(new PlatformWindow(window));

  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigNavCursorVisibleAuto = true;
  const bool platform_up = ImGui_ImplGlfw_InitForOpenGL(window, true);
  opened->backends_up_ = platform_up && ImGui_ImplOpenGL3_Init("#version 330");
  if (!opened->backends_up_) {
    if (platform_up) ImGui_ImplGlfw_Shutdown();
    return record::Error{
        "OpenGL could not be loaded (libGL, libEGL or libOpenGL is missing): install libgl1 and libegl1."};
  }
  return opened;
}

PlatformWindow::~PlatformWindow() {
  if (backends_up_) {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
  }
  if (ImGui::GetCurrentContext() != nullptr) ImGui::DestroyContext();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

bool PlatformWindow::should_close() const { return glfwWindowShouldClose(window_) != 0; }

bool PlatformWindow::hidden() const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  return width == 0 || height == 0 || glfwGetWindowAttrib(window_, GLFW_ICONIFIED) != 0;
}

float PlatformWindow::display_scale() const {
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  return x > 0 ? x : 1;
}

void PlatformWindow::set_full_screen(bool on) {
  if (on == full_screen_) return;
  GLFWmonitor* const monitor = glfwGetPrimaryMonitor();
  if (monitor == nullptr) return;
  full_screen_ = on;
  if (!on) {
    glfwSetWindowMonitor(window_, nullptr, before_x_, before_y_, before_width_, before_height_, GLFW_DONT_CARE);
    return;
  }
  glfwGetWindowPos(window_, &before_x_, &before_y_);
  glfwGetWindowSize(window_, &before_width_, &before_height_);
  const GLFWvidmode* const mode = glfwGetVideoMode(monitor);
  glfwSetWindowMonitor(window_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

bool PlatformWindow::wait(double seconds) {
  if (seconds <= 0)
    glfwPollEvents();
  else
    glfwWaitEventsTimeout(seconds);
  return std::exchange(events_.damaged, false) || !ImGui::GetCurrentContext()->InputEventsQueue.empty();
}

void PlatformWindow::make_frame(const std::function<void()>& content) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  content();
  ImGui::Render();
}

void PlatformWindow::draw(const std::function<void()>& content, const std::function<void()>& before_present) {
  make_frame(content);
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  clear(width, height);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  if (before_present) before_present();
  glfwSwapBuffers(window_);
}

void PlatformWindow::draw_unseen(const std::function<void()>& content, const std::function<void()>& after) {
  make_frame(content);
  // ImGui expects new glyphs to exist in the next frame.
  for (ImTextureData* texture : *ImGui::GetDrawData()->Textures)
    if (texture->Status != ImTextureStatus_OK) ImGui_ImplOpenGL3_UpdateTexture(texture);
  after();
}

void PlatformWindow::read_pixels(int x, int y, int width, int height, unsigned* rgba) {
  int full_width = 0, full_height = 0;
  glfwGetFramebufferSize(window_, &full_width, &full_height);
  gl_function<void (*)(unsigned, int)>("glPixelStorei")(kPackAlignment, 1);
  gl_function<void (*)(int, int, int, int, unsigned, unsigned, void*)>("glReadPixels")(
      x, full_height - (y + height), width, height, kRgba, kUnsignedByte, rgba);
  std::vector<unsigned> row(static_cast<std::size_t>(width));
  for (int i = 0; i < height / 2; ++i) {  // OpenGL's rows start at the bottom
    unsigned* upper = rgba + static_cast<std::ptrdiff_t>(i) * width;
    unsigned* lower = rgba + static_cast<std::ptrdiff_t>(height - 1 - i) * width;
    std::memcpy(row.data(), upper, row.size() * sizeof(unsigned));
    std::memcpy(upper, lower, row.size() * sizeof(unsigned));
    std::memcpy(lower, row.data(), row.size() * sizeof(unsigned));
  }
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(width) * height; ++i) rgba[i] |= 0xFF000000u;
}

record::Status PlatformWindow::save_png(const std::filesystem::path& path) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  std::vector<unsigned> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  read_pixels(0, 0, width, height, pixels.data());
  std::string png;
  const auto append = [](void* to, void* bytes, int count) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
  };
  stbi_write_png_to_func(append, &png, width, height, 4, pixels.data(), width * 4);
  return write_whole(path, png);
}

}  // namespace headroom::app::window
