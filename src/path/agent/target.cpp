#include "path/agent/target.hpp"

#include "core/base/try.hpp"
#include "core/forward/forwarded_store.hpp"
#include "core/sys/dfuse.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/target_store.hpp"

namespace forebay::agent {

move::RetryOptions retry_options(const node::SessionFile& session) {
    return {.retries = session.agent.retries,
            .pause = session.agent.retry_pause,
            .room_comes_back = [&run = session.run] { return sys::room_comes_back_after(run); }};
}

Result<Target> target_of(const std::string& run, const node::Forwarding& forwarding, const ViewMaker& make_view) {
    if (forwarding.to.empty()) FB_TRY(sys::check_preloaded_for_run(run));
    // This store has no owner. A bucket gets no views: they have paths of files.
    if (forwarding.to.empty())
        return Target{{std::shared_ptr<void>(), &sys::target_store()}, sys::is_far(run) ? ViewMaker() : make_view};
    FB_TRY_ASSIGN(forwarded,
                  forward::ForwardedStore::make({.run = run, .to = forwarding.to, .token = forwarding.token}));
    const std::shared_ptr<forward::ForwardedStore> store = std::move(forwarded);
    return Target{store, [store](sys::Store&, const catalog::Snapshot& snapshot, Convention convention) {
                      return store->make_view(snapshot.stream, snapshot.step, snapshot.directory, convention);
                  }};
}

}  // namespace forebay::agent
