// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Stand-ins for the part of Perfetto's SDK that examples/hooks_perfetto.cpp uses, where the SDK is not given.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace perfetto {

class Category {
public:
    constexpr explicit Category(const char* name) : name_(name) {}
    [[nodiscard]] constexpr Category SetDescription(const char*) const { return *this; }
    [[nodiscard]] constexpr std::string_view name() const { return name_; }

private:
    const char* name_;
};

class DynamicString {
public:
    DynamicString(const char* text, std::size_t bytes) : text_(text, bytes) {}
    [[nodiscard]] std::string_view text() const { return text_; }

private:
    std::string_view text_;
};

enum BackendType { kInProcessBackend = 1 };

struct TracingInitArgs {
    std::uint32_t backends = 0;
};

struct BufferConfig {
    void set_size_kb(std::uint32_t) {}
};
struct DataSourceConfig {
    void set_name(const std::string& name) { source = name; }
    std::string source;
};
struct DataSource {
    DataSourceConfig* mutable_config() { return &config; }
    DataSourceConfig config;
};
struct TraceConfig {
    BufferConfig* add_buffers() { return &buffer; }
    DataSource* add_data_sources() { return &source; }
    BufferConfig buffer;
    DataSource source;
};

class TracingSession {
public:
    void Setup(const TraceConfig& config);
    void StartBlocking();
    void StopBlocking();
    std::vector<char> ReadTraceBlocking();
};

struct Tracing {
    static void Initialize(const TracingInitArgs& arguments);
    static std::unique_ptr<TracingSession> NewTrace();
};

struct TrackEvent {
    static void Register();
    static void Flush();
};

}

namespace stand_in {

void begin_slice(std::string_view category, std::string_view name, std::uint64_t value);
void end_slice(std::string_view category);
bool is_recording();
void set_counter(std::string_view category, std::string_view name, std::int64_t value);
constexpr bool is_category(std::string_view asked, perfetto::Category defined) { return asked == defined.name(); }

}

#define PERFETTO_DEFINE_CATEGORIES(category)                                                                           \
    namespace stand_in {                                                                                               \
    constexpr ::perfetto::Category defined = category;                                                                 \
    }                                                                                                                  \
    static_assert(true)
#define PERFETTO_TRACK_EVENT_STATIC_STORAGE() static_assert(true)
// As in the SDK, a category that was not defined does not compile.
#define TRACE_EVENT_BEGIN(category, name, key, value)                                                                  \
    do {                                                                                                               \
        static_assert(stand_in::is_category(category, stand_in::defined));                                             \
        stand_in::begin_slice(category, (name).text(), value);                                                         \
    } while (false)
#define TRACE_EVENT_END(category)                                                                                      \
    do {                                                                                                               \
        static_assert(stand_in::is_category(category, stand_in::defined));                                             \
        stand_in::end_slice(category);                                                                                 \
    } while (false)
#define TRACE_COUNTER(category, name, value)                                                                           \
    do {                                                                                                               \
        static_assert(stand_in::is_category(category, stand_in::defined));                                             \
        if (stand_in::is_recording()) stand_in::set_counter(category, name, value);                                    \
    } while (false)
