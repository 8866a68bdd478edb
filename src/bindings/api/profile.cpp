#include "bindings/api/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string_view>

#include "bindings/api/alike.hpp"
#include "bindings/api/state.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/machine.hpp"
#include "path/telemetry/median.hpp"
#include "path/telemetry/profile.hpp"

namespace forebay {

namespace {

constexpr std::array session_names{"virtual_nodes",     "huge_pages",      "copy_threads",
                                   "agent.block_bytes", "agent.in_flight", "agent.direct"};
constexpr std::array stream_names{"file", "compression.codec"};
constexpr std::string_view of_stream = "stream.";

constexpr std::size_t watched_count = 5;
constexpr double stale_below = 0.8;

template <class Names>
bool has(const Names& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

// A profile comes from other people, and its values become part of a text that is parsed. So only plain characters
// pass.
bool is_plain(std::string_view value) {
    return !value.empty() && value.find_first_not_of(
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 ":._-") == std::string_view::npos;
}

// The values of `names` as lines of a configuration.
template <class Names>
Result<std::string> lines_of(const format::AdviceSetting& setting, std::string_view prefix, const Names& names) {
    std::string text;
    for (const auto& [name, value] : setting) {
        if (!name.starts_with(prefix) || !has(names, std::string_view(name).substr(prefix.size()))) continue;
        if (!is_plain(value)) return Error{ErrorKind::refused, fmt::format("it has an invalid value for {}", name)};
        // In TOML only numbers and booleans stand without quotes.
        const bool is_bare =
            value == "true" || value == "false" || value.find_first_not_of("0123456789") == std::string::npos;
        const auto* quote = is_bare ? "" : "\"";
        text += fmt::format("{} = {}{}{}\n", name.substr(prefix.size()), quote, value, quote);
    }
    return text;
}

template <class Names>
format::AdviceSetting those_not_set(const format::AdviceSetting& setting, std::string_view prefix, const Names& names,
                                    const Settings& own, const Settings& defaults,
                                    const std::function<bool(const std::string&)>& is_in_file) {
    format::AdviceSetting left;
    for (const auto& [name, value] : setting) {
        if (!name.starts_with(prefix)) continue;
        const auto key = name.substr(prefix.size());
        if (!has(names, key) || is_in_file(key)) continue;
        const auto at = std::ranges::find(own, key, &Setting::name),
                   was = std::ranges::find(defaults, key, &Setting::name);
        // A value that differs from the default was set in code, and the user's choice counts.
        if (at != own.end() && was != defaults.end() && at->value == was->value) left.emplace_back(name, value);
    }
    return left;
}

// The result of the search, on the first rank.
struct ProfileLook {
    std::string text, path;  // the profile without its trials; empty: none fits
    std::string fit;         // "exact" or, for example, "distance 1.0: nodes 16 for 8"
    std::vector<std::string> notes;
};

Result<> look_for_profile(const std::string& name, const std::string& run, telemetry::RunKind kind, ProfileLook& look) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(file_system, sys::file_system_kind(run));
    kind.file_system = file_system;
    const auto wanted = telemetry::key_of(kind);
    std::optional<telemetry::FoundProfile> profile;
    if (name == "auto") {
        profile = telemetry::find_profile(store, telemetry::profile_directories(), wanted, look.notes);
        for (auto& note : look.notes) note = "a profile is skipped: " + note;
        if (!profile) look.notes.emplace_back("no profile fits this run: make one with forebay tune");
    } else {
        auto advice = telemetry::read_profile(store, name);
        if (!advice) return with_context(advice.error(), "profile = \"" + name + "\": " + advice.error().what);
        const auto apart = telemetry::distance(wanted, advice->key);
        profile = telemetry::FoundProfile{std::move(*advice), name, apart.value_or(telemetry::distance_max + 1)};
    }
    if (!profile) return {};
    const auto other = telemetry::difference(wanted, profile->advice.key);
    look.fit = profile->distance > telemetry::distance_max ? "made for something else: " + other
               : other.empty()                             ? std::string("exact")
                               : fmt::format("distance {:.1f}: {}", profile->distance, other);
    look.path = profile->path;
    // The trials are not needed to set options, so they are not broadcast.
    profile->advice.rows.clear();
    look.text = format::encode(profile->advice);
    return {};
}

std::string profile_line(const ProfileLook& look, const format::AdviceSetting& taken, const Result<>& possible) {
    return fmt::format("profile {} ({}): {}{}", look.path, look.fit,
                       taken.empty() ? "all options of the session are set already" : show_setting(taken),
                       possible ? "" : " is ignored: " + possible.error().what);
}

}  // namespace

Result<> apply_setting(const format::AdviceSetting& setting, Options& options) {
    FB_TRY_ASSIGN(text, lines_of(setting, "", session_names));
    return read_over(text, "the setting", options);
}

Result<> apply_setting(const format::AdviceSetting& setting, StreamOptions& options) {
    FB_TRY_ASSIGN(text, lines_of(setting, of_stream, stream_names));
    return read_over(text, "the setting", options);
}

format::AdviceSetting not_set(const format::AdviceSetting& setting, const Options& options) {
    return those_not_set(setting, "", session_names, settings_of(options), settings_of(Options{}),
                         [&](const std::string& key) { return has(options.in_file, key); });
}

format::AdviceSetting not_set(const format::AdviceSetting& setting, const StreamOptions& options,
                              const std::string& name, const std::vector<std::string>& in_file) {
    return those_not_set(setting, of_stream, stream_names, describe::settings_of(options),
                         describe::settings_of(StreamOptions{}), [&](const std::string& key) {
                             const auto first = key.substr(0, key.find('.'));
                             const auto full = fmt::format("streams.{}.", name);
                             return has(in_file, full + key) || has(in_file, full + first);
                         });
}

std::string show_setting(const format::AdviceSetting& setting) {
    std::string text;
    for (const auto& [name, value] : setting) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
    return text;
}

std::optional<std::string> ProfileWatch::drained(double bytes_all, double seconds_all) {
    const double bytes = bytes_all - bytes_, seconds = seconds_all - seconds_;
    bytes_ = bytes_all;
    seconds_ = seconds_all;
    return drains_.add("drains", bytes, seconds);
}

std::optional<std::string> ProfileWatch::Rates::add(const char* what, double bytes, double seconds) {
    if (of_profile <= 0 || is_told || bytes <= 0 || seconds <= 0) return {};
    last.push_back(bytes / seconds);
    if (last.size() > watched_count) last.pop_front();
    if (last.size() < watched_count) return {};
    const auto median = telemetry::median_of({last.begin(), last.end()});
    if (median >= stale_below * of_profile) return {};
    is_told = true;
    return fmt::format("the profile is stale: the last {} {} had {} a node (median), {:.2f} of its rate", watched_count,
                       what, show_rate(median), median / of_profile);
}

Result<std::optional<ProfileUse>> take_profile(comm::Group& world, const node::Say& say, Options& options) {
    std::optional<ProfileUse> profile;
    if (options.profile.empty()) return profile;
    const auto ranks_of_machine = world.split_shared()->size();
    const auto look = std::make_shared<ProfileLook>();
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (world.rank() != 0) return {};
        const telemetry::RunKind kind{.cluster = telemetry::cluster_name(),
                                      .nodes = static_cast<std::uint64_t>(std::max(1, world.size() / ranks_of_machine)),
                                      .ranks_per_node = static_cast<std::uint64_t>(ranks_of_machine)};
        // The mount of a home may hang too. The thread left behind then owns `look`, which it fills.
        FB_TRY(within(
            options.open_wait, "the profile",
            [look, kind, run = options.run, name = options.profile] {
                return look_for_profile(name, run, kind, *look);
            },
            say));
        for (const auto& note : look->notes) log_to(say, [&] { return note; });
        return {};
    }));
    FB_TRY(world.broadcast_sized(look->text, 0));
    FB_TRY(world.broadcast_sized(look->path, 0));
    if (look->text.empty()) return profile;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(advice, format::decode_advice(look->text, look->path));
        auto& use = profile.emplace(ProfileUse{std::move(advice), look->path});
        const auto rate = [&](const char* name) {
            const auto* measure = format::find(use.advice.measures, name);
            return measure == nullptr ? 0 : measure->value;
        };
        if (world.rank() == 0)
            use.watch.emplace(rate("save_rate_bytes_per_second"), rate("drain_rate_bytes_per_second"));
        const auto taken = not_set(use.advice.chosen, options);
        auto changed = options;
        const auto possible = [&]() -> Result<> {
            FB_TRY(apply_setting(taken, changed));
            return check(changed);
        }();
        // A profile that does not fit the user's options is not used. The log reports it.
        if (possible) options = std::move(changed);
        log_to(say, [&] { return profile_line(*look, taken, possible); });
        return {};
    }));
    return profile;
}

