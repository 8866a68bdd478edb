// What the doors with other libraries' interfaces share: who opened a file, settings that come by the environment since
// those interfaces have no place for them, and files that a process behind the application makes of what it saved.
//
// Life: start() after the last save -> await() by whoever needs the file.

#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "comm/group.hpp"
#include "forebay/forebay.hpp"

namespace forebay::behind {

/// Who opened a file: one process, or the ranks of a communicator.
struct Ranks {
    std::shared_ptr<comm::Group> world;
    /// Equal for communicators of the same processes in the same order; empty for a process alone.
    std::string key;
    /// A session over them. Collective.
    std::function<Result<Session>(const Options&)> open;

    bool is_first() const { return world->rank() == 0; }
};

Ranks alone();

/// Those whose files end with MPI, and those whose files end with the process.
enum class Which { alone, by_ranks };
inline bool is_of(Which which, const Ranks& ranks) { return ranks.key.empty() == (which == Which::alone); }

/// `work` of the first rank; its error on every rank. Collective.
template <class Work>
Result<> by_first(const Ranks& ranks, Work&& work) {
    return comm::agree(*ranks.world, ranks.is_first() ? Result<>(work()) : Result<>());
}

struct Settings {
    Options options;
    bool keep = false;  // what the file was made of
};
/// From the file that FOREBAY_NAME_CONFIG names, and from FOREBAY_NAME_KEEP; `name` is as "H5PART".
Result<Settings> settings(const std::string& name);

/// What to say, once, where the file system of `file` has no locks.
std::string without_locks(const std::string& file);

/// Removes what an earlier writer of the run left staged on this node: the agent of a new session would commit it.
Result<> clear_staged(const Options& options);

/// How a run says how far the file is that is made of it.
struct Making {
    std::string run;
    std::string lock;    // held by who makes it
    std::string made;    // there when the file is durable
    std::string failed;  // holds why it could not be made
};

/// Starts `forebay ARGUMENTS`, which does the `making` as a process of its own and has begun it when this returns.
Result<> start(const Settings& settings, std::vector<std::string> arguments, const std::string& log_path,
               const Making& making);

/// Until the file is made, or the run is gone. Else what `not_made` says of the reason; `told` when the maker gave it.
Result<> await(const Making& making, std::chrono::milliseconds wait_max,
               const std::function<Error(const std::string& why, bool told)>& not_made);

/// Storage that does not answer is an error, never an absent file: an append would replace what is there.
Result<bool> exists(const std::string& path);
/// Whether the first rank sees it; its error on every rank. Collective.
Result<bool> first_sees(const Ranks& ranks, const std::string& path);

/// Takes the run away if that is `wanted`, which is asked under the maker's lock: a maker that is at its end may remove
/// it too, and none of both may ever meet a later run of the name. Waits at most `wait_max` for the lock.
Result<> remove_run(const Making& making, std::chrono::milliseconds wait_max,
                    const std::function<Result<bool>()>& wanted);

/// Finishes those of `all` that are wanted, in their order, and takes them out. The first error.
template <class Writing, class Wanted, class Finish>
Result<> finish_where(std::list<Writing>& all, Wanted&& wanted, Finish&& finish) {
    Result<> first;
    for (auto one = all.begin(); one != all.end();) {
        if (!wanted(*one)) {
            ++one;
            continue;
        }
        const Result<> finished = finish(*one);
        if (first && !finished) first = finished;
        one = all.erase(one);
    }
    return first;
}

}  // namespace forebay::behind
