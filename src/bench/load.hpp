// Load of a simulation on a core during a drain: one loop only computes, the other only moves memory.

#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace forebay::bench {

enum class Load { compute, memory };

class LoadLoop {
public:
    explicit LoadLoop(Load load);

    /// Rounds a second while `goes_on` returns true. A round takes about a millisecond.
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
