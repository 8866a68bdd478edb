#include "transfer/tables/spill_texts.hpp"

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

constexpr std::size_t last_bytes_max = 256u << 10;
// Most texts are names: one read gets such a text with its length.
constexpr std::size_t usual_bytes = 128;

}  // namespace

Result<std::uint64_t> SpillTexts::append(std::string_view text) {
    const auto place = end();
    std::byte head[head_bytes];
    store_le(head, static_cast<std::uint32_t>(text.size()));
    if (held_end() == place && held_.size() + head_bytes + text.size() <= memory_bytes_) {
        held_.reserve(memory_bytes_);  // untouched pages take no memory
        held_ += text_of(head);
        held_ += text;
        written_ = held_end();
        return place;
    }
    if (last_.size() >= last_bytes_max) {
        FB_TRY(file_.write(written_, bytes_of(last_)));
        written_ += last_.size();
        last_.clear();
    }
    last_ += text_of(head);
    last_ += text;
    return place;
}

Result<> SpillTexts::read(std::uint64_t place, std::span<std::byte> bytes) {
    if (place < held_end()) {
        std::ranges::copy(bytes_of(held_).subspan(place - first_place, bytes.size()), bytes.begin());
        return {};
    }
    if (place < written_) return file_.read(place, bytes);
    std::ranges::copy(bytes_of(last_).subspan(place - written_, bytes.size()), bytes.begin());
    return {};
}

// Each part begins with a whole text: held, file, last.
Result<std::string> SpillTexts::at(std::uint64_t place) {
    // The limit is the end of the part that holds `place`: no text lies across two parts.
    const auto there = (place < held_end() ? held_end() : place < written_ ? written_ : end()) - place;
    std::string text(std::min<std::uint64_t>(there, head_bytes + usual_bytes), '\0');
    FB_TRY(read(place, std::as_writable_bytes(std::span(text))));
    const auto bytes = load_le<std::uint32_t>(bytes_of(text).data());
    const auto had = text.size();
    text.resize(head_bytes + bytes);
    if (had < text.size()) FB_TRY(read(place + had, std::as_writable_bytes(std::span(text)).subspan(had)));
    text.erase(0, head_bytes);
    return text;
}

}  // namespace forebay::tree
