// Measured settings as options: `forebay tune` makes the options of a trial from them, and a session takes the choice
// of a profile. Names are those of the configuration. Names of stream options begin with "stream.".

#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/format/advice.hpp"
#include "forebay/forebay.hpp"
#include "forebay/options.hpp"
#include "path/node/control.hpp"
#include "path/node/long_wait.hpp"

namespace forebay {

/// Sets the options of a session or of a stream that `setting` has. Ignores names that belong to neither, such as names
/// of the file system. `refused` for an invalid value.
Result<> apply_setting(const format::AdviceSetting& setting, Options& options);
Result<> apply_setting(const format::AdviceSetting& setting, StreamOptions& options);

/// The part of `setting` that applies to a session, or to its stream `name`, and that the user has not set. An option
/// is set if its value differs from the default, or if the configuration file has it (Options::in_file).
format::AdviceSetting not_set(const format::AdviceSetting& setting, const Options& options);
format::AdviceSetting not_set(const format::AdviceSetting& setting, const StreamOptions& options,
                              const std::string& name, const std::vector<std::string>& in_file);

/// "agent.block_bytes = 67108864, stream.file = shared"
std::string show_setting(const format::AdviceSetting& setting);

/// Compares the speed of saves and drains with a profile. Only on the first rank. Threads: one.
class ProfileWatch {
public:
    /// Rates of a node in bytes per second. A rate of 0 is not watched.
    ProfileWatch(double save_rate, double drain_rate) : saves_{save_rate}, drains_{drain_rate} {}

    /// Returns a line, once, when the median of the last 5 rates is below 0.8 of the profile's rate.
    std::optional<std::string> saved(double bytes, double seconds) { return saves_.add("saves", bytes, seconds); }
    /// Takes totals of the agent: their growth since the last call counts as one drain.
    std::optional<std::string> drained(double bytes_all, double seconds_all);

private:
    struct Rates {
        double of_profile = 0;
        std::deque<double> last = {};
        bool is_told = false;
        std::optional<std::string> add(const char* what, double bytes, double seconds);
    };
    Rates saves_, drains_;
    double bytes_ = 0, seconds_ = 0;
};

/// A session's copy of a profile. All ranks have the same, except `watch`: only the first rank has it.
struct ProfileUse {
    format::Advice advice;
    std::string path;
    std::optional<ProfileWatch> watch = {};

    /// Sets the options of stream `name` in `wanted` that the profile has and the user has not set. Local.
    void set(const std::string& name, const std::vector<std::string>& in_file, StreamOptions& wanted,
             const node::Say& say) const;
    /// Compares the speed of a save, and of the drains so far, with the profile. Local.
    void compare(const Saved& saved, const node::Control& page, const comm::Topology& topology, const node::Say& say);
};

/// Reads or finds the profile of Options::profile on the first rank, shares it, and sets `options` on all ranks. Empty
/// if no profile is wanted, or if none fits. Collective.
Result<std::optional<ProfileUse>> take_profile(comm::Group& world, const node::Say& say, Options& options);

}  // namespace forebay
