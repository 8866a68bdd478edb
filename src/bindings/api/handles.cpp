#include <fmt/format.h>

#include <filesystem>

#include "bindings/api/alike.hpp"
#include "bindings/api/session_opening.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/describe/session_list.hpp"
#include "core/format/packed.hpp"
#include "core/sys/far_module.hpp"
#include "path/catalog/run.hpp"
#include "path/node/analysis_rules.hpp"
#include "path/node/compression_rules.hpp"

namespace forebay {

namespace {

Error refusal(std::string what, std::string next = {}) {
    return {ErrorKind::refused, std::move(what), "", std::move(next)};
}

}  // namespace

Result<> check(const Options& options) {
    if (options.run.empty()) return refusal("the run has no name: give its directory at the target.");
    if (const auto& file = options.run_in_file; !file.empty() && file != options.run) {
        FB_TRY_ASSIGN(own, absolute_path(options.run, "the run directory"));
        FB_TRY_ASSIGN(other, absolute_path(file, "the run directory"));
        if (own != other)
            return refusal(
                fmt::format("the run is {} in the program, but {} in its configuration file. Nothing was opened",
                            options.run, file),
                "set it in one place, or to the same value");
    }
    FB_TRY(describe::check_values(options));
    FB_TRY(node::check(options.agent));
    for (const auto& [name, stream] : options.streams) {
        FB_TRY(check(name, stream));
        // A node cannot write into an object of another node, so nodes cannot share a file in a bucket.
        if (stream.file.kind != TargetFile::Kind::own && !sys::nodes_can_share(options.run))
            return refusal(
                fmt::format("stream '{}': file = \"{}\": nodes cannot share an object of a bucket, and the run is {}",
                            name, name_of(stream.file), options.run),
                "leave it out, and each node writes its own file");
    }
    return describe::check_result_streams(options.streams);
}

Result<> check(const std::string& stream, const StreamOptions& options) {
    if (format::is_packed_stream(stream))
        return refusal(fmt::format("stream '{}': names that begin with \"{}\" are for packed files.", stream,
                                   format::packed_prefix));
    if (stream == catalog::own_directory)
        return refusal(fmt::format("stream '{}': this name is for the run's own directory.", stream));
    FB_TRY(describe::check_values(stream, options));
    FB_TRY(node::check(node::rules_of(options), stream));
    FB_TRY(node::check(options.insitu, stream));
    // A file of several nodes fixes the offset of each node before compression, so compressed sizes are not known in
    // time.
    if (options.file.kind != TargetFile::Kind::own && node::rules_of(options).any())
        return refusal(
            fmt::format("stream '{}': file = \"{}\" and compression exclude each other", stream, name_of(options.file)),
            "leave one of the two out");
    return check_described(Schema{.stream = stream, .tables = {}, .variables = {}});
}

Session::Session(std::shared_ptr<SessionState> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> detail::open_over(std::unique_ptr<GroupHolder> world, const Result<Options>& options) {
    return attempt([&]() -> Result<Session> {
        FB_TRY(agree_on_options(world->group(), options));
        std::shared_ptr<SessionState> state;
        std::optional<SessionOpening> opening;
        FB_TRY(comm::agree(world->group(), [&] {
            // IfOwn: a forked child must not end its parent's session.
            state = std::shared_ptr<SessionState>(new SessionState, IfOwn());
            return opening.emplace(*state, *world).prepare(*options);
        }));
        FB_TRY(opening->open());
        return Session(std::move(state));
    });
}

Result<Session> Session::open(const Options& options) {
    return attempt([&] { return open(Result<Options>(options)); });
}

Result<Session> Session::open(const Result<Options>& options) {
    return attempt([&] { return detail::open_over(std::make_unique<GroupHolder>(comm::alone()), options); });
}

Result<Stream> Session::stream(const std::string& name) {
    return attempt([&]() -> Result<Stream> {
        FB_TRY_ASSIGN(state, state_->stream(state_, name, {}));
        return Stream(state);
    });
}

Result<Stream> Session::stream(const std::string& name, const StreamOptions& options) {
    return attempt([&] { return stream(name, Result<StreamOptions>(options)); });
}

Result<Stream> Session::stream(const std::string& name, const Result<StreamOptions>& options) {
    return attempt([&]() -> Result<Stream> {
        FB_TRY_ASSIGN(state, state_->stream(state_, name, options));
        return Stream(state);
    });
}

bool Session::draining() const { return state_->staging && state_->staging->control().draining.load() != 0; }

// The path is absolute, since programs of the job have other current directories.
std::string Session::spool() const {
    if (!state_->staging) return {};
    return std::filesystem::absolute(node::spool_path(state_->staging->directory())).lexically_normal();
}

Result<Job> Session::job(bool stop_wanted) { return state_->job(stop_wanted); }

Result<> Session::close() { return state_->close(); }

}  // namespace forebay
