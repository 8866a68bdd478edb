// Gives any bytes to an operator as the part of another node. The first byte selects the operator (part_cases.hpp). No
// crash, no huge allocation. Refused bytes are `corrupt`. An accepted part can be written again and accepted again. It
// makes results of the sizes that they claim, or an error with a reason.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/describe/geometry.hpp"
#include "support/part_cases.hpp"

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto cases = test::part_cases();
    if (size == 0) return 0;
    const auto& example = cases[data[0] % cases.size()];
    const auto make = [&] { return insitu::make_analyser(example.analysis, example.variables).value(); };
    const auto analyser = make();
    if (const auto merged = analyser->merge(std::as_bytes(std::span(data + 1, size - 1))); !merged) {
        if (merged.error().kind != ErrorKind::corrupt) std::abort();
        return 0;
    }
    if (!make()->merge(analyser->part())) std::abort();
    const auto result = analyser->make({120, 3.5});
    if (!result) {
        if (result.error().kind != ErrorKind::corrupt && result.error().kind != ErrorKind::refused) std::abort();
        return 0;
    }
    for (const auto& variable : result->variables)
        if (variable.bytes.size() != volume(variable.shape) * variable.type.size_bytes) std::abort();
    return 0;
}
