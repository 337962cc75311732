# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# Packages by CPack: DEB and RPM, one per component of install.cmake, and one TGZ of all. scripts/packages builds them with
# the layout of each; `make packages` calls it.

if(NOT PROJECT_IS_TOP_LEVEL OR TENURE_CHECKS GREATER 1)
    return()
endif()

set(CPACK_PACKAGE_NAME tenure)
set(CPACK_PACKAGE_VENDOR "Tenure contributors")
set(CPACK_PACKAGE_CONTACT "Tenure contributors <maintainers@tenure.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "native memory library for C++, C and .NET")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_layout.cmake)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL library development dropin)
if(TENURE_LAB)
    list(APPEND CPACK_COMPONENTS_ALL command)
    if(tenure_module_targets)
        list(APPEND CPACK_COMPONENTS_ALL peers)
    endif()
endif()
# Each file in the package that its component says; the archive has all in one.
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_ARCHIVE_FILE_NAME tenure-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})

# The package of the shared libraries carries the SONAME's version, so that two of them can be installed.
get_target_property(soversion tenure_shared SOVERSION)
set(description_library "Shared libraries of Tenure: allocators chosen by how long memory
is held, pools, affinity groups, offset ranges, typed buffers and
formatting that does not allocate.")
set(description_development "Headers, static libraries, CMake package and pkg-config files of
Tenure, and commands for gdb and lldb that show its allocators.")
set(description_dropin "malloc and operator new for unmodified programs: libtenure_malloc.so
for LD_PRELOAD, a hardened form that reports mistakes, and one that
follows advice.")
set(description_command "Runs programs on Tenure's malloc, measures allocators, profiles heaps,
finds allocations in parallel regions, and records and replays what
programs allocate.")
set(description_peers "Modules for 'tenure bench' that compare Tenure with OpenSceneGraph,
Assimp and oneTBB.")
set(section_library libs)
set(section_development libdevel)
set(section_dropin libs)
set(section_command utils)
set(section_peers utils)
set(deb_library libtenure${soversion})
set(deb_development libtenure-dev)
set(deb_dropin libtenure-malloc)
set(deb_command tenure)
set(deb_peers tenure-bench-peers)
set(rpm_library libtenure)
set(rpm_development tenure-devel)
set(rpm_dropin tenure-malloc)
set(rpm_command tenure)
set(rpm_peers tenure-bench-peers)

set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS library)
set(CPACK_COMPONENT_COMMAND_DEPENDS dropin)
set(CPACK_COMPONENT_PEERS_DEPENDS command)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_documents.cmake)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_PACKAGE_AUTOREQ ON)
set(CPACK_RPM_PACKAGE_RELEASE 1)
# Folders that the distribution owns.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/doc /usr/lib64/cmake /usr/lib64/pkgconfig)

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(CPACK_COMPONENT_${upper}_DESCRIPTION ${description_${component}})
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${deb_${component}})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section_${component}})
    set(CPACK_RPM_${upper}_PACKAGE_NAME ${rpm_${component}})
    set(CPACK_RPM_${upper}_PACKAGE_SUMMARY ${CPACK_PACKAGE_DESCRIPTION_SUMMARY})
endforeach()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS libhwy-dev)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "tenure-bench-peers, libjemalloc2, libmimalloc2.0, libtcmalloc-minimal4")
# The drop-in has no version in its name: it is preloaded, and no program links it.
foreach(component LIBRARY DROPIN COMMAND)
    set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
endforeach()

include(CPack)
