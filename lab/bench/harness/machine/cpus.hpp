// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The CPUs that this process may use, pinning to one of them, and the kernel's topology.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::lab {

/// The CPUs that the process was started with, highest first, because the lowest CPU handles most interrupts.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Pins the calling thread, and the threads that it starts from then on, to one CPU.
/// Returns   whether the system did it.
bool pin_to_cpu(int cpu);

/// Pins the index-th thread of a measurement to a CPU of its own. Does nothing when there are fewer CPUs than that.
bool pin_thread(std::size_t index);

/// The CPU that the calling thread runs on; negative when the system does not report it.
[[nodiscard]] int current_cpu();

/// How two CPUs are related in the kernel's topology. Two cores of a virtual machine may be two threads of one real
/// core; its kernel cannot know.
enum class cpu_relation : std::uint8_t { same, one_core, two_cores, unknown };
[[nodiscard]] cpu_relation relation_of(int one, int other, const std::string& directory = "/sys/devices/system/cpu");

/// Whether a CPU list of the kernel, such as "0-1,4", contains the CPU.
[[nodiscard]] bool cpu_list_holds(std::string_view list, int cpu);

}
