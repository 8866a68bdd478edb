// Verbs that need HDF5, in a build without it: each returns an error. Replaces all *_hdf5.cpp.

#include <fmt/format.h>

#include <memory>

#include "core/describe/conventions.hpp"
#include "program/look/files.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

// `{}` in the texts is the first argument.
struct Absent {
    const char* summary;
    std::vector<const char*> arguments;
    const char *what, *safe;
};

constexpr const char* readable = "the snapshot. Its node files are HDF5 files";
const Absent view_verb{"Make the plain view of a snapshot", {"RUN"}, "no view of {} was made", readable};
const Absent h5part_verb{
    "Make an H5Part file", {"FILE"}, "{} was not made", "the steps of the H5Part library in {}.forebay"};
const Absent export_verbs{"Write an HDF5 file", {"RUN", "FILE"}, "{} was not exported", readable};

std::string summary_of(const Absent& row) { return fmt::format("{} (not in this build: it has no HDF5)", row.summary); }

Error no_hdf5(const std::string& what, const std::string& safe, const std::string& next) {
    return {ErrorKind::unsupported, what + ": this forebay was built without HDF5", safe, next};
}

void add(Verb verb, const Absent& row) {
    const auto given = std::make_shared<std::vector<std::string>>(row.arguments.size());
    for (std::size_t i = 0; i < given->size(); ++i)
        verb.argument(row.arguments[i], (*given)[i], "As in a build with HDF5");
    verb.action([given, &row]() -> Result<Exit> {
        const auto text_of = [&](const char* text) { return fmt::format(fmt::runtime(text), given->front()); };
        return no_hdf5(text_of(row.what), text_of(row.safe), "use a forebay that was built with -DFOREBAY_HDF5=ON");
    });
}

Error no_hdf5_file(const std::string& path) {
    return no_hdf5(path + " is an HDF5 file", "", fmt::format("h5dump -H {}", path));
}

}  // namespace

agent::ViewMaker view_maker() { return {}; }
void add_view(CommandLine& line) { add(line.verb("view", summary_of(view_verb)), view_verb); }
void add_h5part(CommandLine& line) { add(line.verb("h5part", summary_of(h5part_verb)), h5part_verb); }
void add_export_hdf5(Verb& parent) {
    for (const auto& known : describe::known_conventions)
        add(parent.verb(known.name, summary_of(export_verbs)), export_verbs);
}

std::optional<bool> has_own_datasets(const std::string&) { return std::nullopt; }
Result<Exit> show_hdf5_file(const std::string& path, bool) { return no_hdf5_file(path); }
Result<Exit> verify_hdf5_file(const std::string& path, bool) { return no_hdf5_file(path); }
Result<Exit> list_hdf5_file(const std::string& path, bool) { return no_hdf5_file(path); }

}  // namespace forebay::cli
