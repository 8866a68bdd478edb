// A Store with two ways to the same target: the node's own way, or a way through a neighbour. The way is chosen when a
// drain begins, or begins again after an error. It holds for all calls until the drain ends. An open file stays on the
// way that opened it. Between drains the own way is used: the commit needs no neighbour.
//
// Only written files go through the neighbour, with their names and the syncs of both. Reads, questions and removals go
// by the own way, so the node sees the true state of the target. Nothing depends on a neighbour: if none answers, the
// node writes itself, and looks for a neighbour again after a pause. Every failure on a neighbour's side is `retry`. A
// file that the neighbour wrote and the own way does not see is `retry` too. So the drain is tried again, by another
// way. Threads: choose(), rest() and set_aside() from the thread that calls the Store, while no other call is running.
//          Files: any.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/sys/clock.hpp"
#include "core/sys/passing_store.hpp"
#include "path/agent/events.hpp"

namespace forebay::agent {

/// The way through one neighbour.
struct NeighbourWay {
    std::shared_ptr<sys::Store> store;
    std::string name;  // for people: "nid00412"
};

struct DetourOptions {
    std::uint32_t helpers = 0, first = 0;                                 // as node::Neighbourhood
    std::function<Result<NeighbourWay>(std::uint32_t helper)> open = {};  // connects; may take seconds
    /// A neighbour that failed, or did not answer, is not used for this time.
    sys::Clock::duration pause = std::chrono::seconds(30);
};

class Detour final : public sys::PassingStore {
public:
    /// `own` must outlive it. It is the way until choose().
    Detour(sys::Store& own, DetourOptions options, Tell tell);

    /// Call it when a drain begins. `why` is the reason to use a neighbour, if one answers: "this node is excluded";
    /// "": no reason.
    void choose(const std::string& why);
    /// Call it when the drain is done. The connection stays for the next drain.
    void rest() { on_way_ = false; }
    /// Call it when a try of a drain failed: the current neighbour is not used during the pause.
    void set_aside();
    bool is_own() const { return !on_way_; }

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> sync_directory(const std::string& path) override;
    /// The file system chooses the place of a neighbour's files: open() makes the file.
    Result<> make_striped(const std::string& path, const sys::Stripes& stripes) override {
        return on_way_ ? Result<>() : own_.make_striped(path, stripes);
    }

private:
    void find(const std::string& why);

    sys::Store& own_;
    const DetourOptions options_;
    const Tell tell_;
    std::optional<NeighbourWay> way_;  // through `helper_`
    bool on_way_ = false;              // calls go by it
    std::uint32_t helper_ = 0;
    std::map<std::uint32_t, sys::Clock::time_point> aside_until_;
    std::string reported_;  // the neighbour of the last event; "-": none answers
};

}  // namespace forebay::agent
