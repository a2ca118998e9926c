/// The parameters of function objects.
#ifndef SINEW_DETAIL_FUNCTION_TRAITS_HPP
#define SINEW_DETAIL_FUNCTION_TRAITS_HPP

#include <type_traits>

namespace sinew::detail
{

template<class ... Ts>
struct TypeList {};

/// Instead of the parameters of a function object that has several call operators, or a template: a
/// generic lambda, the result of `std::bind`.
struct UnknownTypes {};

template<class F>
struct ParametersOf
{
  using type = UnknownTypes;
};

template<class R, class ... Ps>
struct ParametersOf<R (Ps...)>
{
  using type = TypeList<Ps...>;
};
template<class R, class ... Ps>
struct ParametersOf<R (Ps...) noexcept>: ParametersOf<R (Ps...)> {};

template<class C, class R, class ... Ps>
struct ParametersOf<R (C::*)(Ps...)>: ParametersOf<R (Ps...)> {};
template<class C, class R, class ... Ps>
struct ParametersOf<R (C::*)(Ps...) const>: ParametersOf<R (Ps...)> {};
template<class C, class R, class ... Ps>
struct ParametersOf<R (C::*)(Ps...) noexcept>: ParametersOf<R (Ps...)> {};
template<class C, class R, class ... Ps>
struct ParametersOf<R (C::*)(Ps...) const noexcept>: ParametersOf<R (Ps...)> {};

template<class F, class = void>
struct CallOperatorOf
{
  using type = F;
};
template<class F>
struct CallOperatorOf<F, std::void_t<decltype(&F::operator())>>
{
  using type = decltype(&F::operator());
};

/// The parameters of a function, a pointer to one, or a function object. Function objects of the
/// library specialise it.
template<class F>
struct FunctionTraits
{
  using parameters =
    typename ParametersOf<std::remove_pointer_t<typename CallOperatorOf<F>::type>>::type;
};

template<class F>
using parameters_t = typename FunctionTraits<std::decay_t<F>>::parameters;

}  // namespace sinew::detail

#endif  // SINEW_DETAIL_FUNCTION_TRAITS_HPP
