#include "path/agent/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/format/neighbour.hpp"
#include "core/forward/forwarded_store.hpp"
#include "path/agent/placement.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/telemetry/chronicle.hpp"

namespace forebay::agent {

namespace {

constexpr std::chrono::milliseconds client_look_pause{20};
// The time for running requests when a helper leaves; the close of a session waits 15 s for its agent.
constexpr std::chrono::milliseconds helper_end_max{3'000};
// Timeouts of a client that can also write itself: it drops a neighbour that does not answer the greeting, or whose
// write or sync takes this long.
constexpr std::chrono::milliseconds helper_greets_max{3'000}, helper_works_max{60'000};

}  // namespace

std::vector<std::uint32_t> helpers_of(const std::vector<bool>& excluded, std::uint32_t wanted) {
    std::vector<std::uint32_t> good, helpers;
    for (std::uint32_t node = 0; node < excluded.size(); ++node)
        if (!excluded[node]) good.push_back(node);
    if (excluded.size() < 2) return {};
    const auto count = std::min<std::size_t>(wanted, good.size());
    // Takes the middle of each part: the first node already renews the run lock.
    for (std::size_t i = 0; i < count; ++i) helpers.push_back(good[(2 * i + 1) * good.size() / (2 * count)]);
    return helpers;
}

std::string neighbour_path(const std::string& run, std::uint32_t session, std::uint32_t number) {
    return fmt::format("{}/neighbour-{}.json", catalog::run_lock_directory(run, session), number);
}

Result<NeighbourWay> way_through(sys::Store& store, const node::SessionFile& session, std::uint32_t session_number,
                                 std::uint32_t helper) {
    const auto path = neighbour_path(session.run, session_number, helper);
    const auto text = sys::read_text(store, path, format::neighbour_bytes_max);
    if (!text)
        return Error{text.error().kind == ErrorKind::missing ? ErrorKind::missing : ErrorKind::retry,
                     fmt::format("the address of neighbour {} cannot be read: {}", helper, text.error().what)};
    FB_TRY_ASSIGN(address, format::decode_neighbour(*text, path));
    FB_TRY_ASSIGN(forwarded,
                  forward::ForwardedStore::make({.run = session.run,
                                                 .to = {fmt::format("{}", fmt::join(address.addresses, ","))},
                                                 .token = session.neighbours.token,
                                                 .connect_max = helper_greets_max,
                                                 .greeting_max = helper_greets_max,
                                                 .work_max = helper_works_max}));
    const std::shared_ptr<sys::Store> through = std::move(forwarded);
    const auto name = telemetry::node_name(address.host, address.virtual_node);
    // The first call connects. It also finds a neighbour that lost the run's file system.
    FB_TRY_ASSIGN(sees_run, through->exists(session.run));
    if (!sees_run) return Error{ErrorKind::retry, fmt::format("{} cannot see {}", name, session.run)};
    return NeighbourWay{through, name};
}

Result<std::unique_ptr<sys::File>> Helper::HelperStore::open(const std::string& path, sys::Access access) {
    auto file = PassingStore::open(path, access);
    if (file && sys::is_emptying(access) && is_node_file(path)) ++files_;
    return file;
}

Result<> Helper::HelperStore::make_directories(const std::string& path) {
    if (path != run_) return PassingStore::make_directories(path);
    FB_TRY_ASSIGN(is_there, exists(path));
    return is_there ? Result<>() : Result<>(Error{ErrorKind::missing, fmt::format("{} does not exist", path)});
}

Helper::Helper(std::shared_ptr<HelperStore> served, sys::Store& store, std::string path, Tell tell)
    : served_(std::move(served)), store_(store), path_(std::move(path)), tell_(std::move(tell)) {}

Result<std::unique_ptr<Helper>> Helper::start(sys::Store& store, const node::SessionFile& session,
                                              std::uint32_t session_number, const std::string& virtual_node,
                                              Tell tell) {
    const auto& neighbours = session.neighbours;
    FB_TRY(catalog::check_identity(store, session.run, session.run_id));
    const auto served = std::make_shared<HelperStore>(store, session.run);
    // A thread that hangs in a dead mount outlives the server with its options, so the options keep the store alive.
    const auto keeps_store = [served](const std::string&) {};
    FB_TRY_ASSIGN(started,
                  forward::start_reachable(*served, neighbours.address,
                                           {.run = session.run, .token = neighbours.token, .log = keeps_store}));
    const format::NeighbourAddress address{session.host, virtual_node, session_number, started.addresses};
    FB_TRY_ASSIGN(text, format::encode(address));
    const auto path = neighbour_path(session.run, session_number, neighbours.number.value_or(0));
    // The address comes last: a client that reads it finds a running server.
    FB_TRY(sys::write_text_durable(store, path, text));
    std::unique_ptr<Helper> helper(new Helper(served, store, path, std::move(tell)));
    helper->server_.emplace(std::move(started.server));
    helper->tell_({.what = What::helps, .detail = fmt::format("{}", fmt::join(address.addresses, ", "))});
    return helper;
}

Helper::~Helper() {
    // The address goes first: new clients then find no helper.
    static_cast<void>(attempt([this] { return store_.remove(path_); }));
    server_->stop(helper_end_max);
    const auto files = served_->files();
    if (files == 0) return;
    static_cast<void>(attempt([&] {
        tell_({.what = What::helped, .count = files, .detail = fmt::format("{} node files of others", files)});
    }));
}

void Helper::stay(const std::function<bool()>& leaves, std::chrono::milliseconds limit) const {
    const auto deadline = sys::Clock::now() + limit;
    while (server_->clients() > 0 && !leaves() && sys::Clock::now() < deadline)
        std::this_thread::sleep_for(client_look_pause);
}

}  // namespace forebay::agent
