#include "insight/insitu/animation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/try.hpp"

namespace forebay::insitu {

namespace {

constexpr std::size_t palette_max = 256;
constexpr std::size_t png_signature_bytes = 8;

std::uint32_t colour_number(const std::uint8_t* pixel) {
    return static_cast<std::uint32_t>(pixel[0] << 16 | pixel[1] << 8 | pixel[2]);
}

void put_number(std::vector<std::byte>& to, std::uint32_t number, int bytes = 4) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) to.push_back(static_cast<std::byte>(number >> shift));
}

// CRC-32 of the PNG standard, annex D.
std::uint32_t png_crc(std::span<const std::byte> bytes) {
    static constexpr auto table = [] {
        std::array<std::uint32_t, 256> sums{};
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            auto rest = byte;
            for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? 0xEDB88320u : 0u);
            sums[byte] = rest;
        }
        return sums;
    }();
    auto rest = ~std::uint32_t{0};
    for (const auto byte : bytes) rest = rest >> 8 ^ table[(rest ^ static_cast<std::uint32_t>(byte)) & 0xFF];
    return ~rest;
}

/// Appends length, type, data, and the CRC of type and data.
void put_chunk(std::vector<std::byte>& to, std::string_view type, std::span<const std::byte> data) {
    put_number(to, static_cast<std::uint32_t>(data.size()));
    const auto begin = to.size();
    const auto* const letters = reinterpret_cast<const std::byte*>(type.data());
    to.insert(to.end(), letters, letters + type.size());
    to.insert(to.end(), data.begin(), data.end());
    put_number(to, png_crc(std::span(to).subspan(begin)));
}

/// Calls `use` with type, data and all bytes of each chunk. Only for PNG files made by encode_png().
template <class Use>
void each_chunk(std::span<const std::byte> png, Use&& use) {
    for (std::size_t at = png_signature_bytes; at + 12 <= png.size();) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<std::size_t>(png[at + i]);
        use(std::string_view(reinterpret_cast<const char*>(png.data()) + at + 4, 4), png.subspan(at + 8, length),
            png.subspan(at, length + 12));
        at += length + 12;
    }
}

}  // namespace

bool is_own_png(std::string_view bytes) {
    using namespace std::string_view_literals;
    constexpr std::size_t looked_at_bytes = 2048;  // the palette comes first
    return bytes.substr(0, looked_at_bytes).find("tEXtSoftware\0Forebay"sv) != bytes.npos;
}

void FrameNeeds::take(const Photo& photo) {
    width_ = std::max(width_, photo.width);
    height_ = std::max(height_, photo.height);
    // Neighbours often have equal colours: comparing first saves most look-ups in the set.
    std::uint32_t before = 0xFFFFFF;
    for (std::size_t at = 0; at < photo.pixels.size() && colours_.size() <= palette_max; at += 3) {
        const auto colour = colour_number(photo.pixels.data() + at);
        if (colour != before) colours_.insert(colour);
        before = colour;
    }
}

std::vector<Colour> FrameNeeds::palette() const {
    std::vector<Colour> palette;
    if (colours_.size() > palette_max) return palette;
    for (const auto colour : colours_)
        palette.push_back({static_cast<std::uint8_t>(colour >> 16), static_cast<std::uint8_t>(colour >> 8),
                           static_cast<std::uint8_t>(colour)});
    return palette;
}

Photo padded(const Photo& photo, std::uint32_t width, std::uint32_t height) {
    Photo whole{width, height, std::vector<std::uint8_t>(std::size_t{3} * width * height, 255)};
    const auto row = std::size_t{3} * photo.width;
    for (std::uint32_t y = 0; y < photo.height; ++y)
        std::copy_n(photo.pixels.begin() + static_cast<std::ptrdiff_t>(y * row), row,
                    whole.pixels.begin() + static_cast<std::ptrdiff_t>(std::size_t{3} * y * width));
    return whole;
}

Animation::Animation(const FrameNeeds& needs, std::uint32_t frames, std::uint16_t frame_ms)
    : width_(needs.width()), height_(needs.height()), frames_(frames), frame_ms_(frame_ms), palette_(needs.palette()) {
    for (std::size_t i = 0; i < palette_.size(); ++i) {
        const std::uint8_t pixel[] = {palette_[i].red, palette_[i].green, palette_[i].blue};
        numbers_[colour_number(pixel)] = static_cast<std::uint8_t>(i);
    }
}

Result<std::vector<std::byte>> Animation::encoded(const Photo& photo) const {
    const auto whole = padded(photo, width_, height_);
    // More than 256 colours need true colour.
    if (palette_.empty()) return encode_png(whole);
    Canvas canvas(static_cast<int>(width_), static_cast<int>(height_));
    std::uint32_t before = 0xFFFFFF;
    std::uint8_t number = numbers_.at(before);
    for (std::uint32_t y = 0; y < height_; ++y) {
        const auto row = canvas.row(static_cast<int>(y));
        for (std::size_t x = 0; x < row.size(); ++x) {
            const auto colour = colour_number(whole.pixels.data() + 3 * (std::size_t{y} * width_ + x));
            if (colour != before) number = numbers_.at(colour);
            before = colour;
            row[x] = number;
        }
    }
    return encode_png(canvas, palette_);
}

Result<std::vector<std::byte>> Animation::add(const Photo& photo) {
    FB_TRY_ASSIGN(png, encoded(photo));
    const bool is_first = added_ == 0;
    std::vector<std::byte> bytes, control;
    put_number(control, sequence_++);
    put_number(control, width_);
    put_number(control, height_);
    put_number(control, 0);  // left edge
    put_number(control, 0);  // top edge
    // The delay in seconds, as a fraction: frame_ms / 1000.
    put_number(control, frame_ms_, 2);
    put_number(control, 1000, 2);
    put_number(control, 0, 2);  // keep the frame until the next frame replaces it
    bool is_announced = false;
    if (is_first) bytes.assign(png.begin(), png.begin() + png_signature_bytes);
    each_chunk(png, [&](std::string_view type, std::span<const std::byte> data, std::span<const std::byte> chunk) {
        // Frames share these chunks, so only the first frame's copies go into the file.
        if (type == "IHDR" || type == "PLTE" || type == "tEXt") {
            if (is_first) bytes.insert(bytes.end(), chunk.begin(), chunk.end());
        } else if (type == "IDAT") {
            if (!is_announced && is_first) {
                std::vector<std::byte> animation;
                put_number(animation, frames_);
                put_number(animation, 0);  // plays: 0 means for ever
                put_chunk(bytes, "acTL", animation);
            }
            if (!is_announced) put_chunk(bytes, "fcTL", control);
            is_announced = true;
            // Old readers see the first frame in IDAT chunks. Later frames lie in fdAT chunks, with a sequence number.
            if (is_first) {
                bytes.insert(bytes.end(), chunk.begin(), chunk.end());
            } else {
                std::vector<std::byte> numbered;
                put_number(numbered, sequence_++);
                numbered.insert(numbered.end(), data.begin(), data.end());
                put_chunk(bytes, "fdAT", numbered);
            }
        }
    });
    if (++added_ == frames_) put_chunk(bytes, "IEND", {});
    return bytes;
}

}  // namespace forebay::insitu
