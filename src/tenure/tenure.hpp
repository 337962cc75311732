// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// All C++ headers in one include, except vector maths, which is a separate target: buffer/vector_maths.hpp.
///
/// Compile time   0.4 s for each file that includes it, most of it for <memory> and <memory_resource>. The header of
/// one
///                part takes at most 0.15 s.

#include <tenure/adapt/resource_adaptor.hpp>
#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/adapt/unique.hpp>
#include <tenure/affinity/affinities.hpp>
#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/base/allocator.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/budget_source.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/hooks.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/region.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/static_buffer_source.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/buffer/fixed_buffer.hpp>
#include <tenure/buffer/fixed_utf8_string.hpp>
#include <tenure/buffer/huge_array.hpp>
#include <tenure/buffer/lease.hpp>
#include <tenure/buffer/safe_array.hpp>
#include <tenure/handle/handle_memory.hpp>
#include <tenure/handle/handle_table.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/make.hpp>
#include <tenure/lifetime/chunked_list.hpp>
#include <tenure/lifetime/frame_memory.hpp>
#include <tenure/lifetime/frame_usage_log.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/lifetime/scratch.hpp>
#include <tenure/lifetime/temp_state.hpp>
#include <tenure/offset/offset_allocator.hpp>
#include <tenure/platform/file_source.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/handle_pool.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_block_pool.hpp>
#include <tenure/pool/shared_pool.hpp>
#include <tenure/pool/small_object.hpp>
#include <tenure/pool/stable_vector.hpp>
#include <tenure/text/format.hpp>
#include <tenure/text/format_printf.hpp>
#include <tenure/text/paged_writer.hpp>
#include <tenure/text/text_writer.hpp>
