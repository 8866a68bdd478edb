// What came of all rows, and how it is told: a table, CSV, JSON (format/advice), the tables of IOR and mdtest, a page.
//
// By rank 0. Pure text; no files.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/matrix/trial.hpp"
#include "bench/spread.hpp"
#include "core/format/advice.hpp"
#include "core/terminal/table.hpp"

namespace forebay::bench {

/// A figure that somebody has published of one setting: of bench/cases.
struct Published {
    Words setting;  // a row has it that has all of these words
    std::string measure;
    double value = 0;
    bool is_max = false;  // else the median, or the only one
};

/// A case file: options and sweeps under the names of the command line, and what was published of them.
struct Case {
    std::string title, source;
    Words words;
    std::vector<Words> rows;  // each with words of its own; none: one row without any
    std::vector<std::string> sweeps;
    std::vector<Published> published;
};
/// `refused` or `corrupt`, with the line, where it is not understood.
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
    double ratio = 0;                      // to the median of the first row that has it
    const Published* published = nullptr;  // null: nothing was
    double published_ratio = 0;            // to what was published of the first such row; 0: unknown
};
std::vector<MeasureLine> lines_of(const RowOutcome& outcome, const RowResult& row);

/// Keys whose words differ between rows: the axes.
std::vector<std::string> axes_of(const RowOutcome& outcome);
/// "posix, shared": the row's words of the axes; "all" without axes.
std::string name_of_row(const RowOutcome& outcome, const RowResult& row);
/// "1.25 GB/s", "76 ms", "48,000 /s", as the measure's name says.
std::string shown_value(const std::string& measure, double value);
/// "10.0 s (max)"; "" where nothing was published.
std::string shown_published(const MeasureLine& line);
/// Whether people want to see it: parts of IOR's times are for its table and files alone.
bool is_headline(const RowOutcome& outcome, const std::string& measure);

/// One line: until when each way is timed, and which options all rows have alike.
std::string timed_and_fixed(const RowOutcome& outcome);
cli::Shown table_of(const RowOutcome& outcome);
std::string csv_of(const RowOutcome& outcome);
format::Advice advice_of(const RowOutcome& outcome);
/// IOR's results and summary, and mdtest's summary for rows with metadata.
std::string ior_tables_of(const RowOutcome& outcome);
/// What no other page has.
inline constexpr std::string_view page_mark = "Made by forebay bench run.";
/// One self-contained HTML file with a chart of each measure, without scripts.
std::string page_of(const RowOutcome& outcome);

}  // namespace forebay::bench
