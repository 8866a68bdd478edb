#include "tree/spilled_places.hpp"

#include "base/bytes.hpp"
#include "base/try.hpp"

namespace forebay::tree {

namespace {

// Some 200 KB; a further name often lies beside the last one.
constexpr std::size_t folders_max = 256, known_max = 1'024;
constexpr std::size_t spilled_head_bytes = 24;

}  // namespace

Result<std::uint64_t> SpilledPlaces::put(const Spilled& spilled) {
    std::byte head[spilled_head_bytes];
    store_le(head, spilled.above);
    store_le(head + 8, spilled.id.device);
    store_le(head + 16, spilled.id.number);
    return texts_.append(std::string(text_of(head)) + spilled.name);
}

Result<SpilledPlaces::Spilled> SpilledPlaces::read(std::uint64_t at) {
    FB_TRY_ASSIGN(text, texts_.at(at));
    const auto* head = bytes_of(text).data();
    return Spilled{.above = load_le<std::uint64_t>(head),
                   .id = {load_le<std::uint64_t>(head + 8), load_le<std::uint64_t>(head + 16)},
                   .name = text.substr(spilled_head_bytes)};
}

Result<std::uint64_t> SpilledPlaces::put(const EntryPlace& place) {
    std::vector<BranchRef> missing;
    std::uint64_t above = 0;
    for (auto at = place.branch; at->parent; at = at->parent) {
        const auto known = known_.find(at.get());
        if (known != known_.end() && known->second.branch.lock() == at) {
            above = known->second.at;
            break;
        }
        missing.push_back(at);
    }
    if (known_.size() + missing.size() > known_max) known_.clear();
    for (auto branch = missing.rbegin(); branch != missing.rend(); ++branch) {
        FB_TRY_ASSIGN(
            next, put(Spilled{.above = above, .id = (*branch)->status(TreeSide::target).id, .name = (*branch)->name}));
        above = next;
        known_[branch->get()] = {*branch, above};
    }
    return put(Spilled{.above = above, .id = {}, .name = place.name});
}

Result<EntryPlace> SpilledPlaces::get(std::uint64_t at, const BranchRef& any) {
    FB_TRY_ASSIGN(own, read(at));
    std::vector<std::pair<std::uint64_t, Spilled>> missing;
    BranchRef folder;
    for (auto up = own.above; !folder;) {
        if (up == 0) {
            folder = any;
            while (folder->parent) folder = folder->parent;
        } else if (const auto known = folders_.find(up); known != folders_.end()) {
            folder = known->second;
        } else {
            FB_TRY_ASSIGN(spilled, read(up));
            missing.emplace_back(up, spilled);
            up = spilled.above;
        }
    }
    for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
        auto& [place, spilled] = *next;
        folder = std::make_shared<Branch>(std::move(folder), std::move(spilled.name));
        folder->status(TreeSide::target).id = spilled.id;
        if (folders_.size() >= folders_max) folders_.clear();
        folders_.emplace(place, folder);
    }
    return EntryPlace{std::move(folder), std::move(own.name)};
}

}  // namespace forebay::tree
