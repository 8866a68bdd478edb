#include "insight/insitu/operators/makers.hpp"

namespace forebay::insitu {

bool looks_at_several(Analysis::Kind kind) {
    using enum Analysis::Kind;
    return kind == histogram_2d || kind == density || kind == halos;
}

Result<std::unique_ptr<Analyser>> make_analyser(const Analysis& analysis, std::span<const Variable> variables) {
    using enum Analysis::Kind;
    switch (analysis.kind) {
        case statistics: return make_statistics(analysis, variables);
        case histogram: return make_histogram(analysis, variables);
        case histogram_2d: return make_histogram_2d(analysis, variables);
        case slice: return make_slice(analysis, variables);
        case projection: return make_projection(analysis, variables);
        case downsample: return make_downsample(analysis, variables);
        case probe: return make_probe(analysis, variables);
        case density: return make_density(analysis, variables);
        case spectrum: return make_spectrum(analysis, variables);
        case halos: return make_halos(analysis, variables);
        case script: break;  // belongs to the worker of scripts
    }
    return Error{ErrorKind::refused, "analysis '" + analysis.name + "' is of an unknown kind"};
}

}  // namespace forebay::insitu
