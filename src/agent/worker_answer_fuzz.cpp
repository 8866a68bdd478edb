// Any line of a worker given to decode_answer(): no crash; what is accepted says again what the line said, and the rest
// is `corrupt`.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent/analysis_worker.hpp"

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using Kind = agent::WorkerAnswer::Kind;
    const std::string_view line(reinterpret_cast<const char*>(data), size);
    const auto answer = agent::decode_answer(line, "worker");
    if (!answer) {
        if (answer.error().kind != ErrorKind::corrupt) std::abort();
        return 0;
    }
    switch (answer->kind) {
        case Kind::none: std::abort();
        case Kind::seen: return line == "seen" ? 0 : (std::abort(), 0);
        case Kind::made: return line.ends_with(std::to_string(answer->count)) ? 0 : (std::abort(), 0);
        case Kind::failed:
        case Kind::problem: return line.ends_with(answer->text) ? 0 : (std::abort(), 0);
    }
    return 0;
}
