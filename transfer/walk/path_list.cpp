#include "transfer/walk/path_list.hpp"

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

// A lookup reads a block: about 600 paths. The first path of each block stays in memory and is small beside the block:
// a list of 100 million paths of 100 bytes keeps 23 MB of first paths.
constexpr std::size_t block_bytes_min = 32u << 10, blocks_of_first = 256;
// Recently read blocks use this part of the memory. Neighbouring directories lie in one block.
constexpr std::size_t loaded_part = 8;
// Bytes that another process gets in one reply.
constexpr std::size_t turn_bytes = 1u << 20;

std::string names_of_path(std::string path) {
    if (path == ".") return {};
    std::ranges::replace(path, '/', '\0');
    return path;
}

// The path with its length at `at`; null after the end of the block.
std::string_view names_at(std::string_view block, std::size_t at) {
    if (block.size() - at < path_length_bytes) return {};
    const auto bytes = load_le<std::uint32_t>(bytes_of(block).data() + at);
    return block.substr(at + path_length_bytes, bytes);
}

}  // namespace

void append_names(std::string& block, std::string_view names) {
    std::byte length[path_length_bytes];
    store_le(length, static_cast<std::uint32_t>(names.size()));
    block += text_of(length);
    block += names;
}

Result<> PathList::append(std::string_view names) {
    if (has_any_ && names == last_) return {};
    has_any_ = true;
    if (open_.empty()) first_ = names;
    last_ = names;
    append_names(open_, names);
    return open_.size() < std::max<std::size_t>(block_bytes_min, first_bytes_ / blocks_of_first) ? Result<>()
                                                                                                 : close_block();
}

Result<> PathList::close() { return open_.empty() ? Result<>() : close_block(); }

Result<> PathList::close_block() {
    Block block{.first = std::move(first_), .text = {}, .offset = file_bytes_, .bytes = open_.size()};
    first_bytes_ += block.first.size() + sizeof block;
    if (held_bytes_ + open_.size() <= memory_bytes_) {
        held_bytes_ += open_.size();
        block.text = std::make_shared<const std::string>(open_);
    } else {
        FB_TRY(file_.write(file_bytes_, bytes_of(open_)));
        file_bytes_ += open_.size();
    }
    blocks_.push_back(std::move(block));
    open_.clear();
    return {};
}

Result<PathList::TextRef> PathList::text_of_block(std::size_t index) {
    const std::lock_guard lock(mutex_);
    auto& block = blocks_[index];
    if (block.text) return block.text;
    std::string text(block.bytes, '\0');
    FB_TRY(file_.read(block.offset, std::as_writable_bytes(std::span(text))));
    block.text = std::make_shared<const std::string>(std::move(text));
    loaded_.push_back(index);
    loaded_bytes_ += block.bytes;
    // The newest block always stays: the caller reads it.
    while (loaded_bytes_ > memory_bytes_ / loaded_part && loaded_.size() > 1) {
        auto& oldest = blocks_[loaded_.front()];
        oldest.text.reset();
        loaded_bytes_ -= oldest.bytes;
        loaded_.pop_front();
    }
    return block.text;
}

Result<PathList::Place> PathList::find(std::string_view names) {
    auto next = std::ranges::upper_bound(blocks_, names, {},
                                         [](const Block& block) -> std::string_view { return block.first; });
    if (next != blocks_.begin()) {
        FB_TRY_ASSIGN(text, text_of_block(static_cast<std::size_t>(next - blocks_.begin()) - 1));
        for (Place place{.text = text}; place.at < text->size(); place.at += path_length_bytes + place.names.size()) {
            place.names = names_at(*text, place.at);
            if (place.names >= names) return place;
        }
    }
    if (next == blocks_.end()) return Place{};
    FB_TRY_ASSIGN(text, text_of_block(static_cast<std::size_t>(next - blocks_.begin())));
    return Place{.text = text, .at = 0, .names = names_at(*text, 0)};
}

Result<> PathList::go_on(Place& place, std::string_view names) {
    while (place.names < names) {
        place.at += path_length_bytes + place.names.size();
        // The block ends before `names`: search all blocks instead of reading them in order.
        if (place.at == place.text->size()) {
            FB_TRY_ASSIGN(wished, find(names));
            place = std::move(wished);
            return {};
        }
        place.names = names_at(*place.text, place.at);
    }
    return {};
}

Result<PathWish> PathList::wish_of(const std::string& path) {
    auto names = names_of_path(path);
    FB_TRY_ASSIGN(place, find(names));
    PathWish wish{.is_whole = place.text && place.names == names};
    names.push_back(names.empty() ? '\1' : '\0');  // sorts before all that lies in it
    if (place.text) FB_TRY(go_on(place, names));
    wish.has_below = place.text && (path == "." || place.names.starts_with(names));
    return wish;
}

Result<> PathList::names_below(const std::string& folder,
                               const std::function<Result<>(const std::string& name)>& take) {
    auto names = names_of_path(folder);
    if (!names.empty()) names.push_back('\0');
    const auto above = names.size();
    FB_TRY_ASSIGN(place, find(names));
    while (place.text && place.names.substr(0, above) == std::string_view(names).substr(0, above)) {
        names.resize(above);
        const auto name = place.names.substr(above, place.names.find('\0', above) - above);
        names += name;
        if (!name.empty()) FB_TRY(take(std::string(name)));  // an empty name is the root
        names.push_back('\1');  // skip all below: a path below continues with a zero byte, and no name has a zero byte
        FB_TRY(go_on(place, names));
    }
    return {};
}

Result<std::vector<std::string>> PathList::blocks_from(std::size_t block) {
    std::vector<std::string> texts;
    for (std::size_t bytes = 0; block < blocks_.size() && bytes < turn_bytes; ++block) {
        FB_TRY_ASSIGN(text, text_of_block(block));
        bytes += text->size();
        texts.push_back(*text);
    }
    return texts;
}

Result<> PathList::append_block(std::string_view block) {
    for (std::size_t at = 0; at < block.size();) {
        // The block comes from another process: check each length and the order before use.
        const auto names = names_at(block, at);
        if (names.data() == nullptr ||
            block.size() - at < path_length_bytes + load_le<std::uint32_t>(bytes_of(block).data() + at) ||
            (has_any_ && names <= last_))
            return Error{ErrorKind::corrupt, "another process sent an invalid list of paths"};
        FB_TRY(append(names));
        at += path_length_bytes + names.size();
    }
    return {};
}

}  // namespace forebay::tree
