// Gives any line to decode_answer(): no crash. An accepted answer means the same as its line, and no other line means
// that.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "path/agent/analysis_worker.hpp"

using namespace forebay;
using Kind = agent::WorkerAnswer::Kind;

namespace {

std::string line_of(const agent::WorkerAnswer& answer) {
    switch (answer.kind) {
        case Kind::none: break;
        case Kind::seen: return "seen";
        case Kind::returned: return "returned";
        case Kind::made: return "made " + std::to_string(answer.count);
        case Kind::calls: return "calls " + std::to_string(answer.count);
        case Kind::failed: return "failed " + answer.text;
        case Kind::problem: return "problem " + answer.text;
        case Kind::flagged: return {};  // a number may be written in many ways
    }
    std::abort();
}

// "failed" means the same as "failed ", and "made 007" as "made 7".
bool says_the_same(std::string_view line, const agent::WorkerAnswer& answer) {
    const auto written = line_of(answer);
    if (answer.kind == Kind::flagged) return line.starts_with("raise ") && line.ends_with(answer.text);
    if (line == written) return true;
    if (answer.kind == Kind::failed || answer.kind == Kind::problem)
        return answer.text.empty() && written == std::string(line) + " ";
    const auto word = written.substr(0, written.find(' ') + 1);
    const auto digits = line.substr(std::min(line.size(), word.size()));
    return line.starts_with(word) && digits.starts_with('0') && digits.ends_with(std::to_string(answer.count)) &&
           digits.find_first_not_of("0123456789") == digits.npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view line(reinterpret_cast<const char*>(data), size);
    const auto answer = agent::decode_answer(line);
    if (answer && !says_the_same(line, *answer)) std::abort();
    return 0;
}
