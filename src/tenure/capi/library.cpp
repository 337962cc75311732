// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: the library itself, its options and its reports.

#include <iterator>
#include <string_view>

#include <tenure/base/check.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/status.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/tenure_engine.h>

using namespace tenure;

namespace {

constexpr std::string_view version_text =
    TENURE_TEXT(TENURE_VERSION_MAJOR) "." TENURE_TEXT(TENURE_VERSION_MINOR) "." TENURE_TEXT(TENURE_VERSION_PATCH);

constexpr std::string_view status_texts[] = {
    "success",
    "out of memory",
    "invalid argument: out of range, or a size that was not set",
    "stale handle: its memory was freed, or it never referred to any",
    "still in use",
    "not held: released more often than acquired",
    "not supported by this build, system or heap",
    "file cannot be opened, extended or mapped",
    "name not found",
    "already started: end it first",
    "not started",
};
static_assert(static_cast<tn_status>(status::ok) == TN_OK);
static_assert(static_cast<tn_status>(status::out_of_memory) == TN_OUT_OF_MEMORY);
static_assert(static_cast<tn_status>(status::invalid_argument) == TN_INVALID_ARGUMENT);
static_assert(static_cast<tn_status>(status::stale_handle) == TN_STALE_HANDLE);
static_assert(static_cast<tn_status>(status::still_held) == TN_STILL_HELD);
static_assert(static_cast<tn_status>(status::not_held) == TN_NOT_HELD);
static_assert(static_cast<tn_status>(status::unsupported) == TN_UNSUPPORTED);
static_assert(static_cast<tn_status>(status::file_error) == TN_FILE_ERROR);
static_assert(static_cast<tn_status>(status::unknown_name) == TN_UNKNOWN_NAME);
static_assert(static_cast<tn_status>(status::already_started) == TN_ALREADY_STARTED);
static_assert(static_cast<tn_status>(status::not_started) == TN_NOT_STARTED);
static_assert(static_cast<std::uint32_t>(report_kind::misuse) == TN_REPORT_MISUSE);
static_assert(static_cast<std::uint32_t>(report_kind::notice) == TN_REPORT_NOTICE);
static_assert(static_cast<std::uint32_t>(option_origin::program) == TN_ORIGIN_PROGRAM);

/// The caller's handler and its context, which are read together.
struct foreign_handler {
    tn_report_handler function;
    void* context;
};

struct foreign_handlers {
    platform::mutex mutex;
    foreign_handler current;
};
constinit foreign_handlers heard_by{};

constexpr platform::fork_steps steps_of_handlers =
    platform::steps_of_lock<[](void*) noexcept -> platform::mutex& { return heard_by.mutex; }>;
constinit platform::fork_handler of_handlers{platform::fork_order::leaf, nullptr, steps_of_handlers};
TENURE_AT_LOAD(register_fork_handlers) { of_handlers.enlist(); }

void tell(report_kind kind, std::string_view text) noexcept {
    foreign_handler handler{};
    {
        const platform::lock_guard lock(heard_by.mutex);
        handler = heard_by.current;
        // It was removed since the report began, or C++ code has reinstalled this function: use the default then.
        if (handler.function == nullptr) {
            const report_handler installed = set_report_handler(nullptr);
            if (installed != &tell) set_report_handler(installed);
        }
    }
    if (handler.function == nullptr) return report(kind, text);
    handler.function(handler.context, static_cast<std::uint32_t>(kind), text.data(), text.size());
}

[[nodiscard]] const option_info* option_called(std::string_view name) noexcept {
    for (const option_info& info : option_table()) {
        if (info.name == name || info.environment == name) return &info;
    }
    return nullptr;
}

[[nodiscard]] std::string_view view(const char* text, std::size_t length) noexcept {
    return length == 0 ? std::string_view{} : std::string_view{text, length};
}

}

std::uint32_t tn_abi_version() { return TN_ABI_VERSION; }
std::uint32_t tn_check_level() { return static_cast<std::uint32_t>(check_level()); }
void tn_version(tn_text* version) { *version = capi::text_of(version_text); }

void tn_status_text(tn_status status, tn_text* text) {
    const bool is_one = status >= 0 && static_cast<std::size_t>(status) < std::size(status_texts);
    *text = capi::text_of(is_one ? status_texts[status] : std::string_view{"unknown status"});
}

std::uint32_t tn_option_count() { return option_count; }

tn_status tn_option_at(std::uint32_t index, tn_option_info* info) {
    if (index >= option_count) return TN_INVALID_ARGUMENT;
    const option_info& known = option_table()[index];
    const bool is_told =
        capi::answer(info, {0, static_cast<std::uint32_t>(option_source(known.id)), capi::text_of(known.name),
                            capi::text_of(known.environment), capi::text_of(known.help), option_value(known.id),
                            known.built_in, known.lowest, known.highest});
    return is_told ? TN_OK : TN_INVALID_ARGUMENT;
}

tn_status tn_option_get(const char* name, std::size_t length, std::uint64_t* value) {
    const option_info* const info = option_called(view(name, length));
    if (info == nullptr) return TN_UNKNOWN_NAME;
    *value = option_value(info->id);
    return TN_OK;
}

tn_status tn_option_set(const char* name, std::size_t length, const char* value, std::size_t value_length) {
    const option_info* const info = option_called(view(name, length));
    if (info == nullptr) return TN_UNKNOWN_NAME;
    std::uint64_t parsed = 0;
    if (!parse_option(*info, view(value, value_length), parsed)) return TN_INVALID_ARGUMENT;
    return set_option(info->id, parsed) ? TN_OK : TN_INVALID_ARGUMENT;
}

void tn_set_report_handler(tn_report_handler handler, void* context) {
    const platform::lock_guard lock(heard_by.mutex);
    heard_by.current = {handler, context};
    set_report_handler(handler != nullptr ? &tell : nullptr);
}
