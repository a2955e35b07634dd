// Contrast of every color with each ground it is used on, as WCAG 2.2 defines it.
#include "app/paint/scene/palette.h"

#include "tests/support/catch.h"

using namespace headroom::app::paint;

namespace {

struct Theme {
  const char* name;
  const Palette& palette;
  double text;  // least contrast of text
};
const Theme kThemes[] = {{"light", kLight, 4.5}, {"dark", kDark, 4.5}, {"high contrast", kHighContrast, 7}};

}  // namespace

TEST_CASE("contrast follows WCAG") {
  CHECK(contrast(rgb(0x000000), rgb(0xFFFFFF)) == Approx(21));
  CHECK(contrast(rgb(0x777777), rgb(0xFFFFFF)) == Approx(4.48).margin(0.01));
  CHECK(contrast(rgb(0x0072B2), rgb(0xFFFFFF)) == Approx(5.19).margin(0.01));
}

TEST_CASE("colors mix and fade") {
  CHECK(mixed(rgb(0x000000), rgb(0xFFFFFF), 0.5f) == rgb(0x808080));
  CHECK(faded(rgb(0x123456), 0.5f).a == 128);
  CHECK(kLight.of(headroom::record::Category::kWeights).quiet == rgb(0x94C4DF));  // as in look.md
  CHECK(kDark.of(headroom::record::Category::kGradients).quiet == rgb(0x6E3508));
}

TEST_CASE("text is readable on every surface") {
  for (const auto& [name, p, least] : kThemes) {
    INFO(name);
    for (const Color ground : {p.rail, p.canvas, p.card, p.well, p.raised, p.state.hover, p.state.selected}) {
      CHECK(contrast(p.text, ground) >= least);
      CHECK(contrast(p.text2, ground) >= least);
      CHECK(contrast(p.text3, ground) >= least);
      CHECK(contrast(p.control, ground) >= 3);
      CHECK(contrast(p.ink, ground) >= 3);
      CHECK(contrast(p.focus, ground) >= 3);
      if (!(ground == p.state.selected)) CHECK(contrast(p.danger, ground) >= 4.5);
    }
    CHECK(contrast(p.danger, p.danger_soft) >= 4.5);
    for (const Color ink : {p.ink, p.state.ink_hover, p.state.ink_active}) CHECK(contrast(p.on_ink, ink) >= least);
    for (const Color phase : p.phase) CHECK(contrast(p.text, phase) >= least);
  }
}

TEST_CASE("kinds of memory contrast with the plot by fill, or by outline and hatch") {
  for (const auto& [name, p, least] : kThemes) {
    for (const KindColors& kind : p.kinds) {
      INFO(name);
      const double fill = contrast(kind.fill, p.well);
      CHECK((fill >= 3 || (kind.hatched && kind.outlined)));
      if (kind.outlined) CHECK(contrast(kind.edge, p.well) >= 3);
      CHECK(contrast(kind.on_fill, kind.fill) >= 4.5);
      if (!p.quiet_kinds) continue;
      CHECK(contrast(kind.on_quiet, kind.quiet) >= 4.5);
      CHECK(contrast(kind.edge, kind.quiet) >= 3);
    }
  }
}

TEST_CASE("text over the hatch of steps that do not fit is readable") {
  for (const auto& [name, p, least] : kThemes) {
    INFO(name);
    const Color ground = mixed(p.well, p.danger, p.opacity.danger_ground);
    CHECK(contrast(p.danger, ground) >= 4.5);
    CHECK(contrast(p.danger, p.well) >= 4.5);  // its label is on the plot's ground
  }
}
