#include "transfer/tables/spilled_places.hpp"

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

// About 200 KB. A further name often lies beside the last.
constexpr std::size_t folders_max = 256, known_max = 1'024;
// An entry is the place of its parent, then its name. A directory also has its inode before the name.
constexpr std::size_t above_bytes = 8, id_bytes = 16;

std::string text_of_place(std::uint64_t above, const std::string& name) {
    std::byte head[above_bytes];
    store_le(head, above);
    return std::string(text_of(head)) + name;
}

std::string text_of_id(const sys::EntryId& id) {
    std::byte text[id_bytes];
    store_le(text, id.device);
    store_le(text + 8, id.number);
    return std::string(text_of(text));
}

// Not inlined: gcc 12 would warn that the bytes of a short text are uninitialized.
[[gnu::noinline]] std::uint64_t number_at(const std::string& text, std::size_t at) {
    return load_le<std::uint64_t>(bytes_of(text).subspan(at).data());
}

}  // namespace

Result<SpilledPlaces::Spilled> SpilledPlaces::read(std::uint64_t at) {
    FB_TRY_ASSIGN(text, texts_.at(at));
    return Spilled{.above = number_at(text, 0), .name = text.substr(above_bytes)};
}

Result<SpilledPlaces::Spilled> SpilledPlaces::read_folder(std::uint64_t at) {
    FB_TRY_ASSIGN(text, texts_.at(at));
    return Spilled{.above = number_at(text, 0),
                   .name = text.substr(above_bytes + id_bytes),
                   .id = {number_at(text, above_bytes), number_at(text, above_bytes + 8)}};
}

Result<std::uint64_t> SpilledPlaces::put(const EntryPlace& place) {
    std::vector<DirNodeRef> missing;
    std::uint64_t above = 0;
    for (auto at = place.dir_node; at->parent; at = at->parent) {
        // A freed node's address may be reused, so the weak pointer must still lead to this node.
        const auto known = known_.find(at.get());
        if (known != known_.end() && known->second.dir_node.lock() == at) {
            above = known->second.at;
            break;
        }
        missing.push_back(at);
    }
    if (known_.size() + missing.size() > known_max) known_.clear();
    for (auto dir_node = missing.rbegin(); dir_node != missing.rend(); ++dir_node) {
        const auto name = text_of_id((*dir_node)->status(TreeSide::target).id) + (*dir_node)->name;
        FB_TRY_ASSIGN(next, texts_.append(text_of_place(above, name)));
        above = next;
        known_[dir_node->get()] = {*dir_node, above};
    }
    return texts_.append(text_of_place(above, place.name));
}

Result<EntryPlace> SpilledPlaces::get(std::uint64_t at, const DirNodeRef& any) {
    FB_TRY_ASSIGN(own, read(at));
    std::vector<std::pair<std::uint64_t, Spilled>> missing;
    DirNodeRef folder;
    for (auto up = own.above; !folder;) {
        if (up == 0) {
            folder = any;
            while (folder->parent) folder = folder->parent;
        } else if (const auto known = folders_.find(up); known != folders_.end()) {
            folder = known->second;
        } else {
            FB_TRY_ASSIGN(spilled, read_folder(up));
            missing.emplace_back(up, spilled);
            up = spilled.above;
        }
    }
    for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
        auto& [place, spilled] = *next;
        folder = std::make_shared<DirNode>(std::move(folder), std::move(spilled.name));
        folder->status(TreeSide::target).id = spilled.id;
        if (folders_.size() >= folders_max) folders_.clear();
        folders_.emplace(place, folder);
    }
    return EntryPlace{std::move(folder), std::move(own.name)};
}

}  // namespace forebay::tree
