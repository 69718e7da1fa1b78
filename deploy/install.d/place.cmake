# Runs while a component is installed: writes its unit with the paths of this prefix, the user that
# the unit runs as, and manual and completion of the program. Called by deploy/install.cmake.

function(absolute name prefix)
  if(IS_ABSOLUTE "${${name}}")
    return()
  endif()
  set(${name} "${prefix}/${${name}}" PARENT_SCOPE)
endfunction()

set(prefix "${CMAKE_INSTALL_PREFIX}")
# As in GNUInstallDirs: what /usr holds is configured in /etc.
set(configured_below "${prefix}")
if(prefix STREQUAL "/usr")
  set(configured_below "")
endif()
absolute(configuration "${configured_below}")
foreach(folder bin manuals share)
  absolute(${folder} "${prefix}")
endforeach()

# place(FROM NAME FOLDER): a file of deploy/systemd, which is written for /usr, with these paths.
function(place from name folder)
  file(READ "${source}/deploy/systemd/${from}" text)
  string(REPLACE "/usr/bin/" "${bin}/" text "${text}")
  string(REPLACE "/etc/nightjar" "${configuration}/nightjar" text "${text}")
  file(WRITE "${work}/${name}" "${text}")
  file(INSTALL "${work}/${name}" DESTINATION "${prefix}/lib/${folder}")
endfunction()

if(unit)
  place(${unit} ${unit} systemd/system)
  place(${program}.sysusers sysusers/${program}.conf sysusers.d)
  place(${program}.tmpfiles tmpfiles/${program}.conf tmpfiles.d)
endif()

find_program(PYTHON NAMES python3 REQUIRED)
execute_process(
  COMMAND "${PYTHON}" "${source}/deploy/install.d/pages.py" "${programs}/${program}" "${work}"
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cannot write the manual of ${program} from its --help; see above")
endif()
file(GLOB pages "${work}/${program}.[18]")
foreach(page ${pages})
  string(REGEX MATCH "[18]$" section "${page}")
  file(INSTALL "${page}" DESTINATION "${manuals}/man${section}")
endforeach()
file(INSTALL "${work}/${program}.bash" DESTINATION "${share}/bash-completion/completions"
  RENAME ${program})
