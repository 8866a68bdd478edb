// Calls that must be refused. For test programs of doctest.

#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::test {

template <class T>
void check_refused(const Result<T>& answer, const std::vector<std::string>& says) {
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == ErrorKind::refused);
    for (const auto& part : says) {
        CAPTURE(part);
        CHECK_MESSAGE(answer.error().text().find(part) != std::string::npos, answer.error().text());
    }
}

}  // namespace forebay::test
