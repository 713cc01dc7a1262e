# Installs the build in SCHEDSIM_BINARY_DIR below SCHEDSIM_WORK_DIR, then configures, builds and runs the
# programs in SCHEDSIM_CONSUMER_DIR against what was installed.
set(prefix ${SCHEDSIM_WORK_DIR}/prefix)
set(build ${SCHEDSIM_WORK_DIR}/build)
file(REMOVE_RECURSE ${SCHEDSIM_WORK_DIR})

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${SCHEDSIM_BINARY_DIR} --prefix ${prefix})
foreach(file
    bin/schedsim
    share/doc/schedsim/LICENSE
    share/doc/schedsim/README.md
    share/doc/schedsim/docs/report.md
    share/schedsim/report.schema.json
    share/schedsim/scenario.schema.json
    share/man/man1/schedsim.1
    share/bash-completion/completions/schedsim
    share/zsh/site-functions/_schedsim
    share/fish/vendor_completions.d/schedsim.fish)
  file(SIZE ${prefix}/${file} size)
  if(size EQUAL 0)
    message(FATAL_ERROR "${prefix}/${file} is empty")
  endif()
endforeach()
run(${CMAKE_COMMAND} -G Ninja -S ${SCHEDSIM_CONSUMER_DIR} -B ${build}
  -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${SCHEDSIM_CXX_COMPILER}
  "-DCMAKE_CXX_FLAGS=${SCHEDSIM_CXX_FLAGS}")
run(${CMAKE_COMMAND} --build ${build})
run(${build}/core_consumer)
run(${build}/sim_consumer)

# A plugin as its author begins it, against what was installed.
set(plugin ${SCHEDSIM_WORK_DIR}/spread_teams)
run(${prefix}/bin/schedsim plugin new SpreadTeams --dir ${plugin})
run(${CMAKE_COMMAND} -G Ninja -S ${plugin} -B ${plugin}/build
  -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${SCHEDSIM_CXX_COMPILER}
  "-DCMAKE_CXX_FLAGS=${SCHEDSIM_CXX_FLAGS}")
run(${CMAKE_COMMAND} --build ${plugin}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${plugin}/build --output-on-failure)
