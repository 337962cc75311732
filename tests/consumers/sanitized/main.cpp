// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <cstddef>
#include <typeinfo>

#include <tenure/arena/arena.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/pool.hpp>

#include "../everything.hpp"

namespace {

alignas(64) unsigned char buffer[65536];

/// Whether the source serves an arena, called as the type that it is.
template<class Source>
bool serves(Source& source) {
    tenure::block_source& as_base = source;
    tenure::arena scratch(1024, as_base);
    void* const direct = source.acquire(4096, 4096);
    const bool good = direct != nullptr && scratch.allocate(100) != nullptr && typeid(as_base) == typeid(Source);
    source.release(direct, 4096);
    return good;
}

}

int main() {
    tenure::page_source pages;
    tenure::counting_source counting(pages);
    tenure::failing_source failing(counting, 10);
    tenure::static_buffer_source in_buffer(buffer, sizeof buffer);
    const bool all = serves(pages) && serves(counting) && serves(failing) && serves(in_buffer);
    return all ? consumer::use_everything(tenure::checks::level) : 1;
}
