#include "insitu/operators/makers.hpp"

namespace forebay::insitu {

bool looks_at_several(Analysis::Kind kind) {
    using enum Analysis::Kind;
    return kind == histogram_2d || kind == density || kind == halos;
}

Result<std::unique_ptr<Analyser>> make_analyser(const Analysis& analysis, std::span<const Variable> variables) {
    switch (analysis.kind) {
        case Analysis::Kind::slice: return make_slice(analysis, variables);
        case Analysis::Kind::projection: return make_projection(analysis, variables);
        case Analysis::Kind::downsample: return make_downsample(analysis, variables);
        case Analysis::Kind::probe: return make_probe(analysis, variables);
        default: return Error{ErrorKind::unsupported, "analysis '" + analysis.name + "' is of a kind that is not there"};
    }
}

}  // namespace forebay::insitu
