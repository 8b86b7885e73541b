// One graph for each GPU: the devices, a minibatch for each, and the loss of a minibatch.
using Minibatch = std::vector<unsigned>;
dynet::ParameterCollection model;
dynet::AdamTrainer trainer(model);
std::vector<dynet::Device*> devices;
std::vector<Minibatch> batches;
const auto loss = [](dynet::ComputationGraph& cg, const Minibatch&) { return input(cg, 0.0f); };
