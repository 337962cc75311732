# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# CPack runs this when a package's files are in place: adds the documents that its distribution asks for.

set(source ${CMAKE_CURRENT_LIST_DIR}/..)
file(READ ${source}/LICENSE license)
string(REPLACE "\n\n" "\n.\n" license "${license}")
string(STRIP "${license}" license)
string(REPLACE "\n" "\n " license "${license}")

if(CPACK_GENERATOR STREQUAL "DEB")
    string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
    foreach(component IN LISTS CPACK_COMPONENTS_ALL)
        string(TOUPPER ${component} upper)
        set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
        set(documents ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/doc/${package})
        file(WRITE ${documents}/copyright
            "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Tenure\n\n"
            "Files: *\nCopyright: 2026 Tenure contributors\nLicense: Expat\n ${license}\n")
        file(WRITE ${documents}/changelog
            "tenure (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
            "  * Version ${CPACK_PACKAGE_VERSION}. CHANGELOG.md of the source has the changes.\n\n"
            " -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
        execute_process(COMMAND gzip -9nf ${documents}/changelog COMMAND_ERROR_IS_FATAL ANY)
        file(CHMOD ${documents}/copyright ${documents}/changelog.gz
            PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    endforeach()
elseif(CPACK_GENERATOR STREQUAL "RPM")
    foreach(component IN LISTS CPACK_COMPONENTS_ALL)
        string(TOUPPER ${component} upper)
        file(COPY ${source}/LICENSE DESTINATION
            ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/licenses/${CPACK_RPM_${upper}_PACKAGE_NAME})
    endforeach()
else()
    file(COPY ${source}/LICENSE ${source}/CHANGELOG.md DESTINATION
        ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/share/doc/tenure)
endif()
