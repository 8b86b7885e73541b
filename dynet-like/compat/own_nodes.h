#pragma once

// DyNet's macros for classes derived from Node. Own operations are defined differently in this
// library; the macros fail with a message that points to the documentation.

#define DYNET_COMPAT_OWN_NODE_                                                                   \
  static_assert(sizeof(int) == 0,                                                                \
                "an operation of your own is an OpForm with two kernels and add_node, no class " \
                "derived from Node: see 'Operations of your own' in docs/from-dynet.md");

#define DYNET_NODE_DEFINE_DEV_IMPL() DYNET_COMPAT_OWN_NODE_
#define DYNET_NODE_INST_DEV_IMPL(node) DYNET_COMPAT_OWN_NODE_
#define DYNET_NODE_INST_DEV_IMPL_CUDA(node) DYNET_COMPAT_OWN_NODE_
