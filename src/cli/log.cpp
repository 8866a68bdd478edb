#include "cli/log.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "base/try.hpp"
#include "base/units.hpp"
#include "cli/say.hpp"
#include "cli/words.hpp"
#include "sys/clock.hpp"
#include "sys/log_file.hpp"

namespace forebay::cli {

namespace {

std::string dated(const std::string& line) { return lines("{} {}", show_utc(sys::unix_ns()), Message{line}).text; }

}  // namespace

LogLines log_to_errors() {
    return [](const std::string& line) { std::fputs((dated(line) + "\n").c_str(), stderr); };
}

Result<LogLines> log_to_file(const std::string& path, bool is_output) {
    FB_TRY_ASSIGN(opened, sys::LogFile::open(path, is_output));
    const auto file = std::make_shared<sys::LogFile>(std::move(opened));
    return LogLines([file](const std::string& line) { file->write(dated(line)); });
}

}  // namespace forebay::cli
