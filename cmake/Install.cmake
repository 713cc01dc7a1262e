# Installs the libraries, the headers, the program, the package that find_package(schedsim) reads, the licence, the
# documentation, and the schemas, which editors and other programs read.
include(CMakePackageConfigHelpers)

set(SCHEDSIM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/schedsim)
configure_package_config_file(cmake/schedsimConfig.cmake.in
  ${PROJECT_BINARY_DIR}/schedsimConfig.cmake INSTALL_DESTINATION ${SCHEDSIM_PACKAGE_DIR}
  PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/schedsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/schedsimConfig.cmake
  ${PROJECT_BINARY_DIR}/schedsimConfigVersion.cmake
  cmake/SchedsimPlugin.cmake
  DESTINATION ${SCHEDSIM_PACKAGE_DIR})
install(EXPORT schedsimTargets NAMESPACE schedsim:: DESTINATION ${SCHEDSIM_PACKAGE_DIR})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The pages with the inputs that they speak of; what is no page and no input are the schemas.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "*.schema.json" EXCLUDE)
install(FILES docs/report.schema.json docs/scenario.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/schedsim)
# The program has it in itself; this one is for editors, and for programs that are no file in .py.
install(FILES python/schedsim_plugin.py DESTINATION ${CMAKE_INSTALL_DATADIR}/schedsim)
if(TARGET schedsim)
  install(TARGETS schedsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
