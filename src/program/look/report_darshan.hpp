// forebay report --darshan LOG: which storage targets have kept a job waiting, by its Darshan log.

#pragma once

#include <string>

#include "core/terminal/command_line.hpp"

namespace forebay::cli {

struct DarshanArguments {
    std::string log;
    std::string python;   // "": as scripts get one
    std::string servers;  // a file with what lctl prints of targets and their servers; "": none
    bool json = false;
};

Result<Exit> report_darshan(const DarshanArguments& options);

}  // namespace forebay::cli
