// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Limits the process's address space, as ulimit -v does.

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

namespace support {

/// While it exists, the process can map at most `spare_bytes` more than it has.
class address_limit {
public:
    explicit address_limit(std::size_t spare_bytes) {
        std::size_t pages = 0;
        if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
            if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
            std::fclose(file);
        }
        ::getrlimit(RLIMIT_AS, &before_);
        set(pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + spare_bytes);
    }
    ~address_limit() { set(before_.rlim_cur); }
    address_limit(const address_limit&) = delete;
    address_limit& operator=(const address_limit&) = delete;

private:
    void set(rlim_t bytes) const {
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_AS, &limit);
    }

    rlimit before_{};
};

}
