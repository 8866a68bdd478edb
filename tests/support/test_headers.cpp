// Nothing: what the headers that tests have in common are compiled for (cmake/testing.cmake).
