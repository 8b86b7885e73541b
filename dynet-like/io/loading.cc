#include "dynet-like/io/loading.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/printable.h"
#include "dynet-like/io/int8_tensors.h"
#include "dynet-like/param/storage.h"

namespace dynet {
namespace {

std::string describe(const ParameterStorageBase& p) {
  return describe_shape(p.is_lookup, p.dim, p.rows);
}

std::string describe(const SavedTensor& t) { return describe_shape(t.is_lookup, t.dim(), t.rows); }

SavedTensor tensor_of(const ParameterStorageBase& p, const std::string& name) {
  SavedTensor t;
  t.name = name;
  t.is_lookup = p.is_lookup;
  t.updated = p.updated;
  t.rows = p.rows;
  t.sizes.assign(p.dim.d, p.dim.d + p.dim.nd);
  return t;
}

void append(GroupView& view, SavedTensor tensor, const float* values) {
  view.group.tensors.push_back(std::move(tensor));
  view.values.push_back(values);
}

// Visits a collection and its subcollections, with their paths relative to it.
template <class Visit>
void for_each_collection(CollectionNode& node, const std::string& path, Visit visit) {
  visit(path, node);
  for (auto& child : node.children)
    for_each_collection(*child, path + child->fullname.substr(node.fullname.size()), visit);
}

CollectionNode& find_node(const ParameterCollection& pc) {
  CollectionNode* found = nullptr;
  for_each_collection(pc.bank().root, "/", [&](const std::string&, CollectionNode& node) {
    if (&node == &pc.node()) found = &node;
  });
  return *found;
}

}  // namespace

std::string describe_shape(bool is_lookup, const Dim& dim, std::size_t rows) {
  std::string s = to_string(dim);
  if (is_lookup) s = "a table of " + std::to_string(rows) + " rows " + s;
  return s;
}

std::vector<std::pair<std::string, ParameterStorageBase*>> named_parameters(
    const ParameterCollection& pc) {
  std::vector<std::pair<std::string, ParameterStorageBase*>> list;
  const std::size_t skip = pc.get_fullname().size() - 1;
  for (auto* all : {&pc.bank().parameters, &pc.bank().tables})
    for (auto& p : *all)
      if (pc.node().contains(p->collection)) {
        p->copy_to_host();
        list.emplace_back(p->name.substr(skip), p.get());
      }
  return list;
}

// Views are filled field by field: GCC 12 destroys members of nested braced initializers twice if
// an outer initializer throws.
GroupView view_of(const ParameterCollection& pc) {
  GroupView view;
  view.group.kind = "ParameterCollection";
  view.owner = std::make_shared<ParameterCollection>(pc);
  for (const auto& [name, p] : named_parameters(pc)) append(view, tensor_of(*p, name), p->data);
  for_each_collection(find_node(pc), "/", [&](const std::string& path, CollectionNode& node) {
    view.group.numbers[path] = node.weight_decay;
  });
  view.group.numbers["/"] = pc.get_weight_decay_lambda();
  return view;
}

GroupView view_of(const ParameterHandle& p, const char* kind) {
  ParameterStorageBase& s = p.stored();
  s.copy_to_host();
  GroupView view;
  view.group.kind = kind;
  view.owner = p.shared();
  append(view, tensor_of(s, s.name), s.data);
  return view;
}

GroupView view_of(const Trainer& trainer) {
  GroupView view;
  view.group.kind = trainer.kind();
  view.group.numbers = trainer.numbers();
  for (const Trainer::StateView& s : trainer.state_views())
    for (std::size_t k = 0; k < s.arrays.size(); ++k) {
      SavedTensor t;
      t.name = s.name;
      t.array = k;
      t.sizes.assign(s.dim.d, s.dim.d + s.dim.nd);
      append(view, std::move(t), s.arrays[k]);
    }
  return view;
}

bool is_finite(const GroupView& view) {
  const auto finite = [](auto x) { return std::isfinite(x); };
  for (const auto& [name, x] : view.group.numbers)
    if (!finite(x)) return false;
  for (std::size_t i = 0; i < view.values.size(); ++i)
    if (!std::all_of(view.values[i], view.values[i] + view.group.tensors[i].count(), finite))
      return false;
  return true;
}

std::string& Saving::add_thing(std::string kind) {
  index_.things.push_back({std::move(kind), {}});
  return archives_.emplace_back();
}

std::uint64_t Saving::add(GroupView view) {
  index_.groups.push_back(view.group);
  views_.push_back(std::move(view));
  return views_.size() - 1;
}

void Saving::replace(std::uint64_t number, GroupView view) {
  index_.groups.at(number) = view.group;
  views_.at(number) = std::move(view);
}

void Saving::write(const std::string& path, const SaveOptions& options) const {
  FileIndex index = index_;
  std::vector<std::string_view> data(archives_.begin(), archives_.end());
  if (!options.metadata.empty()) {
    index.things.push_back({kMetadataKind, {}});
    data.emplace_back(options.metadata);
  }
  for (const GroupView& v : views_)
    for (std::size_t i = 0; i < v.values.size(); ++i)
      data.emplace_back(reinterpret_cast<const char*>(v.values[i]),
                        v.group.tensors[i].count() * sizeof(float));
  write_model_file(path, std::move(index), data, options);
}

Loading::Loading(LoadOptions options) : options_(std::move(options)) {
  for (const auto& [from, to] : options_.rename) rename_used_[from] = false;
}

std::string Loading::renamed(const std::string& name) {
  // The whole name first, then its prefixes, the longest first.
  for (std::size_t n = name.size(); n != 0;) {
    if (const auto rule = options_.rename.find(name.substr(0, n)); rule != options_.rename.end()) {
      rename_used_[rule->first] = true;
      return rule->second + name.substr(n);
    }
    const std::size_t slash = n < 2 ? name.npos : name.rfind('/', n - 2);
    n = slash == name.npos ? 0 : slash + 1;
  }
  return name;
}

void Loading::differ(bool allowed, const std::string& why) {
  (allowed ? left_out_ : differences_).push_back(printable(why));
}

void Loading::take(ParameterStorageBase& p, const SavedTensor& t,
                   const std::vector<float>* values) {
  const std::size_t k = values_.size();
  values_.push_back({&p, t.updated, nullptr});
  const auto destination = [this, k] {
    float* to = memory_.allocate_array<float>(values_[k].to->size());
    values_[k].values = to;
    return to;
  };
  if (values) {
    std::copy(values->begin(), values->end(), destination());
    return;
  }
  if (t.is_int8) {
    reads_.push_back(
        {t.data, [this, k, destination, t](const ModelFile& file, const Section& from) {
           const std::string bytes = file.read(from);
           decode(t, bytes.data(), destination());
           values_[k].int8 = int8_matrix(t, bytes.data());
         }});
    return;
  }
  reads_.push_back({t.data, [this, k, destination](const ModelFile& file, const Section& from) {
                      if (file.mapping()) {
                        char* const bytes = file.mapped(from, options_.verify);
                        values_[k].values = reinterpret_cast<float*>(bytes);
                        values_[k].mapping = file.mapping();
                      } else {
                        file.read(from, reinterpret_cast<char*>(destination()));
                      }
                    }});
}

void Loading::match(const Here& here, IncomingGroup& in) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < in.group.tensors.size(); ++i) {
    const SavedTensor& t = in.group.tensors[i];
    const std::string name = renamed(t.name);
    if (!seen.insert(name).second) {
      differ(false, name + " comes twice in the file");
      continue;
    }
    const auto found = here.find(name);
    if (found == here.end()) {
      differ(options_.allow_extra, name + " " + describe(t) + " is in the file only");
      continue;
    }
    ParameterStorageBase& p = *found->second;
    const bool whole = in.values.empty() || in.values[i].size() == p.size();
    if (p.is_lookup != t.is_lookup || p.dim != t.dim() || p.rows != t.rows || !whole)
      differ(options_.allow_reshaped,
             name + " is " + describe(t) + " in the file and " + describe(p) + " here");
    else
      take(p, t, in.values.empty() ? nullptr : &in.values[i]);
  }
  // Sorted by creation, parameters first.
  std::vector<std::pair<const ParameterStorageBase*, std::string>> missing;
  for (const auto& [name, p] : here)
    if (!seen.contains(name)) missing.emplace_back(p, name);
  std::sort(missing.begin(), missing.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first->is_lookup, a.first->index) <
           std::pair(b.first->is_lookup, b.first->index);
  });
  for (const auto& [p, name] : missing)
    differ(options_.allow_missing, name + " " + describe(*p) + " is missing in the file");
}

