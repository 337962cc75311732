// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/shared_block_pool.hpp>

#include <utility>

#include <tenure/base/check.hpp>

namespace tenure::inline TENURE_ABI {

shared_block_pool::shared_block_pool(std::size_t bytes, std::size_t alignment, block_source& source) noexcept
    : core_(detail::shared_pool_core::make(bytes, alignment, source)), block_bytes_(0), alignment_(alignment) {
    if (core_ == nullptr) return;
    slot_ = core_->slot();
    block_bytes_ = core_->block_bytes();
}

shared_block_pool::~shared_block_pool() {
    if (core_ != nullptr) detail::shared_pool_core::end(core_);
}

shared_block_pool::shared_block_pool(shared_block_pool&& other) noexcept
    : slot_(std::exchange(other.slot_, {})), core_(std::exchange(other.core_, nullptr)),
      block_bytes_(other.block_bytes_), alignment_(other.alignment_) {
    if (core_ != nullptr) core_->link().moved_to(this);
}

shared_block_pool& shared_block_pool::operator=(shared_block_pool&& other) noexcept {
    if (this == &other) return *this;
    if (core_ != nullptr) detail::shared_pool_core::end(core_);
    slot_ = std::exchange(other.slot_, {});
    core_ = std::exchange(other.core_, nullptr);
    block_bytes_ = other.block_bytes_;
    alignment_ = other.alignment_;
    if (core_ != nullptr) core_->link().moved_to(this);
    return *this;
}

void* shared_block_pool::allocate_slow(detail::pool_cache* cache) noexcept {
    return core_ != nullptr ? core_->allocate_slow(cache) : nullptr;
}
void shared_block_pool::deallocate_slow(detail::pool_cache* cache, void* block) noexcept {
    if (core_ != nullptr) return core_->deallocate_slow(cache, block);
    if constexpr (checks::caller) {
        if (block == nullptr) return;
        report_misuse("a block was freed to a shared pool that was moved from, or that never had memory", block,
                      "Free its blocks to the pool that took them over. The pointers of make_unique_in() find it "
                      "themselves.");
    }
}

detail::owner_home* shared_block_pool::unmoved_home() noexcept {
    return core_ != nullptr ? core_->link().of(this, "shared pool") : nullptr;
}

void shared_block_pool::clear() noexcept {
    if (core_ != nullptr) core_->clear();
}
std::size_t shared_block_pool::trim() noexcept { return core_ != nullptr ? core_->trim() : 0; }
bool shared_block_pool::owns(const void* pointer) const noexcept { return core_ != nullptr && core_->owns(pointer); }
std::size_t shared_block_pool::size() const noexcept { return core_ != nullptr ? core_->size() : 0; }
allocator_stats shared_block_pool::stats() const noexcept {
    return core_ != nullptr ? core_->stats() : allocator_stats{};
}
bool shared_block_pool::valid() noexcept { return core_ == nullptr || core_->valid(); }

}
