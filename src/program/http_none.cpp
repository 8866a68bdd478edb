// Verbs that need an HTTP server, in a build without cpp-httplib: each returns an error. Replaces all *_http.cpp.

#include <memory>

#include "program/verbs.hpp"

namespace forebay::cli {

void add_watch(CommandLine& line) {
    const auto run = std::make_shared<std::string>();
    auto verb = line.verb("watch", "Show a run as a live page (not in this build: it has no cpp-httplib)");
    verb.argument("RUN", *run, "As in a build with cpp-httplib");
    verb.action([run]() -> Result<Exit> {
        return Error{ErrorKind::unsupported, "no page of " + *run + ": this forebay was built without cpp-httplib", "",
                     "forebay report " + *run + " --to report.html, or build with libcpp-httplib-dev installed"};
    });
}

}  // namespace forebay::cli
