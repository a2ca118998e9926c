#include "types.hpp"

#include <fastcdr/Cdr.h>
#include <rosidl_runtime_c/type_description/type_description__struct.h>
#include <rosidl_typesupport_fastrtps_c/identifier.h>
#include <rosidl_typesupport_fastrtps_cpp/identifier.hpp>
#include <rosidl_typesupport_fastrtps_cpp/message_type_support.h>
#include <rosidl_typesupport_fastrtps_cpp/service_type_support.h>

#include <cstring>
#include <type_traits>

namespace {

using eprosima::fastcdr::Cdr;
using Description = rosidl_runtime_c__type_description__TypeDescription;
using Field = rosidl_runtime_c__type_description__Field;

// Calls `visit` with each field, in its order.

template <class Fields, class Visit>
void visit_fields(Fields & fields, Fixed *, Visit visit)
{
  visit(fields.number);
  visit(fields.values);
}
template <class Fields, class Visit>
void visit_fields(Fields & fields, Flags *, Visit visit) { visit(fields.values); }
template <class Fields, class Visit>
void visit_fields(Fields & fields, Gap *, Visit visit)
{
  visit(fields.best.x);
  visit(fields.best.y);
  visit(fields.best.label);
  visit(fields.count);
  visit(fields.stamp);
}
template <class Fields, class Visit>
void visit_fields(Fields & fields, Track *, Visit visit)
{
  for (auto & point : fields.points) {
    visit(point.x);
    visit(point.id);
    visit(point.sizes);
  }
  visit(fields.count);
  visit(fields.state);
}
template <class Fields, class Visit>
void visit_fields(Fields & fields, Text *, Visit visit) { visit(fields.data); }
template <class Fields, class Visit>
void visit_fields(Fields & fields, Image *, Visit visit)
{
  visit(fields.height);
  visit(fields.width);
  visit(fields.data);
}
template <class Fields, class Visit>
void visit_fields(Fields & fields, AddRequest *, Visit visit) { visit(fields.a); visit(fields.b); }
template <class Fields, class Visit>
void visit_fields(Fields & fields, AddResponse *, Visit visit) { visit(fields.sum); }

// Fields without the padding before them.

std::size_t size_of(const std::string & text) { return 4 + text.size() + 1; }
std::size_t size_of(const std::vector<std::uint8_t> & bytes) { return 4 + bytes.size(); }
template <class Plain>
std::size_t size_of(const Plain & plain) { return sizeof plain; }

/// Of what is encoded of a field. A text or sequence begins with its length of 4 bytes.
template <class Field>
constexpr std::size_t alignment_of()
{
  return std::is_trivially_copyable_v<Field> ? alignof(Field) : 4;
}

template <class Message>
bool serialize(const void * untyped, Cdr & cdr)
{
  visit_fields(
    *static_cast<const Message *>(untyped), static_cast<Message *>(nullptr),
    [&](const auto & field) {cdr << field;});
  return true;
}

/// As generated code does, it reports failures as exceptions of Fast-CDR.
template <class Message>
bool deserialize(Cdr & cdr, void * untyped)
{
  visit_fields(
    *static_cast<Message *>(untyped), static_cast<Message *>(nullptr),
    [&](auto & field) {cdr >> field;});
  return true;
}

template <class Message>
std::uint32_t serialized_size(const void * untyped)
{
  std::size_t size = 0;
  visit_fields(
    *static_cast<const Message *>(untyped), static_cast<Message *>(nullptr),
    [&](const auto & field) {
      constexpr std::size_t alignment = alignment_of<std::decay_t<decltype(field)>>();
      size = (size + alignment - 1) / alignment * alignment + size_of(field);
    });
  return static_cast<std::uint32_t>(size);
}

/// Says as generated code does which types are plain; all others here are unbounded.
template <class Message>
std::size_t largest_size(char & bounds)
{
  constexpr bool is_plain = std::is_trivially_copyable_v<Message>;
  bounds = is_plain ?
    ROSIDL_TYPESUPPORT_FASTRTPS_PLAIN_TYPE : ROSIDL_TYPESUPPORT_FASTRTPS_UNBOUNDED_TYPE;
  return is_plain ? sizeof(Message) : 0;
}

template <class Handle>
const Handle * if_it_is_this(const Handle * handle, const char * identifier)
{
  return std::strcmp(handle->typesupport_identifier, identifier) == 0 ? handle : nullptr;
}

/// A hash that no other type has.
template <class Handle, class Type>
const rosidl_type_hash_t * own_hash(const Handle *)
{
  static const rosidl_type_hash_t hash = [] {
      rosidl_type_hash_t made{};
      made.version = 1;
      made.value[0] = static_cast<std::uint8_t>(sizeof(Type));
      return made;
    }();
  return &hash;
}

template <class Message>
const message_type_support_callbacks_t * callbacks(const char * name_space, const char * name)
{
  static const message_type_support_callbacks_t made = {
    name_space, name, serialize<Message>, deserialize<Message>, serialized_size<Message>,
    largest_size<Message>, nullptr};
  return &made;
}

using Describe = const Description * (const rosidl_message_type_support_t *);

/// As the generated code of C++ has it.
template <class Message>
const rosidl_message_type_support_t * of_cpp(
  const char * name_space, const char * name, Describe * describe = nullptr)
{
  static const rosidl_message_type_support_t made = {
    rosidl_typesupport_fastrtps_cpp::typesupport_identifier, callbacks<Message>(name_space, name),
    if_it_is_this<rosidl_message_type_support_t>, own_hash<rosidl_message_type_support_t, Message>,
    describe, nullptr};
  return &made;
}

rosidl_runtime_c__String text(const char * chars)
{
  const std::size_t size = std::strlen(chars);
  return {const_cast<char *>(chars), size, size + 1};
}

const Description * description_of_fixed(const rosidl_message_type_support_t *)
{
  static Field fields[] = {
    {text("number"), {9, 0, 0, text("")}, text("")}, // a uint64
    {text("values"), {59, 7, 0, text("")}, text("")}}; // an array of float64
  static const Description made = {
    {text("drive_msgs/msg/Fixed"), {fields, 2, 2}}, {nullptr, 0, 0}};
  return &made;
}

const Description * description_of_flags(const rosidl_message_type_support_t *)
{
  static Field field = {text("values"), {63, 8, 0, text("")}, text("")}; // an array of booleans
  static const Description made = {
    {text("drive_msgs/msg/Flags"), {&field, 1, 1}}, {nullptr, 0, 0}};
  return &made;
}

const Description * description_of_gap(const rosidl_message_type_support_t *)
{
  static Field fields[] = {
    {text("best"), {1, 0, 0, text("drive_msgs/msg/Detection")}, text("")}, // another type
    {text("count"), {3, 0, 0, text("")}, text("")}, // a uint8
    {text("stamp"), {11, 0, 0, text("")}, text("")}}; // a float64
  static Field of_detection[] = {
    {text("x"), {10, 0, 0, text("")}, text("")}, // a float32
    {text("y"), {10, 0, 0, text("")}, text("")},
    {text("label"), {3, 0, 0, text("")}, text("")}};
  static rosidl_runtime_c__type_description__IndividualTypeDescription detection = {
    text("drive_msgs/msg/Detection"), {of_detection, 3, 3}};
  static const Description made = {
    {text("drive_msgs/msg/Gap"), {fields, 3, 3}}, {&detection, 1, 1}};
  return &made;
}

const Description * description_of_track(const rosidl_message_type_support_t *)
{
  static Field fields[] = {
    {text("points"), {49, 2, 0, text("drive_msgs/msg/Point")}, text("")}, // an array of these
    {text("count"), {3, 0, 0, text("")}, text("")}, // a uint8
    {text("state"), {6, 0, 0, text("")}, text("")}}; // an int32
  static Field of_point[] = {
    {text("x"), {11, 0, 0, text("")}, text("")}, // a float64
    {text("id"), {7, 0, 0, text("")}, text("")}, // a uint32
    {text("sizes"), {53, 2, 0, text("")}, text("")}}; // an array of uint16
  static rosidl_runtime_c__type_description__IndividualTypeDescription point = {
    text("drive_msgs/msg/Point"), {of_point, 3, 3}};
  static const Description made = {
    {text("drive_msgs/msg/Track"), {fields, 3, 3}}, {&point, 1, 1}};
  return &made;
}

const Description * description_of_text(const rosidl_message_type_support_t *)
{
  static Field field = {text("data"), {17, 0, 0, text("")}, text("")}; // 17 is a string
  static const Description made = {
    {text("std_msgs/msg/String"), {&field, 1, 1}}, {nullptr, 0, 0}};
  return &made;
}

const rosidl_type_hash_t * hash_of_text(const rosidl_message_type_support_t *)
{
  static const rosidl_type_hash_t hash = {
    1, {
      0xdf, 0x66, 0x8c, 0x74, 0x04, 0x82, 0xbb, 0xd4, 0x8f, 0xb3, 0x9d, 0x76, 0xa7, 0x0d, 0xfd,
      0x4b, 0xd5, 0x9d, 0xb1, 0x28, 0x80, 0x21, 0x74, 0x35, 0x03, 0x25, 0x9e, 0x94, 0x8f, 0x6b,
      0x1a, 0x18}};
  return &hash;
}

}  // namespace

