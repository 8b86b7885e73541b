#include "dynet-like/io/loading.h"

#include <algorithm>
#include <map>
#include <set>

namespace dynet {
namespace {

std::string describe(bool is_lookup, const Dim& dim, std::size_t rows) {
  std::string s = to_string(dim);
  if (is_lookup) s = "a table of " + std::to_string(rows) + " rows " + s;
  return s;
}

}  // namespace

std::vector<std::pair<std::string, ParameterStorage*>> named_parameters(
    const ParameterCollection& pc) {
  std::vector<std::pair<std::string, ParameterStorage*>> list;
  const std::size_t skip = pc.get_fullname().size() - 1;
  for (auto* all : {&pc.bank().parameters, &pc.bank().tables})
    for (auto& p : *all)
      if (pc.node().contains(p->collection)) list.emplace_back(p->name.substr(skip), p.get());
  return list;
}

void Loading::add(const ParameterCollection& pc, std::vector<SavedTensor> tensors) {
  std::map<std::string, ParameterStorage*> here;
  for (auto& [name, p] : named_parameters(pc)) here.emplace(name, p);
  std::set<std::string> seen;
  for (SavedTensor& t : tensors) {
    if (!seen.insert(t.name).second) {
      differences_.push_back(t.name + " comes twice in the file");
      continue;
    }
    const auto found = here.find(t.name);
    if (found == here.end()) {
      differences_.push_back(t.name + " " + describe(t.is_lookup, t.dim, t.rows) +
                             " is in the file only");
      continue;
    }
    ParameterStorage& p = *found->second;
    if (p.is_lookup != t.is_lookup || p.dim != t.dim || p.rows != t.rows ||
        p.size() != t.values.size())
      differences_.push_back(t.name + " is " + describe(t.is_lookup, t.dim, t.rows) +
                             " in the file and " + describe(p.is_lookup, p.dim, p.rows) + " here");
    else
      values_.push_back({&p, std::move(t.values)});
  }
  for (auto& [name, p] : named_parameters(pc))
    if (!seen.contains(name))
      differences_.push_back(name + " " + describe(p->is_lookup, p->dim, p->rows) +
                             " is missing in the file");
  collections_.push_back(pc);
}

void Loading::add(Trainer& trainer, TrainerSnapshot snapshot) {
  for (std::string& s : trainer.differences(snapshot)) differences_.push_back(std::move(s));
  trainers_.emplace_back(&trainer, std::move(snapshot));
}

std::string Loading::problem() const {
  std::string all;
  for (const std::string& s : differences_) all += (all.empty() ? "" : "; ") + s;
  return all;
}

void Loading::commit() {
  for (auto& [trainer, snapshot] : trainers_) trainer->restore(std::move(snapshot));
  for (const Values& v : values_) {
    v.to->settle_all();
    std::copy(v.values.begin(), v.values.end(), v.to->values);
    v.to->changed();
  }
}

}  // namespace dynet
