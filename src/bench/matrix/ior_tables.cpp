// The tables of IOR 4.0.0 (src/ior-output.c) and of its mdtest (src/mdtest.c), column by column, so that tools for
// those tables can read ours.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/matrix/outcome.hpp"

namespace forebay::bench {

namespace {

constexpr double mib = 1 << 20;

const char* interface_of(Via via) {
    switch (via) {
        case Via::posix: return "POSIX";
        case Via::mmap: return "MMAP";
        case Via::mpiio: return "MPIIO";
        case Via::hdf5: return "HDF5";
        case Via::forebay: return "FOREBAY";
        case Via::dfs: return "DFS";
        case Via::genericio: return "GENERICIO";
    }
    return "";
}

// IOR's PPDouble: as many digits as fit.
std::string number(double value) {
    const int digits = value >= 1e6 ? 0 : value >= 1e4 ? 2 : value >= 100 ? 3 : value >= 1 ? 4 : 6;
    return fmt::format("{:<10.{}f} ", value, digits);
}

struct IorAccess {
    const char* name;
    const char* rate;
    const char* prefix;  // of its times
};
constexpr std::array accesses{IorAccess{"write", "write_rate_bytes_per_second", ""},
                              IorAccess{"read", "read_rate_bytes_per_second", "read_"}};

double sample(const RowResult& row, const std::string& name, std::size_t i) {
    const auto* samples = find_samples(row.samples, name);
    return samples != nullptr && i < samples->size() ? (*samples)[i] : 0;
}

double block_bytes(const RowResult& row) { return static_cast<double>(row.bytes) / std::max(1, row.ranks); }

std::string results_of(const RowResult& row) {
    std::string text =
        "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   "
        "iter\n"
        "------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   "
        "----\n";
    const auto xfer = static_cast<double>(row.setting.xfer_bytes), bytes = static_cast<double>(row.bytes);
    for (const auto& access : accesses) {
        const auto* rates = find_samples(row.samples, access.rate);
        for (std::size_t i = 0; rates != nullptr && i < rates->size(); ++i) {
            const std::string prefix = access.prefix;
            const auto moving = sample(row, prefix + "transfer_seconds", i);
            text += fmt::format("{:<10}", access.name) + number((*rates)[i] / mib);
            text += number(moving > 0 ? bytes / xfer / moving : 0) + number(moving / (block_bytes(row) / xfer)) + " ";
            text +=
                number(block_bytes(row) / 1024) + number(xfer / 1024) + number(sample(row, prefix + "open_seconds", i));
            text += number(moving) + number(sample(row, prefix + "close_seconds", i)) + number(bytes / (*rates)[i]);
            text += fmt::format("{:<4}\n", i);
        }
    }
    for (const auto& access : accesses)
        if (const auto* rates = find_samples(row.samples, access.rate)) {
            const auto best = *std::ranges::max_element(*rates);
            text += fmt::format("Max {:<6} {:.2f} MiB/sec ({:.2f} MB/sec)\n",
                                access.name[0] == 'w' ? "Write:" : "Read:", best / mib, best / 1e6);
        }
    return text;
}

std::string summary_line(const RowOutcome& outcome, const RowResult& row, const IorAccess& access, std::size_t test) {
    for (const auto& line : lines_of(outcome, row)) {
        if (line.measure != access.rate) continue;
        const auto xfer = static_cast<double>(row.setting.xfer_bytes), bytes = static_cast<double>(row.bytes);
        double seconds = 0;
        for (const auto rate : line.samples) seconds += bytes / rate / static_cast<double>(line.samples.size());
        std::string text = fmt::format("{:<9} ", access.name);
        for (const auto divisor : {mib, xfer})
            for (const auto value : {line.max, line.min, line.mean, line.deviation})
                text += fmt::format("{:>10.2f} ", value / divisor);
        text +=
            fmt::format("{:>10.5f} {:>10} {:>13} {:>5} {:>6} {:>3} {:>4} {:>3} ", seconds, "NA", "NA", test, row.ranks,
                        row.ranks_per_node, line.samples.size(), row.setting.layout == FileLayout::rank ? 1 : 0);
        return text + fmt::format("{:>5} {:>8} {:>9} {:>4} {:>6} {:>8.0f} {:>8.0f} {:>9.1f} {:>5} {:>6}\n", 0, 1, 0, 0,
                                  1, block_bytes(row), xfer, bytes / mib, interface_of(row.setting.via), 0);
    }
    return "";
}

constexpr std::array<std::pair<const char*, const char*>, 9> phases{{{"Directory creation", "directory_create"},
                                                                     {"Directory stat", "directory_stat"},
                                                                     {"Directory removal", "directory_remove"},
                                                                     {"File creation", "file_create"},
                                                                     {"File stat", "file_stat"},
                                                                     {"File read", "file_read"},
                                                                     {"File removal", "file_remove"},
                                                                     {"Tree creation", "tree_create"},
                                                                     {"Tree removal", "tree_remove"}}};

std::string mdtest_summary(const RowOutcome& outcome, const RowResult& row) {
    const auto lines = lines_of(outcome, row);
    std::string text;
    for (const auto& [title, name] : phases) {
        const auto line =
            std::ranges::find(lines, fmt::format("{}_operations_per_second", name), &MeasureLine::measure);
        if (line == lines.end()) continue;
        if (text.empty())
            text = fmt::format(
                "\nSUMMARY rate (in ops/sec): (of {} iterations)\n"
                "   Operation                     Max            Min           Mean        Std Dev\n"
                "   ---------                     ---            ---           ----        -------\n",
                line->samples.size());
        text += fmt::format("   {:<18} {:>14.3f} {:>14.3f} {:>14.3f} {:>14.3f}\n", title, line->max, line->min,
                            line->mean, line->deviation);
    }
    return text;
}

}  // namespace

std::string ior_tables_of(const RowOutcome& outcome) {
    std::string text, summary, trees;
    for (std::size_t test = 0; test < outcome.rows.size(); ++test) {
        const auto& row = outcome.rows[test];
        if (find_samples(row.samples, accesses[0].rate) != nullptr)
            text += fmt::format("Test {}: {}\n{}\n", test, name_of_row(outcome, row), results_of(row));
        for (const auto& access : accesses) summary += summary_line(outcome, row, access, test);
        trees += mdtest_summary(outcome, row);
        if (!row.skipped.empty()) text += fmt::format("Test {}: skipped: {}\n", test, row.skipped);
    }
    if (!summary.empty()) {
        text += "Summary of all tests:\n";
        text += fmt::format("{:<9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>13}",
                            "Operation", "Max(MiB)", "Min(MiB)", "Mean(MiB)", "StdDev", "Max(OPs)", "Min(OPs)",
                            "Mean(OPs)", "StdDev", "Mean(s)", "Stonewall(s)", "Stonewall(MiB)");
        text += " Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt ";
        text += fmt::format("{:>8} {:>8} {:>9} {:>5} RefNum\n{}", " blksiz", "xsize", "aggs(MiB)", "API", summary);
    }
    return text + trees;
}

}  // namespace forebay::bench
