// Gives any line to read_trial(): no crash, and an accepted line is a trial of these knobs.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "insight/advice/tune/foreign.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace forebay::advice;
    static const std::vector<Knob> knobs{{"agent.in_flight", {"1", "4", "16"}, 1},
                                         {"stream.file", {"own", "shared"}, 0}};
    const auto trial = read_trial({reinterpret_cast<const char*>(data), size}, knobs);
    if (!trial || !*trial) return 0;
    const auto& [choice, share, why] = **trial;
    if (choice.size() != knobs.size() || !(share > 0 && share <= 1)) std::abort();
    for (std::size_t knob = 0; knob < knobs.size(); ++knob)
        if (choice[knob] >= knobs[knob].values.size()) std::abort();
    return 0;
}
