// Moving pictures as animated PNG (APNG, since 2025 a part of the PNG standard): a PNG file whose first picture every
// reader shows, and more pictures that browsers and others show after it.
//
// Life:    Animation(...) -> add() of every frame -> the bytes that they answer, one after the other, are the file.
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "insight/insitu/png.hpp"

namespace forebay::insitu {

/// What all frames need: a size, and a palette while no more than 256 colours are seen.
class FrameNeeds {
public:
    void take(const Photo& photo);
    std::uint32_t width() const { return width_; }
    std::uint32_t height() const { return height_; }
    /// Rising; empty where there are too many.
    std::vector<Colour> palette() const;

private:
    std::uint32_t width_ = 0, height_ = 0;
    std::set<std::uint32_t> colours_{0xFFFFFF};  // white, with which frames are padded
};

/// The picture at the upper left of white paper of that size.
Photo padded(const Photo& photo, std::uint32_t width, std::uint32_t height);

class Animation {
public:
    /// Of so many frames, all of them taken by `needs`, each shown for `frame_ms`; played again and again.
    Animation(const FrameNeeds& needs, std::uint32_t frames, std::uint16_t frame_ms);

    /// What comes next in the file, with the last frame its end. Errors as encode_png().
    Result<std::vector<std::byte>> add(const Photo& photo);

private:
    Result<std::vector<std::byte>> encoded(const Photo& photo) const;

    std::uint32_t width_, height_, frames_;
    std::uint16_t frame_ms_;
    std::vector<Colour> palette_;
    std::map<std::uint32_t, std::uint8_t> numbers_;  // of the palette's colours
    std::uint32_t added_ = 0;
    std::uint32_t sequence_ = 0;  // of fcTL and fdAT chunks together
};

}  // namespace forebay::insitu
