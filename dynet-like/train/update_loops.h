#pragma once

#include "dynet-like/base/each_isa.h"
#include "dynet-like/train/rule.h"

namespace dynet::cpu {

DYNET_EACH_ISA(

    /// apply_rule, for the rules of dynet-like/param/update_rules.h.
    template <class Rule> void update(const TrainerSlice& s);

)

}  // namespace dynet::cpu

/// As the field `apply` of a TrainerRule.
#define DYNET_UPDATE(...) \
  DYNET_PER_ISA(void (*)(const ::dynet::TrainerSlice&), cpu::update<__VA_ARGS__>)
