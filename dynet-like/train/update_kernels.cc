#include "dynet-like/train/update_kernels.h"

#include "dynet-like/train/update_loops.h"

namespace dynet::cpu::DYNET_ISA {

template <class Rule>
void update(const TrainerSlice& s) {
  apply_rule<Rule>(s);
}

template void update<rules::SGD>(const TrainerSlice&);
template void update<rules::Momentum>(const TrainerSlice&);
template void update<rules::Adagrad>(const TrainerSlice&);
template void update<rules::Adadelta>(const TrainerSlice&);
template void update<rules::RMSProp>(const TrainerSlice&);
template void update<rules::Adam<false>>(const TrainerSlice&);
template void update<rules::Adam<true>>(const TrainerSlice&);

}  // namespace dynet::cpu::DYNET_ISA
