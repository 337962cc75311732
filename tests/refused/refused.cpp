// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// One statement that must not compile, for a reason that the compiler names: see CMakeLists.txt.

#include <tenure/adapt/unique.hpp>
#include <tenure/lifetime/chunked_list.hpp>
#include <tenure/lifetime/frame_memory.hpp>
#include <tenure/lifetime/scratch.hpp>
#include <tenure/lifetime/temp_state.hpp>
#include <tenure/pool/handle_pool.hpp>
#include <tenure/pool/stable_vector.hpp>
#include <tenure/tenure.hpp>

struct shape {
    virtual ~shape() = default;
    virtual int area() = 0;
};
class kept {
    ~kept() = default;
};
struct plain {};

void refused(tenure::pool<int>& ints, tenure::arena& scratch);
void refused([[maybe_unused]] tenure::pool<int>& ints, [[maybe_unused]] tenure::arena& scratch) { TENURE_REFUSED; }
