#include "views/virtual_file.hpp"

#include <fmt/format.h>

#include "describe/geometry.hpp"
#include "views/render.hpp"

namespace forebay::views {

namespace {

/// HDF5 replaces %b in names of sources by a block's number; %% is the sign itself.
std::string escaped(const std::string& name) {
    std::string result;
    for (const char c : name) result += c == '%' ? "%%" : std::string(1, c);
    return result;
}

/// Lists the sources of a virtual dataset. One without any stays an ordinary dataset of which nothing is stored.
Result<> map(const NewDataset& made, std::span<const Contents> contents, const std::string& prefix) {
    const auto doing = fmt::format("mapping '{}'", made.outline.path);
    for (const auto& shows : std::get<std::vector<Outline::Shows>>(made.outline.content)) {
        const auto& of = contents[shows.snapshot];
        const auto& variable = of.manifest.schema.variables[shows.variable];
        for (const auto& placed : of.mappings[shows.variable]) {
            const auto& [first_element, box] = placed.mapping;
            FB_TRY(h5::select(made.space, placed_in(made.outline, shows, box)));
            const bool is_whole = variable.kind == Kind::replicated;
            FB_TRY_ASSIGN(source, h5::space_of(is_whole ? variable.shape : Extents{placed.source_elements}));
            if (!is_whole) FB_TRY(h5::select(source, Box{{first_element}, {volume(box.size)}}));
            FB_TRY(h5::require(H5Pset_virtual(made.creation.get(), made.space.get(),
                                              escaped(prefix + of.sources[placed.source]).c_str(),
                                              escaped(of.groups[placed.source] + variable.name).c_str(), source.get()),
                               doing));
        }
    }
    return h5::require(H5Sselect_all(made.space.get()), doing);
}

}  // namespace

Result<std::string> write_virtual(const Outline& outline, std::span<const Contents> contents,
                                  const std::string& prefix) {
    const h5::QuietErrors quiet;
    FB_TRY_ASSIGN(file, h5::File::in_memory());
    FB_TRY(render(file, outline, contents, [&](const NewDataset& made) { return map(made, contents, prefix); }));
    return file.bytes();
}

}  // namespace forebay::views
