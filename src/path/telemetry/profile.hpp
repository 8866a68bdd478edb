// What was measured on a machine before: profiles, which `forebay tune` writes as advice of kind "profile", and which
// of them fits a run. Threads: any.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format/advice.hpp"
#include "core/sys/store.hpp"

namespace forebay::telemetry {

/// What a run is like, as far as it is known: 0 and "" are not.
struct RunKind {
    std::string cluster = {};      // cluster_name()
    std::string file_system = {};  // of the target: sys::file_system_kind()
    std::uint64_t targets = 0;
    std::string mpi = {};
    std::uint64_t nodes = 0, ranks_per_node = 0, bytes_per_rank = 0;
    double interval_seconds = 0;
    std::string durable = {};  // "staged", "committed"
};

/// As a profile's key; what is not known is left out.
format::AdviceSetting key_of(const RunKind& kind);

/// How far a profile is from a run, in doublings: 1 where it was made on 16 nodes and the run has 8. Ranks a node,
/// bytes a rank and the interval count less than nodes and storage targets; another cluster counts 4, another
/// durability 2, another MPI a half. What one of the two does not know counts nothing. Nothing where it does not fit:
/// on another file system, or more than distance_max away.
inline constexpr double distance_max = 6;
std::optional<double> distance(const format::AdviceSetting& wanted, const format::AdviceSetting& of_profile);
/// What differs, as in "nodes 16 for 8"; "" for nothing.
std::string difference(const format::AdviceSetting& wanted, const format::AdviceSetting& of_profile);

/// The batch system's name of it, else the host's name without the number at its end: "nid" of nid00123.
std::string cluster_name();

/// Where profiles are looked for, in this order: ./.forebay, the user's configuration directory
/// ($XDG_CONFIG_HOME/forebay, else ~/.config/forebay), and the site's /etc/forebay/profiles.
std::vector<std::string> profile_directories();

struct FoundProfile {
    format::Advice advice;
    std::string path;
    double distance = 0;
};

/// `corrupt` for advice of another kind.
Result<format::Advice> read_profile(sys::Store& store, const std::string& path);

/// Of the profiles in `directories` (files *.json) the nearest that fits; of two as near the one of the earlier
/// directory, there the newest. A file that cannot be read adds a line to `notes`; a missing directory is fine.
std::optional<FoundProfile> find_profile(sys::Store& store, const std::vector<std::string>& directories,
                                         const format::AdviceSetting& wanted, std::vector<std::string>& notes);

}  // namespace forebay::telemetry
