// A Store that goes by one of two ways to the same target: this node's own, or through a neighbour. The way is chosen
// when a drain begins, or begins anew after an error, and holds for all calls until that ends; a file that is open
// stays with the way that opened it. Between drains it is the own one: what is committed needs no neighbour.
//
// By a neighbour's way go files that are written, with their names and the syncs of both. What is read or asked, and
// what is removed, goes by the own way, which says what is there. Nothing depends on a neighbour: where none answers
// the node writes itself, and looks for one again after a pause. Whatever fails on a neighbour's side is `retry`, as is
// a file that it has written and that the own way does not see, so that the drain is tried again, by another way then.
// Threads: choose(), rest() and set_aside() by the thread that calls the Store, while no other is in a call of it.
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

/// Through one neighbour.
struct NeighbourWay {
    std::shared_ptr<sys::Store> store;
    std::string name;  // for people: "nid00412"
};

struct DetourOptions {
    std::uint32_t helpers = 0, first = 0;                                 // as node::Neighbourhood
    std::function<Result<NeighbourWay>(std::uint32_t helper)> open = {};  // connects; may take seconds
    /// A neighbour that has failed, or did not answer, is left alone for so long.
    sys::Clock::duration pause = std::chrono::seconds(30);
};

class Detour final : public sys::PassingStore {
public:
    /// `own` must outlive it. It is the way until choose().
    Detour(sys::Store& own, DetourOptions options, Tell tell);

    /// A drain begins. `why` it goes through a neighbour, if one answers: "this node is excluded"; "": it does not.
    void choose(const std::string& why);
    /// The drain is done; the connection stays for the next one.
    void rest() { on_way_ = false; }
    /// A try of a drain has failed: the neighbour of now is not asked again for the pause.
    void set_aside();
    bool is_own() const { return !on_way_; }

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> sync_directory(const std::string& path) override;
    /// A neighbour's files lie where the file system puts them: open() makes the file.
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
