// Parameters of a node: values, declarations, getting and setting, callbacks, files.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "rcl_interfaces/msg/list_parameters_result.hpp"
#include "rcl_interfaces/msg/parameter.hpp"
#include "rcl_interfaces/msg/parameter_descriptor.hpp"
#include "rcl_interfaces/msg/set_parameters_result.hpp"
#include "sinew/parameter_client.hpp"
#include "sinew/parameter_event_handler.hpp"
#include "sinew/sinew.hpp"

namespace
{

using rcl_interfaces::msg::SetParametersResult;
using sinew::Parameter;
using sinew::ParameterValue;
using Strings = std::vector<std::string>;

void values()
{
  CHECK_EQ(ParameterValue().get_type(), sinew::PARAMETER_NOT_SET);
  CHECK(ParameterValue(true).get<bool>() == true);
  CHECK(ParameterValue(7).get<int>() == std::int64_t{7});
  CHECK(ParameterValue(std::uint8_t{7}).get<sinew::ParameterType::PARAMETER_INTEGER>() == 7);
  CHECK(ParameterValue(1.5f).get<double>() == 1.5);
  CHECK(ParameterValue("text").get<std::string>() == "text");
  CHECK_EQ(ParameterValue(std::vector<float>{0.5f}).get_type(), sinew::PARAMETER_DOUBLE_ARRAY);
  CHECK(ParameterValue(std::vector<int>{1, 2}).get<std::vector<int>>() == (std::vector<std::int64_t>{1, 2}));
  CHECK_EQ(ParameterValue(std::vector<std::uint8_t>{1}).get_type(), sinew::PARAMETER_BYTE_ARRAY);
  CHECK(ParameterValue(7).get_if<double>() == nullptr);
  CHECK_THROWS((void)ParameterValue(7).get<double>(), sinew::ParameterTypeException);
  CHECK_THROWS((void)ParameterValue(7).get<bool>(), sinew::exceptions::InvalidParameterTypeException);
  CHECK(ParameterValue(7) == ParameterValue(std::int64_t{7}) && ParameterValue(7) != ParameterValue(7.0));

  const Parameter number("n", 3);
  CHECK(number.get_name() == "n" && number.as_int() == 3 && number.get_value<int>() == 3);
  CHECK_EQ(number.get_type_name(), "integer");
  CHECK_THROWS(number.as_string(), sinew::ParameterTypeException);
  CHECK_EQ(to_string(number), "{\"name\": \"n\", \"type\": \"integer\", \"value\": \"3\"}");
  CHECK(number == Parameter("n", 3) && number != Parameter("n", 4) && number != Parameter("m", 3));

  const std::pair<Parameter, std::string> all[] = {
    {Parameter("p"), "not set"},
    {Parameter("p", true), "true"},
    {Parameter("p", -5), "-5"},
    {Parameter("p", 1.5), "1.500000"},
    {Parameter("p", "text"), "text"},
    {Parameter("p", std::vector<std::uint8_t>{1, 255}), "[0x01, 0xff]"},
    {Parameter("p", std::vector<bool>{true, false}), "[true, false]"},
    {Parameter("p", std::vector<std::int64_t>{}), "[]"},
    {Parameter("p", std::vector<double>{1.5, -2}), "[1.5, -2]"},
    {Parameter("p", Strings{"a", ""}), "[\"a\", \"\"]"},
  };
  for (const auto & [parameter, text] : all) {
    CHECK_EQ(parameter.value_to_string(), text);
    CHECK_EQ(Parameter::from_parameter_msg(parameter.to_parameter_msg()), parameter);
  }
}

void declarations()
{
  sinew::Node node("declarations");
  CHECK_EQ(node.declare_parameter("double", 1.5), 1.5);
  CHECK_EQ(node.declare_parameter<double>("converted", 2), 2.0);
  CHECK_EQ(node.declare_parameter("integer", 7), std::int64_t{7});
  CHECK_EQ(node.declare_parameter("text", "abc"), "abc");
  CHECK(node.declare_parameter("value", ParameterValue(true)).get<bool>() == true);
  CHECK(node.declare_parameter("texts", Strings{"a", "b"}) == (Strings{"a", "b"}));
  CHECK(node.declare_parameter("none", Strings{}).empty());
  CHECK(node.declare_parameter("flags", std::vector<bool>{true, false}) == (std::vector<bool>{true, false}));
  CHECK_EQ(node.get_parameter("flags").as_bool_array().size(), 2u);
  CHECK(node.declare_parameter("bytes", std::vector<std::uint8_t>{0, 9}).back() == 9);
  CHECK_THROWS(node.declare_parameter("double", 1.5), sinew::exceptions::ParameterAlreadyDeclaredException);
  CHECK_THROWS(node.declare_parameter("", 1), sinew::exceptions::InvalidParametersException);
  const auto cut = node.try_declare_parameter("nul", std::string("a\0b", 3));
  CHECK(!cut && cut.error().sentence().find("'nul'") != std::string::npos && !node.has_parameter("nul"));

  // Without a value.
  CHECK_EQ(node.declare_parameter("later", sinew::PARAMETER_DOUBLE), ParameterValue());
  CHECK_THROWS(node.get_parameter("later"), sinew::exceptions::ParameterUninitializedException);
  double later = 3.0;
  CHECK(!node.get_parameter("later", later) && later == 3.0);
  CHECK(node.set_parameter(Parameter("later", 4.0)).successful);
  CHECK(node.get_parameter("later", later) && later == 4.0);
  CHECK_THROWS(
    node.declare_parameter<int>("must"), sinew::exceptions::ParameterUninitializedException);
  CHECK(node.has_parameter("must"));

  // Descriptions, as the message and as the library's own type.
  rcl_interfaces::msg::ParameterDescriptor angle;
  angle.description = "An angle.";
  angle.additional_constraints = "Quarters.";
  angle.integer_range.resize(1);
  angle.integer_range[0].set__from_value(0).set__to_value(100).set__step(25);
  CHECK_EQ(node.declare_parameter("angle", 25, angle), 25);
  CHECK_THROWS(
    node.declare_parameter("bad", 30, angle), sinew::exceptions::InvalidParameterValueException);
  const auto described = node.describe_parameter("angle");
  angle.name = "angle";
  angle.type = sinew::PARAMETER_INTEGER;
  CHECK(described == angle);
  const auto refused = node.set_parameter(Parameter("angle", 80));
  CHECK(!refused.successful && refused.reason.find("steps of 25") != std::string::npos);
  sinew::ParameterDescriptor gain;
  gain.floating_point_range.push_back({-1.0, 1.0, 0.0});
  gain.read_only = true;
  CHECK_EQ(node.declare_parameter<double>("gain", 1, gain), 1.0);
  CHECK(!node.set_parameter(Parameter("gain", 0.5)).successful);
  const auto own = node.describe_parameter<sinew::ParameterDescriptor>("gain");
  CHECK(own.read_only && own.floating_point_range.front().from_value == -1.0 && own.integer_range.empty());
  gain.floating_point_range.push_back({});
  CHECK(!node.try_declare_parameter("two", 0.0, gain));
  CHECK_EQ(node.describe_parameters({"gain", "angle"}).back().integer_range.size(), 1u);
  CHECK_THROWS(node.describe_parameter("bad"), sinew::exceptions::ParameterNotDeclaredException);
  CHECK(node.get_parameter_types({"gain", "text"}) == (std::vector<std::uint8_t>{3, 4}));

  // Only parameters with a dynamic type can go.
  sinew::ParameterDescriptor dynamic;
  dynamic.dynamic_typing = true;
  node.declare_parameter("any", 1, dynamic);
  CHECK(node.set_parameter(Parameter("any", "now a text")).successful);
  CHECK(node.get_parameter("any").as_string() == "now a text");
  node.undeclare_parameter("any");
  CHECK(!node.has_parameter("any"));
  CHECK_THROWS(node.undeclare_parameter("any"), sinew::exceptions::ParameterNotDeclaredException);
  CHECK(!node.try_undeclare_parameter("text"));

  // Several at once.
  CHECK(node.declare_parameters<int>("arm", {{"speed", 3}, {"wrist.joint", 4}}) == (std::vector<int>{3, 4}));
  using Described = std::pair<double, rcl_interfaces::msg::ParameterDescriptor>;
  const rcl_interfaces::msg::ParameterDescriptor plain;
  const std::map<std::string, Described> more = {{"x", {1.0, plain}}, {"y", {2.0, plain}}};
  CHECK(node.declare_parameters("base", more) == (std::vector<double>{1.0, 2.0}));
}

void reading_and_setting()
{
  sinew::Node node("reading");
  node.declare_parameter("rate", 10);
  node.declare_parameter("arm.speed", 1.5);
  node.declare_parameter("arm.wrist.speed", 2.5);
  CHECK_EQ(node.get_parameter("rate"), Parameter("rate", 10));
  CHECK_THROWS(node.get_parameter("nothing"), sinew::exceptions::ParameterNotDeclaredException);
  CHECK_THROWS(node.get_parameters({"rate", "nothing"}), sinew::exceptions::ParameterNotDeclaredException);
  CHECK_EQ(node.get_parameters({"arm.speed", "rate"}).at(1).as_int(), 10);
  int rate = 0;
  CHECK(node.get_parameter("rate", rate) && rate == 10);
  std::string text;
  CHECK_THROWS(node.get_parameter("rate", text), sinew::exceptions::InvalidParameterTypeException);
  Parameter whole;
  CHECK(node.get_parameter("rate", whole) && whole.as_int() == 10 && !node.get_parameter("nothing", whole));
  CHECK(!node.get_parameter_or("nothing", rate, 5) && rate == 5);
  CHECK_EQ(node.get_parameter_or("arm.speed", 0.0), 1.5);
  CHECK_EQ(node.get_parameter_or<std::string>("nothing", "none"), "none");
  std::map<std::string, double> speeds;
  CHECK(node.get_parameters("arm", speeds) && speeds.size() == 2 && speeds.at("wrist.speed") == 2.5);
  CHECK(!node.get_parameters("leg", speeds));
  CHECK_EQ(node.get_parameters_by_prefix("arm").at("speed").as_double(), 1.5);

  const auto list = node.list_parameters({"arm"}, 0);
  CHECK(list.names == (Strings{"arm.speed", "arm.wrist.speed"}));
  CHECK(list.prefixes == (Strings{"arm", "arm.wrist"}));
  CHECK(node.list_parameters({}, 1).names == (Strings{"rate", "use_sim_time"}));
  CHECK(node.try_list_parameters({"arm"}, 2).value() == (Strings{"arm.speed", "arm.wrist.speed"}));

  CHECK(node.set_parameter(Parameter("rate", 20)).successful);
  CHECK(!node.set_parameter(Parameter("rate", "fast")).successful);
  CHECK_THROWS(node.set_parameter(Parameter("nothing", 1)), sinew::exceptions::ParameterNotDeclaredException);
  const auto results = node.set_parameters({Parameter("rate", "fast"), Parameter("arm.speed", 3.0)});
  CHECK(!results.at(0).successful && results.at(1).successful);
  const auto both = node.set_parameters_atomically({Parameter("arm.speed", 4.0), Parameter("rate", "fast")});
  CHECK(!both.successful && both.reason.find("rate") != std::string::npos);
  CHECK_EQ(node.get_parameter("arm.speed").as_double(), 3.0);
  CHECK(node.try_set_parameters_atomically({Parameter("arm.speed", 5.0), Parameter("rate", 30)}));
  CHECK_EQ(node.get_parameter("rate").as_int(), 30);
}

void handles()
{
  sinew::Node node("handles");
  auto rate = node.parameter("rate", 10.0);
  auto count = node.parameter<int>("count", 3);
  auto is_on = node.parameter("is_on", true);
  auto name = node.parameter<std::string>("name", "left");
  CHECK(rate.get() == 10.0 && count.get() == 3 && is_on.get() && name.get() == "left");
  CHECK(node.set_parameter(Parameter("rate", 20.0)).successful);
  name.set("right");
  is_on.set(false);
  count.set(4);
  const auto same = count;
  CHECK(rate.get() == 20.0 && same.get() == 4 && !is_on.get() && name.get() == "right");
  CHECK_EQ(name.name(), "name");
  CHECK_EQ(node.get_parameter("count").as_int(), 4);
  sinew::ParameterDescriptor limits;
  limits.integer_range.push_back({0, 10, 0});
  auto limited = node.parameter("limited", 5, limits);
  CHECK_THROWS(limited.set(11), sinew::exceptions::RCLError);
  CHECK(!limited.try_set(-1) && limited.get() == 5);
  CHECK(!node.try_parameter("limited", 5));
  limits.integer_range.push_back({});
  CHECK(!node.try_parameter("more", 5, limits));
}

struct Counts
{
  int pre = 0, on = 0, post = 0;
};

SetParametersResult accept(const std::vector<Parameter> & parameters)
{
  SetParametersResult result;
  result.successful = true;
  for (const Parameter & one : parameters) {
    if (one.get_name() == "speed" && one.as_double() > 10) {
      result.successful = false;
      result.reason = "too fast";
    }
  }
  return result;
}

void callbacks()
{
  sinew::Node node("callbacks");
  node.declare_parameter("speed", 1.0);
  node.declare_parameter("power", 1.0);
  Counts counts;
  const auto pre = node.add_pre_set_parameters_callback(
    [&counts](std::vector<Parameter> & parameters) {
      ++counts.pre;
      if (parameters.front().get_name() == "speed") {
        parameters.emplace_back("power", parameters.front().as_double() * 2);
      }
    });
  sinew::Node::OnSetParametersCallbackHandle::SharedPtr on = node.add_on_set_parameters_callback(accept);
  const auto inside = node.add_on_set_parameters_callback(
    [&](const std::vector<Parameter> &) -> sinew::Result<void> {
      ++counts.on;
      const auto set = node.try_set_parameter(Parameter("power", 0.0));
      CHECK(!set && set.error().code() == SINEW_ERROR_IN_PARAMETER_CALLBACK);
      return {};
    });
  auto post = node.add_post_set_parameters_callback(
    [&counts](const std::vector<Parameter> & parameters) {
      counts.post += static_cast<int>(parameters.size());
    });
  CHECK(node.set_parameter(Parameter("speed", 2.0)).successful);
  CHECK_EQ(node.get_parameter("power").as_double(), 4.0);
  CHECK(counts.pre == 1 && counts.on == 1 && counts.post == 2);
  const auto refused = node.set_parameter(Parameter("speed", 20.0));
  CHECK(!refused.successful && refused.reason.find("too fast") != std::string::npos && counts.post == 2);
  node.remove_on_set_parameters_callback(on.get());
  CHECK(node.set_parameter(Parameter("speed", 20.0)).successful);
  post.reset();
  CHECK(node.set_parameter(Parameter("speed", 30.0)).successful);
  CHECK_EQ(counts.post, 4);

  // Exceptions refuse the values, and their sentences are the reasons.
  const auto throws_on = node.add_on_set_parameters_callback(
    [](const std::vector<Parameter> & parameters) -> SetParametersResult {
      (void)parameters.front().as_string();
      return SetParametersResult();
    });
  const auto thrown = node.set_parameter(Parameter("power", 1.0));
  CHECK(!thrown.successful && thrown.reason.find("not of type string") != std::string::npos);
  node.remove_on_set_parameters_callback(throws_on.get());
  const auto throws_before = node.add_pre_set_parameters_callback(
    [](std::vector<Parameter> & parameters) {
      parameters.clear();
      throw std::runtime_error("not now");
    });
  CHECK(!node.set_parameter(Parameter("power", 9.0)).successful);
  CHECK_EQ(node.get_parameter("power").as_double(), 60.0);
  node.remove_pre_set_parameters_callback(throws_before.get());
  const auto throws_after = node.add_post_set_parameters_callback(
    [](const std::vector<Parameter> &) {throw std::runtime_error("too late");});
  CHECK(node.set_parameter(Parameter("power", 9.0)).successful);
  CHECK_EQ(node.get_parameter("power").as_double(), 9.0);
}

void options(const char * file_name)
{
  std::FILE * file = std::fopen(file_name, "w");
  std::fputs("/**: {ros__parameters: {rate: 30, name: file}}\n", file);
  std::fclose(file);
  const auto settings = sinew::NodeOptions()
    .arguments({"--ros-args", "--params-file", file_name, "-p", "gain:=0.5", "-r", "a:=b", "-p", "name:=argument"})
    .append_parameter_override("name", "option")
    .parameter_overrides();
  CHECK_EQ(settings.size(), 1u);
  auto all = sinew::NodeOptions();
  all.arguments({"--ros-args", "--params-file", file_name, "-p", "gain:=0.5", "-p", "name:=argument"});
  sinew::Node second("second", all);
  CHECK_EQ(second.declare_parameter("rate", 1), 30);
  CHECK_EQ(second.declare_parameter("gain", 1.0), 0.5);
  CHECK_EQ(second.declare_parameter("name", "default"), "argument");
  all.append_parameter_override("name", "option").allow_undeclared_parameters(true);
  sinew::Node third("third", "space", all);
  CHECK_EQ(third.declare_parameter("name", "default"), "option");
  CHECK_EQ(third.declare_parameter("rate", 1, sinew::ParameterDescriptor(), true), 1);
  CHECK_THROWS(third.declare_parameter("gain", "text"), sinew::exceptions::RCLError);
  CHECK_EQ(third.get_parameter("nothing").get_type(), sinew::PARAMETER_NOT_SET);
  CHECK_EQ(third.describe_parameter("nothing").type, 0);
  CHECK(third.set_parameter(Parameter("nothing", 1)).successful);
  CHECK_EQ(third.get_parameter("nothing").as_int(), 1);
  all.automatically_declare_parameters_from_overrides(true);
  sinew::Node fourth("fourth", all);
  CHECK_EQ(fourth.get_parameter("rate").as_int(), 30);
  CHECK(fourth.has_parameter("gain"));
  CHECK(!sinew::Node::try_make("bad", "", sinew::NodeOptions().arguments({"-p", "gain"})));
  CHECK(!sinew::Node::try_make("bad", "", sinew::NodeOptions().arguments({"--params-file", "/no/file"})));
  file = std::fopen(file_name, "w");
  std::fputs("bad: {ros__parameters: {rate: [1, on]}}\n", file);
  std::fclose(file);
  const auto bad = sinew::Node::try_make("bad", "", all);
  CHECK(!bad && bad.error().sentence().find(file_name) != std::string::npos);
  std::remove(file_name);
}

/// Threads that set at once: each value that is read was set by one of them.
void threads()
{
  sinew::Node node("threads");
  node.declare_parameter("count", 0);
  std::atomic<int> posted{0};
  const auto post = node.add_post_set_parameters_callback(
    [&posted](const std::vector<Parameter> &) {++posted;});
  const auto set = [&node](int first) {
      for (int i = 0; i < 50; ++i) {
        CHECK(node.set_parameter(Parameter("count", first + i)).successful);
        CHECK(node.get_parameter("count").as_int() < 150);
      }
    };
  std::thread one(set, 0), two(set, 100);
  one.join();
  two.join();
  CHECK_EQ(posted.load(), 100);
}

/// An executor of C with a node: the programs of executors test those of C++.
class Executor
{
public:
  explicit Executor(const sinew::Node & node)
  {
    sinew::detail::check(sinew_executor_new(nullptr, sinew::detail::Out(handle_)));
    sinew::detail::check(sinew_executor_add_node(handle_.get(), node.handle()));
  }