void ProfileUse::set(const std::string& name, const std::vector<std::string>& in_file, StreamOptions& wanted,
                     const node::Say& say) const {
    const auto taken = not_set(advice.chosen, wanted, name, in_file);
    if (taken.empty()) return;
    auto changed = wanted;
    const auto possible = [&]() -> Result<> {
        FB_TRY(apply_setting(taken, changed));
        return check(name, changed);
    }();
    if (possible) wanted = changed;
    log_to(say, [&] {
        return fmt::format("stream '{}', profile {}: {}{}", name, path, show_setting(taken),
                           possible ? "" : " is ignored: " + possible.error().what);
    });
}

void ProfileUse::compare(const Saved& saved, const node::Control& page, const comm::Topology& topology,
                         const node::Say& say) {
    if (!watch) return;
    // The rates of a profile are for a machine: all its ranks, and the agents of all its parts, at the same time.
    const auto ranks_of_machine = static_cast<double>(topology.machine->size());
    const auto parts = ranks_of_machine / static_cast<double>(topology.node->size());
    const auto bytes = static_cast<double>(saved.bytes) * ranks_of_machine;
    // Not the whole call: it includes waiting for late ranks, of which a profile knows nothing.
    for (const auto& line : {watch->saved(bytes, saved.plan_seconds + saved.copy_seconds),
                             watch->drained(static_cast<double>(page.counts.bytes_drained.load()) * parts,
                                            page.counts.drain_seconds.load())})
        if (line) log_to(say, [&] { return fmt::format("{}: {}", path, *line); });
}

}  // namespace forebay
