// Turns calls of H5Part into saves. `step_` collects a step from set_step() to end_step(): its columns, its attributes,
// and either copies of the columns or the slot that they are written to directly.
//
// A stream has a fixed set of columns, and H5Part steps may differ in their columns. So each set of columns is a Series
// with its own stream ("steps", "steps-2", ...). If the first column of a step is that of the last series, the step is
// expected to be the same, and is written directly into a slot (begin_directly). If that turns out wrong, leave_slot()
// copies the columns out, and save_step() saves the step like a new one. Names and values of the file so far are kept
// here too, because programs ask for them while they write.

#include "bindings/compat/h5part/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "bindings/compat/h5part/report.hpp"
#include "bindings/compat/made/h5part/h5part_names.hpp"
#include "core/base/try.hpp"

namespace forebay::h5part {

namespace {

namespace names = made::h5part;

template <class T>
void gather_elements(std::byte* to, const void* from, std::size_t count, std::size_t stride) {
    const auto* at = static_cast<const T*>(from);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * sizeof(T), at + i * stride, sizeof(T));
}

void gather(std::byte* to, const void* from, std::size_t count, std::size_t stride, std::size_t element_bytes) {
    if (count == 0) return;
    if (stride == 1) std::memcpy(to, from, count * element_bytes);
    else if (element_bytes == 4) gather_elements<std::uint32_t>(to, from, count, stride);
    else gather_elements<std::uint64_t>(to, from, count, stride);
}

// `to` is the place of row `first`.
void put_rows(std::byte* to, const void* from, const RowsView& view, std::int64_t first, std::size_t element_bytes) {
    const auto place = [&](auto row) { return to + static_cast<std::size_t>(row - first) * element_bytes; };
    if (view.kind == RowsView::Kind::range)
        return gather(place(view.start), from, static_cast<std::size_t>(view.count), view.stride, element_bytes);
    const auto* at = static_cast<const std::byte*>(from);
    for (std::size_t i = 0; i < view.points.size(); ++i)
        std::memcpy(place(static_cast<std::int64_t>(view.points[i])), at + i * element_bytes, element_bytes);
}

std::vector<std::byte> bytes_of(const void* value, std::size_t size) {
    const auto* at = static_cast<const std::byte*>(value);
    return {at, at + size};
}

StreamOptions options_of(const Options& options) {
    StreamOptions stream_options;
    for (const auto& [name, stream] : options.streams)
        if (name == "steps") stream_options = stream;
    // The file holds every step, so no step may be skipped or pruned. The file is made from all of them at the end.
    stream_options.policy = Policy::wait;
    stream_options.keep = 0;
    stream_options.view = false;
    return stream_options;
}

}  // namespace

Result<Share> share_of(comm::Group& world, std::int64_t rows) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(world.size()));
    world.gather_all(std::as_bytes(std::span(&rows, 1)), std::as_writable_bytes(std::span(all)));
    if (std::ranges::min(all) < 0) return refused_particles(rows);
    const auto own = all.begin() + world.rank();
    const auto first = std::accumulate(all.begin(), own, std::int64_t{0});
    return Share{first, std::accumulate(own, all.end(), first)};
}

Result<std::unique_ptr<StepWriter>> StepWriter::open(const SessionRanks& ranks, const Options& options, bool appends) {
    FB_TRY_ASSIGN(session, ranks.open(options));
    return std::unique_ptr<StepWriter>(new StepWriter(ranks, std::move(session), options_of(options), appends));
}

Result<> StepWriter::set_step(std::int64_t number, const std::string& group, const std::vector<DatasetInfo>& stored) {
    if (step_ && step_->number == number && step_->group == group) return {};
    const auto ended = end_step();
    step_ = Step{.number = number, .group = group};
    for (const auto& attribute : stored) written_[group].try_emplace(attribute.name, attribute);
    // Kept for forget_step(), if the step cannot be saved.
    step_->before = {groups_.contains(group), written_[group], attributes(group)};
    groups_.insert(group);
    return ended;
}

