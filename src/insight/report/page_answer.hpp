// The answers of the live page's paths.

#pragma once

#include <functional>
#include <map>
#include <string>

#include "forebay/result.hpp"

namespace forebay::report {

/// The decoded parameters of a request. If a name comes twice, the first value counts.
using PageQuery = std::map<std::string, std::string>;

struct PageAnswer {
    int status = 200;
    std::string type = "application/json";
    std::string body = {};
};
/// An Error for a browser: {"error": {"kind", "what", "safe", "next"}}, with an HTTP status for its kind.
PageAnswer answer_of(const Error& error);

using PagePaths = std::map<std::string, std::function<PageAnswer(const PageQuery&)>>;

}  // namespace forebay::report
