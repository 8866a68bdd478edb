#include "bindings/api/log.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/base/attempt.hpp"
#include "core/base/error_text.hpp"
#include "core/base/show_text.hpp"

namespace forebay {

namespace {

void print_to_stderr(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

}  // namespace

std::function<void(const std::string&)> log_of(const Options& options) {
    if (options.log) return options.log;
    const char* wish = std::getenv("FOREBAY_LOG");
    const bool wished = wish != nullptr && std::string_view(wish) != "" && std::string_view(wish) != "0";
    if (!options.log_to_stderr && !wished) return {};
    return print_to_stderr;
}

void warn(const std::string& text) { print_to_stderr(show_message(program_prefix + text)); }

node::Say say_of(const Options& options, bool is_first_rank) {
    node::Say say;
    if (auto log = log_of(options); log && is_first_rank)
        say = [log = std::move(log)](const std::string& line) {
            static_cast<void>(attempt([&] { log(show_message(program_prefix + line)); }));
        };
    if (options.interrupted)
        say.interrupted = [asked = options.interrupted] {
            bool ends = true;
            static_cast<void>(attempt([&] { ends = asked(); }));
            return ends;
        };
    return say;
}

}  // namespace forebay
