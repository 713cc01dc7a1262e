# schedsim_add_plugin(NAME SOURCES file.cc... LINK target...)
#
# Defines the shared library NAME of plugins: libNAME.so, to be named with `schedsim run --plugin`. Nothing of it is
# seen from outside but its entry point, so that two libraries may have classes of one name. Also a part of the
# installed package.
function(schedsim_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINK")
  add_library(${name} MODULE ${ARG_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE schedsim::plugin ${ARG_LINK})
endfunction()
