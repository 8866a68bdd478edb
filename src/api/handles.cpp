#include <fmt/format.h>

#include "api/state.hpp"

namespace forebay {

namespace {

// Enough for any storage; more would only hold memory and threads.
constexpr int in_flight_max = 64;

Error refusal(const std::string& what) { return {ErrorKind::refused, "forebay: " + what}; }

}  // namespace

Result<> check(const Options& options) {
    if (options.run.empty()) return refusal("Options::run is empty: name the directory at the target.");
    if (options.virtual_nodes < 1)
        return refusal(fmt::format("virtual_nodes is {}, at least 1 is needed.", options.virtual_nodes));
    const auto& agent = options.agent;
    if (agent.block_bytes == 0 || agent.block_bytes % 4096 != 0)
        return refusal(fmt::format(
            "agent.block_bytes is {}: it must be a multiple of 4096, best of the target's stripe.", agent.block_bytes));
    if (agent.in_flight < 1 || agent.in_flight > in_flight_max)
        return refusal(fmt::format("agent.in_flight is {}: from 1 to {}.", agent.in_flight, in_flight_max));
    if (agent.retries < 0) return refusal(fmt::format("agent.retries is {}: 0 or more.", agent.retries));
    for (const auto& [name, stream] : options.streams) FB_TRY(check(name, stream));
    return {};
}

Result<> check(const std::string& stream, const StreamOptions& options) {
    if (options.slots < 1 || options.slots > 2)
        return refusal(fmt::format("stream '{}': slots is {}: 1 or 2.", stream, options.slots));
    if (options.keep < 0) return refusal(fmt::format("stream '{}': keep is {}: 0 keeps all.", stream, options.keep));
    return check(Schema{.stream = stream, .tables = {}, .variables = {}});
}

Session::Session(std::shared_ptr<SessionState> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open_over(std::unique_ptr<GroupHolder> world, const Options& options) {
    auto state = std::make_shared<SessionState>();
    FB_TRY(state->open(world->take(), options));
    return Session(std::move(state));
}

Result<Session> Session::open(const Options& options) {
    return open_over(std::make_unique<GroupHolder>(comm::alone()), options);
}

Result<Stream> Session::stream(const std::string& name) {
    for (const auto& [known, options] : state_->options.streams)
        if (known == name) return stream(name, options);
    return stream(name, StreamOptions{});
}

Result<Stream> Session::stream(const std::string& name, const StreamOptions& options) {
    FB_TRY_ASSIGN(state, state_->stream(state_, name, options));
    return Stream(state);
}

bool Session::draining() const { return state_->staging && state_->staging->control().draining.load() != 0; }

Result<> Session::close() { return state_->close(); }

}  // namespace forebay
