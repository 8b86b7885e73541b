// Names for the statements of a document, which follow in a block of their own.
dynet::ParameterCollection model;
dynet::ComputationGraph cg;
dynet::AdamTrainer trainer(model);
dynet::Parameter p_W = model.add_parameters({8, 8});
dynet::Expression W = parameter(cg, p_W), x = input(cg, {8}, std::vector<float>(8));
unsigned w = 0;
