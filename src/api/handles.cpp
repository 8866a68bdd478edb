#include <fmt/format.h>

#include <filesystem>

#include "api/alike.hpp"
#include "api/state.hpp"
#include "base/limits.hpp"
#include "catalog/run.hpp"
#include "format/packed.hpp"
#include "node/compression_rules.hpp"

namespace forebay {

namespace {

Error refusal(std::string what, std::string next = {}) {
    return {ErrorKind::refused, std::move(what), "", std::move(next)};
}

// The longest wait, 31 years: the clock counts nanoseconds in 63 bits, and a wait is added to its time.
constexpr std::chrono::milliseconds wait_max{std::chrono::seconds(1'000'000'000)};

Result<> check_wait(const std::string& what, std::chrono::milliseconds wait) {
    if (wait.count() >= 0 && wait <= wait_max) return {};
    return refusal(fmt::format("{} is {} ms: from 0 to {}.", what, wait.count(), wait_max.count()));
}

}  // namespace

Result<> check(const Options& options) {
    if (options.run.empty()) return refusal("Options::run is empty: name the directory at the target.");
    if (const auto& file = options.run_in_file; !file.empty() && file != options.run) {
        FB_TRY_ASSIGN(own, absolute_path(options.run, "the run directory"));
        FB_TRY_ASSIGN(other, absolute_path(file, "the run directory"));
        if (own != other)
            return refusal(
                fmt::format("the run is {} in the program and {} in its configuration file. Nothing was opened",
                            options.run, file),
                "name it in one of them, or alike");
    }
    if (options.virtual_nodes < 1)
        return refusal(fmt::format("virtual_nodes is {}, at least 1 is needed.", options.virtual_nodes));
    FB_TRY(check_wait("open_wait", options.open_wait));
    FB_TRY(check_wait("takeover_wait", options.takeover_wait));
    FB_TRY(check_wait("close_wait", options.close_wait));
    FB_TRY(check_wait("stall_wait", options.stall_wait));
    FB_TRY(check_wait("job.wall_time", options.job.wall_time));
    FB_TRY(check_wait("job.reserve", options.job.reserve));
    FB_TRY(node::check(options.agent));
    for (const auto& [name, stream] : options.streams) FB_TRY(check(name, stream));
    return {};
}

Result<> check(const std::string& stream, const StreamOptions& options) {
    if (format::is_packed_stream(stream))
        return refusal(fmt::format("stream '{}': names that begin with \"{}\" are those of packed files.", stream,
                                   format::packed_prefix));
    if (options.slots < 1 || options.slots > 2)
        return refusal(fmt::format("stream '{}': slots is {}: 1 or 2.", stream, options.slots));
    if (options.keep < 0) return refusal(fmt::format("stream '{}': keep is {}: 0 keeps all.", stream, options.keep));
    if (options.keep_abandoned < -1)
        return refusal(
            fmt::format("stream '{}': keep_abandoned is {}: -1, or how many stay.", stream, options.keep_abandoned));
    if (stream == catalog::own_directory)
        return refusal(fmt::format("stream '{}': this name is that of the run's own directory.", stream));
    if (options.nodes_per_file < 1 || options.nodes_per_file > static_cast<int>(limits::nodes_per_file_max))
        return refusal(fmt::format("stream '{}': nodes_per_file is {}: 1 to {}.", stream, options.nodes_per_file,
                                   limits::nodes_per_file_max));
    FB_TRY(check_wait(fmt::format("stream '{}': wait_max", stream), options.wait_max));
    FB_TRY(node::check(node::rules_of(options), stream));
    // A region is reserved before anybody knows how small it may become.
    if (options.nodes_per_file > 1 && node::rules_of(options).any())
        return refusal(fmt::format("stream '{}': nodes_per_file {} and compression exclude each other", stream,
                                   options.nodes_per_file),
                       "leave one of them out");
    // Where all rows begin in a shared file is known before anybody knows how small they may become.
    if (options.shared != Shared::no && (options.nodes_per_file > 1 || node::rules_of(options).any()))
        return refusal(fmt::format("stream '{}': shared and {} exclude each other", stream,
                                   options.nodes_per_file > 1 ? fmt::format("nodes_per_file {}", options.nodes_per_file)
                                                              : "compression"),
                       "leave one of them out");
    FB_TRY(check_wait(fmt::format("stream '{}': deadline", stream), options.deadline));
    return check(Schema{.stream = stream, .tables = {}, .variables = {}});
}

Session::Session(std::shared_ptr<SessionState> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open_over(std::unique_ptr<GroupHolder> world, const Result<Options>& options) {
    return attempt([&]() -> Result<Session> {
        FB_TRY(agree_on_options(world->group(), options));
        std::shared_ptr<SessionState> state;
        FB_TRY(comm::agree(world->group(), [&] {
            state = std::shared_ptr<SessionState>(new SessionState, IfOwn());
            return state->prepare(*world, *options);
        }));
        FB_TRY(state->open(*world));
        return Session(std::move(state));
    });
}

Result<Session> Session::open(const Options& options) {
    return attempt([&] { return open(Result<Options>(options)); });
}

Result<Session> Session::open(const Result<Options>& options) {
    return attempt([&] { return open_over(std::make_unique<GroupHolder>(comm::alone()), options); });
}

Result<Stream> Session::stream(const std::string& name) {
    return attempt([&]() -> Result<Stream> {
        FB_TRY_ASSIGN(state, state_->stream(state_, name, {}));
        return Stream(state);
    });
}

Result<Stream> Session::stream(const std::string& name, const StreamOptions& options) {
    return attempt([&]() -> Result<Stream> {
        FB_TRY_ASSIGN(state, state_->stream(state_, name, options));
        return Stream(state);
    });
}

bool Session::draining() const { return state_->staging && state_->staging->control().draining.load() != 0; }

// Programs of the job have other current directories.
std::string Session::spool() const {
    if (!state_->staging) return {};
    return std::filesystem::absolute(node::spool_path(state_->staging->directory())).lexically_normal();
}

Result<Job> Session::job(bool stop_wanted) { return state_->job(stop_wanted); }

Result<> Session::close() { return state_->close(); }

}  // namespace forebay
