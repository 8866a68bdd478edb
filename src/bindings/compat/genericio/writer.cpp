// A write: one snapshot of a table with a row for each element.

#include <fmt/format.h>

#include <set>

#include "bindings/compat/genericio/pending.hpp"
#include "bindings/compat/genericio/state.hpp"
#include "core/base/try.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::genericio {

namespace {

constexpr std::int64_t only_step = 0;

// The file is made from the snapshot at once, so it needs no view and no further snapshots.
StreamOptions options_of(const Options& options) {
    StreamOptions stream_options;
    for (const auto& [name, stream] : options.streams)
        if (name == format::stream_name) stream_options = stream;
    stream_options.policy = Policy::wait;
    stream_options.keep = 0;
    stream_options.view = false;
    return stream_options;
}

struct DescribedTable {
    std::vector<forebay::Column> columns;
    std::vector<ColumnData> places;
};

// A column for each element of a record. In memory the elements of a record lie side by side, so the stride is the
// record.
Result<DescribedTable> describe(const Data& data) {
    DescribedTable described;
    for (const auto& column : data.columns) {
        const auto& variable = column.variable;
        if (variable.name.empty() || variable.element_bytes == 0 || variable.record_bytes % variable.element_bytes != 0)
            return Error{ErrorKind::refused,
                         fmt::format("variable '{}' has records of {} bytes, of elements of {}", variable.name,
                                     variable.record_bytes, variable.element_bytes),
                         "", "give it a name and whole elements"};
        FB_TRY_ASSIGN(type, format::type_of(variable, data.file));
        const bool alone = variable.elements() == 1;
        for (std::uint64_t k = 0; k < variable.elements(); ++k) {
            forebay::Column new_column{.name = alone ? variable.name : fmt::format("{}.{}", variable.name, k),
                                       .type = type};
            new_column.attributes.others.emplace_back("genericio_flags", format::flags_text(variable.flags));
            if (!alone) {
                new_column.attributes.others.emplace_back("genericio_record", variable.name);
                new_column.attributes.others.emplace_back("genericio_element", static_cast<std::int64_t>(k));
            }
            described.columns.push_back(std::move(new_column));
            auto* first = column.data == nullptr ? nullptr : column.data + k * variable.element_bytes;
            described.places.emplace_back(first, static_cast<std::int64_t>(variable.record_bytes));
        }
    }
    return described;
}

// This rank's values. They must stay in place until the save is done.
struct Given {
    std::array<double, 3> origin{}, scale{};
    std::array<std::uint64_t, 3> dims{}, coords{};
    std::int32_t partition = 0;
};

Result<> describe_all(const Data& data, Stream& stream, Given& given) {
    // GenericIO's header has the first rank's values.
    constexpr auto first = Replicated::first_rank;
    FB_TRY(stream.replicated("genericio/phys_origin", f64, {3}, given.origin.data(), {}, first));
    FB_TRY(stream.replicated("genericio/phys_scale", f64, {3}, given.scale.data(), {}, first));
    const bool is_grid = data.ranks.is_grid;
    if (is_grid) FB_TRY(stream.replicated("genericio/dims", u64, {3}, given.dims.data(), {}, first));
    FB_TRY_ASSIGN(described, describe(data));
    FB_TRY_ASSIGN(table, stream.particles(format::table_name, described.columns));
    FB_TRY(table.bind(data.elements, described.places));
    std::vector<forebay::Column> columns{{"partition", i32, {}}};
    std::vector<ColumnData> places{&given.partition};
    for (std::size_t d = 0; is_grid && d < 3; ++d) {
        columns.push_back({fmt::format("coord_{}", "xyz"[d]), u64, {}});
        places.emplace_back(&given.coords[d]);
    }
    FB_TRY_ASSIGN(ranks, stream.particles(format::ranks_table_name, columns));
    return ranks.bind(1, std::move(places));
}

Result<> save(const Data& data, Session& session, const Options& options) {
    Given given{data.phys_origin, data.phys_scale, data.ranks.dims, data.ranks.coords, data.partition};
    auto stream = session.stream(format::stream_name, options_of(options));
    const auto described = stream ? describe_all(data, *stream, given) : Result<>(stream.error());
    // A rank that cannot describe its data must not leave the other ranks waiting in save().
    FB_TRY(comm::agree(*data.ranks.world, described));
    FB_TRY(stream->save(only_step));
    return {};
}

// Checked here, since the process that makes the file would report it too late.
Result<> check_partitions(const Data& data) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(data.ranks.world->size()));
    const std::int32_t own_partition = data.partition;
    data.ranks.world->gather_all(std::as_bytes(std::span(&own_partition, 1)), std::as_writable_bytes(std::span(all)));
    const std::set<std::int32_t> partitions(all.begin(), all.end());
    if (partitions.size() <= static_cast<std::size_t>(foreign::limits::genericio_partitions_max)) return {};
    return Error{ErrorKind::refused,
                 fmt::format("{}: its ranks chose {} partitions, but at most {} can be open at once", data.file,
                             partitions.size(), foreign::limits::genericio_partitions_max),
                 "", "use fewer partitions in setPartition()"};
}

}  // namespace

Result<> write(const Data& data) {
    Result<> own_result;
    if (data.columns.empty())
        own_result =
            Error{ErrorKind::refused, "there is no variable to write", "", "call addVariable() before write()"};
    FB_TRY(comm::agree(*data.ranks.world, own_result));
    FB_TRY(check_partitions(data));
    // Errors of earlier writes are returned at the end, after this write is safe.
    const auto earlier = finish_earlier(data.ranks, data.file);
    FB_TRY_ASSIGN(writing, begin(data.ranks, data.file, defaults().compresses()));
    FB_TRY(save(data, *writing.session, writing.making.settings.options));
    FB_TRY(end(std::move(writing)));
    return earlier;
}

}  // namespace forebay::genericio
