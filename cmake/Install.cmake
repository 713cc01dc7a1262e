# Installs the libraries, the headers, the program and the package that find_package(schedsim) reads.
include(CMakePackageConfigHelpers)

set(SCHEDSIM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/schedsim)
configure_package_config_file(cmake/schedsimConfig.cmake.in
  ${PROJECT_BINARY_DIR}/schedsimConfig.cmake INSTALL_DESTINATION ${SCHEDSIM_PACKAGE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/schedsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/schedsimConfig.cmake
  ${PROJECT_BINARY_DIR}/schedsimConfigVersion.cmake
  DESTINATION ${SCHEDSIM_PACKAGE_DIR})
install(EXPORT schedsimTargets NAMESPACE schedsim:: DESTINATION ${SCHEDSIM_PACKAGE_DIR})
if(TARGET schedsim)
  install(TARGETS schedsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
