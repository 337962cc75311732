// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#error "An inline path knows of the heap profile, which slow calls alone may know."
