#include "drive.hpp"

#include <fcntl.h>
#include <rcutils/strdup.h>
#include <rmw/init_options.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// What a test may take at most; nothing here depends on how long it takes.
constexpr rmw_time_t LONG = {60, 0};

const char * executable = nullptr;

}  // namespace

std::map<std::string, std::function<void(const Arguments &)>> & programs()
{
  static std::map<std::string, std::function<void(const Arguments &)>> all;
  return all;
}

Options::Options()
{
  OK(rmw_init_options_init(&rmw, rcutils_get_default_allocator()));
  rmw.enclave = rcutils_strdup("/drive", rmw.allocator);
}

Options::~Options() { OK(rmw_init_options_fini(&rmw)); }

Context::Context(const std::function<void(rmw_init_options_t &)> & change)
{
  Options options;
  if (change) {
    change(options.rmw);
  }
  OK(rmw_init(&options.rmw, &rmw));
}

Context::~Context()
{
  OK(rmw_shutdown(&rmw));
  OK(rmw_context_fini(&rmw));
}

Node::Node(Context & context, const char * name, const char * name_space)
: rmw(rmw_create_node(&context.rmw, name, name_space))
{
  CHECK(rmw != nullptr);
}

Node::~Node() { OK(rmw_destroy_node(rmw)); }

rmw_qos_profile_t qos(const std::function<void(rmw_qos_profile_t &)> & change)
{
  rmw_qos_profile_t profile = rmw_qos_profile_default;
  if (change) {
    change(profile);
  }
  return profile;
}

rmw_qos_profile_t keep_last(std::size_t depth)
{
  return qos([&](rmw_qos_profile_t & profile) {profile.depth = depth;});
}

rmw_qos_profile_t keep_all()
{
  return qos([](rmw_qos_profile_t & profile) {profile.history = RMW_QOS_POLICY_HISTORY_KEEP_ALL;});
}

rmw_qos_profile_t transient_local(std::size_t depth)
{
  return qos([&](rmw_qos_profile_t & profile) {
    profile.depth = depth;
    profile.durability = RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
  });
}

namespace {

rmw_publisher_t * make_publisher(
  Node & node, const rosidl_message_type_support_t * type, const char * topic,
  const rmw_qos_profile_t & profile)
{
  const rmw_publisher_options_t options = rmw_get_default_publisher_options();
  return rmw_create_publisher(node.rmw, type, topic, &profile, &options);
}

rmw_subscription_t * make_subscription(
  Node & node, const rosidl_message_type_support_t * type, const char * topic,
  const rmw_qos_profile_t & profile, bool ignores_local)
{
  rmw_subscription_options_t options = rmw_get_default_subscription_options();
  options.ignore_local_publications = ignores_local;
  return rmw_create_subscription(node.rmw, type, topic, &profile, &options);
}

}  // namespace

Publisher::Publisher(
  Node & node, const rosidl_message_type_support_t * type, const char * topic,
  const rmw_qos_profile_t & profile)
: rmw(make_publisher(node, type, topic, profile)), node_(node)
{
  CHECK(rmw != nullptr);
}

Publisher::~Publisher() { OK(rmw_destroy_publisher(node_.rmw, rmw)); }

std::size_t Publisher::matched() const
{
  std::size_t count = 0;
  OK(rmw_publisher_count_matched_subscriptions(rmw, &count));
  return count;
}

Subscription::Subscription(
  Node & node, const rosidl_message_type_support_t * type, const char * topic,
  const rmw_qos_profile_t & profile, bool ignores_local)
: rmw(make_subscription(node, type, topic, profile, ignores_local)), node_(node)
{
  CHECK(rmw != nullptr);
}

Subscription::~Subscription() { OK(rmw_destroy_subscription(node_.rmw, rmw)); }

void Subscription::wait() const
{
  Waiting waiting;
  waiting.subscriptions = {rmw->data};
  waiting.must_end(node_.rmw->context);
}

std::size_t Subscription::matched() const
{
  std::size_t count = 0;
  OK(rmw_subscription_count_matched_publishers(rmw, &count));
  return count;
}

Client::Client(
  Node & node, const char * name, const rmw_qos_profile_t & profile,
  const rosidl_service_type_support_t * type)
: rmw(rmw_create_client(node.rmw, type, name, &profile)), node_(node)
{
  CHECK(rmw != nullptr);
}

Client::~Client() { OK(rmw_destroy_client(node_.rmw, rmw)); }

bool Client::is_available() const
{
  bool available = false;
  OK(rmw_service_server_is_available(node_.rmw, rmw, &available));
  return available;
}

std::int64_t Client::send(std::int64_t a, std::int64_t b) const
{
  const AddRequest request{a, b};
  std::int64_t sequence = 0;
  OK(rmw_send_request(rmw, &request, &sequence));
  return sequence;
}

bool Client::take(AddResponse & response, rmw_service_info_t & info) const
{
  bool taken = false;
  OK(rmw_take_response(rmw, &info, &response, &taken));
  return taken;
}

AddResponse Client::next(rmw_service_info_t & info) const
{
  AddResponse response;
  while (!take(response, info)) {
    Waiting waiting;
    waiting.clients = {rmw->data};
    waiting.must_end(node_.rmw->context);
  }
  return response;
}