Result<std::int64_t> StepWriter::set_particles(std::int64_t rows) {
    FB_TRY_ASSIGN(share, share_of(*ranks_.world, rows));
    const bool differs = step_ && !step_->columns.empty() && step_->rows != rows;
    // All ranks refuse together, so that none waits for another.
    if (ranks_.world->max(differs ? 1 : 0) != 0)
        return Error{
            ErrorKind::refused,
            fmt::format("step {} has columns of {} particles already, and their number cannot change within a step.",
                        step_ ? step_->number : -1, all_rows_)};
    rows_ = rows;
    first_row_ = share.first;
    all_rows_ = share.all;
    return first_row_;
}

// A step that begins like the last step is expected to continue like it.
Result<> StepWriter::begin_directly(const Column& first) {
    if (last_ == nullptr || last_->columns.empty() || last_->columns.front() != first ||
        last_->steps.contains(step_->number))
        return {};
    FB_TRY(last_->table->bind(static_cast<std::uint64_t>(rows_)));
    FB_TRY_ASSIGN(direct, last_->stream.begin(step_->number, static_cast<double>(step_->number)));
    step_->series = last_;
    step_->direct.emplace(std::move(direct));
    return {};
}

// Copies the columns out of the slot. The next begin of the stream discards the slot.
Result<> StepWriter::leave_slot() {
    if (!step_->direct) return {};
    for (std::size_t c = 0; c < step_->columns.size(); ++c) {
        const auto known = std::ranges::find(step_->series->columns, step_->columns[c]);
        const auto index = static_cast<std::size_t>(known - step_->series->columns.begin());
        FB_TRY_ASSIGN(from, step_->direct->column(*step_->series->table, index));
        step_->copies[c] = bytes_of(from, static_cast<std::size_t>(step_->rows) * step_->columns[c].type.size_bytes);
    }
    step_->direct.reset();
    step_->series = nullptr;
    return {};
}

Result<std::byte*> StepWriter::place_of(const Column& column) {
    auto& step = *step_;
    if (step.columns.empty()) FB_TRY(begin_directly(column));
    auto known = std::ranges::find(step.columns, column.name, &Column::name);
    if (known != step.columns.end() && *known != column) {  // written again, with another type
        FB_TRY(leave_slot());
        step.copies.erase(step.copies.begin() + (known - step.columns.begin()));
        step.columns.erase(known);
        known = step.columns.end();
    }
    if (known == step.columns.end()) {
        // The series has no such column, so the slot has no place for it.
        if (step.direct && std::ranges::find(step.series->columns, column) == step.series->columns.end())
            FB_TRY(leave_slot());
        step.columns.push_back(column);
        step.copies.emplace_back();
    }
    const auto at = static_cast<std::size_t>(std::ranges::find(step.columns, column) - step.columns.begin());
    if (step.direct) {
        const auto index = std::ranges::find(step.series->columns, column) - step.series->columns.begin();
        FB_TRY_ASSIGN(to, step.direct->column(*step.series->table, static_cast<std::size_t>(index)));
        return static_cast<std::byte*>(to);
    }
    step.copies[at].resize(static_cast<std::size_t>(rows_) * column.type.size_bytes);
    return step.copies[at].data();
}

bool StepWriter::has_rows(const RowsView& view) const {
    const auto is_own = [&](auto row) {
        return static_cast<hsize_t>(row) - static_cast<hsize_t>(first_row_) < static_cast<hsize_t>(rows_);
    };
    if (view.kind == RowsView::Kind::points) return std::ranges::all_of(view.points, is_own);
    return view.count == 0 || (is_own(view.start) && view.count <= rows_ - (view.start - first_row_));
}

