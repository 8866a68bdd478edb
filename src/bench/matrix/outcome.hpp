// The results of all rows and their output: a table, CSV, JSON (format/advice), the tables of IOR and mdtest, a page.
//
// Called by rank 0. Pure text; no files.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/matrix/trial.hpp"
#include "bench/spread.hpp"
#include "core/format/advice.hpp"
#include "core/terminal/table.hpp"

namespace forebay::bench {

/// A published figure for one setting, from bench/cases.
struct Published {
    Words setting;  // a row matches if it has all of these words
    std::string measure;
    double value = 0;
    bool is_max = false;  // false: the median, or the only sample
};

/// A case file: options and sweeps by the names of the command line, and published figures.
struct Case {
    std::string title, source;
    Words words;
    std::vector<Words> rows;  // each with further words; empty: one row without any
    std::vector<std::string> sweeps;
    std::vector<Published> published;
};
/// Returns `refused` or `corrupt`, with the line, if it is invalid.
Result<Case> read_case(const std::string& path);

struct RowOutcome {
    Case of;  // title and source are "" without a case file
    double scale = 1;
    format::AdviceSetting environment;  // host, processor, load, mounts, versions
    std::vector<RowResult> rows;
};

/// One measure of one row.
struct MeasureLine {
    std::string measure;
    std::vector<double> samples;
    double median = 0, min = 0, max = 0, p10 = 0, p90 = 0, p95 = 0, mean = 0, deviation = 0;
    ConfidenceInterval interval;           // of the median, 95 %
    double ratio = 0;                      // to the median of the first row with this measure
    const Published* published = nullptr;  // null: none
    double published_ratio = 0;            // to the first row with a published figure; 0: unknown
};
std::vector<MeasureLine> lines_of(const RowOutcome& outcome, const RowResult& row);

/// Keys with different words in different rows: the axes.
std::vector<std::string> axes_of(const RowOutcome& outcome);
/// "posix, shared": the row's words for the axes; "all" without axes.
std::string name_of_row(const RowOutcome& outcome, const RowResult& row);
/// "1.25 GB/s", "76 ms", "48,000 /s", by the measure's name.
std::string shown_value(const std::string& measure, double value);
/// "10.0 s (max)"; "" if nothing was published.
std::string shown_published(const MeasureLine& line);
/// True if people want to see it. Parts of IOR's times are only for its table and for files.
bool is_headline(const RowOutcome& outcome, const std::string& measure);

/// One line: the end point of each way's timing, and the options that all rows share.
std::string timed_and_fixed(const RowOutcome& outcome);
cli::Shown table_of(const RowOutcome& outcome);
std::string csv_of(const RowOutcome& outcome);
format::Advice advice_of(const RowOutcome& outcome);
/// IOR's results and summary, and mdtest's summary for rows with metadata.
std::string ior_tables_of(const RowOutcome& outcome);
/// Marks our pages: no other page has it.
inline constexpr std::string_view page_mark = "Made by forebay bench run.";
/// One self-contained HTML file with a chart of each measure, without scripts.
std::string page_of(const RowOutcome& outcome);

}  // namespace forebay::bench
