// What the statements of a document take for granted: they are in a block of their own after these.
dynet::ParameterCollection model;
dynet::ComputationGraph cg;
dynet::AdamTrainer trainer(model);
dynet::Parameter p_W = model.add_parameters({8, 8});
dynet::Expression W = parameter(cg, p_W), x = input(cg, {8}, std::vector<float>(8));
unsigned w = 0;
