// Fields of a run on the live page: a menu, planes and projections as PNG, and histograms of planes.

#pragma once

#include "insight/report/page_answer.hpp"
#include "program/look/field_reader.hpp"

namespace forebay::cli {

/// Streams with steps, arrays and tables of their snapshots, and streams of results, as JSON.
Result<std::string> field_menu(sys::Store& store, const std::string& run);
/// A plane as PNG, in the style of the query.
Result<std::string> plane_png(const FieldPlane& plane, const report::PageQuery& query);
/// Counts of the values in 64 bins from smallest to largest, as JSON.
Result<std::string> plane_histogram(const FieldPlane& plane, bool log);

/// A projection reads its whole variables, so more than two gigabytes are refused. One is made at a time; the newest
/// are kept.
class ProjectionMaker {
public:
    ProjectionMaker(sys::Store& store, const FieldReader& fields) : store_(store), fields_(fields) {}
    /// For an array ("variable", "axis") its sum along an axis. For particles ("x" and "y", two columns of one table)
    /// their number in each cell. PNG.
    Result<std::string> png(const report::PageQuery& query);

private:
    Result<std::string> make(const catalog::Snapshot& snapshot, const format::Manifest& manifest,
                             const report::PageQuery& query);

    sys::Store& store_;
    const FieldReader& fields_;
    std::mutex mutex_;
    std::vector<std::pair<std::pair<std::uint64_t, report::PageQuery>, std::string>> kept_;  // newest last
};

}  // namespace forebay::cli
