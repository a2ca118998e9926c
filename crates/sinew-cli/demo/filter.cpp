// The filter of `sinew demo --languages`, a component: reads each image where the camera wrote it, and writes its
// negative where the viewer reads it. Nothing is copied, encoded or decoded.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "image.h"
#include "sensor_msgs/msg/image.hpp"
#include "sinew/component.hpp"
#include "sinew/sinew.hpp"

using sensor_msgs::msg::Image;

namespace demo
{

class Filter : public sinew::Node
{
public:
  explicit Filter(const sinew::NodeOptions & options)
  : Node("filter", options)
  {
    negatives_ = create_publisher<Image>("negative", 10);
    images_ = create_subscription<Image>(
      "image", 10, [this](sinew::MessageView<Image> image) {filter(image.bytes());});
  }

private:
  void filter(sinew::Span<const std::uint8_t> image)
  {
    std::size_t first = 0;
    std::size_t count = 0;
    if (!image_pixels(image.data(), image.size(), &first, &count)) {
      throw std::runtime_error("this is no image");
    }
    auto negative = negatives_->draft(image.size());
    std::copy_n(image.data(), first, negative.data()); // all but the pixels
    std::transform(
      image.data() + first, image.data() + first + count, negative.data() + first,
      [](std::uint8_t pixel) {return static_cast<std::uint8_t>(~pixel);});
    negatives_->publish(std::move(negative));
  }

  sinew::Publisher<Image>::SharedPtr negatives_;
  sinew::Subscription<Image>::SharedPtr images_;
};

}  // namespace demo

SINEW_COMPONENTS_REGISTER_NODE(demo::Filter)
