# What `cmake --install` puts where, in three components.
# Service (nightjard), runner (nightjar-runner) and tools (nightjar). Included by the
# checkout's CMakeLists.txt. docs/operating.md says how an operator uses it.
include(GNUInstallDirs)

set(NIGHTJAR_SHARE ${CMAKE_INSTALL_DATADIR}/nightjar)

# nightjar_install(COMPONENT PROGRAM [UNIT]): the program, its manual and completion, the licence;
# for a unit also its user. Paths in a unit depend on the prefix, which `--prefix` chooses only when
# it installs. So does what place.cmake writes then.
function(nightjar_install component program)
  install(TARGETS ${program} RUNTIME COMPONENT ${component})
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nightjar-${component}
    RENAME copyright COMPONENT ${component})
  install(CODE "
    set(program \"${program}\")
    set(unit \"${ARGN}\")
    set(programs \"${CMAKE_RUNTIME_OUTPUT_DIRECTORY}\")
    set(source \"${CMAKE_SOURCE_DIR}\")
    set(work \"${CMAKE_BINARY_DIR}/install/${component}\")
    set(bin \"${CMAKE_INSTALL_BINDIR}\")
    set(configuration \"${CMAKE_INSTALL_SYSCONFDIR}\")
    set(manuals \"${CMAKE_INSTALL_MANDIR}\")
    set(share \"${CMAKE_INSTALL_DATADIR}\")
    include(\"${CMAKE_SOURCE_DIR}/deploy/install.d/place.cmake\")"
    COMPONENT ${component})
endfunction()

nightjar_install(service nightjard nightjard.service)
nightjar_install(runner nightjar-runner nightjar-runner.service)
nightjar_install(tools nightjar)

# The example's `projects/pytorch.toml` and a project's `../recipes/...` are relative to their file.
install(FILES deploy/nightjar.toml DESTINATION ${NIGHTJAR_SHARE} COMPONENT service)
install(DIRECTORY deploy/projects deploy/recipes DESTINATION ${NIGHTJAR_SHARE} COMPONENT service)
install(FILES deploy/runner.environment DESTINATION ${NIGHTJAR_SHARE} COMPONENT runner)
# The runner looks for them beside its own folder (runner/catalog/catalog.cpp).
install(DIRECTORY runner/workloads DESTINATION ${NIGHTJAR_SHARE} COMPONENT runner
  PATTERN __pycache__ EXCLUDE)
