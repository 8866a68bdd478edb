// What a simulation does to a core while a drain is under way: a loop that only computes, and one that only moves
// memory.

#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace forebay::bench {

enum class Load { compute, memory };

class LoadLoop {
public:
    explicit LoadLoop(Load load);

    /// Rounds a second, as long as `goes_on` says (asked after each round of about a millisecond).
    double rate(const std::function<bool()>& goes_on);

private:
    void round();
    void compute();
    void move();

    Load load_;
    std::size_t at_ = 0;
    std::vector<double> a_, b_, c_;
};

}  // namespace forebay::bench
