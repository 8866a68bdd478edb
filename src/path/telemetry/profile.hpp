// Profiles: earlier measurements of a machine that `forebay tune` writes as advice of kind "profile". Finds the profile
// that fits a run. Any thread may call.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format/advice.hpp"
#include "core/sys/store.hpp"

namespace forebay::telemetry {

/// The properties of a run. 0 and "" mean unknown.
struct RunKind {
    std::string cluster = {};      // cluster_name()
    std::string file_system = {};  // of the target: sys::file_system_kind()
    std::uint64_t targets = 0;
    std::string mpi = {};
    std::uint64_t nodes = 0, ranks_per_node = 0, bytes_per_rank = 0;
    double interval_seconds = 0;
    std::string durable = {};  // "staged", "committed"
};

/// The properties as the key of a profile, without unknown properties.
format::AdviceSetting key_of(const RunKind& kind);

/// The distance of a profile from a run, in doublings: 1 if it was made on 16 nodes and the run has 8. Ranks per node,
/// bytes per rank and the interval count less than nodes and storage targets. Another cluster counts 4, another
/// durability 2, another MPI 0.5. A property that one side does not know counts 0. Returns nothing if the profile does
/// not fit: it is for another file system, or more than distance_max away.
inline constexpr double distance_max = 6;
std::optional<double> distance(const format::AdviceSetting& wanted, const format::AdviceSetting& of_profile);
/// The differences, such as "nodes 16 for 8"; "" if there are none.
std::string difference(const format::AdviceSetting& wanted, const format::AdviceSetting& of_profile);

/// The name that the batch system gives the cluster, else the host's name without its final number: "nid" for nid00123.
std::string cluster_name();

/// The directories to search for profiles, in this order: ./.forebay, the user's configuration directory
/// ($XDG_CONFIG_HOME/forebay, else ~/.config/forebay), and the site's /etc/forebay/profiles.
std::vector<std::string> profile_directories();

struct FoundProfile {
    format::Advice advice;
    std::string path;
    double distance = 0;
};

/// `corrupt` if the file holds advice of another kind.
Result<format::Advice> read_profile(sys::Store& store, const std::string& path);

/// Returns the nearest profile in `directories` (files *.json) that fits. If two are equally near, the profile of the
/// earlier directory wins, and inside a directory the newest. An unreadable file adds a line to `notes`; a missing
/// directory is fine.
std::optional<FoundProfile> find_profile(sys::Store& store, const std::vector<std::string>& directories,
                                         const format::AdviceSetting& wanted, std::vector<std::string>& notes);

}  // namespace forebay::telemetry
