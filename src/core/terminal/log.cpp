#include "core/terminal/log.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/log_file.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"

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
