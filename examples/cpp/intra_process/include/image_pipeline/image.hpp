// Images without a camera and without OpenCV: a pattern, and text in large pixels.
#ifndef IMAGE_PIPELINE__IMAGE_HPP_
#define IMAGE_PIPELINE__IMAGE_HPP_

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>

#include "sensor_msgs/msg/image.hpp"

namespace image_pipeline
{

/// Fills in a gradient that moves with the number of the image.
inline void draw_pattern(sensor_msgs::msg::Image & image, std::uint32_t number)
{
  image.height = 240;
  image.width = 320;
  image.encoding = "mono8";
  image.is_bigendian = false;
  image.step = image.width;
  image.data.resize(static_cast<std::size_t>(image.step) * image.height);
  for (std::uint32_t y = 0; y < image.height; ++y) {
    for (std::uint32_t x = 0; x < image.width; ++x) {
      image.data[y * image.step + x] = static_cast<std::uint8_t>(x + y + number);
    }
  }
}

/// Draws the bits of a text's letters into the image, one line of pixels for each letter.
inline void draw_on_image(sensor_msgs::msg::Image & image, const std::string & text, std::uint32_t line)
{
  for (std::size_t letter = 0; letter < text.size() && line + letter < image.height; ++letter) {
    for (std::uint32_t bit = 0; bit < 8; ++bit) {
      const bool is_set = (static_cast<unsigned char>(text[letter]) >> bit & 1) != 0;
      image.data[(line + letter) * image.step + bit] = is_set ? 255 : 0;
    }
  }
}

/// Returns a line that says where the image is: the process and the address of its pixels.
inline std::string place(const sensor_msgs::msg::Image & image)
{
  char text[64];
  std::snprintf(
    text, sizeof(text), "at 0x%" PRIXPTR, reinterpret_cast<std::uintptr_t>(image.data.data()));
  return text;
}

}  // namespace image_pipeline

#endif  // IMAGE_PIPELINE__IMAGE_HPP_
