# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# What `cmake --install` installs, by component (packages.cmake makes a package of each):
#
#   library       the shared libraries
#   development   headers, the module, static libraries, CMake package, pkg-config files, scripts for debuggers
#   dropin        the libraries for LD_PRELOAD; Windows: tenure_malloc.dll and its hardened form
#   command       the command and what it needs: installed by lab.cmake and watch.cmake
#   peers         modules of the bench that link other projects' libraries: installed by lab.cmake

# A tree at level 2 or 3 is for testing, and a project that includes Tenure as a subdirectory installs only itself.
if(NOT PROJECT_IS_TOP_LEVEL OR TENURE_CHECKS GREATER 1)
    return()
endif()

include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tenure)

# Headers: those of the rooms, and what they include from the rooms' detail folders.
set(source_dir ${PROJECT_SOURCE_DIR}/src)
file(GLOB reached CONFIGURE_DEPENDS RELATIVE ${source_dir} src/tenure/*.h src/tenure/*.hpp src/tenure/*/*.hpp)
set(headers)
while(reached)
    list(POP_FRONT reached header)
    if(NOT header IN_LIST headers AND EXISTS ${source_dir}/${header})
        list(APPEND headers ${header})
        file(STRINGS ${source_dir}/${header} includes REGEX "^#include <tenure/")
        list(TRANSFORM includes REPLACE "^#include <([^>]+)>.*" "\\1")
        list(APPEND reached ${includes})
    endif()
endwhile()
foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${source_dir}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

install(TARGETS ${tenure_installed_targets} EXPORT tenure
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} # of Windows: the libraries themselves
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
)
if(tenure_preloaded_targets) # not in a tree with a sanitizer
    install(TARGETS ${tenure_preloaded_targets}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dropin # of Windows
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dropin
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(EXPORT tenure NAMESPACE tenure:: FILE tenure-targets.cmake DESTINATION ${package_dir})
# Exported separately, because they need Highway, which may be missing on the user's machine.
if(tenure_buffer_targets)
    install(TARGETS ${tenure_buffer_targets} EXPORT tenure_buffer
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    )
    install(EXPORT tenure_buffer NAMESPACE tenure:: FILE tenure-buffer-targets.cmake DESTINATION ${package_dir})
endif()

# Commands and printers for debuggers, which read the layout that the libraries carry.
file(GLOB debugger_files CONFIGURE_DEPENDS debuggers/*.py debuggers/*.natvis)
install(FILES ${debugger_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/tenure/debuggers)

# `import tenure;`: a program compiles it with its own options.
set(tenure_module_dir ${CMAKE_INSTALL_DATADIR}/tenure/module)
install(FILES packaging/module/tenure.cppm DESTINATION ${tenure_module_dir})

configure_package_config_file(packaging/config.cmake.in tenure-config.cmake INSTALL_DESTINATION ${package_dir}
    PATH_VARS tenure_module_dir)
# Before 1.0 a minor version may change the C++ interface; its inline namespace changes then too.
write_basic_package_version_file(tenure-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tenure-config.cmake ${PROJECT_BINARY_DIR}/tenure-config-version.cmake
    DESTINATION ${package_dir})

# Relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
foreach(level 0 1)
    set(pc_level ${level})
    if(level EQUAL 0)
        set(pc_name tenure)
        set(pc_buffer tenure_buffer)
        set(pc_note "")
    else()
        set(pc_name tenure_checked)
        set(pc_buffer tenure_buffer_checked)
        set(pc_note " (the caller's mistakes checked)")
    endif()
    string(REPLACE _ - pc_library ${pc_name})
    set(pc_description "${PROJECT_DESCRIPTION}${pc_note}")
    configure_file(packaging/tenure.pc.in ${pc_library}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${pc_library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    if(tenure_buffer_targets)
        set(pc_name ${pc_buffer})
        string(REPLACE _ - pc_file ${pc_name})
        set(pc_description "Vector maths over buffers${pc_note}")
        configure_file(packaging/tenure-buffer.pc.in ${pc_file}.pc @ONLY)
        install(FILES ${PROJECT_BINARY_DIR}/${pc_file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    endif()
endforeach()
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME command) # for what is included from here on: the lab
