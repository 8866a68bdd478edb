#include "insitu/operators/makers.hpp"

namespace forebay::insitu {

bool looks_at_several(Analysis::Kind kind) {
    using enum Analysis::Kind;
    return kind == histogram_2d || kind == density || kind == halos;
}

Result<std::unique_ptr<Analyser>> make_analyser(const Analysis& analysis, std::span<const Variable> variables) {
    static_cast<void>(variables);
    switch (analysis.kind) {
        default: return Error{ErrorKind::unsupported, "analysis '" + analysis.name + "' is of a kind that is not there"};
    }
}

}  // namespace forebay::insitu
