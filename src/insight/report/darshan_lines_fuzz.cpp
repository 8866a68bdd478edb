// Any lines given to DarshanLines, of both grammars: no crash; what is accepted is within what it says, and can be
// judged.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "insight/report/darshan_log.hpp"
#include "insight/report/darshan_rule.hpp"

using namespace forebay::report;

namespace {

void demand(bool good) {
    if (!good) std::abort();
}

void check(const DarshanLog& log) {
    demand(std::isfinite(log.seconds) && log.seconds >= 0);
    for (const auto& file : log.files) {
        demand(!file.targets.empty() && file.written > 0);
        demand(std::isfinite(file.first) && std::isfinite(file.seconds) && file.first <= file.last);
    }
    std::uint64_t files = 0;
    for (const auto& mount : judge_darshan(log)) {
        files += mount.files + mount.small_files;
        demand(mount.kept.size() <= mount.targets.size());
        for (const auto& target : mount.targets) {
            demand(std::isfinite(target.rate) && std::isfinite(target.ratio) && std::isfinite(target.z));
            demand(std::abs(target.correlation) <= 1);
            demand(!target.is_slow || mount.targets.size() > 1);
        }
    }
    demand(files == log.files.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    DarshanLines of_script, of_parser;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = text.substr(at, end - at);
        if (!of_script.add_json(line) || !of_parser.add_parsed(line)) break;
        at = end + 1;
    }
    check(of_script.log());
    check(of_parser.log());
    return 0;
}
