# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# An overlay port that builds the tree it lies in: vcpkg install tenure --overlay-ports=TREE/packaging/vcpkg
# A port of a release replaces SOURCE_PATH by vcpkg_from_git with the tag.

get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

set(without_highway)
if(NOT "buffer" IN_LIST FEATURES)
    set(without_highway -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON)
endif()

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS -DTENURE_TESTS=OFF -DTENURE_LAB=OFF ${without_highway}
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tenure)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