Result<> StepWriter::write(const std::string& name, Type type, const void* data, const RowsView& view) {
    auto& step = *step_;
    FB_TRY(step.broken);
    if (step.columns.empty()) step.rows = rows_;
    const RowsView all{.kind = RowsView::Kind::range, .count = all_rows_};
    const auto& rows = view.kind == RowsView::Kind::none ? all : view;
    const bool is_whole = rows.kind == RowsView::Kind::range && rows.count == rows_;
    const Column column{names::stored_name(name), type};
    const bool begins_partly = !is_whole && std::ranges::find(step.columns, column) == step.columns.end();
    // place_of() may wait for other ranks, so every rank calls it before a bad view is refused.
    const auto to = place_of(column);
    step.broken = [&]() -> Result<> {
        FB_TRY(to);
        if (!has_rows(rows))
            return Error{
                ErrorKind::refused,
                fmt::format("the view of '{}' exceeds this rank's {} rows from {} on", name, rows_, first_row_), "",
                "give H5PartSetNumParticles the number of rows that each rank writes"};
        if (begins_partly && written_[step.group].contains(name))
            return Error{ErrorKind::refused,
                         fmt::format("'{}' was written before, and can only be replaced as a whole", name), "",
                         "write all of its rows. H5PartSetNumParticles ends the view"};
        return {};
    }();
    FB_TRY(step.broken);
    // Rows outside the view are 0 until they are written.
    if (begins_partly) std::fill_n(*to, static_cast<std::size_t>(rows_) * type.size_bytes, std::byte{});
    put_rows(*to, data, rows, first_row_, type.size_bytes);
    written_[step.group][name] = {name, code_of(type), all_rows_};
    return {};
}

void StepWriter::put_attribute(const std::string& group, H5PartAttribute attribute) {
    if (!group.empty()) step_->attributes.push_back(attribute);
    attributes_[group].push_back(std::move(attribute));
}

const std::vector<H5PartAttribute>& StepWriter::attributes(const std::string& group) const {
    static const Attributes none;
    const auto match = attributes_.find(group);
    return match == attributes_.end() ? none : match->second;
}

const H5PartAttribute* StepWriter::attribute(const std::string& group, const std::string& name) const {
    const auto& all = attributes(group);
    const auto match = std::ranges::find(all, name, &H5PartAttribute::name);
    return match == all.end() ? nullptr : &*match;
}

std::vector<DatasetInfo> StepWriter::datasets(const std::string& group) const {
    std::vector<DatasetInfo> all;
    const auto match = written_.find(group);
    if (match == written_.end()) return all;
    for (const auto& [name, attribute] : match->second) all.push_back(attribute);
    return all;
}

StepWriter::Values StepWriter::values_of(const Step& step) const {
    // The length is rounded up, so that group names of similar length share a type.
    H5PartAttribute group{.name = "", .type = string_of(static_cast<std::uint32_t>((step.group.size() / 64 + 1) * 64))};
    group.value.resize(group.type.size_bytes);
    std::memcpy(group.value.data(), step.group.data(), step.group.size());
    const std::int32_t appends = appends_ ? 1 : 0;
    Values values{{names::group_variable, group.type, 1, true, group.value},
                  {names::order_variable, i64, 1, true, bytes_of(&snapshots_, sizeof(snapshots_))},
                  {names::appends_variable, i32, 1, true, bytes_of(&appends, sizeof(appends))}};
    const auto add = [&](std::string_view prefix, const Attributes& all) {
        for (const auto& attribute : all)
            values.push_back({std::string(prefix) + names::stored_name(attribute.name), attribute.type, attribute.count,
                              attribute.type.scalar == Scalar::string, attribute.value});
    };
    add(names::file_prefix, attributes(""));
    add(names::step_prefix, step.attributes);
    return values;
}

bool StepWriter::knows(const Series& series, const Values& values) {
    return std::ranges::equal(series.values, values,
                              [](const auto& first, const auto& other) { return first.fits(other); });
}

// Values that fit the description are stored at their addresses. Other values cost a new layout. Then all are described
// anew, since the file gets its attributes in the order of the stream's variables.
Result<> StepWriter::describe(Series& series, Values values) {
    if (knows(series, values)) {
        for (std::size_t i = 0; i < values.size(); ++i)
            std::ranges::copy(values[i].bytes, series.values[i].bytes.begin());
        return {};
    }
    for (; !series.values.empty(); series.values.pop_back()) FB_TRY(series.stream.forget(series.values.back().name));
    for (auto& value : values) {
        // Attributes are metadata of the file. H5Part itself writes the first rank's values.
        FB_TRY(series.stream.replicated(value.name, value.type, value.scalar ? Extents{} : Extents{value.count},
                                        value.bytes.data(), {}, Replicated::first_rank));
        series.values.push_back(std::move(value));  // its bytes stay where they are
    }
    return {};
}

