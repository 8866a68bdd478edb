// Results of analyses as values: made beside the simulation, or afterwards by `forebay insitu`.

#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/sys/process.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::test {

/// Every result of a stream's analyses, by stream, step and name. The attribute `made_of_snapshot` is left out.
using Results = std::map<std::string, std::vector<std::byte>>;
inline Results results_in(const std::string& run, const std::string& of_stream) {
    auto& disk = sys::posix_store();
    Results results;
    for (const auto& stream : catalog::streams(disk, run).value()) {
        if (!stream.starts_with(of_stream + ".")) continue;
        for (const auto& snapshot : catalog::snapshots(disk, run, stream).value()) {
            const auto manifest = catalog::load_manifest(disk, snapshot.directory).value();
            const auto node = catalog::BlockReader::open(disk, snapshot.directory, manifest.nodes.front()).value();
            for (std::size_t v = 0; v < manifest.schema.variables.size(); ++v)
                results[stream + "@" + std::to_string(snapshot.step) + " " + manifest.schema.variables[v].name] =
                    node.value(v).value();
        }
    }
    return results;
}

/// The steps with results of the analysis STREAM.NAME.
inline std::set<std::int64_t> result_steps(const std::string& run, const std::string& stream) {
    std::set<std::int64_t> steps;
    const auto all = catalog::snapshots(sys::posix_store(), run, stream);
    if (!all && all.error().kind == ErrorKind::missing) return steps;  // no result yet
    for (const auto& snapshot : Result(all).value()) steps.insert(snapshot.step);
    return steps;
}

/// The results that `forebay insitu` makes of all snapshots of the stream.
inline Results results_afterwards(const std::string& configuration, const std::string& run, const std::string& stream,
                                  const std::string& folder) {
    const auto to = folder + "/afterwards";
    sys::posix_store().remove_tree(to).value();
    const auto output = sys::output_of({std::getenv("FOREBAY_AGENT"), "insitu", configuration,
                                        run + "/" + stream + "@all", "--to", to, "--pictures", folder + "/pictures"},
                                       std::chrono::minutes(2));
    if (!output) FAIL(output.error().text());
    return results_in(to, stream);
}

}  // namespace forebay::test
