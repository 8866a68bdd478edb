// Any bytes as the plan of a migration, as a project's state and as its list of inodes: an error of the right kind, or
// a value whose text gives an equal value. Each state can be shown as a page.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "transfer/migrate/frozen.hpp"
#include "transfer/migrate/page.hpp"
#include "transfer/migrate/state.hpp"

using namespace forebay;
using namespace forebay::migrate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (const auto plan = read_plan(text, "plan.toml")) {
        for (const auto& project : plan->projects)
            if (project.name.find('/') != std::string::npos || project.source.empty() || project.target.empty())
                std::abort();
        if (!chosen_from(*plan, {plan->projects.front().name})) std::abort();
    } else if (plan.error().kind != ErrorKind::refused) {
        std::abort();
    }
    if (const auto state = decode_state(text, "a.json")) {
        const auto again = encode_state(*state);
        if (encode_state(decode_state(again, "a.json").value()) != again) std::abort();
        static_cast<void>(page_of({}, {.name = state->project}, *state));
    }
    if (const auto inodes = inodes_from(text, "a.links"))
        if (inodes_from(text_of(*inodes), "a.links").value() != *inodes) std::abort();
    return 0;
}
