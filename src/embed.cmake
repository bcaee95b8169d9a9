# Writes a C++ file that defines a function for each text file, which returns what is in it:
# cmake -DOUT=FILE.cpp "-DFILES=a.css;b.js" -P embed.cmake gives a_css() and b_js().
set(code "// Made by src/embed.cmake.\n#include <string_view>\n\nnamespace onehead {\n")
foreach(file IN LISTS FILES)
    get_filename_component(name "${file}" NAME)
    string(REPLACE "." "_" name "${name}")
    file(READ "${file}" text)
    string(REPLACE "\n\n" "\n)embed\"\n    R\"embed(\n" text "${text}")  # compilers limit the length of one literal
    string(APPEND code "\nstd::string_view ${name}();\nstd::string_view ${name}() {\n    return R\"embed(${text})embed\";\n}\n")
endforeach()
file(WRITE "${OUT}" "${code}\n}  // namespace onehead\n")
