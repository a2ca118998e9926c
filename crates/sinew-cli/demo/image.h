/* Where the pixels of an encoded `sensor_msgs/msg/Image` lie: in plain CDR, after a header of 4 bytes, each number
 * is aligned to its size, and a text or sequence begins with its length. The bytes may come from another process,
 * so nothing in them is trusted. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct image_reader {
    const uint8_t *bytes; /* after the header */
    size_t length, at;
};

static inline bool image_number(struct image_reader *reader, uint32_t *number)
{
    reader->at = (reader->at + 3) & ~(size_t)3;
    if (reader->at > reader->length || reader->length - reader->at < sizeof *number) return false;
    memcpy(number, reader->bytes + reader->at, sizeof *number);
    reader->at += sizeof *number;
    return true;
}

static inline bool image_skip(struct image_reader *reader, size_t length)
{
    if (reader->length - reader->at < length) return false;
    reader->at += length;
    return true;
}

/* Finds the pixels: `first` is counted from the start of `bytes`. False if these are no image. */
static inline bool image_pixels(const uint8_t *bytes, size_t length, size_t *first, size_t *count)
{
    if (length < 4 || bytes[1] != 1) return false; /* little endian */
    struct image_reader reader = {bytes + 4, length - 4, 0};
    uint32_t number, text, pixels;
    const bool found = image_number(&reader, &number) && image_number(&reader, &number) /* the stamp */
                    && image_number(&reader, &text) && image_skip(&reader, text)        /* the frame's name */
                    && image_number(&reader, &number) && image_number(&reader, &number) /* height, width */
                    && image_number(&reader, &text) && image_skip(&reader, text)        /* the encoding */
                    && image_skip(&reader, 1) && image_number(&reader, &number)         /* the byte order, the step */
                    && image_number(&reader, &pixels) && reader.length - reader.at >= pixels;
    if (!found) return false;
    *first = 4 + reader.at;
    *count = pixels;
    return true;
}

#endif
