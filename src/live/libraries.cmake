# The libraries, where the compiler is emscripten's, from the folder that lessons/live makes: headers of this system, and the sources
# of PCRE2 and nettle, which are compiled for WebAssembly. There is no Boost, since there is no command line, and there are no threads.
set(ONEHEAD_LIBRARIES "" CACHE PATH "Where lessons/live has put the libraries for WebAssembly")

# Exceptions of the language itself take no time where none is thrown.
add_compile_options(-fwasm-exceptions -msimd128)
add_link_options(-fwasm-exceptions)

set(data_folder /data)  # which the page puts there, in memory

foreach(name xtensor nlohmann_json::nlohmann_json fmt::fmt Threads::Threads)
    add_library(${name} INTERFACE IMPORTED)
endforeach()
target_include_directories(xtensor SYSTEM INTERFACE ${ONEHEAD_LIBRARIES}/headers)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
set(fmt_target fmt::fmt)

set(PCRE2_BUILD_PCRE2GREP OFF CACHE BOOL "")
set(PCRE2_BUILD_TESTS OFF CACHE BOOL "")
add_subdirectory(${ONEHEAD_LIBRARIES}/pcre2 pcre2 EXCLUDE_FROM_ALL)
set(pcre2_LIBRARIES pcre2-8-static)

# Of nettle its sha256 and base64, which need none of what its configure finds out.
enable_language(C)
file(GLOB nettle_sources ${ONEHEAD_LIBRARIES}/nettle/sha256.c ${ONEHEAD_LIBRARIES}/nettle/sha256-compress*.c
    ${ONEHEAD_LIBRARIES}/nettle/base64-encode.c ${ONEHEAD_LIBRARIES}/nettle/write-be32.c)
add_library(nettle STATIC ${nettle_sources})
set(nettle_LIBRARIES nettle)
