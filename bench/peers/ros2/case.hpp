// A case of the protocol, and its figures: flat JSON in, flat JSON out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "samples.hpp"

/// One round of work, as the report describes it.
class Case
{
public:
  explicit Case(std::string json)
  : json_(std::move(json)) {}

  /// Returns an option that is a number, or throws a sentence.
  double number(const std::string & name) const;

  /// Returns an option that is a number, or `otherwise` if it is missing.
  double number_or(const std::string & name, double otherwise) const;

  /// Returns an option that is a text, or an empty one.
  std::string text(const std::string & name) const;

  /// Returns how long to measure, in seconds, warm-up included.
  double seconds() const {return number("seconds");}

private:
  std::string::size_type value_of(const std::string & name) const;

  std::string json_;
};

/// The figures of a round, in the order in which they were added.
class Figures
{
public:
  Figures & add(const std::string & name, double value);

  /// Adds `p50_ns`, `p90_ns` and `messages`. Each time is divided by `parts`.
  Figures & add_times(const Samples & samples, double parts = 1);

  /// Returns them as a line of JSON.
  std::string json() const;

private:
  std::vector<std::pair<std::string, double>> values_;
};
