// What the paths of the live page answer.

#pragma once

#include <functional>
#include <map>
#include <string>

#include "forebay/result.hpp"

namespace forebay::report {

/// The parameters of a request, decoded; of one that is given twice the first.
using PageQuery = std::map<std::string, std::string>;

struct PageAnswer {
    int status = 200;
    std::string type = "application/json";
    std::string body = {};
};
/// An Error as a browser gets it: {"error": {"kind", "what", "safe", "next"}}, with a status that fits its kind.
PageAnswer answer_of(const Error& error);

using PagePaths = std::map<std::string, std::function<PageAnswer(const PageQuery&)>>;

}  // namespace forebay::report
