# What `cmake --install` puts where, in three components, and the Debian packages that CPack makes
# of them: service (nightjard), runner (nightjar-runner) and tools (nightjar). Included by the
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
# The runner starts it from its own folder (runner/process/confinement.cpp). It is nobody's command,
# so it has no manual.
install(TARGETS nightjar-confine RUNTIME COMPONENT runner)

# The example's `projects/pytorch.toml` and a project's `../recipes/...` are relative to their file.
install(FILES deploy/nightjar.toml DESTINATION ${NIGHTJAR_SHARE} COMPONENT service)
install(DIRECTORY deploy/projects deploy/recipes DESTINATION ${NIGHTJAR_SHARE} COMPONENT service)
install(FILES deploy/runner.environment DESTINATION ${NIGHTJAR_SHARE} COMPONENT runner)
# The runner looks for them beside its own folder (runner/catalog/catalog.cpp).
install(DIRECTORY runner/workloads DESTINATION ${NIGHTJAR_SHARE} COMPONENT runner
  PATTERN __pycache__ EXCLUDE)

# For whom starts runners on a cluster, each to be adapted and copied (docs/clusters.md).
install(DIRECTORY deploy/slurm deploy/kubernetes deploy/buildkite DESTINATION ${NIGHTJAR_SHARE}
  COMPONENT runner USE_SOURCE_PERMISSIONS)

# One Debian package a component, made by deploy/package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)  # since configuration lies outside the prefix
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL service runner tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(NIGHTJAR_MAINTAINER "Nightjar <root@localhost>" CACHE STRING "Whom the packages name")
set(CPACK_PACKAGE_CONTACT "${NIGHTJAR_MAINTAINER}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SERVICE_PACKAGE_NAME nightjar-service)
set(CPACK_COMPONENT_SERVICE_DESCRIPTION "finds performance regressions of PyTorch and their culprits
Nightjar watches PyTorch's nightly builds. This is its service, which plans
measurements, judges them, searches for culprits and writes issues.")
# Users and folders are made by systemd, or by a part of it where there is none, as in an image.
set(NIGHTJAR_USERS "systemd | systemd-standalone-sysusers, \
systemd | systemd-standalone-tmpfiles, init-system-helpers (>= 1.52)")
# It fetches commits by the program git.
set(CPACK_DEBIAN_SERVICE_PACKAGE_DEPENDS "${NIGHTJAR_USERS}, git")
set(CPACK_DEBIAN_SERVICE_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_SERVICE_PACKAGE_SUGGESTS "nightjar-runner, nightjar-tools")

set(CPACK_DEBIAN_RUNNER_PACKAGE_NAME nightjar-runner)
set(CPACK_COMPONENT_RUNNER_DESCRIPTION "measures PyTorch workloads on one machine for Nightjar
The agent that takes jobs of a Nightjar service, its workloads, and the same
measurements by hand. PyTorch itself comes with each build that is measured.")
set(CPACK_DEBIAN_RUNNER_PACKAGE_DEPENDS "${NIGHTJAR_USERS}, python3")
# Native workloads and what torch.compile writes are compiled on the machine that measures them.
# Builders need git and ccache.
set(CPACK_DEBIAN_RUNNER_PACKAGE_RECOMMENDS
  "ca-certificates, g++, cmake, ninja-build, python3-venv, python3-dev, git, ccache")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME nightjar-tools)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "noise-aware change detection and bisection
The program nightjar: it finds change points in series, compares measurements,
and searches any repository for the commit that made something slower.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "git")

# Maintainer scripts differ only in the unit's name.
foreach(component service runner)
  set(program nightjard)
  if(component STREQUAL "runner")
    set(program nightjar-runner)
  endif()
  set(scripts "")
  foreach(script postinst prerm postrm)
    set(file ${CMAKE_BINARY_DIR}/install/${component}-control/${script})
    configure_file(deploy/debian/${script} ${file} @ONLY
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                       WORLD_READ WORLD_EXECUTE)
    list(APPEND scripts ${file})
  endforeach()
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${scripts}")
endforeach()
include(CPack)
