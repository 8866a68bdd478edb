#include "insight/insitu/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/format/layout.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/catalog/values.hpp"
#include "path/commit/write_snapshot.hpp"

namespace forebay::insitu {

namespace {

class ResultBlocks final : public commit::Blocks {
public:
    ResultBlocks(const AnalysisResults& results, const format::Layout& layout) : results_(results), layout_(layout) {}

    Result<> read(std::size_t block, std::uint64_t at, std::span<std::byte> to) override {
        const auto& bytes = results_.variables[layout_.blocks[block].variable].bytes;
        if (!to.empty()) std::memcpy(to.data(), bytes.data() + at, to.size());
        return {};
    }

private:
    const AnalysisResults& results_;
    const format::Layout& layout_;
};

std::string directory_of_results(const std::string& run, const SeenSnapshot& source, const Analysis& analysis) {
    return fmt::format("{}/{}/{}", run, describe::result_stream(source.stream, analysis),
                       catalog::step_name(source.moment.step));
}

std::string id_text(const SeenSnapshot& source) { return fmt::format("{:016x}", source.snapshot_id); }

Schema schema_of(const SeenSnapshot& source, const AnalysisResults& results) {
    Schema schema{.stream = describe::result_stream(source.stream, results.analysis), .tables = {}, .variables = {}};
    for (const auto& variable : results.variables) {
        auto attributes = variable.attributes;
        attributes.others.emplace_back(describe::source_attribute, id_text(source));
        schema.variables.push_back({.name = variable.name,
                                    .type = variable.type,
                                    .kind = Kind::replicated,
                                    .shape = variable.shape,
                                    .attributes = std::move(attributes)});
    }
    return schema;
}

// `refused` if the run no longer counts the snapshot, as far as its records show.
Result<> check_counts(sys::Store& store, const std::string& run, const SeenSnapshot& source) {
    const auto refuse = [&](const char* why) {
        return Error{
            ErrorKind::refused,
            fmt::format("results of step {} of stream '{}' are not kept: {}", source.moment.step, source.stream, why),
            "", fmt::format("forebay ls {}/{}", run, source.stream)};
    };
    const auto directory = fmt::format("{}/{}/{}", run, source.stream, catalog::step_name(source.moment.step));
    const auto there = catalog::load_manifest(store, directory);
    if (!there && there.error().kind == ErrorKind::retry) return there.error();
    if (there && there->snapshot_id != source.snapshot_id &&
        format::is_later(there->head().which_save(), source.save()))
        return refuse("a later save has replaced it");
    const auto line = source.lineage.line();
    // Saves from before sessions were numbered belong to no line.
    if (line.session == 0) return {};
    // Only a later session can have gone back behind the snapshot.
    FB_TRY_ASSIGN(later, catalog::claimed_after(store, run, line.session));
    if (!later) return {};
    const auto history = catalog::history(store, run, source.stream);
    if (!history) return history.error().kind == ErrorKind::missing ? Result<>{} : history.error();
    if (history->abandons(line, source.moment.step)) return refuse("the run has gone back behind it");
    return {};
}

}  // namespace

Result<bool> has_results(sys::Store& store, const std::string& run, const SeenSnapshot& source,
                         const Analysis& analysis) {
    const auto manifest = catalog::load_manifest(store, directory_of_results(run, source, analysis));
    if (!manifest) return manifest.error().kind == ErrorKind::missing ? Result<bool>(false) : manifest.error();
    if (manifest->schema.variables.empty()) return false;
    const auto& others = manifest->schema.variables.front().attributes.others;
    return std::ranges::any_of(others, [&](const auto& other) {
        const auto* const text = std::get_if<std::string>(&other.second);
        return other.first == describe::source_attribute && text != nullptr && *text == id_text(source);
    });
}

Result<AnalysisResults> read_results(sys::Store& store, const std::string& run, const SeenSnapshot& source,
                                     const Analysis& analysis) {
    const auto directory = directory_of_results(run, source, analysis);
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, directory));
    const auto& variables = manifest.schema.variables;
    std::vector<std::size_t> all(variables.size());
    std::iota(all.begin(), all.end(), 0);
    FB_TRY_ASSIGN(values, catalog::read_values(store, directory, manifest, all));
    AnalysisResults results{analysis, {}, {}};
    for (const auto i : all)
        results.variables.push_back(
            {variables[i].name, variables[i].type, variables[i].shape, variables[i].attributes, std::move(values[i])});
    return results;
}

Result<> write_results(sys::Store& store, const std::string& run, const SeenSnapshot& source,
                       const AnalysisResults& results) {
    const auto schema = schema_of(source, results);
    if (const auto good = check_described(schema); !good)
        return with_context(good.error(),
                            fmt::format("results of analysis '{}': {}", results.analysis.name, good.error().what));
    format::RankPart part;
    part.boxes.resize(schema.variables.size());
    FB_TRY_ASSIGN(layout, format::plan_layout(schema, std::span(&part, 1),
                                              {.alignment_bytes = limits::page_bytes, .headroom_percent = 0}));
    ResultBlocks blocks(results, layout);
    // The results may go to another run, without the lineage of the snapshot's run.
    FB_TRY_ASSIGN(run_id, catalog::identity_of(store, run));
    const bool is_its_run = run_id != 0 && run_id == source.lineage.run_id;
    if (is_its_run) FB_TRY(check_counts(store, run, source));
    const commit::Destination to{.run = run,
                                 .stream = schema.stream,
                                 .step = source.moment.step,
                                 .time = source.moment.time,
                                 .replaces = true,
                                 .lineage = is_its_run ? std::optional(source.lineage) : std::nullopt};
    FB_TRY(commit::write_snapshot(store, to, layout, blocks, {}));
    return {};
}

std::string picture_file(const SeenSnapshot& source, const AnalysisResults& results, const Picture& picture) {
    // '-' is doubled, so variables "a/b" and "a-b" get different files.
    std::string words;
    for (const char letter : picture.name)
        if (letter == '-') words += "--";
        else words += letter == '/' ? '-' : letter;
    return fmt::format("{}.{}.{}.png", describe::result_stream(source.stream, results.analysis), words,
                       catalog::step_name(source.moment.step));
}

Result<> write_picture(sys::Store& store, const std::string& directory, const std::string& name,
                       const Picture& picture) {
    // The spool treats names with a leading dot as unfinished.
    const auto unfinished = directory + "/." + name;
    const auto write = [&]() -> Result<> {
        FB_TRY_ASSIGN(file, store.open(unfinished, sys::Access::create));
        FB_TRY(file->write(0, picture.png));
        FB_TRY(file->close());
        return store.rename(unfinished, directory + "/" + name);
    };
    const auto written = write();
    // The first error counts, not a failed removal.
    if (!written) static_cast<void>(store.remove(unfinished));
    return written;
}

}  // namespace forebay::insitu
