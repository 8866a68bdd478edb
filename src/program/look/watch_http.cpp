// forebay watch: serves the live page of a run.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>

#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/socket.hpp"
#include "core/sys/target_store.hpp"
#include "core/sys/thread.hpp"
#include "core/terminal/say.hpp"
#include "insight/report/page_guard.hpp"
#include "insight/report/page_server.hpp"
#include "insight/report/run_looker.hpp"
#include "insight/report/watch_page.hpp"
#include "path/telemetry/metrics.hpp"
#include "program/look/page_fields.hpp"
#include "program/look/page_parameters.hpp"
#include "program/look/page_results.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr int port_most = 65'535;

struct WatchArguments {
    std::string run;
    std::string host = "127.0.0.1";
    std::string staging = "/dev/shm";
    int port = 0;
    bool anywhere = false;
};

/// The page of one run: its sources and its answers.
class Watching {
public:
    Watching(const std::string& run, const std::string& staging)
        : run_(run),
          looker_(sys::target_store(), run, staging, feed_),
          fields_(sys::target_store(), run),
          projections_(sys::target_store(), fields_) {}

    report::PageFeed& feed() { return feed_; }
    report::RunLooker& looker() { return looker_; }

    report::PagePaths paths() {
        auto& store = sys::target_store();
        const auto png = [](auto make) {
            return [make](const report::PageQuery& query) { return answer("image/png", make(query)); };
        };
        const auto json = [](auto make) {
            return [make](const report::PageQuery& query) { return answer("application/json", make(query)); };
        };
        report::PagePaths paths;
        paths["/state"] = json([this](const auto&) { return state(); });
        paths["/fields"] = json([this, &store](const auto&) { return field_menu(store, run_); });
        paths["/pictures"] = json([this, &store](const auto&) { return picture_list(store, run_); });
        paths["/metrics"] = [this](const auto&) {
            const auto newest = looker_.newest();
            constexpr auto form = telemetry::MetricsForm::openmetrics;
            return report::PageAnswer{200, telemetry::content_type(form),
                                      telemetry::metrics_text(newest.summary, newest.statuses, form)};
        };
        paths["/histogram"] = json([this](const auto& query) { return histogram(query); });
        paths["/slice"] = png([this](const auto& query) { return slice(query); });
        paths["/projection"] = png([this](const auto& query) { return projections_.png(query); });
        paths["/picture"] = png([this, &store](const auto& query) { return picture_png(store, run_, query); });
        paths["/result"] = png([this, &store](const auto& query) { return result_png(store, run_, query); });
        return paths;
    }

private:
    static report::PageAnswer answer(const char* type, const Result<std::string>& text) {
        if (!text) return report::answer_of(text.error());
        return {200, type, *text};
    }

    Result<std::string> state() const {
        const auto news = feed_.newest();
        if (!news.text) return Error{ErrorKind::retry, "the page is not ready: Forebay is still reading the run"};
        return *news.text;
    }
    Result<std::string> slice(const report::PageQuery& query) {
        FB_TRY_ASSIGN(request, plane_request_of(query));
        FB_TRY_ASSIGN(plane, fields_.plane(request));
        return plane_png(*plane, query);
    }
    Result<std::string> histogram(const report::PageQuery& query) {
        FB_TRY_ASSIGN(request, plane_request_of(query));
        FB_TRY_ASSIGN(style, plane_style_of(query));
        FB_TRY_ASSIGN(plane, fields_.plane(request));
        return plane_histogram(*plane, style.log);
    }

    const std::string run_;
    report::PageFeed feed_;
    report::RunLooker looker_;
    FieldReader fields_;
    ProjectionMaker projections_;
};

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char character) { return static_cast<char>(std::tolower(character)); });
    return text;
}

Result<report::PageServerOptions> server_options(const WatchArguments& options) {
    if (options.port < 0 || options.port > port_most)
        return Error{ErrorKind::refused, fmt::format("--port must be 0 to {}", port_most)};
    const bool is_private = report::is_loopback(options.host);
    if (!is_private && !options.anywhere)
        return Error{
            ErrorKind::refused,
            fmt::format("--host {} would show the run to other hosts, over an unencrypted connection", options.host),
            "", "leave --host out and use the printed ssh line, or add --anywhere"};
    report::PageServerOptions server{.host = options.host, .port = options.port, .token = report::new_token()};
    if (!options.anywhere) return server;
    if (is_private) server.host = "0.0.0.0";
    server.other_hosts = {lower(sys::host_name()), lower(options.host)};
    FB_TRY_ASSIGN(addresses, sys::own_addresses(""));
    std::ranges::move(addresses, std::back_inserter(server.other_hosts));
    return server;
}

void print_address(const WatchArguments& options, const report::PageServerOptions& server, int port) {
    const auto host = options.anywhere ? sys::host_name() : std::string("127.0.0.1");
    say("http://{}:{}/?token={}\n", host, port, server.token);
    if (options.anywhere)
        say("Warning: every host that reaches this host may connect, and the connection is not encrypted: an "
            "eavesdropper gets the token.\n");
    else say("From another machine: ssh -N -L {}:127.0.0.1:{} {}\n", port, port, sys::host_name());
    say("Shows {}, and changes nothing there. Ctrl-C ends it.\n", options.run);
    std::fflush(stdout);
}

Result<Exit> watch(const WatchArguments& given) {
    auto options = given;
    FB_TRY_ASSIGN(match, find_run(sys::target_store(), options.run));
    FB_TRY_ASSIGN(run, match.whole());
    options.run = run;
    FB_TRY_ASSIGN(configuration, server_options(options));
    const auto signals = std::make_shared<sys::EndSignals>();  // before there are threads
    const auto watching = std::make_shared<Watching>(options.run, options.staging);
    FB_TRY_ASSIGN(opened,
                  report::PageServer::open(configuration, report::watch_page(), watching->paths(), watching->feed()));
    const auto server = std::make_shared<report::PageServer>(std::move(opened));
    print_address(options, configuration, server->port());
    FB_TRY_ASSIGN(looking, sys::Thread::start([watching] { watching->looker().run(); }));
    FB_TRY_ASSIGN(ending, sys::Thread::start([signals, watching, server] {
                      signals->wait();
                      watching->feed().close();
                      server->stop();
                  }));
    const auto served = server->serve();
    watching->looker().stop();
    looking.join();
    if (!served) ending.leave();  // it waits for a signal, and holds its own resources
    FB_TRY(served);
    return Exit::good;
}

}  // namespace

void add_watch(CommandLine& line) {
    const auto options = std::make_shared<WatchArguments>();
    auto verb = line.verb("watch", "Show a run as a live page, in a browser on this machine or through ssh");
    verb.argument("RUN", options->run, "An active or finished run");
    verb.option("--port", options->port, "Serve the page at this port. 0: a free port");
    verb.option("--host", options->host, "Serve at this address. Any address but the loopback needs --anywhere");
    verb.option("--staging", options->staging, "Look in this directory for staged copies of this node's sessions");
    verb.flag("--anywhere", options->anywhere,
              "Serve other hosts too, without encryption. Anyone with the token can read");
    verb.examples(
        "  forebay watch run7\nIt prints an address with a secret token, and the ssh line for a browser on another "
        "machine. It reads the run and\nnever writes to it: docs/reference/report.md#watch.\n");
    verb.action([options] { return watch(*options); });
}

}  // namespace forebay::cli
