#include "bindings/api/alike.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bindings/api/state.hpp"
#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/comm/alike.hpp"

namespace forebay {

namespace {

std::vector<std::byte> encode(const Settings& settings) {
    std::vector<std::byte> bytes;
    const auto put = [&](const std::string& text) {
        std::byte size[8];
        store_le(size, static_cast<std::uint64_t>(text.size()));
        bytes.insert(bytes.end(), std::begin(size), std::end(size));
        bytes.insert(bytes.end(), bytes_of(text).begin(), bytes_of(text).end());
    };
    for (const auto& [name, value] : settings) {
        put(name);
        put(value);
    }
    return bytes;
}

// The inverse of encode(). Only for bytes from encode().
Settings decode(std::span<const std::byte> bytes) {
    Settings settings;
    const auto take = [&] {
        const auto size = load_le<std::uint64_t>(bytes.data());
        std::string text(text_of(bytes.subspan(8, size)));
        bytes = bytes.subspan(8 + size);
        return text;
    };
    while (!bytes.empty()) {
        auto name = take();
        settings.push_back({std::move(name), take()});
    }
    return settings;
}

std::string quoted(const std::string& value) { return value.empty() ? "\"\"" : value; }

bool has(std::span<const Setting> settings, const std::string& name) {
    return std::ranges::find(settings, name, &Setting::name) != settings.end();
}

// "slots is 1 on rank 0 and 2 on rank 3", for two lists that differ.
std::string show_difference(const Settings& first, const Settings& other, const std::string& where_first,
                            const std::string& where_other) {
    const auto [here, there] = std::ranges::mismatch(first, other);
    const auto text = [&](const std::string& name, const std::string& of_first, const std::string& of_other) {
        return fmt::format("{} is {} {} and {} {}", name, of_first, where_first, of_other, where_other);
    };
    if (here != first.end() && there != other.end() && here->name == there->name)
        return text(here->name, quoted(here->value), quoted(there->value));
    if (here != first.end() && !has({there, other.end()}, here->name))
        return text(here->name, quoted(here->value), "not set");
    return there == other.end() ? "their number differs" : text(there->name, "not set", quoted(there->value));
}

// Fails with the error of the lowest rank that has an error; else `refused`, if the ranks have different settings.
template <class Mine>
Result<> agree_on(comm::Group& world, const Mine& settings_of_mine, const std::string& who, const char* outcome) {
    std::vector<std::byte> bytes;
    const auto own_result = attempt([&]() -> Result<> {
        FB_TRY_ASSIGN(settings, settings_of_mine());
        bytes = encode(settings);
        return {};
    });
    // An error of this rank goes into the agreement too, so no rank waits for it. If all is well, this is one maximum.
    FB_TRY_ASSIGN(unlike, comm::agree_alike(world, own_result, bytes));
    if (!unlike) return {};
    const auto differs = show_difference(decode(unlike->of_first), decode(unlike->of_other), "on rank 0",
                                         fmt::format("on rank {}", unlike->other));
    return Error{ErrorKind::refused,
                 fmt::format("{}: {} ({} of {} ranks differ from rank 0). {}", who, differs, unlike->others,
                             world.size(), outcome),
                 "",
                 "set the same value on every rank. If ranks read it from a file, check that all read the same file"};
}

}  // namespace

Result<> agree_on_options(comm::Group& world, const Result<Options>& options, RunIs run) {
    const auto own_settings = [&]() -> Result<Settings> {
        FB_TRY_ASSIGN(checked, options);
        // dedicate() needs no run yet, but check() does.
        if (run == RunIs::optional && checked.run.empty()) checked.run = "any";
        FB_TRY(check(checked));
        return settings_of(*options);
    };
    return agree_on(world, own_settings, "the ranks have different options", "Nothing was opened.");
}

Result<> agree_on_stream(comm::Group& world, const std::string& name, const Result<StreamOptions>& options,
                         const StreamOptions* open) {
    const auto own_settings = [&]() -> Result<Settings> {
        FB_TRY(options);
        FB_TRY(check(name, *options));
        const auto settings = describe::settings_of(*options);
        if (open != nullptr && settings != describe::settings_of(*open))
            return Error{ErrorKind::refused,
                         fmt::format("stream '{}' is open already, with other options: {}", name,
                                     show_difference(describe::settings_of(*open), settings, "there", "here")),
                         "", "open it once, or give the same options, or no options"};
        Settings all{{"stream", fmt::format("'{}'", name)}, {"open already", open != nullptr ? "true" : "false"}};
        all.insert(all.end(), settings.begin(), settings.end());
        return all;
    };
    return agree_on(world, own_settings, fmt::format("the ranks open stream '{}' differently", name),
                    "It was not opened.");
}

}  // namespace forebay
