// forebay stop: asks the simulation of a run to save and end.

#include <fmt/format.h>

#include <memory>

#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/store.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/say.hpp"
#include "path/catalog/names.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct StopArguments {
    std::string run;
    bool save = false;
    bool cancel = false;
    bool json = false;
};

Result<Exit> stop(const StopArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(run, find_run(store, options.run));
    const auto path = fmt::format("{}/{}", run.path, options.save ? catalog::save_request : catalog::stop_request);
    FB_TRY_ASSIGN(there, store.exists(path));
    const char* state = "asked";
    if (options.cancel) {
        FB_TRY(store.remove(path));
        state = there ? "cancelled" : "none";
    } else if (there) {
        state = "waiting";
    } else {
        FB_TRY(sys::write_text_durable(store, path, fmt::format("by {} on {}\n", sys::user_name(), sys::host_name())));
    }
    if (options.json) {
        Json::object()
            .set("run", options.run)
            .set("request", options.save ? "save" : "stop")
            .set("state", state)
            .print();
        return Exit::good;
    }
    const char* what = options.save ? "save" : "save and end";
    if (options.cancel && there) say("It will not {}: the request is withdrawn.\n", what);
    else if (options.cancel) say("There is no request to {}, or it was obeyed.\n", what);
    else if (there) say("It was asked before to {}, and has not obeyed yet: {}\n", what, path);
    else say("Asked to {}. The simulation removes {} when it obeys, at the end of a step.\n", what, path);
    return Exit::good;
}

}  // namespace

void add_stop(CommandLine& line) {
    const auto options = std::make_shared<StopArguments>();
    auto verb = line.verb("stop", "Ask the simulation of a run to save and end, or only to save");
    verb.argument("RUN", options->run, "The run's directory");
    verb.flag("--save", options->save, "Ask it only to save, and to continue");
    verb.flag("--cancel", options->cancel, "Withdraw the request");
    verb.json(options->json,
              "  An object: run, request (stop, save), state (asked, waiting: asked before; cancelled, none).\n");
    verb.examples(
        "  forebay stop /scratch/me/run7\n  forebay stop /scratch/me/run7 --save\nSimulations obey at the end of a "
        "step if they call Session::job (C: fb_check_job, Fortran and Python: job). A\nrequest that is not obeyed "
        "stays for the next job of the run.\n");
    verb.action([options] { return stop(*options); });
}

}  // namespace forebay::cli
