// Decodes and encodes messages of many types, as a test asks on the standard input.
//
// A request is a letter, the name of a type and bytes; a text is its length (4 bytes) and its bytes.
//
// - `d`: decodes the bytes and encodes the value again: `+` and the bytes, or `-` and the error.
// - `t`: answers `+` and the type's properties: hash, description, sizes, the encoded default value.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "all.hpp"

namespace
{

#define TYPE(type) &sinew::type_table<type>,
const sinew::TypeTable * const types[] = {
#include "types.inc"
};
#undef TYPE

using Bytes = std::vector<std::uint8_t>;

// A value of a type that is known only by its table.
class Value
{
public:
  explicit Value(const sinew::TypeTable & type)
  : type_(type), place_(::operator new(type.size, std::align_val_t{type.alignment}))
  {
    type_.create(place_);
  }

  Value(const Value & other)
  : type_(other.type_), place_(::operator new(type_.size, std::align_val_t{type_.alignment}))
  {
    type_.clone(other.place_, place_);
  }

  Value & operator=(const Value &) = delete;

  ~Value()
  {
    type_.drop(place_);
    ::operator delete(place_, std::align_val_t{type_.alignment});
  }

  sinew::cdr::Error decode(const Bytes & encoded)
  {
    // A copy of its own, so that a sanitizer sees every byte that is read beyond the end.
    std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[encoded.size()]);
    if (!encoded.empty()) {
      std::memcpy(copy.get(), encoded.data(), encoded.size());
    }
    return type_.decode(copy.get(), encoded.size(), place_);
  }

  sinew::cdr::Error encode(Bytes & encoded) const
  {
    encoded.assign(type_.encoded_size(place_), 0xaa);
    return type_.encode(place_, encoded.data(), encoded.size());
  }

private:
  const sinew::TypeTable & type_;
  void * place_;
};

bool read(void * to, std::size_t length) {return std::fread(to, 1, length, stdin) == length;}

bool read(Bytes & bytes)
{
  std::uint32_t length = 0;
  if (!read(&length, sizeof length)) {
    return false;
  }
  bytes.resize(length);
  return length == 0 || read(bytes.data(), length);
}

void answer(char outcome, const void * bytes, std::size_t length)
{
  const auto count = static_cast<std::uint32_t>(length);
  std::fputc(outcome, stdout);
  std::fwrite(&count, sizeof count, 1, stdout);
  std::fwrite(bytes, 1, length, stdout);
}

void decode(const sinew::TypeTable & type, const Bytes & encoded)
{
  Value first(type);
  Bytes again;
  sinew::cdr::Error error = first.decode(encoded);
  if (!error) {
    // A copy that is decoded once more has memory to reuse.
    Value second(first);
    error = second.decode(encoded);
    if (!error) {
      error = second.encode(again);
    }
  }
  if (error) {
    const std::string sentence = error.sentence();
    answer('-', sentence.data(), sentence.size());
  } else {
    answer('+', again.data(), again.size());
  }
}

void properties(const sinew::TypeTable & type)
{
  Bytes encoded;
  std::string text;
  if (auto error = Value(type).encode(encoded)) {
    text = error.sentence();
  }
  char digits[3];
  for (const unsigned byte : type.hash) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  text += '\n';
  text += type.description;
  text += '\n' + std::to_string(type.size) + ' ' + std::to_string(type.alignment) +
    (type.is_plain ? " plain\n" : "\n");
  for (const unsigned byte : encoded) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  answer('+', text.data(), text.size());
}

}  // namespace

int main()
{
  char request = 0;
  Bytes name, encoded;
  while (read(&request, 1) && read(name) && read(encoded)) {
    const std::string wanted(name.begin(), name.end());
    const sinew::TypeTable * found = nullptr;
    for (const sinew::TypeTable * type : types) {
      if (type->name == wanted) {
        found = type;
      }
    }
    if (found == nullptr) {
      std::fprintf(stderr, "there is no type %s\n", wanted.c_str());
      return 1;
    }
    request == 't' ? properties(*found) : decode(*found, encoded);
  }
  return 0;
}
