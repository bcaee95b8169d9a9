# find_package(onehead) gives the library onehead::onehead, for C++20.
include(CMakeFindDependencyMacro)
find_dependency(xtensor)
find_dependency(fmt)
find_dependency(Threads)
find_dependency(PkgConfig)
pkg_check_modules(pcre2 REQUIRED QUIET IMPORTED_TARGET libpcre2-8)
pkg_check_modules(nettle REQUIRED QUIET IMPORTED_TARGET nettle)

include(${CMAKE_CURRENT_LIST_DIR}/onehead-targets.cmake)