  template<class F>
  void spin_until(F && is_over)
  {
    while (!is_over()) {
      sinew::detail::check_spin(sinew_executor_spin_once(handle_.get(), -1, nullptr));
    }
  }

private:
  sinew::detail::Handle<sinew_executor, sinew_executor_free> handle_;
};

/// Changes of parameters of this and another node.
void events()
{
  const auto node = sinew::Node::make_shared("listener");
  sinew::Node other("other", "space");
  Executor executor(*node);
  sinew::ParameterEventHandler handler(node);
  std::vector<std::string> names;
  int all = 0;
  const auto rate = handler.add_parameter_callback(
    "rate", [&names](const Parameter & one) {names.push_back("own " + one.value_to_string());});
  const auto far = handler.add_parameter_callback(
    "rate", [&names](const Parameter & one) {names.push_back("far " + one.value_to_string());},
    "space/other");
  auto gone = handler.add_parameter_callback("rate", [](const Parameter &) {CHECK(false);});
  gone.reset();
  const auto removed = handler.add_parameter_event_callback([](const auto &) {CHECK(false);});
  handler.remove_parameter_event_callback(removed);
  const auto every = handler.add_parameter_event_callback(
    [&all](const rcl_interfaces::msg::ParameterEvent & event) {
      CHECK_EQ(sinew::ParameterEventHandler::get_parameters_from_event(event).size(), 1u);
      CHECK_THROWS(
        sinew::ParameterEventHandler::get_parameter_from_event(event, "nothing"), sinew::Exception);
      ++all;
    });
  node->declare_parameter("rate", 1);
  other.declare_parameter("rate", 2);
  other.declare_parameter("other", 3);
  node->set_parameter(Parameter("rate", 4));
  executor.spin_until([&names] {return names.size() == 3;});
  CHECK(all >= 3);
  std::sort(names.begin(), names.end());  // nothing orders the events of two nodes
  CHECK(names == (Strings{"far 2", "own 1", "own 4"}));
}

/// The parameters of another node.
void clients(const char * file_name)
{
  const auto node = sinew::Node::make_shared("asker");
  sinew::SyncParametersClient before(node, "answerer");
  CHECK(!before.service_is_ready() && !before.wait_for_service(std::chrono::nanoseconds(0)));
  CHECK(!before.try_get_parameters({"rate"}, std::chrono::nanoseconds(0)));
  sinew::Node answerer("answerer");
  sinew::ParameterDescriptor dynamic;
  dynamic.dynamic_typing = true;
  answerer.declare_parameter("rate", 10);
  answerer.declare_parameter("arm.name", "left");
  answerer.declare_parameter("any", 1.5, dynamic);
  sinew::SyncParametersClient sync(node.get(), "/answerer");
  CHECK(sync.wait_for_service(std::chrono::seconds(20)) && sync.service_is_ready());
  CHECK(sync.get_parameters({"arm.name", "rate"}).at(0) == Parameter("arm.name", "left"));
  CHECK(sync.has_parameter("rate") && !sync.has_parameter("rat"));
  CHECK(sync.get_parameter<int>("rate") == 10 && sync.get_parameter("nothing", 7) == 7);
  CHECK_THROWS(sync.get_parameter<int>("nothing"), sinew::exceptions::ParameterNotDeclaredException);
  CHECK(sync.describe_parameters({"rate"}).at(0).type == 2);
  CHECK(sync.get_parameter_types({"arm.name"}).at(0) == sinew::PARAMETER_STRING);
  const auto set = sync.set_parameters({Parameter("rate", 20), Parameter("arm.name", 1)});
  CHECK(set.at(0).successful && !set.at(1).successful);
  CHECK(sync.set_parameters_atomically({Parameter("rate", 30)}).successful);
  CHECK(!sync.set_parameters_atomically({Parameter("rate", "fast")}).successful);
  CHECK_EQ(answerer.get_parameter("rate").as_int(), 30);
  CHECK(sync.list_parameters({"arm"}, 0).names == (Strings{"arm.name"}));
  CHECK(sync.delete_parameters({"any"}).at(0).successful);
  std::FILE * file = std::fopen(file_name, "w");
  std::fputs("answerer: {ros__parameters: {rate: 40}}\n", file);
  std::fclose(file);
  CHECK(sync.load_parameters(file_name).at(0).successful);
  std::remove(file_name);
  CHECK_THROWS(sync.load_parameters("/no/file"), std::invalid_argument);

  // The same without blocking: an executor runs the callbacks.
  Executor executor(*node);
  sinew::AsyncParametersClient async(node, "answerer");
  CHECK(async.wait_for_service(std::chrono::seconds(20)));
  int called = 0;
  const auto rate = async.get_parameters({"rate"}, [&called](auto future) {
        CHECK_EQ(future.get().at(0).as_int(), 40);
        ++called;
      });
  const auto all = async.list_parameters({}, 0);
  const auto types = async.get_parameter_types({"rate"});
  const auto described = async.describe_parameters({"rate"});
  const auto set_rate = async.set_parameters({Parameter("rate", 50)});
  const auto set_both = async.set_parameters_atomically({Parameter("rate", 60)});
  executor.spin_until([&set_both] {
      return set_both.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    });
  CHECK(called == 1 && rate.get().size() == 1 && set_rate.get().at(0).successful);
  CHECK(set_both.get().successful && types.get().at(0) == sinew::PARAMETER_INTEGER);
  CHECK(described.get().at(0).name == "rate" && !all.get().names.empty());
}

}  // namespace

int main(int argc, char ** argv)
{
  sinew::init(argc, argv);
  values();
  declarations();
  reading_and_setting();
  handles();
  callbacks();
  options((std::string(argv[0]) + ".yaml").c_str());
  threads();
  events();
  clients((std::string(argv[0]) + ".yaml").c_str());
  sinew::shutdown();
}