Service::Service(Node & node, const char * name, const rmw_qos_profile_t & profile)
: rmw(rmw_create_service(node.rmw, add_type(), name, &profile)), node_(node)
{
  CHECK(rmw != nullptr);
}

Service::~Service() { OK(rmw_destroy_service(node_.rmw, rmw)); }

bool Service::take(AddRequest & request, rmw_service_info_t & info) const
{
  bool taken = false;
  OK(rmw_take_request(rmw, &info, &request, &taken));
  return taken;
}

AddRequest Service::next(rmw_service_info_t & info) const
{
  AddRequest request;
  while (!take(request, info)) {
    Waiting waiting;
    waiting.services = {rmw->data};
    waiting.must_end(node_.rmw->context);
  }
  return request;
}

void Service::answer(rmw_service_info_t & info, std::int64_t sum) const
{
  AddResponse response{sum};
  OK(rmw_send_response(rmw, &info.request_id, &response));
}

rmw_ret_t Waiting::wait(rmw_context_t * context, const rmw_time_t * timeout)
{
  rmw_wait_set_t * set = rmw_create_wait_set(context, 8);
  CHECK(set != nullptr);
  rmw_subscriptions_t for_subscriptions{subscriptions.size(), subscriptions.data()};
  rmw_guard_conditions_t for_conditions{conditions.size(), conditions.data()};
  rmw_services_t for_services{services.size(), services.data()};
  rmw_clients_t for_clients{clients.size(), clients.data()};
  rmw_events_t for_events{events.size(), events.data()};
  const rmw_ret_t ret = rmw_wait(
    &for_subscriptions, &for_conditions, &for_services, &for_clients, &for_events, set, timeout);
  OK(rmw_destroy_wait_set(set));
  return ret;
}

void Waiting::must_end(rmw_context_t * context) { OK(wait(context, &LONG)); }

Takers::Takers(
  Node & node, const std::function<void(Waiting &)> & what, const std::function<void()> & take)
{
  for (int thread = 0; thread < 2; ++thread) {
    threads_.emplace_back([this, context = node.rmw->context, what, take] {
        constexpr rmw_time_t STEP = {0, 50000000};
        while (!is_over_) {
          Waiting waiting;
          what(waiting);
          const rmw_ret_t ret = waiting.wait(context, &STEP);
          CHECK(ret == RMW_RET_OK || ret == RMW_RET_TIMEOUT);
          if (ret == RMW_RET_OK) {
            take();
          }
        }
      });
  }
}

void Takers::stop()
{
  is_over_ = true;
  for (std::thread & thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

void wait_until(Node & node, const std::function<bool()> & holds)
{
  constexpr rmw_time_t STEP = {0, 50000000};
  for (int step = 0; !holds(); ++step) {
    CHECK(step < 2000);
    Waiting waiting;
    waiting.conditions = {rmw_node_get_graph_guard_condition(node.rmw)->data};
    const rmw_ret_t ret = waiting.wait(node.rmw->context, &STEP);
    CHECK(ret == RMW_RET_OK || ret == RMW_RET_TIMEOUT);
  }
}

Peer::Peer(Arguments arguments)
{
  int to[2], from[2];
  CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
  std::vector<char *> words = {const_cast<char *>(executable)};
  for (std::string & argument : arguments) {
    words.push_back(argument.data());
  }
  words.push_back(nullptr);
  pid_ = fork();
  CHECK(pid_ >= 0);
  if (pid_ == 0) {
    dup2(to[0], 0);
    dup2(from[1], 1);
    execv(executable, words.data());
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  to_ = fdopen(to[1], "w");
  from_ = fdopen(from[0], "r");
}

Peer::~Peer()
{
  std::fclose(to_);
  std::fclose(from_);
  if (pid_ > 0) {
    int status = 0;
    CHECK(waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

void Peer::say(const std::string & line) const
{
  std::fprintf(to_, "%s\n", line.c_str());
  std::fflush(to_);
}

namespace {

bool read_line(std::FILE * file, std::string & line)
{
  line.clear();
  int character;
  while ((character = std::fgetc(file)) != EOF && character != '\n') {
    line += static_cast<char>(character);
  }
  return character == '\n';
}

}  // namespace

std::string Peer::hear() const
{
  std::string line;
  CHECK(read_line(from_, line));
  return line;
}

void Peer::kill()
{
  CHECK(::kill(pid_, SIGKILL) == 0);
  CHECK(waitpid(pid_, nullptr, 0) == pid_);
  pid_ = 0;
}

void report(const std::string & line)
{
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

bool listen(std::string & line) { return read_line(stdin, line); }

int main(int count, char ** arguments)
{
  executable = arguments[0];
  signal(SIGPIPE, SIG_IGN);
  alarm(300); // a program that hangs ends
  const auto found = count < 2 ? programs().end() : programs().find(arguments[1]);
  if (found == programs().end()) {
    for (const auto & program : programs()) {
      std::fprintf(stderr, "%s\n", program.first.c_str());
    }
    return 2;
  }
  found->second(Arguments(arguments + 2, arguments + count));
  return 0;
}