template <>
const rosidl_message_type_support_t * type_of<Fixed>()
{
  return of_cpp<Fixed>("drive_msgs::msg", "Fixed", description_of_fixed);
}

template <>
const rosidl_message_type_support_t * type_of<Flags>()
{
  return of_cpp<Flags>("drive_msgs::msg", "Flags", description_of_flags);
}

template <>
const rosidl_message_type_support_t * type_of<Gap>()
{
  return of_cpp<Gap>("drive_msgs::msg", "Gap", description_of_gap);
}

template <>
const rosidl_message_type_support_t * type_of<Track>()
{
  return of_cpp<Track>("drive_msgs::msg", "Track", description_of_track);
}

template <>
const rosidl_message_type_support_t * type_of<Image>()
{
  return of_cpp<Image>("drive_msgs::msg", "Image");
}

/// As the generated code of C has it.
template <>
const rosidl_message_type_support_t * type_of<Text>()
{
  static const rosidl_message_type_support_t made = {
    rosidl_typesupport_fastrtps_c__identifier, callbacks<Text>("std_msgs__msg", "String"),
    if_it_is_this<rosidl_message_type_support_t>, hash_of_text, description_of_text, nullptr};
  return &made;
}

namespace {

rosidl_service_type_support_t service_type(const service_type_support_callbacks_t & callbacks)
{
  rosidl_service_type_support_t zeroed{};
  zeroed.typesupport_identifier = rosidl_typesupport_fastrtps_cpp::typesupport_identifier;
  zeroed.data = &callbacks;
  zeroed.func = if_it_is_this<rosidl_service_type_support_t>;
  zeroed.get_type_hash_func =
    own_hash<rosidl_service_type_support_t, service_type_support_callbacks_t>;
  return zeroed;
}

bool serialize_a_part(const void *, Cdr & cdr)
{
  cdr << std::int64_t{1};
  return true;
}

}  // namespace

const rosidl_service_type_support_t * add_type()
{
  static const service_type_support_callbacks_t callbacks = {
    "drive_msgs::srv", "Add", of_cpp<AddRequest>("drive_msgs::srv", "Add_Request"),
    of_cpp<AddResponse>("drive_msgs::srv", "Add_Response")};
  static const rosidl_service_type_support_t made = service_type(callbacks);
  return &made;
}

const rosidl_service_type_support_t * broken_add_type()
{
  static const rosidl_message_type_support_t & whole =
    *of_cpp<AddRequest>("drive_msgs::srv", "Add_Request");
  static message_type_support_callbacks_t of_request =
    *static_cast<const message_type_support_callbacks_t *>(whole.data);
  static rosidl_message_type_support_t request = whole;
  of_request.cdr_serialize = serialize_a_part;
  request.data = &of_request;
  static const service_type_support_callbacks_t callbacks = {
    "drive_msgs::srv", "Add", &request, of_cpp<AddResponse>("drive_msgs::srv", "Add_Response")};
  static const rosidl_service_type_support_t made = service_type(callbacks);
  return &made;
}
