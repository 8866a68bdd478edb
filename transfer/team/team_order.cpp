#include "transfer/team/team_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/base/try.hpp"
#include "core/sys/far_module.hpp"
#include "transfer/team/field_text.hpp"

namespace forebay::tree {

namespace {

// Calls `visit(name, values, member)` for all members of an order. A new member does not compile without a line here.
// Options of a copy have their lines in each_copy_option().
template <class Order, class Visit>
void each_field(Order& order, Visit&& visit) {
    auto& [verb, process, processes, threads, timeout_seconds, user, group, umask, source, target, source_root,
           target_root, probe, temporary_prefix, settings, options, has_list, reads_bytes, lists, sums, lacks_target,
           tells_births, recorded] = order;
    struct Plain {};
    visit("verb", TeamVerb::remove, verb);
    visit("process", Plain{}, process);
    visit("processes", Plain{}, processes);
    visit("threads", Plain{}, threads);
    visit("patience", Plain{}, timeout_seconds);
    visit("user", Plain{}, user);
    visit("group", Plain{}, group);
    visit("umask", Plain{}, umask);
    visit("source", Plain{}, source);
    visit("source inode", Plain{}, source_root.number);
    visit("source time", Plain{}, source_root.modified);
    visit("source mounts", Plain{}, source_root.mounts);
    visit("target", Plain{}, target);
    visit("target inode", Plain{}, target_root.number);
    visit("target time", Plain{}, target_root.modified);
    visit("target mounts", Plain{}, target_root.mounts);
    visit("probe", Plain{}, probe);
    visit("temporary prefix", Plain{}, temporary_prefix);
    visit("settings", Plain{}, settings);
    visit("has list", Plain{}, has_list);
    visit("reads bytes", Plain{}, reads_bytes);
    visit("lists", Plain{}, lists);
    visit("sums", Plain{}, sums);
    visit("lacks target", Plain{}, lacks_target);
    visit("tells births", Plain{}, tells_births);
    visit("recorded", Recorded::all, recorded);
    each_copy_option(options, [&](const CopyOption& option, auto values, auto& member) {
        if (option.is_told) visit(option.name, values, member);
    });
}

bool read_member(std::string_view text, auto, auto& member) { return read_field(text, member); }
bool read_member(std::string_view text, KeepPolicy, CannotKeep& member) {
    return read_enum(text, member, CannotKeep::drop);
}
bool read_member(std::string_view text, PatternList, std::vector<std::string>& member) {
    member.emplace_back(text);  // one field for each pattern
    return true;
}
template <class T>
requires std::is_enum_v<T>
bool read_member(std::string_view text, T last, T& member) { return read_enum(text, member, last); }

}  // namespace

TeamMessage message_of(const TeamOrder& order) {
    TeamMessage message{.kind = TeamKind::order};
    const auto put = [&](const char* name, std::string text) {
        message.texts.emplace_back(name);
        message.texts.push_back(std::move(text));
    };
    each_field(order, [&]<class Values>(const char* name, Values, const auto& member) {
        if constexpr (std::is_same_v<Values, PatternList>)
            for (const auto& pattern : member) put(name, pattern);
        else put(name, field_text(member));
    });
    return message;
}

Result<TeamOrder> order_from(const TeamMessage& message) {
    const Error corrupt{ErrorKind::corrupt, "the first process of this command sent an invalid order"};
    TeamOrder order;
    for (std::size_t at = 0; at + 1 < message.texts.size(); at += 2) {
        bool is_read = false;
        each_field(order, [&](std::string_view name, auto values, auto& member) {
            if (name == message.texts[at]) is_read = read_member(message.texts[at + 1], values, member);
        });
        if (!is_read) return corrupt;
    }
    order.options.filter.count_uses();
    // The message must have each field once, in the order of each_field(), and no other field.
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
        const auto word = text.substr(0, text.find('\0'));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        sys::MountBelow mount{.path = std::string(word.substr(std::min(word.find(' ') + 1, word.size()))), .id = {}};
        std::from_chars(word.data(), word.data() + word.size(), mount.id.number);
        mounts.push_back(std::move(mount));
    }
    return mounts;
}

std::uint64_t team_threads(std::initializer_list<std::string_view> places, std::uint64_t threads) {
    return std::ranges::any_of(places, sys::is_far) ? threads : 0;
}

}  // namespace forebay::tree
