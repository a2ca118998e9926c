/// Nodes as functions take them: objects, pointers, shared pointers.
#ifndef SINEW_DETAIL_NODE_OF_HPP
#define SINEW_DETAIL_NODE_OF_HPP

namespace sinew::detail
{

/// Returns the node itself.
template<class NodeT>
auto node_of(NodeT & node)->decltype(static_cast<void>(node.handle()), (node))
{
  return node;
}

template<class Pointer>
auto node_of(Pointer & node)->decltype(static_cast<void>(node->handle()), *node)
{
  return *node;
}

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_NODE_OF_HPP
