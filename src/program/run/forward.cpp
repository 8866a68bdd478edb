// forebay forward: writes to a target for other hosts.

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <mutex>

#include "core/base/try.hpp"
#include "core/forward/server.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/process.hpp"
#include "core/sys/socket.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/log.hpp"
#include "core/terminal/say.hpp"
#include "program/run/forwarding.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct ForwardArguments {
    std::string run;
    std::string listen;
    std::string token_file;
    std::string log;
    bool json = false;
};

Result<std::string> token_in(const std::string& path) {
    auto token = read_token(path);
    if (!token && token.error().kind == ErrorKind::missing) {
        FB_TRY(sys::write_private(path, forward::new_token() + "\n"));
        token = read_token(path);  // two forwarders that begin at once both use the token that stayed
    }
    if (token && !forward::key_of(*token))
        return Error{ErrorKind::refused, fmt::format("{} holds no valid token (32 hexadecimal digits)", path), "",
                     "remove it, and Forebay makes a new token"};
    return token;
}

// Clients come at once, and libhdf5 is for one thread at a time.
std::function<Result<>(const forward::ViewWanted&)> one_view_at_a_time() {
    const auto make = view_maker();
    if (!make) return {};
    return [make, mutex = std::make_shared<std::mutex>()](const forward::ViewWanted& wanted) {
        const std::lock_guard lock(*mutex);
        return make(sys::target_store(), {wanted.stream, wanted.step, wanted.directory}, wanted.convention);
    };
}

Result<std::vector<std::string>> addresses_of(const std::string& listen, std::uint16_t port) {
    const auto host = listen.substr(0, listen.rfind(':'));
    if (!host.empty()) return std::vector{fmt::format("{}:{}", host, port)};
    FB_TRY_ASSIGN(hosts, sys::own_addresses(""));
    for (auto& address : hosts) address = sys::with_port(address, port);
    return hosts;
}

Result<Exit> forward_until_told(const ForwardArguments& options) {
    // First: EndSignals must exist before any thread starts.
    sys::EndSignals signals;
    FB_TRY_ASSIGN(given, run_to_make(sys::target_store(), options.run));
    FB_TRY_ASSIGN(run, given.whole());
    FB_TRY_ASSIGN(token, token_in(options.token_file));
    FB_TRY_ASSIGN(log, options.log.empty() ? Result<LogLines>(log_to_errors()) : log_to_file(options.log, false));
    auto server = forward::Server::start(sys::target_store(), options.listen,
                                         {.run = run, .token = token, .make_view = one_view_at_a_time(), .log = log});
    if (!server)
        return with_context(
            server.error(), fmt::format("the forwarder of {} cannot start: {}", run, server.error().what), "",
            "check that this host can write to the run, and that --listen gives a free port of this host");
    FB_TRY_ASSIGN(addresses, addresses_of(options.listen, server->port()));
    if (options.json) {
        auto array = Json::array();
        for (const auto& address : addresses) array.push(address);
        Json::object().set("run", run).set("addresses", array).set("token_file", options.token_file).print();
    } else {
        say("Forwarder of {}, at {}\n", run, fmt::format("{}", fmt::join(addresses, ", ")));
    }
    // This program runs on: another program may wait for the address in a pipe.
    std::fflush(stdout);
    signals.wait();
    log("stopped by a signal");
    if (server->stop()) return Exit::good;
    return Error{ErrorKind::retry, fmt::format("requests hang in {} and are given up", run),
                 "the staged data of their clients", "check that its file system answers"};
}

}  // namespace

void add_forward(CommandLine& line) {
    const auto options = std::make_shared<ForwardArguments>();
    auto verb = line.verb("forward", "Write to a run for the agents of other hosts, until a signal ends it");
    verb.argument("RUN", options->run, "The run's directory");
    verb.required("--listen", options->listen, "Listen at HOST:PORT of this host, or at :PORT for all of its networks");
    verb.required("--token-file", options->token_file,
                  "Admit clients with the token in this file. Only you may have access. It is made if missing");
    verb.option("--log", options->log,
                "Write the log to this file of yours, of at most 1 MiB. Older lines go to FILE.1");
    verb.json(options->json, "  An object, when it listens: run, addresses, token_file.\n");
    verb.examples(
        "  forebay forward /scratch/me/run7 --listen :4711 --token-file ~/run7.token\nIts clients are agents whose "
        "configuration has [agent] forward_to = [\"HOST:4711\"] and forward_token_file, and\nforebay drain with "
        "--forward-to and --token-file. It prints its address when it is ready, logs to standard error or\n--log, and "
        "ends at SIGTERM or SIGINT after it has finished its work.\n");
    verb.action([options] { return forward_until_told(*options); });
}

}  // namespace forebay::cli
