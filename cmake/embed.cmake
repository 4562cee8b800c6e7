# psdm_embed(NAME FILE SOURCE): a text file as a C array NAME, terminated, in SOURCE; made again when the file changes.
function(psdm_embed name file source)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${source} CONTENT "extern const char ${name}[];\nconst char ${name}[] = {\n${bytes}0};\n" @ONLY)
endfunction()
