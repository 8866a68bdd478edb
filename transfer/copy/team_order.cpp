#include "transfer/copy/team_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "core/base/try.hpp"
#include "core/describe/storage_targets.hpp"
#include "core/sys/far_module.hpp"

namespace forebay::tree {

namespace {

constexpr std::size_t order_numbers = 18;

// All switches of an order, a bit each. An option that is added to a copy is named here: it is told with the switches,
// or below, or it is each process's own.
template <class Order>
auto switches_of(Order& order) {
    auto& [threads, filter, wished, preserve, cannot_keep, manifest, rate, shared_turn, one_file_system, removes_extra,
           removed_max, allows_empty, allows_unlike, compares_bytes, trusts_attributes, verifies, recalls, is_dry,
           syncs, is_locked, is_run, naming, tables, layout, watch, lead] = order.options;
    auto& [owner, group, permissions, times, attributes, hard_links] = preserve;
    return std::array{&order.has_list,
                      &order.reads_bytes,
                      &order.lists,
                      &order.sums,
                      &order.lacks_target,
                      &order.tells_births,
                      &owner,
                      &group,
                      &permissions,
                      &times,
                      &attributes,
                      &hard_links,
                      &one_file_system,
                      &removes_extra,
                      &compares_bytes,
                      &trusts_attributes,
                      &verifies,
                      &recalls,
                      &is_dry,
                      &syncs,
                      &is_run};
}

}  // namespace

TeamMessage message_of(const TeamOrder& order) {
    TeamMessage message{.kind = TeamKind::order, .path = order.temporary_prefix, .text = order.probe};
    const auto switches = switches_of(order);
    for (std::size_t bit = 0; bit < switches.size(); ++bit)
        if (*switches[bit]) message.flags |= std::uint64_t{1} << bit;
    message.numbers = {static_cast<std::uint64_t>(order.verb),
                       order.process,
                       order.processes,
                       order.threads,
                       order.patience_seconds,
                       order.user,
                       order.umask,
                       order.source_root.number,
                       static_cast<std::uint64_t>(order.source_root.modified.seconds),
                       order.source_root.modified.nanoseconds,
                       order.target_root.number,
                       static_cast<std::uint64_t>(order.target_root.modified.seconds),
                       order.target_root.modified.nanoseconds,
                       static_cast<std::uint64_t>(order.options.cannot_keep),
                       order.options.rate_bytes_per_second,
                       order.group,
                       order.options.filter.include.size(),
                       static_cast<std::uint64_t>(order.recorded)};
    message.texts = {order.source,
                     order.target,
                     order.options.layout.words,
                     fmt::format("{}", fmt::join(order.options.layout.excluded_targets, ",")),
                     order.settings,
                     order.source_root.mounts,
                     order.target_root.mounts};
    message.texts.insert(message.texts.end(), order.options.filter.include.begin(), order.options.filter.include.end());
    message.texts.insert(message.texts.end(), order.options.filter.exclude.begin(), order.options.filter.exclude.end());
    return message;
}

Result<TeamOrder> order_from(const TeamMessage& message) {
    const Error corrupt{ErrorKind::corrupt, "what the first process of this command ordered cannot be understood"};
    const auto& numbers = message.numbers;
    constexpr std::size_t fixed_texts = 7;
    if (message.kind != TeamKind::order || numbers.size() != order_numbers || message.texts.size() < fixed_texts ||
        numbers[16] > message.texts.size() - fixed_texts || numbers[0] > static_cast<std::uint64_t>(TeamVerb::remove) ||
        numbers[13] > static_cast<std::uint64_t>(CannotKeep::drop) || numbers[9] > UINT32_MAX ||
        numbers[12] > UINT32_MAX || numbers[17] > static_cast<std::uint64_t>(Recorded::all))
        return corrupt;
    TeamOrder order{.verb = static_cast<TeamVerb>(numbers[0]),
                    .process = numbers[1],
                    .processes = numbers[2],
                    .threads = numbers[3],
                    .patience_seconds = numbers[4],
                    .user = numbers[5],
                    .umask = numbers[6],
                    .source = message.texts[0],
                    .target = message.texts[1],
                    .probe = message.text,
                    .temporary_prefix = message.path,
                    .settings = message.texts[4]};
    order.options.cannot_keep = static_cast<CannotKeep>(numbers[13]);
    order.options.rate_bytes_per_second = numbers[14];
    order.group = numbers[15];
    order.recorded = static_cast<Recorded>(numbers[17]);
    order.source_root = {
        numbers[7], {static_cast<std::int64_t>(numbers[8]), static_cast<std::uint32_t>(numbers[9])}, message.texts[5]};
    order.target_root = {numbers[10],
                         {static_cast<std::int64_t>(numbers[11]), static_cast<std::uint32_t>(numbers[12])},
                         message.texts[6]};
    const auto layout = layout_from(message.texts[2]);
    const auto excluded = describe::parse_storage_targets(message.texts[3], "an order");
    if (!layout || !excluded) return corrupt;
    order.options.layout = *layout;
    order.options.layout.excluded_targets = *excluded;
    const auto patterns = message.texts.begin() + fixed_texts;
    const auto includes_end = patterns + static_cast<std::ptrdiff_t>(numbers[16]);
    order.options.filter.include.assign(patterns, includes_end);
    order.options.filter.exclude.assign(includes_end, message.texts.end());
    order.options.filter.count_uses();
    const auto switches = switches_of(order);
    if (message.flags >> switches.size() != 0) return corrupt;
    for (std::size_t bit = 0; bit < switches.size(); ++bit) *switches[bit] = (message.flags >> bit & 1) != 0;
    // What an order has no use for is empty.
    if (message_of(order) != message) return corrupt;
    return order;
}

std::string team_place(const std::string& place) {
    return sys::is_far(place) ? place : std::filesystem::absolute(place).string();
}

Result<TeamRoot> team_root(sys::Folder& folder, const std::string& place) {
    FB_TRY_ASSIGN(status, folder.status());
    FB_TRY_ASSIGN(mounts, folder.mounts_below());
    if (!sys::is_far(place)) return TeamRoot{status.id.number, status.modified, mounts_text(mounts)};
    return TeamRoot{status.id.number ^ status.id.device, {}, {}};
}

std::string mounts_text(const std::vector<sys::MountBelow>& mounts) {
    std::string text;
    for (const auto& mount : mounts) {
        text += fmt::format("{} {}", mount.id.number, mount.path);
        text.push_back('\0');
    }
    return text;
}

std::vector<sys::MountBelow> mounts_from(std::string_view text) {
    std::vector<sys::MountBelow> mounts;
    while (!text.empty()) {
        const auto one = text.substr(0, text.find('\0'));
        text.remove_prefix(std::min(text.size(), one.size() + 1));
        sys::MountBelow mount{.path = std::string(one.substr(std::min(one.find(' ') + 1, one.size()))), .id = {}};
        std::from_chars(one.data(), one.data() + one.size(), mount.id.number);
        mounts.push_back(std::move(mount));
    }
    return mounts;
}

std::uint64_t team_threads(std::initializer_list<std::string_view> places, std::uint64_t threads) {
    return std::ranges::any_of(places, sys::is_far) ? threads : 0;
}

}  // namespace forebay::tree
