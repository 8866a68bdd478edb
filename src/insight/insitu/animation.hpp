// Moving pictures as animated PNG (APNG, part of the PNG standard since 2025). Every PNG reader shows the first frame.
// Browsers play all frames.
//
// Life:    Animation(...) -> add() of every frame. Write the returned bytes one after another: they are the file.
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "insight/insitu/png.hpp"

namespace forebay::insitu {

/// Properties common to all frames: a size, and a palette unless there are more than 256 colours.
class FrameNeeds {
public:
    void take(const Photo& photo);
    std::uint32_t width() const { return width_; }
    std::uint32_t height() const { return height_; }
    /// Sorted by number; empty if there are too many colours.
    std::vector<Colour> palette() const;

private:
    std::uint32_t width_ = 0, height_ = 0;
    std::set<std::uint32_t> colours_{0xFFFFFF};  // white pads the frames
};

/// Puts the picture at the upper left of white paper of this size.
Photo padded(const Photo& photo, std::uint32_t width, std::uint32_t height);

class Animation {
public:
    /// An endless animation of `frames` frames, each shown for `frame_ms`. `needs` has taken all frames.
    Animation(const FrameNeeds& needs, std::uint32_t frames, std::uint16_t frame_ms);

    /// Returns the next bytes of the file; the last frame's bytes end it. Errors as encode_png().
    Result<std::vector<std::byte>> add(const Photo& photo);

private:
    Result<std::vector<std::byte>> encoded(const Photo& photo) const;

    std::uint32_t width_, height_, frames_;
    std::uint16_t frame_ms_;
    std::vector<Colour> palette_;
    std::map<std::uint32_t, std::uint8_t> numbers_;  // colour -> its index in the palette
    std::uint32_t added_ = 0;
    std::uint32_t sequence_ = 0;  // counts fcTL and fdAT chunks together
};

}  // namespace forebay::insitu
