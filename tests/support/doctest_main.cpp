// doctest and the main() of the tests, compiled once: doctest costs as much as a whole test file. A test with its own
// main(), such as a test under MPI, defines DOCTEST_CONFIG_IMPLEMENT. The linker then omits this main().

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
