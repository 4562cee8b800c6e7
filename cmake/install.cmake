# What `make install` puts where.
include(CMakePackageConfigHelpers)
# manual pages and completions, by the tool from its own tables
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/psdm.1 ${manual}/psdm ${manual}/_psdm
  COMMAND psdm_tool reference man ${manual}
  COMMAND psdm_tool reference schema ${manual}/schema
  COMMAND psdm_tool completion bash > ${manual}/psdm
  COMMAND psdm_tool completion zsh > ${manual}/_psdm
  DEPENDS psdm_tool)
add_custom_target(psdm_manual ALL DEPENDS ${manual}/psdm.1 ${manual}/psdm ${manual}/_psdm)
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL FILES_MATCHING PATTERN "*.1")
install(FILES ${manual}/psdm DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(DIRECTORY ${manual}/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/psdm OPTIONAL)
install(FILES ${manual}/_psdm DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)

install(TARGETS psdm EXPORT psdmTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS psdm_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS psdm_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(PSDM_PARTS_PLUGINS)
  install(TARGETS ${PSDM_PARTS_PLUGINS} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/psdm)
endif()
install(DIRECTORY include/psdm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/include/psdm/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/psdm)
install(DIRECTORY robots DESTINATION ${CMAKE_INSTALL_DATADIR}/psdm)

# the .pc finds its tree from where it lies, so the tree may be moved
file(RELATIVE_PATH PSDM_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/psdm.pc.in psdm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/psdm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/psdm)
configure_package_config_file(cmake/psdmConfig.cmake.in psdmConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(psdmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT psdmTargets NAMESPACE psdm:: DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/psdmConfig.cmake ${PROJECT_BINARY_DIR}/psdmConfigVersion.cmake DESTINATION ${package})
