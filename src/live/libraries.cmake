# The libraries, where the compiler is emscripten's: headers of this system, and PCRE2 and nettle compiled for WebAssembly, all in the
# folder that lessons/live makes: ONEHEAD_LIBRARIES. There is no Boost, since there is no command line, and there are no threads.
set(ONEHEAD_LIBRARIES "" CACHE PATH "Where lessons/live has put the libraries for WebAssembly")

# Exceptions of the language itself take no time where none is thrown.
add_compile_options(-fwasm-exceptions -msimd128)
add_link_options(-fwasm-exceptions)

set(data_folder /data)  # which the page puts there, in memory

foreach(name xtensor nlohmann_json::nlohmann_json fmt::fmt Threads::Threads)
    add_library(${name} INTERFACE IMPORTED)
endforeach()
target_include_directories(xtensor SYSTEM INTERFACE ${ONEHEAD_LIBRARIES}/include)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
set(fmt_target fmt::fmt)
foreach(library pcre2-8 nettle)
    string(REPLACE "-8" "" name ${library})
    set(${name}_LIBRARIES ${ONEHEAD_LIBRARIES}/lib/lib${library}.a)
endforeach()
