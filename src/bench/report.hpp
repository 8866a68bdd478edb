// Output of a benchmark: settings, a table of medians and spreads, and the ratio to its limit; or the same as a JSON
// object.

#pragma once

#include <string>
#include <vector>

#include "core/terminal/json.hpp"
#include "core/terminal/table.hpp"

namespace forebay::bench {

class BenchReport {
public:
    explicit BenchReport(const std::string& bench);

    /// A line above the table and a key of the object.
    void setting(const std::string& key, std::uint64_t value);
    void setting(const std::string& key, const std::string& value);

    /// Repeated measurements in seconds. Each time `bytes` were moved, which gives a rate (0: no rate).
    void seconds(const std::string& key, const std::string& what, const std::vector<double>& samples,
                 std::uint64_t bytes = 0);
    /// Numbers with another unit: "%", "bytes", "us".
    void numbers(const std::string& key, const std::string& what, const std::string& unit,
                 const std::vector<double>& samples);
    /// Achieved rate / limit rate. `spread` has the ratio of each turn. Ratios are printed in the order of the calls;
    /// the ratio with the decisive goal comes first.
    void ratio(const std::string& what, double value, double goal, const std::vector<double>& spread = {});
    /// A further ratio with a goal, under its own key.
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
