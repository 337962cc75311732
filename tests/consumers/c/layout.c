/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* What other languages rely on: sizes and offsets of the structures, the same wherever they are compiled. */

#include <tenure/tenure.h>
#include <tenure/tenure_engine.h>
#include <tenure/tenure_quick.h>
#include <tenure/tenure_text.h>

#define SIZE_IS(type, bytes) typedef char size_of_##type[sizeof(type) == (bytes) ? 1 : -1]
#define OFFSET_IS(type, field, bytes) typedef char offset_of_##type##_##field[offsetof(type, field) == (bytes) ? 1 : -1]

SIZE_IS(tn_text, 16);
SIZE_IS(tn_temp_scope, 24);
SIZE_IS(tn_temp_stats, 56);
SIZE_IS(tn_block_cache, 16);
OFFSET_IS(tn_block_cache, capacity, 4);
OFFSET_IS(tn_block_cache, blocks, 8);
SIZE_IS(tn_temp_position, 24);
OFFSET_IS(tn_temp_position, limit, 8);
OFFSET_IS(tn_temp_position, region, 16);
SIZE_IS(tn_temp_job_state, 24);
OFFSET_IS(tn_temp_job_state, limit, 8);
OFFSET_IS(tn_temp_job_state, word, 16);
SIZE_IS(tn_quick_layout, 48);
OFFSET_IS(tn_quick_layout, class_of_eights, 16);
OFFSET_IS(tn_quick_layout, segment_shift, 24);
OFFSET_IS(tn_quick_layout, classes_of_slices_offset, 32);
OFFSET_IS(tn_quick_layout, job_states_offset, 40);
SIZE_IS(tn_quick_thread, 40);
OFFSET_IS(tn_quick_thread, heap_cache, 8);
OFFSET_IS(tn_quick_thread, temp, 16);
OFFSET_IS(tn_quick_thread, tag, 24);
OFFSET_IS(tn_quick_thread, temp_job, 32);
SIZE_IS(tn_block_source, 32);
SIZE_IS(tn_allocator_stats, 48);
SIZE_IS(tn_heap_options, 64);
OFFSET_IS(tn_heap_options, source, 48);
OFFSET_IS(tn_heap_options, no_background, 56);
SIZE_IS(tn_arena, 16);
OFFSET_IS(tn_arena, limit, 8);
SIZE_IS(tn_arena_marker, 24);
SIZE_IS(tn_affinity_options, 72);
OFFSET_IS(tn_affinity_options, source, 56);
OFFSET_IS(tn_affinity_options, huge_pages, 64);
SIZE_IS(tn_offset_range, 16);
SIZE_IS(tn_offset_usage, 64);
SIZE_IS(tn_handle, 24);
OFFSET_IS(tn_handle, bytes, 8);
OFFSET_IS(tn_handle, entry, 16);
OFFSET_IS(tn_handle, generation, 20);
SIZE_IS(tn_handle_info, 72);
OFFSET_IS(tn_handle_info, handle, 8);
OFFSET_IS(tn_handle_info, age_ns, 32);
OFFSET_IS(tn_handle_info, kind, 40);
OFFSET_IS(tn_handle_info, holders, 48);
OFFSET_IS(tn_handle_info, tag, 52);
OFFSET_IS(tn_handle_info, stack, 56);
OFFSET_IS(tn_handle_info, stack_count, 64);
SIZE_IS(tn_handle_usage, 48);
SIZE_IS(tn_tag_usage, 48);
SIZE_IS(tn_stats, 120);
SIZE_IS(tn_option_info, 88);
OFFSET_IS(tn_option_info, value, 56);
SIZE_IS(tn_text_writer, 32);
OFFSET_IS(tn_text_writer, cursor, 8);
OFFSET_IS(tn_text_writer, end, 16);
OFFSET_IS(tn_text_writer, missed_bytes, 24);
SIZE_IS(tn_page_work, 40);
OFFSET_IS(tn_page_work, objects_of, 32);
SIZE_IS(tn_text_piece, 16);
SIZE_IS(tn_page_error, 40);
SIZE_IS(tn_scratch_scope, 32);
SIZE_IS(tn_budget_event, 56);
OFFSET_IS(tn_budget_event, what, 4);
OFFSET_IS(tn_budget_event, name, 8);
OFFSET_IS(tn_budget_event, used_bytes, 24);
OFFSET_IS(tn_budget_event, requested_bytes, 32);
OFFSET_IS(tn_budget_event, threshold_bytes, 40);
OFFSET_IS(tn_budget_event, limit_bytes, 48);
SIZE_IS(tn_budget, 40);
OFFSET_IS(tn_budget, limit_bytes, 8);
OFFSET_IS(tn_budget, threshold_bytes, 16);
OFFSET_IS(tn_budget, handler, 24);
OFFSET_IS(tn_budget, context, 32);
SIZE_IS(tn_hooks, 48);
OFFSET_IS(tn_hooks, flags, 4);
OFFSET_IS(tn_hooks, context, 8);
OFFSET_IS(tn_hooks, call_begin, 16);
OFFSET_IS(tn_hooks, call_end, 24);
OFFSET_IS(tn_hooks, block_begin, 32);
OFFSET_IS(tn_hooks, block_end, 40);
SIZE_IS(tn_heap_usage, 96);
OFFSET_IS(tn_heap_usage, in_use_bytes, 40);
OFFSET_IS(tn_heap_usage, thread_count, 88);
SIZE_IS(tn_frame_usage, 40);
OFFSET_IS(tn_frame_usage, persistent_bytes, 8);
OFFSET_IS(tn_frame_usage, temp_job_bytes, 16);
OFFSET_IS(tn_frame_usage, temp_bytes, 24);
OFFSET_IS(tn_frame_usage, refusals, 32);
SIZE_IS(tn_tag, 4);
SIZE_IS(tn_pool_handle, 8);
SIZE_IS(tn_temp_stack, 4);

typedef int not_empty;