Result<StepWriter::Series*> StepWriter::series_for(const Step& step) {
    for (const auto& series : series_) {
        auto sorted = series->columns, wanted = step.columns;
        std::ranges::sort(sorted, {}, &Column::name);
        std::ranges::sort(wanted, {}, &Column::name);
        if (sorted == wanted && !series->steps.contains(step.number)) return series.get();
    }
    const auto number = series_.size() + 1;
    FB_TRY_ASSIGN(stream, session_.stream(number == 1 ? "steps" : fmt::format("steps-{}", number), options_));
    std::optional<Particles> table;
    if (!step.columns.empty()) {
        std::vector<forebay::Column> columns;
        for (const auto& column : step.columns) columns.push_back({.name = column.name, .type = column.type});
        FB_TRY_ASSIGN(described, stream.particles(names::table, columns));
        table = described;
    }
    series_.push_back(std::make_unique<Series>(Series{std::move(stream), table, step.columns, {}, {}}));
    return series_.back().get();
}

Result<> StepWriter::save_step(Step& step) {
    if (step.direct) {
        auto values = values_of(step);
        // The slot has every column of the series, and the values fit: it can be sealed as it is.
        if (knows(*step.series, values) && step.columns.size() == step.series->columns.size()) {
            FB_TRY(describe(*step.series, std::move(values)));
            FB_TRY_ASSIGN(saved, step.direct->seal());
            static_cast<void>(saved);
            return {};
        }
        FB_TRY(leave_slot());
    }
    FB_TRY_ASSIGN(series, series_for(step));
    step.series = series;
    FB_TRY(describe(*series, values_of(step)));
    if (series->table) {
        std::vector<ColumnData> data;
        for (const auto& column : series->columns) {
            const auto at = std::ranges::find(step.columns, column) - step.columns.begin();
            data.emplace_back(step.copies[static_cast<std::size_t>(at)].data());
        }
        FB_TRY(series->table->bind(static_cast<std::uint64_t>(step.rows), std::move(data)));
    }
    FB_TRY_ASSIGN(saved, series->stream.save(step.number, static_cast<double>(step.number)));
    static_cast<void>(saved);
    return {};
}

// Forgets the step, so that it can be written again.
void StepWriter::forget_step() {
    const auto& [was_there, datasets, attributes] = step_->before;
    if (!was_there) groups_.erase(step_->group);
    written_[step_->group] = datasets;
    attributes_[step_->group] = attributes;
}

Result<> StepWriter::end_step() {
    if (!step_) return {};
    // A rank whose write failed has already reported it. The other ranks learn here that the step is not saved.
    auto ended = comm::agree(*ranks_.world, step_->broken);
    if (ended) ended = save_step(*step_);
    if (ended) {
        step_->series->steps.insert(step_->number);
        // The next step is expected to have the same columns.
        last_ = step_->series;
        ++snapshots_;
    }
    const auto number = step_->number;
    if (!ended) forget_step();
    step_.reset();
    if (ended) return {};
    return with_context(ended.error(),
                        fmt::format("H5Part step {} is NOT in the file: {}", number, ended.error().what));
}

Result<std::int64_t> StepWriter::close(bool always) {
    const auto ended = end_step();
    // Attributes of the file need a snapshot to carry them, even if there is no step.
    if (ended && snapshots_ == 0 && (always || !attributes("").empty())) {
        step_ = Step{.number = 0};
        FB_TRY(end_step());
    }
    FB_TRY(ended);
    return snapshots_;
}

bool StepWriter::committed() const {
    if (series_.empty()) return true;
    std::uint64_t saves = 0;
    for (const auto& series : series_) saves += series->stream.counters().saves;
    // The counter of commits is the session's, the counters of saves are the streams'.
    return series_.front()->stream.counters().commits >= saves;
}

}  // namespace forebay::h5part
