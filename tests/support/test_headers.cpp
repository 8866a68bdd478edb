// Empty: cmake/testing.cmake compiles this file to precompile the common headers of tests.
