#include "path/telemetry/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "core/base/try.hpp"
#include "core/sys/machine.hpp"

namespace forebay::telemetry {

namespace {

constexpr std::uint64_t profile_bytes_max = 4u << 20;  // some thousand trials
constexpr const char* kind_of_profile = "profile";

// The weight of a doubling of a number, or of a different word.
struct Weight {
    const char* name;
    double weight;
    bool is_word;
};
// A different file system alone is already beyond distance_max.
constexpr std::array weights{Weight{"cluster", 4, true},
                             Weight{"file_system", distance_max + 1, true},
                             Weight{"targets", 1, false},
                             Weight{"mpi", 0.5, true},
                             Weight{"nodes", 1, false},
                             Weight{"ranks_per_node", 0.5, false},
                             Weight{"bytes_per_rank", 0.5, false},
                             Weight{"interval_seconds", 0.25, false},
                             Weight{"durable", 2, true}};

const std::string* value_of(const format::AdviceSetting& key, const char* name) {
    const auto match = std::ranges::find(key, name, &format::AdviceSetting::value_type::first);
    return match == key.end() ? nullptr : &match->second;
}

double number_of(const std::string& text) {
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

double distance_of(const Weight& weight, const std::string& wanted, const std::string& other) {
    if (wanted == other) return 0;
    if (weight.is_word) return weight.weight;
    const double first = number_of(wanted), second = number_of(other);
    return first > 0 && second > 0 ? weight.weight * std::abs(std::log2(first / second)) : 0;
}

template <class Visit>
void each_difference(const format::AdviceSetting& wanted, const format::AdviceSetting& other, Visit&& visit) {
    for (const auto& weight : weights) {
        const auto *first = value_of(wanted, weight.name), *second = value_of(other, weight.name);
        if (first == nullptr || second == nullptr) continue;
        if (const double apart = distance_of(weight, *first, *second); apart > 0)
            visit(weight.name, *first, *second, apart);
    }
}

}  // namespace

format::AdviceSetting key_of(const RunKind& kind) {
    format::AdviceSetting key;
    const auto word = [&](const char* name, const std::string& value) {
        if (!value.empty()) key.emplace_back(name, value);
    };
    const auto number = [&](const char* name, auto value) {
        if (value > 0) key.emplace_back(name, fmt::to_string(value));
    };
    word("cluster", kind.cluster);
    word("file_system", kind.file_system);
    number("targets", kind.targets);
    word("mpi", kind.mpi);
    number("nodes", kind.nodes);
    number("ranks_per_node", kind.ranks_per_node);
    number("bytes_per_rank", kind.bytes_per_rank);
    number("interval_seconds", kind.interval_seconds);
    word("durable", kind.durable);
    return key;
}

std::optional<double> distance(const format::AdviceSetting& wanted, const format::AdviceSetting& of_profile) {
    double sum = 0;
    each_difference(wanted, of_profile,
                    [&](const char*, const std::string&, const std::string&, double apart) { sum += apart; });
    if (sum > distance_max) return {};
    return sum;
}

std::string difference(const format::AdviceSetting& wanted, const format::AdviceSetting& of_profile) {
    std::string text;
    each_difference(wanted, of_profile,
                    [&](const char* name, const std::string& first, const std::string& second, double) {
                        text += fmt::format("{}{} {} for {}", text.empty() ? "" : ", ", name, second, first);
                    });
    return text;
}

std::string cluster_name() {
    if (const char* name = std::getenv("SLURM_CLUSTER_NAME"); name != nullptr && *name != '\0') return name;
    auto host = sys::host_name();
    host.resize(std::min(host.find('.'), host.size()));
    const auto last = host.find_last_not_of("0123456789");
    return last == std::string::npos ? host : host.substr(0, last + 1);
}

std::vector<std::string> profile_directories() {
    std::vector<std::string> all{"./.forebay"};
    // The XDG Base Directory Specification says: ignore relative paths.
    const char *own = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
    if (own != nullptr && *own == '/') all.push_back(std::string(own) + "/forebay");
    else if (home != nullptr && *home == '/') all.push_back(std::string(home) + "/.config/forebay");
    all.emplace_back("/etc/forebay/profiles");
    return all;
}

Result<format::Advice> read_profile(sys::Store& store, const std::string& path) {
    FB_TRY_ASSIGN(text, sys::read_text(store, path, profile_bytes_max));
    FB_TRY_ASSIGN(advice, format::decode_advice(text, path));
    if (advice.kind == kind_of_profile) return advice;
    return Error{ErrorKind::corrupt, fmt::format("{} is advice of kind \"{}\", not a profile", path, advice.kind), "",
                 "give a file that forebay tune wrote"};
}

std::optional<FoundProfile> find_profile(sys::Store& store, const std::vector<std::string>& directories,
                                         const format::AdviceSetting& wanted, std::vector<std::string>& notes) {
    std::optional<FoundProfile> best;
    for (const auto& directory : directories) {
        const auto entries = store.list(directory);
        if (!entries && entries.error().kind != ErrorKind::missing) notes.push_back(entries.error().what);
        for (const auto& entry : entries ? *entries : std::vector<sys::Entry>()) {
            if (entry.is_directory || !entry.name.ends_with(".json") || sys::is_temporary(entry.name)) continue;
            const auto path = directory + "/" + entry.name;
            auto advice = read_profile(store, path);
            if (!advice) {
                notes.push_back(advice.error().what);
                continue;
            }
            const auto apart = distance(wanted, advice->key);
            if (!apart) continue;
            const bool nearer = !best || *apart < best->distance;
            const bool newer = best && *apart == best->distance && best->path.starts_with(directory + "/") &&
                               advice->made_unix_ns > best->advice.made_unix_ns;
            if (nearer || newer) best = FoundProfile{std::move(*advice), path, *apart};
        }
    }
    return best;
}

}  // namespace forebay::telemetry
