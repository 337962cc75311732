// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: text; tenure_text.h.

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/capi/detail/owner_life.hpp>
#include <tenure/tenure_text.h>
#include <tenure/text/format_printf.hpp>
#include <tenure/text/paged_writer.hpp>
#include <tenure/text/text_writer.hpp>

using namespace tenure;

namespace tenure::inline TENURE_ABI::capi {
template<>
inline constexpr std::size_t first_bytes<tn_page_work> = 40;
}

namespace {

// The fields of a text_writer are those of a tn_text_writer, in the same order: a test checks this.
static_assert(sizeof(tn_text_writer) == sizeof(text_writer) && std::is_trivially_copyable_v<text_writer>);
static_assert(sizeof(tn_text_piece) == sizeof(text_piece));
static_assert(offsetof(tn_text_piece, size_bytes) == offsetof(text_piece, size_bytes));

[[nodiscard]] text_writer opened(const tn_text_writer* from) noexcept {
    text_writer made(nullptr, 0);
    std::memcpy(static_cast<void*>(&made), from, sizeof made);
    return made;
}

void store(tn_text_writer* to, const text_writer& from) noexcept { std::memcpy(to, &from, sizeof from); }

template<class Append>
void change(tn_text_writer* writer, Append&& append) noexcept {
    text_writer open = opened(writer);
    append(open);
    store(writer, open);
}

}

// ------------------------------------------------------------------------------------------------------- printf

int tn_snprintf(char* to, std::size_t size, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int needed = format_vprintf(to, size, format, arguments);
    va_end(arguments);
    return needed;
}

int tn_vsnprintf(char* to, std::size_t size, const char* format, std::va_list arguments) {
    return format_vprintf(to, size, format, arguments);
}

// ------------------------------------------------------------------------------------------------- text writers

void tn_text_writer_start(tn_text_writer* writer, char* to, std::size_t bytes) {
    store(writer, text_writer(to, bytes));
}

void tn_text_writer_append(tn_text_writer* writer, const char* text, std::size_t bytes) {
    change(writer, [&](text_writer& to) { to.append(std::string_view(text, bytes)); });
}

void tn_text_writer_append_int(tn_text_writer* writer, std::int64_t number) {
    change(writer, [&](text_writer& to) { to.append(number); });
}

void tn_text_writer_append_uint(tn_text_writer* writer, std::uint64_t number) {
    change(writer, [&](text_writer& to) { to.append(number); });
}

void tn_text_writer_append_fixed(tn_text_writer* writer, double value, std::uint32_t precision) {
    change(writer, [&](text_writer& to) { to.append_fixed(value, precision); });
}

void tn_text_writer_printf(tn_text_writer* writer, const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    tn_text_writer_vprintf(writer, format, arguments);
    va_end(arguments);
}

void tn_text_writer_vprintf(tn_text_writer* writer, const char* format, std::va_list arguments) {
    text_writer to = opened(writer);
    to.append_vprintf(format, arguments);
    store(writer, to);
}

void tn_text_writer_advance(tn_text_writer* writer, std::size_t bytes) {
    change(writer, [&](text_writer& to) { to.advance(bytes); });
}

std::uint64_t tn_text_writer_needed_bytes(const tn_text_writer* writer) { return opened(writer).needed_bytes(); }

// ------------------------------------------------------------------------------------------------ paged writers

struct tn_paged_writer {
    explicit tn_paged_writer(const tn_block_source* functions) noexcept : source(functions), value(source.or_pages()) {}

    capi::callback_source source;
    paged_writer value;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_paged_writer";
};

namespace {

/// Calls `write(executor, write_object)` with the caller's functions.
template<class Write>
[[nodiscard]] tn_status do_work(const tn_page_work& work, Write&& write) noexcept {
    const auto executor = [&work](std::size_t count, const auto& body) {
        using body_type = std::remove_cvref_t<decltype(body)>;
        if (work.run == nullptr) return run_serially{}(count, body);
        const auto run_body = [](void* context, std::size_t page) { (*static_cast<const body_type*>(context))(page); };
        work.run(work.context, count, run_body, const_cast<body_type*>(&body));
    };
    const auto write_object = [&work](text_writer& to, std::size_t page, std::size_t object) {
        tn_text_writer shown;
        store(&shown, to);
        work.write_object(work.context, &shown, page, object);
        to = opened(&shown);
    };
    return write(executor, write_object) ? TN_OK : TN_INVALID_ARGUMENT;
}

}

tn_paged_writer* tn_paged_writer_create(const tn_block_source* source) {
    return capi::callback_source::is_whole(source) ? make<tn_paged_writer>(source) : nullptr;
}

void tn_paged_writer_destroy(tn_paged_writer* writer) { capi::destroy_live(writer, __func__); }

tn_status tn_paged_writer_reserve(tn_paged_writer* writer, std::size_t pages, std::size_t objects_per_page,
                                  std::size_t bytes_per_object) {
    if (!capi::is_live(writer, __func__)) return TN_INVALID_ARGUMENT;
    return writer->value.reserve({pages, objects_per_page, bytes_per_object}) ? TN_OK : TN_OUT_OF_MEMORY;
}

tn_status tn_paged_writer_write(tn_paged_writer* writer, std::size_t objects, const tn_page_work* work) {
    if (!capi::is_live(writer, __func__)) return TN_INVALID_ARGUMENT;
    if (work == nullptr || !capi::is_sized(work)) return TN_INVALID_ARGUMENT;
    const tn_page_work known = capi::asked(work);
    if (known.write_object == nullptr) return TN_INVALID_ARGUMENT;
    return do_work(known, [&](const auto& executor, const auto& write_object) {
        return writer->value.write(objects, executor, write_object);
    });
}

tn_status tn_paged_writer_write_pages(tn_paged_writer* writer, std::size_t pages, const tn_page_work* work) {
    if (!capi::is_live(writer, __func__)) return TN_INVALID_ARGUMENT;
    if (work == nullptr || !capi::is_sized(work)) return TN_INVALID_ARGUMENT;
    const tn_page_work known = capi::asked(work);
    if (known.write_object == nullptr || known.objects_of == nullptr) return TN_INVALID_ARGUMENT;
    const auto objects_of = [&known](std::size_t page) { return known.objects_of(known.context, page); };
    return do_work(known, [&](const auto& executor, const auto& write_object) {
        return writer->value.write_pages(pages, objects_of, executor, write_object);
    });
}

void tn_paged_writer_get_error(const tn_paged_writer* writer, tn_page_error* error) {
    if (!capi::is_live(writer, __func__)) return;
    const page_error& first = writer->value.error();
    capi::answer(error, tn_page_error{0, 0, first.page, first.object, first.needed_bytes, first.bound_bytes});
}

std::size_t tn_paged_writer_pieces(const tn_paged_writer* writer, const tn_text_piece** pieces) {
    if (!capi::is_live(writer, __func__)) return 0;
    const auto all = writer->value.pieces();
    *pieces = static_cast<const tn_text_piece*>(static_cast<const void*>(all.data()));
    return all.size();
}

void tn_paged_writer_join(tn_paged_writer* writer, tn_text* text) {
    if (!capi::is_live(writer, __func__)) return;
    *text = capi::text_of(writer->value.join());
}

std::size_t tn_paged_writer_size(const tn_paged_writer* writer) {
    if (!capi::is_live(writer, __func__)) return 0;
    return writer->value.size_bytes();
}

std::size_t tn_paged_writer_trim(tn_paged_writer* writer) {
    if (!capi::is_live(writer, __func__)) return 0;
    return writer->value.trim();
}
