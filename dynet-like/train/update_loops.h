#pragma once

#include "dynet-like/base/each_isa.h"
#include "dynet-like/train/rule.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// `apply_rule` with the rules of dynet-like/param/update_rules.h.
    template <class Rule> void update(const TrainerSlice& s);

)

}  // namespace dynet::cpu

/// Value of TrainerRule::apply.
#define DYNET_UPDATE(...) \
  DYNET_PER_ISA(void (*)(const ::dynet::TrainerSlice&), cpu::update<__VA_ARGS__>)
