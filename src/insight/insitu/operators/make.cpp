#include "insight/insitu/operators/makers.hpp"
#include "insight/insitu/png.hpp"
#include "insight/insitu/transform.hpp"

namespace forebay::insitu {

bool looks_at_several(Analysis::Kind kind) {
    using enum Analysis::Kind;
    return kind == histogram_2d || kind == density || kind == halos;
}

Result<std::unique_ptr<Analyser>> make_analyser(const Analysis& analysis, std::span<const Variable> variables) {
    using enum Analysis::Kind;
    // Before an analysis reads anything. Only `what` is printed.
    const bool draws = analysis.kind == slice || analysis.kind == projection || analysis.kind == density;
    if (draws && analysis.picture && !has_png())
        return Error{ErrorKind::unsupported,
                     "pictures need libpng, and this forebay was built without libpng. Set picture = false"};
    if (analysis.kind == spectrum && !has_transform())
        return Error{ErrorKind::unsupported,
                     "spectra need a Fourier transform, and this forebay was built without one (FOREBAY_FFT)"};
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
