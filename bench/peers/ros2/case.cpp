#include "case.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

std::string::size_type Case::value_of(const std::string & name) const
{
  const auto place = json_.find('"' + name + '"');
  const auto colon = place == std::string::npos ? place : json_.find(':', place);
  return colon == std::string::npos ? colon : json_.find_first_not_of(" \t", colon + 1);
}

double Case::number(const std::string & name) const
{
  const auto value = value_of(name);
  if (value == std::string::npos) {
    throw std::runtime_error("the case has no " + name);
  }
  return std::strtod(json_.c_str() + value, nullptr);
}

double Case::number_or(const std::string & name, double otherwise) const
{
  return value_of(name) == std::string::npos ? otherwise : number(name);
}

std::string Case::text(const std::string & name) const
{
  const auto value = value_of(name);
  if (value == std::string::npos || json_[value] != '"') {
    return {};
  }
  const auto end = json_.find('"', value + 1);
  return json_.substr(value + 1, end == std::string::npos ? end : end - value - 1);
}

Figures & Figures::add(const std::string & name, double value)
{
  values_.emplace_back(name, value);
  return *this;
}

Figures & Figures::add_times(const Samples & samples, double parts)
{
  if (samples.count() == 0) {
    throw std::runtime_error("no message came");
  }
  add("p50_ns", samples.percentile(50) / parts).add("p90_ns", samples.percentile(90) / parts);
  return add("messages", static_cast<double>(samples.count()));
}

std::string Figures::json() const
{
  std::string line;
  for (const auto & [name, value] : values_) {
    char text[32];
    // Counts and nanoseconds are whole; percentages need two digits.
    const bool is_count = value == static_cast<double>(static_cast<long long>(value));
    std::snprintf(text, sizeof text, is_count ? "%.0f" : "%.2f", value);
    line += (line.empty() ? "{\"" : ", \"") + name + "\": " + text;
  }
  return line.empty() ? "{}" : line + "}";
}
