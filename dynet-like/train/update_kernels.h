#pragma once

#include "dynet-like/base/each_isa.h"
#include "dynet-like/param/update_rules.h"
#include "dynet-like/train/rule.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// `apply_rule` with the rules of dynet-like/param/update_rules.h.
    template <class Rule> void update(const TrainerSlice& s);

)

}  // namespace dynet::cpu

namespace dynet {

/// Value of TrainerRule::apply.
template <class Rule>
constexpr TrainerRule rule_of(const cuda::UpdateRule* on_device) {
  return {.arrays = Rule::kState,
          .apply = DYNET_PER_ISA(void (*)(const TrainerSlice&), cpu::update<Rule>),
          .device = DeviceRule::by(on_device)};
}

}  // namespace dynet
