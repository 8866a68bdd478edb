// With libpng, in place of png_none.cpp.

#include "insight/insitu/png.hpp"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <new>
#include <string>

namespace forebay::insitu {

namespace {

constexpr png_uint_32 decoded_side_max = 16'384;

/// The state behind libpng's callbacks. They must not throw through C, and longjmp must not skip a destructor.
struct PngSink {
    std::vector<std::byte> bytes;
    std::array<char, 120> failure{};
};

void sink_png(png_structp png, png_bytep from, png_size_t size) {
    auto& sink = *static_cast<PngSink*>(png_get_io_ptr(png));
    bool is_kept = true;
    try {
        const auto* const first = reinterpret_cast<const std::byte*>(from);
        sink.bytes.insert(sink.bytes.end(), first, first + size);
    } catch (const std::bad_alloc&) {
        is_kept = false;
    }
    // Outside the handler: png_error() jumps away, and a jump must not leave a catch block.
    if (!is_kept) png_error(png, "no memory");
}

[[noreturn]] void fail_png(png_structp png, png_const_charp words) {
    auto& failure = static_cast<PngSink*>(png_get_error_ptr(png))->failure;
    // Copied without an allocation, which could throw through C.
    for (std::size_t i = 0; i + 1 < failure.size() && words[i] != '\0'; ++i) failure[i] = words[i];
    png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

/// The input of write_png(), as plain pointers: longjmp must not skip a destructor there.
struct PngJob {
    png_structp png;
    png_infop info;
    const std::uint8_t* pixels;
    const png_color* colours;  // null: each pixel has its own, 3 bytes
    int colour_count;
    png_uint_32 width, height;
};

bool write_png(const PngJob& job) {
    if (setjmp(png_jmpbuf(job.png)) != 0) return false;
    const bool has_palette = job.colours != nullptr;
    png_set_IHDR(job.png, job.info, job.width, job.height, 8, has_palette ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (has_palette) png_set_PLTE(job.png, job.info, job.colours, job.colour_count);
    // In smooth fields and enlarged elements, a row differs little from the row above, and in long equal runs.
    png_set_filter(job.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_compression_level(job.png, 1);
    png_set_compression_strategy(job.png, Z_RLE);
    png_set_compression_buffer_size(job.png, 256u << 10);
    char keyword[] = "Software", text[] = "Forebay";
    png_text software{};
    software.compression = PNG_TEXT_COMPRESSION_NONE;
    software.key = keyword;
    software.text = text;
    software.text_length = sizeof text - 1;
    png_set_text(job.png, job.info, &software, 1);
    png_write_info(job.png, job.info);
    for (png_uint_32 y = 0; y < job.height; ++y)
        png_write_row(job.png, job.pixels + static_cast<std::size_t>(y) * job.width * (has_palette ? 1 : 3));
    png_write_end(job.png, job.info);
    return true;
}

Result<std::vector<std::byte>> encoded(PngJob job) {
    PngSink sink;
    job.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink, fail_png, ignore_warning);
    job.info = job.png == nullptr ? nullptr : png_create_info_struct(job.png);
    bool is_written = false;
    if (job.info != nullptr) {
        png_set_write_fn(job.png, &sink, sink_png, nullptr);
        is_written = write_png(job);
    }
    if (job.png != nullptr) png_destroy_write_struct(&job.png, job.info == nullptr ? nullptr : &job.info);
    if (is_written) return std::move(sink.bytes);
    return Error{ErrorKind::broken, "libpng cannot write a picture: " + std::string(sink.failure.data())};
}

}  // namespace

bool has_png() { return true; }

Result<std::vector<std::byte>> encode_png(const Canvas& canvas, std::span<const Colour> colours) {
    std::vector<png_color> table;
    for (const auto& colour : colours) table.push_back({colour.red, colour.green, colour.blue});
    return encoded({nullptr, nullptr, canvas.pixels().data(), table.data(), static_cast<int>(table.size()),
                    static_cast<png_uint_32>(canvas.width()), static_cast<png_uint_32>(canvas.height())});
}

Result<std::vector<std::byte>> encode_png(const Photo& photo) {
    return encoded({nullptr, nullptr, photo.pixels.data(), nullptr, 0, photo.width, photo.height});
}

Result<Photo> decode_png(std::span<const std::byte> png, const std::string& name) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    const auto damaged = [&](const std::string& why) {
        png_image_free(&image);
        return Error{ErrorKind::corrupt, name + " is not a readable picture: " + why};
    };
    if (png_image_begin_read_from_memory(&image, png.data(), png.size()) == 0) return damaged(image.message);
    if (image.width > decoded_side_max || image.height > decoded_side_max) return damaged("it is too large");
    image.format = PNG_FORMAT_RGB;
    Photo photo{image.width, image.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(image))};
    const png_color white{255, 255, 255};
    if (png_image_finish_read(&image, &white, photo.pixels.data(), 0, nullptr) == 0) return damaged(image.message);
    return photo;
}

}  // namespace forebay::insitu
