// What a benchmark prints: its settings, a table of medians and spreads, and the ratio to its limit; or the same as one
// JSON object.

#pragma once

#include <string>
#include <vector>

#include "core/terminal/json.hpp"
#include "core/terminal/table.hpp"

namespace forebay::bench {

class BenchReport {
public:
    explicit BenchReport(const std::string& bench);

    /// One line above the table and one key of the object.
    void setting(const std::string& key, std::uint64_t value);
    void setting(const std::string& key, const std::string& value);

    /// Seconds that were measured again and again; `bytes` (0: none) were moved each time and make a rate.
    void seconds(const std::string& key, const std::string& what, const std::vector<double>& samples,
                 std::uint64_t bytes = 0);
    /// Numbers of another unit: "%", "bytes", "us".
    void numbers(const std::string& key, const std::string& what, const std::string& unit,
                 const std::vector<double>& samples);
    /// Achieved rate / rate of the limit. `spread` holds the ratio of each turn. Ratios are told in the order of these
    /// calls, that of the goal that counts first.
    void ratio(const std::string& what, double value, double goal, const std::vector<double>& spread = {});
    /// A second ratio with a goal, under a key of its own.
    void other_ratio(const std::string& key, const std::string& what, double value, double goal);

    void print(bool json) const;

private:
    void add(const std::string& key, const std::string& what, const std::string& unit,
             const std::vector<double>& samples, std::uint64_t bytes);

    std::string bench_;
    std::vector<std::string> settings_;
    cli::Table table_;
    std::vector<std::string> ratios_;
    cli::Json object_ = cli::Json::object();
    cli::Json measured_ = cli::Json::object();
};

}  // namespace forebay::bench