void Loading::add(const ParameterCollection& pc, IncomingGroup in) {
  if (in.group.kind != "ParameterCollection") {
    differ(false, "a " + in.group.kind + " was saved, not a ParameterCollection");
    return;
  }
  Here here;
  for (const auto& [name, p] : named_parameters(pc)) here.emplace(name, p);
  match(here, in);
  owners_.push_back(std::make_shared<ParameterCollection>(pc));
  if (!options_.settings) return;
  std::map<std::string, float> decays;
  for (const auto& [path, decay] : in.group.numbers)
    decays[renamed(path)] = static_cast<float>(decay);
  for_each_collection(find_node(pc), "/", [&](const std::string& path, CollectionNode& node) {
    if (const auto d = decays.find(path); d != decays.end()) decays_.emplace_back(&node, d->second);
  });
}

void Loading::add(const ParameterHandle& p, IncomingGroup in) {
  ParameterStorageBase& s = p.stored();
  const char* kind = s.is_lookup ? "LookupParameter" : "Parameter";
  if (in.group.kind != kind) {
    differ(false, "a " + in.group.kind + " was saved, not a " + kind);
    return;
  }
  s.copy_to_host();
  match({{s.name, &s}}, in);
  owners_.push_back(p.shared());
}

void Loading::add(Trainer& trainer, IncomingGroup in) {
  Here here;
  for (const auto& [name, p] : named_parameters(trainer.collection())) here.emplace(name, p);
  TrainerSnapshot snapshot;
  snapshot.kind = in.group.kind;
  snapshot.numbers = in.group.numbers;
  const std::size_t which = trainers_.size();
  for (std::size_t i = 0; i < in.group.tensors.size(); ++i) {
    const SavedTensor& t = in.group.tensors[i];
    const std::string name = renamed(t.name);
    const std::string what = in.group.kind + " state of " + name;
    const auto p = here.find(name);
    const bool extra = p == here.end();
    if (extra ? options_.allow_extra
              : options_.allow_reshaped && p->second->full_dim() != t.dim()) {
      if (t.array == 0) differ(true, what + (extra ? " is in the file only" : " is reshaped"));
      continue;
    }
    if (t.array == 0) snapshot.entries.push_back({name, t.dim(), {}});
    if (snapshot.entries.empty() || snapshot.entries.back().name != name ||
        snapshot.entries.back().arrays.size() != t.array) {
      differ(false, what + " has array " + std::to_string(t.array) + " out of order");
      return;
    }
    snapshot.entries.back().arrays.emplace_back();
    const std::size_t entry = snapshot.entries.size() - 1, k = t.array;
    const auto read = [this, which, entry, k, n = t.count()](const ModelFile& file,
                                                             const Section& from) {
      StateArray& a = trainers_[which].second.entries[entry].arrays[k];
      a = StateArray(n);
      file.read(from, reinterpret_cast<char*>(a.data()));
    };
    if (in.values.empty()) {
      reads_.push_back({t.data, read});
    } else {
      StateArray& a = snapshot.entries.back().arrays.back();
      a = StateArray(t.count());
      std::copy(in.values[i].begin(), in.values[i].end(), a.data());
    }
  }
  for (const std::string& s : trainer.differences(snapshot)) differ(false, s);
  trainers_.emplace_back(&trainer, std::move(snapshot));
}

