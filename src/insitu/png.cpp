#include "insitu/png.hpp"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <new>
#include <string>

namespace forebay::insitu {

namespace {

/// What libpng's functions are given: they must neither throw through C nor lose what they hold to longjmp.
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
    if (!is_kept) png_error(png, "no memory");
}

[[noreturn]] void fail_png(png_structp png, png_const_charp words) {
    auto& failure = static_cast<PngSink*>(png_get_error_ptr(png))->failure;
    for (std::size_t i = 0; i + 1 < failure.size() && words[i] != '\0'; ++i) failure[i] = words[i];
    png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

/// What is written, as plain pointers: nothing in write_png() has a destructor that a jump could pass by.
struct PngJob {
    png_structp png;
    png_infop info;
    const std::uint8_t* pixels;
    const png_color* colours;
    int colour_count;
    png_uint_32 width, height;
};

bool write_png(const PngJob& job) {
    if (setjmp(png_jmpbuf(job.png)) != 0) return false;
    png_set_IHDR(job.png, job.info, job.width, job.height, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_PLTE(job.png, job.info, job.colours, job.colour_count);
    // Smooth fields and enlarged elements differ little from the row above, and then in long equal runs.
    png_set_filter(job.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_compression_level(job.png, 1);
    png_set_compression_strategy(job.png, Z_RLE);
    png_set_compression_buffer_size(job.png, 256u << 10);
    png_write_info(job.png, job.info);
    for (png_uint_32 y = 0; y < job.height; ++y)
        png_write_row(job.png, job.pixels + static_cast<std::size_t>(y) * job.width);
    png_write_end(job.png, job.info);
    return true;
}

}  // namespace

Result<std::vector<std::byte>> encode_png(const Canvas& canvas, std::span<const Colour> colours) {
    PngSink sink;
    std::vector<png_color> table;
    for (const auto& colour : colours) table.push_back({colour.red, colour.green, colour.blue});
    auto* png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink, fail_png, ignore_warning);
    auto* info = png == nullptr ? nullptr : png_create_info_struct(png);
    bool is_written = false;
    if (info != nullptr) {
        png_set_write_fn(png, &sink, sink_png, nullptr);
        is_written = write_png({png, info, canvas.pixels().data(), table.data(), static_cast<int>(table.size()),
                                static_cast<png_uint_32>(canvas.width()), static_cast<png_uint_32>(canvas.height())});
    }
    if (png != nullptr) png_destroy_write_struct(&png, info == nullptr ? nullptr : &info);
    if (is_written) return std::move(sink.bytes);
    return Error{ErrorKind::broken, "libpng cannot write a picture: " + std::string(sink.failure.data())};
}

}  // namespace forebay::insitu
