# cmake -DPROGRAM=… -DFILE=… -P same_file.cmake: fails when what PROGRAM prints is not what FILE holds.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE now RESULT_VARIABLE code)
file(READ ${FILE} kept)
if(NOT code EQUAL 0 OR NOT now STREQUAL kept)
    message(FATAL_ERROR "${FILE} is not what the rows say now: build the target `docs` and commit it")
endif()
