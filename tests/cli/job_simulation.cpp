// The simulation of support/job_simulation.hpp with one rank.

#include "support/job_simulation.hpp"

using namespace forebay;

int main(int count, char** arguments) {
    return test::run_simulation(count, [&] {
        test::simulate(Session::open({.run = arguments[1], .staging = arguments[2]}).value(), arguments, 0, 1);
    });
}
