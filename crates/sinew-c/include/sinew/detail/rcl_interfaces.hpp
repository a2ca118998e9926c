/// The messages of parameters, declared without their headers.
///
/// Functions that take or return them are templates, so the headers of `rcl_interfaces` are needed
/// only where they are called with these messages.
#ifndef SINEW_DETAIL_RCL_INTERFACES_HPP
#define SINEW_DETAIL_RCL_INTERFACES_HPP

#include <memory>
#include <type_traits>

namespace rcl_interfaces::msg
{

template<class ContainerAllocator>
struct ListParametersResult_;
using ListParametersResult = ListParametersResult_<std::allocator<void>>;

template<class ContainerAllocator>
struct Parameter_;
using Parameter = Parameter_<std::allocator<void>>;

template<class ContainerAllocator>
struct ParameterDescriptor_;
using ParameterDescriptor = ParameterDescriptor_<std::allocator<void>>;

template<class ContainerAllocator>
struct ParameterValue_;
using ParameterValue = ParameterValue_<std::allocator<void>>;

template<class ContainerAllocator>
struct SetParametersResult_;
using SetParametersResult = SetParametersResult_<std::allocator<void>>;

}  // namespace rcl_interfaces::msg

#endif  // SINEW_DETAIL_RCL_INTERFACES_HPP
