// Fields of a run on the live page: what can be looked at, planes and projections of it as PNG, and how the values of a
// plane are spread.

#pragma once

#include "insight/report/page_answer.hpp"
#include "program/look/field_reader.hpp"

namespace forebay::cli {

/// Streams with the steps, arrays and tables of their snapshots, and streams of results, as JSON.
Result<std::string> field_menu(sys::Store& store, const std::string& run);
/// `style` of a plane as PNG.
Result<std::string> plane_png(const FieldPlane& plane, const report::PageQuery& query);
/// Counts of the values in 64 bins from the smallest to the largest, as JSON.
Result<std::string> plane_histogram(const FieldPlane& plane, bool log);

/// Projections read all of their variables: those of which more than two gigabytes would be read are refused. One at a
/// time; the newest ones are kept.
class ProjectionMaker {
public:
    ProjectionMaker(sys::Store& store, const FieldReader& fields) : store_(store), fields_(fields) {}
    /// Of an array ("variable", "axis") its sum along an axis; of particles ("x" and "y", two columns of one table) how
    /// many are in each cell. PNG.
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