std::string Loading::problem(bool all) const {
  std::string problems;
  const auto add = [&](const std::string& s) { problems += (problems.empty() ? "" : "; ") + s; };
  for (const std::string& s : differences_) add(s);
  for (const auto& [name, used] : rename_used_)
    if (all && !used) add(name + " is to be renamed and is not in the file");
  return problems;
}

void Loading::read(const ModelFile& file) {
  std::multimap<std::uint64_t, const Read*> wanted;
  for (const Read& r : reads_) wanted.emplace(r.from.number, &r);
  for (const SavedGroup& g : file.index().groups)
    for (const SavedTensor& t : g.tensors) {
      const auto [first, last] = wanted.equal_range(t.data.number);
      if (first == last && (options_.verify || !file.mapping())) file.verify(t.data);
      try {
        for (auto i = first; i != last; ++i) i->second->read(file, t.data);
      } catch (const OutOfMemoryError&) {  // from the memory for values, without a file name
        io_detail::out_of_memory("load", file.path());
      }
    }
  if (file.index().has_metadata()) file.verify(file.index().things.back().data);
  reads_.clear();
}

LoadReport Loading::commit() {
  LoadReport report{values_.size(), std::move(left_out_)};
  for (auto& [trainer, snapshot] : trainers_) trainer->restore(std::move(snapshot));
  for (Values& v : values_) {
    if (v.mapping)
      v.to->use(v.values, std::move(v.mapping));
    else if (v.to->size() > 0)
      std::memcpy(v.to->data, v.values, v.to->size() * sizeof(float));
    if (options_.settings) v.to->updated = v.updated;
    v.to->changed();
    if (v.int8) v.to->set_int8(std::move(v.int8));
  }
  for (const auto& [node, decay] : decays_) node->weight_decay = decay;
  return report;
}

}  // namespace dynet
