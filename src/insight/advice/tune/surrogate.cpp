#include "insight/advice/tune/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "path/telemetry/median.hpp"

namespace forebay::advice {

using telemetry::median_of;

namespace {

constexpr std::size_t together_max = 400;
// Of logarithms: settings differ by half, and trials of one setting by 0.15 until some have shown by how much. Two
// settings that are 2 apart by distance() have a third of what they could have in common.
constexpr double spread = 0.5, reach = 2, noise_usual = 0.15, noise_min = 0.03, usual_trials = 8;

// Another value counts a half, and of a knob whose values have an order up to one and a half with how far away it is.
double distance(const std::vector<Knob>& knobs, const Choice& a, const Choice& b) {
    double sum = 0;
    for (std::size_t knob = 0; knob < a.size(); ++knob) {
        if (a[knob] == b[knob]) continue;
        const auto apart = std::abs(static_cast<double>(a[knob]) - static_cast<double>(b[knob]));
        const auto most = static_cast<double>(std::max<std::size_t>(knobs[knob].values.size(), 2) - 1);
        sum += knobs[knob].ordered ? 0.5 + apart / most : 1;
    }
    return sum;
}

// The standard deviation of trials of one setting, of which `usual_trials` had what is usual.
double noise_of(const std::vector<CostsOfChoice>& choices) {
    double squares = usual_trials * noise_usual * noise_usual, count = usual_trials;
    for (const auto& one : choices) {
        const double mean =
            std::accumulate(one.logs.begin(), one.logs.end(), 0.0) / static_cast<double>(one.logs.size());
        for (const auto cost : one.logs) squares += (cost - mean) * (cost - mean);
        count += static_cast<double>(one.logs.size()) - 1;
    }
    return std::max(std::sqrt(squares / count), noise_min);
}

class Matrix {
public:
    explicit Matrix(std::size_t size) : size_(size), values_(size * size) {}
    double& at(std::size_t row, std::size_t column) { return values_[row * size_ + column]; }

    /// The lower triangle becomes its Cholesky factor.
    void factor() {
        for (std::size_t column = 0; column < size_; ++column)
            for (std::size_t row = column; row < size_; ++row) {
                double rest = at(row, column);
                for (std::size_t k = 0; k < column; ++k) rest -= at(row, k) * at(column, k);
                at(row, column) = row == column ? std::sqrt(rest) : rest / at(column, column);
            }
    }
    /// Solves for the matrix that was factored.
    std::vector<double> solve(std::vector<double> right) {
        for (std::size_t row = 0; row < size_; ++row) {
            for (std::size_t k = 0; k < row; ++k) right[row] -= at(row, k) * right[k];
            right[row] /= at(row, row);
        }
        for (std::size_t row = size_; row-- > 0;) {
            for (std::size_t k = row + 1; k < size_; ++k) right[row] -= at(k, row) * right[k];
            right[row] /= at(row, row);
        }
        return right;
    }

private:
    std::size_t size_;
    std::vector<double> values_;
};

}  // namespace

std::vector<double> expected_logs(const std::vector<Knob>& knobs, const std::vector<CostsOfChoice>& choices) {
    std::vector<double> expected;
    expected.reserve(choices.size());
    for (const auto& one : choices) expected.push_back(median_of(one.logs));
    std::vector<std::size_t> together(choices.size());
    std::iota(together.begin(), together.end(), 0u);
    std::ranges::stable_sort(together, {}, [&](std::size_t i) { return expected[i]; });
    together.resize(std::min(together.size(), together_max));
    const auto count = together.size();
    if (count < 2) return expected;

    double mean = 0;
    for (const auto i : together) mean += expected[i] / static_cast<double>(count);
    const double noise = noise_of(choices);
    const auto alike = [&](std::size_t i, std::size_t j) {
        return spread * spread *
               std::exp(-distance(knobs, choices[together[i]].choice, choices[together[j]].choice) / reach);
    };
    Matrix matrix(count);
    std::vector<double> right;
    for (std::size_t i = 0; i < count; ++i) {
        const auto& own = choices[together[i]];
        right.push_back(expected[together[i]] - mean);
        for (std::size_t j = 0; j <= i; ++j) matrix.at(i, j) = alike(i, j);
        matrix.at(i, i) += noise * noise / static_cast<double>(own.logs.size());
    }
    matrix.factor();
    const auto weights = matrix.solve(std::move(right));
    for (std::size_t i = 0; i < count; ++i) {
        double sum = mean;
        for (std::size_t j = 0; j < count; ++j) sum += weights[j] * alike(i, j);
        expected[together[i]] = sum;
    }
    return expected;
}

}  // namespace forebay::advice
