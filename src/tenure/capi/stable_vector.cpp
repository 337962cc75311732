// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure_engine.h: arrays that never move.

#include <tenure/tenure_engine.h>

#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/capi/detail/owner_life.hpp>
#include <tenure/engine/sole_user.hpp>
#include <tenure/engine/tail_guard.hpp>
#include <tenure/pool/detail/vector_checks.hpp>

using namespace tenure;

/// What stable_vector<T> is, for elements whose size the program knows and the compiler does not.
struct tn_stable_vector : detail::vector_parts {
    tn_stable_vector(std::size_t bytes, std::size_t aligned_to, std::size_t max_count) noexcept
        : vector_parts(max_count), element_bytes(bytes), alignment(aligned_to) {
        enlist(bytes, nullptr);
    }
    ~tn_stable_vector() { remove(size_); }

    [[nodiscard]] detail::sole_call begin_call() noexcept { return {user, detail::one_thread_in_vector, this}; }
    [[nodiscard]] std::uintptr_t end_address() const noexcept { return range_.begin() + size_ * element_bytes; }

    [[nodiscard]] void* append(std::size_t count) noexcept {
        if (count > max_count_ - size_) return nullptr;
        if (size_ + count > capacity_ || range_.begin() == 0) {
            if (!commit(size_ + count, element_bytes, alignment)) return nullptr;
        }
        void* const first = pointer_at(end_address());
        if constexpr (checks::caller) {
            detail::check_vector_tail(range_.begin(), end_address());
            detail::open_vector_tail(end_address(), count * element_bytes);
        }
        std::memset(first, 0, count * element_bytes);
        size_ += count;
        if constexpr (checks::caller) detail::close_vector_tail(end_address());
        return first;
    }
    /// Removes the last `count` elements.
    void remove(std::size_t count) noexcept {
        const bool is_checked = checks::caller && range_.committed_bytes() != 0;
        if (is_checked) detail::check_vector_tail(range_.begin(), end_address());
        size_ -= count;
        if (is_checked) detail::shorten_vector(end_address(), count * element_bytes);
    }

    std::size_t element_bytes;
    std::size_t alignment;
    [[no_unique_address]] detail::sole_user user;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_stable_vector";
};

tn_stable_vector* tn_stable_vector_create(std::size_t bytes, std::size_t alignment, std::size_t max_count) {
    const std::size_t aligned_to = capi::alignment_of(alignment);
    constexpr std::string_view call = "tn_stable_vector_create";
    const bool are_arguments =
        capi::is_allowed(bytes != 0, call, "bytes", bytes, "An element has at least one byte.") &&
        capi::is_alignment(call, aligned_to) &&
        capi::is_allowed(max_count != 0 && max_count <= max_object_bytes / bytes, call, "max_count", max_count,
                         "There are addresses for 1 to 2^63 / bytes elements.");
    return are_arguments ? make<tn_stable_vector>(bytes, aligned_to, max_count) : nullptr;
}
void tn_stable_vector_destroy(tn_stable_vector* vector) { capi::destroy_live(vector, __func__); }

void* tn_stable_vector_append(tn_stable_vector* vector, std::size_t count) {
    if (!capi::is_live(vector, __func__)) return nullptr;
    const detail::sole_call call = vector->begin_call();
    return call ? vector->append(count) : nullptr;
}
tn_status tn_stable_vector_pop_back(tn_stable_vector* vector) {
    if (!capi::is_live(vector, __func__)) return TN_INVALID_ARGUMENT;
    const detail::sole_call call = vector->begin_call();
    if (!call) return TN_INVALID_ARGUMENT;
    if (vector->size_ == 0) {
        if constexpr (checks::caller)
            report_misuse("tn_stable_vector_pop_back was called with a vector that is empty", vector,
                          "Compare tn_stable_vector_size with zero before.");
        return TN_INVALID_ARGUMENT;
    }
    vector->remove(1);
    return TN_OK;
}
void tn_stable_vector_clear(tn_stable_vector* vector) {
    if (!capi::is_live(vector, __func__)) return;
    if (const detail::sole_call call = vector->begin_call()) vector->remove(vector->size_);
}
tn_status tn_stable_vector_reserve(tn_stable_vector* vector, std::size_t count) {
    if (!capi::is_live(vector, __func__)) return TN_INVALID_ARGUMENT;
    if (count > vector->max_count_) return TN_INVALID_ARGUMENT;
    const detail::sole_call call = vector->begin_call();
    if (!call) return TN_INVALID_ARGUMENT;
    return vector->commit(count, vector->element_bytes, vector->alignment) ? TN_OK : TN_OUT_OF_MEMORY;
}
std::size_t tn_stable_vector_trim(tn_stable_vector* vector) {
    if (!capi::is_live(vector, __func__)) return 0;
    const detail::sole_call call = vector->begin_call();
    const std::size_t used = vector->size_ * vector->element_bytes + detail::tail_guard_bytes;
    return call ? vector->range_.decommit(used, vector->range_.committed_bytes()) : 0;
}
void* tn_stable_vector_data(const tn_stable_vector* vector) {
    return capi::is_live(vector, __func__) ? pointer_at(vector->range_.begin()) : nullptr;
}
void* tn_stable_vector_at(const tn_stable_vector* vector, std::size_t index) {
    if (!capi::is_live(vector, __func__) || index >= vector->size_) return nullptr;
    return pointer_at(vector->range_.begin() + index * vector->element_bytes);
}
std::size_t tn_stable_vector_size(const tn_stable_vector* vector) {
    return capi::is_live(vector, __func__) ? vector->size_ : 0;
}
std::size_t tn_stable_vector_capacity(const tn_stable_vector* vector) {
    return capi::is_live(vector, __func__) ? vector->capacity_ : 0;
}
