// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Objects of C that are used or destroyed after they were destroyed, and pointers that are none.

#include <string>

#include <gtest/gtest.h>

#include <tenure/base/config.hpp>
#include <tenure/tenure_engine.h>
#include <tenure/tenure_text.h>

#include "support/reports.hpp"

namespace {

/// One kind of object: how it is made, destroyed and used.
struct subject {
    const char* type;
    const char* destroy_name;
    const char* use_name;
    void* (*create)();
    void (*destroy)(void*);
    bool (*use)(void*); ///< whether the call did nothing
};

template<class Object>
Object* as(void* object) {
    return static_cast<Object*>(object);
}

const subject subjects[] = {
    {"tn_pool", "tn_pool_destroy", "tn_pool_allocate", []() -> void* { return tn_pool_create(24, 0, nullptr); },
     [](void* object) { tn_pool_destroy(as<tn_pool>(object)); },
     [](void* object) { return tn_pool_allocate(as<tn_pool>(object)) == nullptr; }},
    {"tn_shared_pool", "tn_shared_pool_destroy", "tn_shared_pool_allocate",
     []() -> void* { return tn_shared_pool_create(24, 0, nullptr); },
     [](void* object) { tn_shared_pool_destroy(as<tn_shared_pool>(object)); },
     [](void* object) { return tn_shared_pool_allocate(as<tn_shared_pool>(object)) == nullptr; }},
    {"tn_handle_pool", "tn_handle_pool_destroy", "tn_handle_pool_allocate",
     []() -> void* { return tn_handle_pool_create(24, 0, 1000); },
     [](void* object) { tn_handle_pool_destroy(as<tn_handle_pool>(object)); },
     [](void* object) { return tn_handle_pool_allocate(as<tn_handle_pool>(object), nullptr) == 0; }},
    {"tn_stable_vector", "tn_stable_vector_destroy", "tn_stable_vector_append",
     []() -> void* { return tn_stable_vector_create(24, 8, 1000); },
     [](void* object) { tn_stable_vector_destroy(as<tn_stable_vector>(object)); },
     [](void* object) { return tn_stable_vector_append(as<tn_stable_vector>(object), 1) == nullptr; }},
    {"tn_arena", "tn_arena_destroy", "tn_arena_allocate", []() -> void* { return tn_arena_create(0, nullptr); },
     [](void* object) { tn_arena_destroy(as<tn_arena>(object)); },
     [](void* object) { return tn_arena_allocate(as<tn_arena>(object), 10, 0) == nullptr; }},
    {"tn_heap", "tn_heap_destroy", "tn_heap_allocate", []() -> void* { return tn_heap_create(nullptr); },
     [](void* object) { tn_heap_destroy(as<tn_heap>(object)); },
     [](void* object) { return tn_heap_allocate(as<tn_heap>(object), 10, 0) == nullptr; }},
    {"tn_affinity_group", "tn_affinity_destroy", "tn_affinity_allocate",
     []() -> void* { return tn_affinity_create(nullptr); },
     [](void* object) { tn_affinity_destroy(as<tn_affinity_group>(object)); },
     [](void* object) { return tn_affinity_allocate(as<tn_affinity_group>(object), 10, 0) == nullptr; }},
    {"tn_offset_allocator", "tn_offset_destroy", "tn_offset_collect", []() -> void* { return tn_offset_create(1000); },
     [](void* object) { tn_offset_destroy(as<tn_offset_allocator>(object)); },
     [](void* object) { return tn_offset_collect(as<tn_offset_allocator>(object)) == 0; }},
    {"tn_frame_memory", "tn_frame_memory_destroy", "tn_frame_memory_allocate",
     []() -> void* { return tn_frame_memory_create(2, nullptr); },
     [](void* object) { tn_frame_memory_destroy(as<tn_frame_memory>(object)); },
     [](void* object) { return tn_frame_memory_allocate(as<tn_frame_memory>(object), 10, 0) == nullptr; }},
    {"tn_temp_state", "tn_temp_state_destroy", "tn_temp_state_switch",
     []() -> void* { return tn_temp_state_create(0); },
     [](void* object) { tn_temp_state_destroy(as<tn_temp_state>(object)); },
     [](void* object) { return tn_temp_state_switch(as<tn_temp_state>(object), nullptr) == TN_INVALID_ARGUMENT; }},
    {"tn_frame_usage_log", "tn_frame_usage_log_destroy", "tn_frame_usage_log_size",
     []() -> void* { return tn_frame_usage_log_create(10, 4, nullptr); },
     [](void* object) { tn_frame_usage_log_destroy(as<tn_frame_usage_log>(object)); },
     [](void* object) { return tn_frame_usage_log_size(as<tn_frame_usage_log>(object)) == 0; }},
    {"tn_paged_writer", "tn_paged_writer_destroy", "tn_paged_writer_size",
     []() -> void* { return tn_paged_writer_create(nullptr); },
     [](void* object) { tn_paged_writer_destroy(as<tn_paged_writer>(object)); },
     [](void* object) { return tn_paged_writer_size(as<tn_paged_writer>(object)) == 0; }},
};

class capi_destroyed : public testing::TestWithParam<subject> {
protected:
    void SetUp() override {
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    }
    [[nodiscard]] static std::string message(const char* call) {
        return std::string(call) + " was called with a " + GetParam().type + " that was destroyed: 0x";
    }
};

TEST_P(capi_destroyed, a_use_is_reported_and_does_nothing) {
    const support::heard_reports heard;
    void* const object = GetParam().create();
    ASSERT_NE(object, nullptr);
    GetParam().use(object);
    if (std::string_view(GetParam().type) == "tn_temp_state") tn_temp_state_switch(nullptr, nullptr);
    EXPECT_EQ(heard.count(), 0u) << heard.last();
    GetParam().destroy(object);
    EXPECT_EQ(heard.count(), 0u) << heard.last();
    EXPECT_TRUE(GetParam().use(object));
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(heard.last().substr(0, message(GetParam().use_name).size()), message(GetParam().use_name));
}

TEST_P(capi_destroyed, a_second_destruction_is_reported_and_does_nothing) {
    const support::heard_reports heard;
    void* const object = GetParam().create();
    ASSERT_NE(object, nullptr);
    GetParam().destroy(object);
    GetParam().destroy(object);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_EQ(heard.last().substr(0, message(GetParam().destroy_name).size()), message(GetParam().destroy_name));
}

TEST_P(capi_destroyed, a_pointer_that_is_none_is_reported) {
    const support::heard_reports heard;
    alignas(16) static unsigned char other[1 << 16] = {1, 2, 3};
    EXPECT_TRUE(GetParam().use(other));
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find(std::string("was called with a pointer that is no ") + GetParam().type),
              std::string::npos)
        << heard.last();
    GetParam().destroy(nullptr);
    EXPECT_EQ(heard.count(), 1u);
    if (std::string_view(GetParam().type) == "tn_temp_state") return; // NULL is the thread's own
    EXPECT_TRUE(GetParam().use(nullptr));
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u);
    EXPECT_NE(heard.last().find(std::string("was called with NULL instead of a ") + GetParam().type), std::string::npos)
        << heard.last();
}

INSTANTIATE_TEST_SUITE_P(each, capi_destroyed, testing::ValuesIn(subjects),
                         [](const auto& one) { return std::string(one.param.type); });

TEST(capi_destroyed_at_once, the_program_ends_with_the_report) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tn_handle_pool* const pool = tn_handle_pool_create(24, 0, 1000);
    tn_handle_pool_destroy(pool);
    EXPECT_DEATH(tn_handle_pool_allocate(pool, nullptr),
                 "tenure: tn_handle_pool_allocate was called with a tn_handle_pool that was destroyed: 0x");
    EXPECT_DEATH(tn_handle_pool_destroy(pool),
                 "tenure: tn_handle_pool_destroy was called with a tn_handle_pool that was destroyed: 0x");
}

}
