// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// `import tenure;`: the names of <tenure/tenure.hpp> as a module, without macros and without the library's details.
///
/// Compile it with the options of the program that imports it, those of TENURE_CHECKS and TENURE_SHARED included, and
/// link the library as usual: docs/guide/install.md.
///
/// Not exported   macros; the constants of `checks`, for which check_level() answers; what the headers need among
///                themselves (base/align.hpp, base/bits.hpp); vector maths (buffer/vector_maths.hpp) and {fmt}
///                (text/fmt.hpp), which have headers of their own.

module;

#include <tenure/tenure.hpp>

export module tenure;

/// Constants of the headers belong to the file that includes them: the module has its own of the same values.
namespace tenure_module {
constexpr auto alignment = tenure::default_alignment;
constexpr auto object_bytes = tenure::max_object_bytes;
constexpr auto line_bytes = tenure::cache_line_bytes;
constexpr auto options = tenure::option_count;
constexpr auto parts = tenure::all_parts;
constexpr auto mitigations = tenure::all_mitigations;
constexpr auto precision = tenure::max_precision;
}

export namespace tenure {

constexpr auto default_alignment = tenure_module::alignment;
constexpr auto max_object_bytes = tenure_module::object_bytes;
constexpr auto cache_line_bytes = tenure_module::line_bytes;
constexpr auto option_count = tenure_module::options;
constexpr auto all_parts = tenure_module::parts;
constexpr auto all_mitigations = tenure_module::mitigations;
constexpr auto max_precision = tenure_module::precision;

// By lifetime
using tenure::allocate;
using tenure::deallocate;
using tenure::lifetime;
using tenure::next_frame;
using tenure::reset_temp;
using tenure::tag_usage;
using tenure::usage_of;
using tenure::warm_up;

using tenure::temp;
using tenure::temp_scope;
using tenure::temp_state;
using tenure::temp_state_scope;
using tenure::temp_stats;
using tenure::scratch_scope;
using tenure::temp_stack;

using tenure::temp_job;
using tenure::temp_job_leak;
using tenure::temp_job_leak_handler;
using tenure::temp_job_stats;

using tenure::chunked_list;
using tenure::frame_buffered;
using tenure::frame_clock;
using tenure::frame_memory;
using tenure::frame_usage;
using tenure::frame_usage_log;
using tenure::frame_usage_options;

// Any size, any time
using tenure::destroy;
using tenure::destroy_array;
using tenure::fill;
using tenure::heap;
using tenure::heap_options;
using tenure::heap_size_usage;
using tenure::heap_usage;
using tenure::make;
using tenure::make_array;
using tenure::process_memory;
using tenure::usage_form;
using tenure::write_usage;

// Together
using tenure::affinity_functions;
using tenure::affinity_group;
using tenure::affinity_object;
using tenure::affinity_options;
using tenure::affinity_usage;
using tenure::arena;
using tenure::page_layout;
using tenure::size_on_free;

// Of one type or one size
using tenure::block_pool;
using tenure::end_of_objects;
using tenure::handle_pool;
using tenure::pool;
using tenure::pool_handle;
using tenure::shared_block_pool;
using tenure::shared_pool;
using tenure::small_object;
using tenure::stable_vector;

// Ranges that the program manages itself
using tenure::offset_allocator;
using tenure::offset_range;
using tenure::offset_usage;

// Handles and buffers
using tenure::allocate_held;
using tenure::deallocate_held;
using tenure::fixed_buffer;
using tenure::fixed_utf8_string;
using tenure::handle;
using tenure::handle_info;
using tenure::handle_releaser;
using tenure::handle_table;
using tenure::handle_table_options;
using tenure::handle_usage;
using tenure::held_options;
using tenure::huge_array;
using tenure::is_utf8;
using tenure::lease;
using tenure::map_held;
using tenure::plain_element;
using tenure::safe_array;

// For the standard library
using tenure::allocator;
using tenure::allocator_delete;
using tenure::make_unique_in;
using tenure::make_unique_in_pool;
using tenure::pool_delete;
using tenure::pool_unique;
using tenure::resource_adaptor;
using tenure::stl_allocator;
using tenure::throw_bad_alloc;
using tenure::unique;

// Where memory comes from
using tenure::allocator_stats;
using tenure::block_source;
using tenure::budget_source;
using tenure::counting_source;
using tenure::failing_source;
using tenure::file_source;
using tenure::page_size;
using tenure::page_source;
using tenure::sharing;
using tenure::static_buffer_source;

// Text
using tenure::fixed_bytes;
using tenure::format_fixed;
using tenure::format_integer;
using tenure::format_printf;
using tenure::format_vprintf;
using tenure::integer_bytes;
using tenure::page_error;
using tenure::page_shape;
using tenure::paged_writer;
using tenure::run_serially;
using tenure::text_float;
using tenure::text_integer;
using tenure::text_piece;
using tenure::text_writer;

// Owners, budgets, promises, regions, hooks
using tenure::allocation_hooks;
using tenure::allow_alloc_scope;
using tenure::budget;
using tenure::budget_event;
using tenure::budget_handler;
using tenure::budget_of;
using tenure::current_tag;
using tenure::mark;
using tenure::no_alloc_scope;
using tenure::no_wait_scope;
using tenure::refusals_of;
using tenure::region_scope;
using tenure::set_budget;
using tenure::set_hooks;
using tenure::tag;
using tenure::tag_scope;

// Reports and options
using tenure::check_level;
using tenure::mitigation;
using tenure::option;
using tenure::option_form;
using tenure::option_info;
using tenure::option_origin;
using tenure::option_source;
using tenure::option_table;
using tenure::option_value;
using tenure::parse_option;
using tenure::part;
using tenure::passthrough_enabled;
using tenure::report;
using tenure::report_alignment;
using tenure::report_argument;
using tenure::report_broken;
using tenure::report_handler;
using tenure::report_kind;
using tenure::report_misuse;
using tenure::report_text;
using tenure::set_option;
using tenure::set_report_handler;
using tenure::status;

namespace affinities {
using tenure::affinities::data;
using tenure::affinities::nodes;
using tenure::affinities::objects;
using tenure::affinities::physics;
}

}
