// Dear ImGui's compile-time settings, included by imgui.h.
#pragma once

#define ImDrawIdx unsigned int  // for frames with more than 65536 vertices
#define IMGUI_USE_WCHAR32
#define IMGUI_DISABLE_OBSOLETE_FUNCTIONS
#define IMGUI_DISABLE_DEMO_WINDOWS

#ifdef HEADROOM_WITH_IMGUI_TEST_ENGINE
#define IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL 1
#define IMGUI_TEST_ENGINE_ENABLE_STD_FUNCTION 1
#include "imgui_te_imconfig.h"
#endif
