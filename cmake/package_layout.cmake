# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# CPack reads this for each format: an archive is unpacked anywhere, so its files lie in no /usr.
if(CPACK_GENERATOR STREQUAL "TGZ")
    set(CPACK_PACKAGING_INSTALL_PREFIX /)
endif()
