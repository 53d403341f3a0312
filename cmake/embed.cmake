# sluice_embed(TARGET VARIABLE_PREFIX FILE…): each file becomes a NUL-terminated array in the
# target, `const char <prefix><name without extension>[]`. As a script (cmake -P) it writes one.
if(CMAKE_SCRIPT_MODE_FILE)
    file(READ "${IN}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "((0x..,){16})" "\\1\n    " bytes "${bytes}")
    file(WRITE "${OUT}" "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n    ${bytes}0};\n")
    return()
endif()

set(sluice_embed_script ${CMAKE_CURRENT_LIST_FILE})
function(sluice_embed target prefix)
    foreach(file ${ARGN})
        get_filename_component(name ${file} NAME_WE)
        set(out ${CMAKE_CURRENT_BINARY_DIR}/embed/${prefix}${name}.c)
        add_custom_command(OUTPUT ${out}
            COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUT=${out}
                -DNAME=${prefix}${name} -P ${sluice_embed_script}
            DEPENDS ${file} ${sluice_embed_script} VERBATIM)
        target_sources(${target} PRIVATE ${out})
    endforeach()
endfunction()
