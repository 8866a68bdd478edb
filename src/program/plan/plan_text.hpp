// The output of `forebay plan` for people, 80 to 100 columns wide.

#pragma once

#include <string>
#include <vector>

#include "core/terminal/table.hpp"
#include "insight/advice/plan/plan.hpp"

namespace forebay::cli {

/// `title` of a case, or "".
Shown plan_text(const format::Advice& plan, const std::string& title);

/// `happened` is the title of its column: a run, or "published".
Shown comparison_text(const std::vector<advice::Compared>& rows, const std::string& happened);

}  // namespace forebay::cli
